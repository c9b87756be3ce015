package reconcile

import (
	"slices"

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

// tally counts what the breaker is decided by. It is made of records, so that a
// restart knows the same.
type tally struct {
	sentMS    []int64 // placements, oldest first
	unknownMS []int64 // of them, lost answers
	empty     int     // endings without a fill in a row
}

func (t *tally) sent(atMS int64) { t.sentMS = pushBounded(t.sentMS, atMS) }

func (t *tally) unknown(atMS int64) { t.unknownMS = pushBounded(t.unknownMS, atMS) }

// ended counts endings without a fill. A cancel of an order that rested is no
// sign of anything, and what was never sent none of the exchange's.
func (t *tally) ended(p *Placement) {
	switch {
	case p.Filled > 0:
		t.empty = 0
	case p.Purpose.Protects(), p.State == Expired:
	case p.State == Canceled && p.Order.Type.Priced():
	case p.State == Rejected && p.Order.PostOnly: // it would have matched: what post-only is for
	default:
		t.empty++
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
func (b *Book) Breaker() Breaker { return b.breaker }

// Breaking reports whether the breaker holds openings back now.
func (b *Book) Breaking(nowMS int64) bool { return nowMS < b.breaker.UntilMS }

// Tally returns how many placements were sent, and how many of them lost their
// answer, since a time, and how many in a row ended without a fill. What was
// before the breaker tripped last does not count again.
func (b *Book) Tally(fromMS int64) (sent, unknown, empty int) {
	fromMS = max(fromMS, b.breaker.SinceMS+1)
	return since(b.tally.sentMS, fromMS), since(b.tally.unknownMS, fromMS), b.tally.empty
}

func (b *Book) tripped(atMS int64, body *record.Breaker) {
	b.breaker = Breaker{body.Why, atMS, body.UntilMS}
	b.tally.empty = 0
}
