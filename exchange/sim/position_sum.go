package sim

import "botd/exchange"

// positionSum is a sum over an account's open positions at their mark prices. Between two marks, a
// changing position replaces its own part of the sum, so the cost of thousands of consecutive fills
// grows with their number, not with its square. The sums are integers, so their order does not
// matter.
type positionSum struct {
	value       exchange.Amount
	markVersion uint64 // mark version of the sum
	known       bool
}

// of returns the sum.
func (s *positionSum) of(positions []*position, part func(*position) exchange.Amount) exchange.Amount {
	if len(positions) == 0 {
		return exchange.Amount{}
	}
	if marks := positions[0].orderBook.exchange.markVersion; !s.known || s.markVersion != marks {
		s.value, s.markVersion, s.known = exchange.Amount{}, marks, true
		for _, p := range positions {
			s.value = s.value.Add(part(p))
		}
	}
	return s.value
}

// exclude subtracts a position from its account's sums before it changes or closes.
func (p *position) exclude() {
	a := p.account
	if a.profits.holds(p) {
		a.profits.value = a.profits.value.Sub(p.unrealized())
	}
	if a.needs.holds(p) {
		a.needs.value = a.needs.value.Sub(p.maintenance())
	}
}

// include adds it again.
func (p *position) include() {
	a := p.account
	if a.profits.holds(p) {
		a.profits.value = a.profits.value.Add(p.unrealized())
	}
	if a.needs.holds(p) {
		a.needs.value = a.needs.value.Add(p.maintenance())
	}
}

// holds reports whether the sum is valid at the current marks; otherwise it is recomputed on
// demand.
func (s *positionSum) holds(p *position) bool {
	s.known = s.known && s.markVersion == p.orderBook.exchange.markVersion
	return s.known
}
