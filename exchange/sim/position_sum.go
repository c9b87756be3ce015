package sim

import "botd/exchange"

// positionSum is a sum over an account's open positions at their mark prices. While no mark is set, a position that changes
// has its part of the sum replaced: what thousands of fills cost that follow each other grows with their number, not with
// its square. Sums are of whole numbers, so that their order does not matter.
type positionSum struct {
	value       exchange.Amount
	markVersion uint64 // the mark count at which it was summed
	known       bool
}

// of returns the sum.
func (s *positionSum) of(positions []*position, part func(*position) exchange.Amount) exchange.Amount {
	if len(positions) == 0 {
		return exchange.Amount{}
	}
	if marks := positions[0].book.exchange.markVersion; !s.known || s.markVersion != marks {
		s.value, s.markVersion, s.known = exchange.Amount{}, marks, true
		for _, p := range positions {
			s.value = s.value.Add(part(p))
		}
	}
	return s.value
}

// exclude takes a position out of the sums of its account, before it changes or closes.
func (p *position) exclude() {
	a := p.account
	if a.profits.holds(p) {
		a.profits.value = a.profits.value.Sub(p.unrealized())
	}
	if a.needs.holds(p) {
		a.needs.value = a.needs.value.Sub(p.maintenance())
	}
}

// include takes it into them again.
func (p *position) include() {
	a := p.account
	if a.profits.holds(p) {
		a.profits.value = a.profits.value.Add(p.unrealized())
	}
	if a.needs.holds(p) {
		a.needs.value = a.needs.value.Add(p.maintenance())
	}
}

// holds reports whether the sum is known at the present marks; one of other marks is made again when it is asked for.
func (s *positionSum) holds(p *position) bool {
	s.known = s.known && s.markVersion == p.book.exchange.markVersion
	return s.known
}
