package reconcile

import (
	"botd/exchange"
	"botd/reconcile/placement"
)

// After a restart botd no longer knows that a wallet has shown a purchase which no list shows, such as one that the exchange refused but executed. The
// stops that it sent for that purchase still rest, beyond the quantity that the fills explain. As far as the wallet shows their quantity, they stay, and
// the symbol needs manual resolution.

// inheritedStops are a spot symbol's stops from before the start, as far as only the wallet explains them.
type inheritedStops struct {
	quantity exchange.Quantity // quantity of stops from before the start that only the wallet explains
	shownFor persistence       // how long that has persisted
	decided  bool              // a person, or a policy, has decided about them
}

// inheritedStops returns by how much a spot symbol's stops from before the start exceed the fills; 0 once a person has decided.
func (t *Tracker) inheritedStops(symbol *SymbolState) (beyond exchange.Quantity) {
	if t.StandsDown() || symbol.spot.inherited.decided {
		return 0 // the other botd's purchases have stops as well
	}
	beyond = t.inheritedSince(symbol, 0) - max(0, symbol.Known()-symbol.Fees())
	if beyond <= symbol.FeeRounding() || symbol.tooSmallToTrade(beyond) {
		return 0
	}
	return beyond
}

// noteInheritedStops records the part of these stops that only the wallet explains, not a live or refused purchase.
func (s unlistedOrders) noteInheritedStops(symbol *SymbolState, explained exchange.Quantity) {
	if symbol.spot.inherited.quantity = 0; explained == 0 && s.tracker.inheritedStops(symbol) > 0 {
		symbol.spot.inherited.quantity = symbol.spot.unlisted.inferred
	}
}

// holdInheritedStops blocks openings on symbols with such stops, and quarantines a symbol if its wallets keep showing their quantity. A wallet that
// may be older than the last fill may still contain a quantity that has been sold.
func (s unlistedOrders) holdInheritedStops() {
	for symbol := range s.tracker.Symbols() {
		t := &symbol.spot
		if t.inherited.quantity == 0 {
			t.inherited.shownFor = persistence{}
			continue
		}
		symbol.settled = false
		if !s.tracker.readAfter(symbol.FilledMS() + s.tracker.Bounds().StalenessMS) {
			t.inherited.shownFor.pause(s.fetched)
			continue
		}
		if t.inherited.shownFor.extend(s.fetched); t.inherited.shownFor.exceeds(s.tracker.Bounds().StalenessMS) {
			s.quarantine(symbol, "stops from before the start protect more than the fills explain, and the wallet shows that quantity")
		}
	}
}

// inheritedSince returns the quantity of the stops from before the start that were sent since a time: a
// wallet had shown the quantity they protect.
func (o *observedAccount) inheritedSince(symbol *SymbolState, sinceMS int64) (sum exchange.Quantity) {
	for _, p := range symbol.live {
		if p.Purpose() == placement.StopLoss && p.OrderID() != 0 && p.SentMS() >= sinceMS && p.SentMS() < o.bootMS {
			sum += p.Remaining()
		}
	}
	return sum
}
