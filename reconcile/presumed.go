package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// Where order history and user trades leave an order of botd's out, the wallet still shows
// what it did. That books nothing, but a stop is placed by it: what a purchase bought
// that no list shows, and what a stop holds no more.

// presume takes what the wallet shows of orders that the open list does not show.
func (s *survey) presume(symbol *SymbolState) {
	t := &symbol.spot
	t.presumed = 0
	listed := func(p *account.Placement) bool {
		return slices.ContainsFunc(s.fetched.SpotOrders.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID() }) ||
			s.fetched.Shows(exchange.Spot, p.OrderID())
	}
	bought := exchange.Quantity(0)
	for _, p := range s.book.Live() {
		if p.Symbol() != symbol.Key() || p.State() == placement.Sending {
			continue
		}
		if p.OrderID() != 0 && listed(p) {
			if s.book.presumed[p.ClientOrderID()] {
				delete(s.book.presumed, p.ClientOrderID())
				delete(s.book.released, p.ClientOrderID())
			}
			continue
		}
		stop := p.OrderID() != 0 && p.Purpose() == placement.StopLoss && p.Order().Type == exchange.StopLimit
		switch {
		case p.Order().Side == exchange.Buy:
			bought += s.mayBuy(p, symbol)
		case stop && s.book.released[p.ClientOrderID()] == 0 && s.holdsNothing(p, symbol):
			s.book.noteFreed(p, s.fetched.EndedMS)
			s.book.released[p.ClientOrderID()], s.book.presumed[p.ClientOrderID()] = s.fetched.EndedMS, true
		}
	}
	excess := max(0, s.book.inWallet(symbol)-symbol.Baseline()-symbol.Known()+symbol.Fees())
	if bought == 0 { // what is there beside is a person's
		t.others, t.othersKnown = excess, true
		return
	}
	if t.othersKnown {
		t.presumed = max(0, min(excess-t.others, bought))
	}
}

// mayBuy is the most that a purchase may still have bought: an amount in the quote asset at
// a price a hundredth below the last one.
func (s *survey) mayBuy(p *account.Placement, symbol *SymbolState) exchange.Quantity {
	order := p.Order()
	if order.QuoteAmount.IsZero() {
		return p.Remaining()
	}
	if symbol.Last <= 0 {
		return 0
	}
	return max(0, symbol.Rules.QuantityFor(order.QuoteAmount.MulRate(exchange.RateOne*101/100), symbol.Last)-p.Filled())
}

// holdsNothing reports whether the wallet shows all of the asset, and none of it frozen by
// a stop that the open list does not show either: it was canceled, or either read is older.
func (s *survey) holdsNothing(p *account.Placement, symbol *SymbolState) bool {
	if s.book.CancelMS(p.ClientOrderID()) == 0 && s.fetched.BeganMS <= p.SentMS()+s.book.Settle().StalenessMS {
		return false
	}
	if s.book.inWallet(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees() {
		return false // it may have sold
	}
	frozen := symbol.Rules.QuantityOf(s.book.Balance(symbol.Rules.Base).Frozen)
	for i := range s.fetched.SpotOrders.Items() {
		o := &s.fetched.SpotOrders.Items()[i]
		if _, _, ended := s.book.EndedAs(o.Key(), o.ID); o.Symbol == symbol.Key().Name && o.Side == exchange.Sell && !ended {
			frozen -= o.Remaining()
		}
	}
	return frozen < p.Remaining()/2
}
