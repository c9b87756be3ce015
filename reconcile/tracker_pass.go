package reconcile

import (
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// pass is one pass over all strategies after a read. Sums over all symbols that every strategy needs are
// computed once per pass: nothing is read during a pass, and an order that is sent changes a sum by at
// most its own amount.
type pass struct {
	number uint64 // changes with each pass and with a record that may change a sum; 0 outside a pass
	last   uint64 // the last number used
	sent   []*account.Placement
}

// passSum is a sum and the number of the pass in which it was computed.
type passSum[T any] struct {
	value T
	pass  uint64
}

// once returns a sum, computed once in the current pass; outside a pass it is computed each time.
func (s *passSum[T]) once(p *pass, sum func() T) T {
	if p.number == 0 {
		return sum()
	}
	if s.pass != p.number {
		s.value, s.pass = sum(), p.number
	}
	return s.value
}

// BeginPass begins a pass over all strategies: until EndPass no price, position or list may be
// applied.
func (p *pass) BeginPass() { p.restart() }

// EndPass ends the pass.
func (p *pass) EndPass() { p.number = 0 }

// Pass returns the number of the current pass and how many placements were sent in it. While the
// number stays the same, only they have changed the sums over all symbols. Outside a pass the number
// is 0.
func (p *pass) Pass() (number uint64, sent int) { return p.number, len(p.sent) }

// SentInPass returns a placement sent in the current pass, by its index from the oldest.
func (p *pass) SentInPass(i int) *account.Placement { return p.sent[i] }

func (p *pass) restart() {
	p.last++
	p.number, p.sent = p.last, p.sent[:0]
}

// note handles an applied record.
func (p *pass) note(t *Tracker, r *record.Record) {
	if p.number == 0 {
		return
	}
	switch r.Body.(type) {
	case record.Sending:
		p.sent = append(p.sent, t.Placement(r.ClientOrderID))
	case record.Plan, record.Priced, record.Memory, record.Declined: // these belong to one strategy
	default:
		p.restart()
	}
}
