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
	case p.filled > 0:
		t.empty = 0
	case p.purpose.Protects(), p.state == placement.Expired:
	case p.state == placement.Canceled && p.order.Type.Priced():
	case p.state == placement.Rejected && p.order.PostOnly: // it would have matched: what post-only is for
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
func (s *State) Breaker() Breaker { return s.breaker }

// Breaking reports whether the breaker holds openings back now.
func (s *State) Breaking(nowMS int64) bool { return nowMS < s.breaker.UntilMS }

// Tally returns how many placements were sent, and how many of them lost their
// answer, since a time, and how many in a row ended without a fill. What was
// before the breaker tripped last does not count again.
func (s *State) Tally(fromMS int64) (sent, unknown, empty int) {
	fromMS = max(fromMS, s.breaker.SinceMS+1)
	return since(s.tally.sentMS, fromMS), since(s.tally.unknownMS, fromMS), s.tally.empty
}

func (s *State) tripped(atMS int64, body *record.Breaker) {
	s.breaker = Breaker{body.Why, atMS, body.UntilMS}
	s.tally.empty = 0
}
