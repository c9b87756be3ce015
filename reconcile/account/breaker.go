package account

import (
	"slices"

	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxTally limits the number of placements that the breaker counts.
const maxTally = 1_000

// Breaker is the account's pause of openings after too many failures (exactly-once.md, cases 4, 25 and
// 26). It ends automatically.
type Breaker struct {
	Reason  string
	SinceMS int64
	UntilMS int64
}

// circuit is the breaker's last trip and the counts that trip it. They derive from records, so a
// restart restores them.
type circuit struct {
	breaker     Breaker
	sentMS      []int64 // placements, oldest first
	uncertainMS []int64 // times of those whose answer was lost
	empty       int     // consecutive endings without a fill
}

func (c *circuit) sent(atMS int64) { c.sentMS = pushBounded(c.sentMS, atMS) }

func (c *circuit) uncertain(atMS int64) { c.uncertainMS = pushBounded(c.uncertainMS, atMS) }

// ended counts consecutive endings without a fill. It skips endings that say nothing about the exchange's
// health: those of protective orders, of orders that were never sent, and of canceled orders with a price.
func (c *circuit) ended(p *Placement) {
	switch {
	case p.filled > 0:
		c.empty = 0
	case p.purpose.Protects(), p.state == placement.Expired:
	case p.state == placement.Canceled && p.order.Type.Priced():
	case p.state == placement.Rejected && p.order.PostOnly: // it would have matched, which post-only prevents
	default:
		c.empty++
	}
}

func pushBounded(times []int64, atMS int64) []int64 {
	if len(times) == maxTally {
		times = slices.Delete(times, 0, maxTally/2)
	}
	return append(times, atMS)
}

func since(times []int64, fromMS int64) int {
	i, _ := slices.BinarySearch(times, fromMS)
	return len(times) - i
}

// Breaker returns the breaker's last trip, which may be over: see Breaking.
func (c *circuit) Breaker() Breaker { return c.breaker }

// Breaking reports whether the breaker currently blocks openings.
func (c *circuit) Breaking(nowMS int64) bool { return nowMS < c.breaker.UntilMS }

// Tally returns the number of placements sent since a time, how many of them lost their answer, and
// the number of consecutive endings without a fill. It ignores everything up to the breaker's last trip.
func (c *circuit) Tally(fromMS int64) (sent, uncertain, empty int) {
	fromMS = max(fromMS, c.breaker.SinceMS+1)
	return since(c.sentMS, fromMS), since(c.uncertainMS, fromMS), c.empty
}

func (c *circuit) tripped(atMS int64, body *record.Breaker) {
	c.breaker = Breaker{body.Reason, atMS, body.UntilMS}
	c.empty = 0
}
