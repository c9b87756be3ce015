package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// A stop that the exchange accepted may end, according to open list and history, before any list has shown it open. If both are wrong, the stop rests, and
// each further one freezes other units of the account. The wallet decides: while it freezes at least the position more than before the first of these stops
// was sent, beyond what the open list shows, no other stop is sent. One such stop proves nothing, because the wallet may be older than its end.

// deniedStops are a position's stops that no list has shown open, since a list last showed one open.
type deniedStops struct {
	quantity exchange.Quantity
	frozen   exchange.Quantity // by the wallet before the first of them was sent, beyond what the open list showed
	newest   string            // client order id
	opening  string            // that of the newest resting opening of which the same is true, on either market
}

// note records the end of a stop that no list has shown open and that botd did not cancel. A list that shows one open ends the count.
func (t *deniedStops) note(p *account.Placement, known delivery) {
	unseen := p.State() == placement.Canceled && p.OrderID() != 0 && !p.Seen() && p.Filled() == 0 && known.canceled.lastMS == 0
	switch {
	case p.Purpose().Opens():
		if unseen && p.Order().Price != 0 && !p.Order().PostOnly {
			t.opening = p.ClientOrderID()
		}
	case p.Order().Market != exchange.Spot || p.Purpose() != placement.StopLoss:
	case p.Seen() || p.Filled() > 0:
		*t = deniedStops{opening: t.opening}
	case unseen:
		if t.quantity == 0 {
			t.frozen = known.before.frozen
		}
		t.quantity, t.newest = t.quantity+p.Order().Quantity, p.ClientOrderID()
	}
}

// Denied reports whether a placement is a symbol's newest stop, or its newest resting opening, that ended before any list showed it open.
func (s *SymbolState) Denied(p *account.Placement) bool {
	return s.spot.denied.newest == p.ClientOrderID() || s.spot.denied.opening == p.ClientOrderID()
}

// frozenUnlisted returns the quantity that the wallet freezes for sales that the open list does not show.
func (s spotPosition) frozenUnlisted() exchange.Quantity {
	frozen := s.symbol.rules.QuantityOf(s.tracker.Balance(s.symbol.rules.Base).Frozen) - s.tracker.sellsOfOthers(s.symbol)
	list := s.tracker.listed[exchange.Spot]
	for _, p := range s.symbol.live {
		if p.Order().Side == exchange.Sell && list.shows(p.OrderID()) {
			frozen -= p.Remaining()
		}
	}
	return frozen
}

// deniedStopsRest reports whether the wallet shows that stops rest although open list and history show their ends.
func (d spotStops) deniedStopsRest() bool {
	t, position := &d.symbol.spot.denied, d.spotPosition()
	protected := position.toProtect()
	return d.tracker.walletRead && t.quantity >= 2*protected && d.tooSmall(protected-(position.frozenUnlisted()-t.frozen))
}
