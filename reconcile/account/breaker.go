package account

import (
	"slices"

	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxTally bounds how many placements the breaker's figures look back on.
const maxTally = 1_000

// Breaker is the account's pause of openings after too much went wrong
// (exactly-once.md, cases 4, 25 and 26). It ends by itself.
type Breaker struct {
	Why     string
	SinceMS int64
	UntilMS int64
}

// circuit is the breaker as it was last tripped, and the counts that it is decided by. They
// are made of records, so that a restart knows the same.
type circuit struct {
	breaker   Breaker
	sentMS    []int64 // placements, oldest first
	unknownMS []int64 // of them, lost answers
	empty     int     // endings without a fill in a row
}

func (c *circuit) sent(atMS int64) { c.sentMS = pushBounded(c.sentMS, atMS) }

func (c *circuit) unknown(atMS int64) { c.unknownMS = pushBounded(c.unknownMS, atMS) }

// ended counts endings without a fill. A cancel of an order that rested is no
// sign of anything, and what was never sent none of the exchange's.
func (c *circuit) ended(p *Placement) {
	switch {
	case p.filled > 0:
		c.empty = 0
	case p.purpose.Protects(), p.state == placement.Expired:
	case p.state == placement.Canceled && p.order.Type.Priced():
	case p.state == placement.Rejected && p.order.PostOnly: // it would have matched: what post-only is for
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

// Breaker returns the breaker as it was last tripped; see Breaking.
func (c *circuit) Breaker() Breaker { return c.breaker }

// Breaking reports whether the breaker holds openings back now.
func (c *circuit) Breaking(nowMS int64) bool { return nowMS < c.breaker.UntilMS }

// Tally returns how many placements were sent, and how many of them lost their
// answer, since a time, and how many in a row ended without a fill. What was
// before the breaker tripped last does not count again.
func (c *circuit) Tally(fromMS int64) (sent, unknown, empty int) {
	fromMS = max(fromMS, c.breaker.SinceMS+1)
	return since(c.sentMS, fromMS), since(c.unknownMS, fromMS), c.empty
}

func (c *circuit) tripped(atMS int64, body *record.Breaker) {
	c.breaker = Breaker{body.Why, atMS, body.UntilMS}
	c.empty = 0
}
