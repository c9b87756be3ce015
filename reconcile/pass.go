package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// pass is one pass over all strategies after a read. What every strategy needs and is summed over all symbols is summed
// once in it: nothing is read meanwhile, and an order that is sent changes a sum by no more than it takes itself.
type pass struct {
	number       uint64 // changes with each pass, and with a record that may change a sum; 0 while none is under way
	last         uint64 // the last number given
	sent         []*account.Placement
	marked       summed[exchange.Amount]
	unknownOrder summed[string]
}

// summed is a sum, and the number of the pass in which it was made.
type summed[T any] struct {
	value T
	pass  uint64
}

// once returns a sum of the pass under way, made where it has not been yet; without a pass it is made each time.
func (s *summed[T]) once(p *pass, sum func() T) T {
	if p.number == 0 {
		return sum()
	}
	if s.pass != p.number {
		s.value, s.pass = sum(), p.number
	}
	return s.value
}

// BeginPass begins a pass over all strategies: until EndPass no price, position or list is taken.
func (b *Book) BeginPass() { b.pass.restart() }

// EndPass ends it.
func (b *Book) EndPass() { b.pass.number = 0 }

// Pass returns the number of the pass under way, and the placements that were sent in it, oldest first: while the number
// stays, they alone have changed what is summed over all symbols. The number is 0 when no pass is under way.
func (b *Book) Pass() (number uint64, sent []*account.Placement) { return b.pass.number, b.pass.sent }

func (p *pass) restart() {
	p.last++
	p.number, p.sent = p.last, p.sent[:0]
}

// note takes a record that was applied.
func (p *pass) note(b *Book, r *record.Record) {
	if p.number == 0 {
		return
	}
	switch r.Body.(type) {
	case record.Sending:
		p.sent = append(p.sent, b.Placement(r.ClientOrderID))
	case record.Plan, record.Priced, record.Memory, record.Declined: // a strategy's own
	default:
		p.restart()
	}
}
