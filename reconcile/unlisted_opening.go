package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// NeverListed returns the quantity that a symbol's resting openings may fill and that no open list has shown yet. A read by id shows only one order; only
// a list that shows it also shows what a second botd on the account sent before.
func (b *Book) NeverListed(key exchange.SymbolKey) (sum exchange.Quantity) {
	for p := range b.InFlightOn(key) {
		if neverListed(p) {
			sum += p.Remaining()
		}
	}
	for _, p := range b.fetchedOnly {
		if p.Symbol() == key {
			sum += p.Remaining()
		}
	}
	return sum
}

func neverListed(p *account.Placement) bool { return p.Purpose() == placement.Order && !p.Seen() }

// collectNeverListed collects, before a snapshot is evaluated, the openings that it may show for the first time.
func (s orderRows) collectNeverListed() {
	b := s.book
	for p := range b.InFlight() {
		if neverListed(p) {
			b.fetchedOnly = append(b.fetchedOnly, p)
		}
	}
}

// keepNeverListed keeps, after the snapshot was evaluated, those that are known to be open, though not from a list.
func (s orderRows) keepNeverListed() {
	b := s.book
	b.fetchedOnly = slices.DeleteFunc(b.fetchedOnly, func(p *account.Placement) bool {
		list := b.listed[p.Order().Market]
		return !p.Seen() || p.State().Final() || list.shows(p.OrderID())
	})
}
