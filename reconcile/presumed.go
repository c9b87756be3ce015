package reconcile

import (
	"math"

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
	before := symbol.presumed()
	bought, sold, sinceMS := exchange.Quantity(0), exchange.Quantity(0), int64(math.MaxInt64)
	for _, p := range s.book.Live() {
		if p.Symbol() != symbol.Key() || p.State() == placement.Sending {
			continue
		}
		if p.OrderID() != 0 && (s.onSpot(p.OrderID()) || s.fetched.Shows(exchange.Spot, p.OrderID())) {
			if s.book.presumed[p.ClientOrderID()] {
				delete(s.book.presumed, p.ClientOrderID())
				delete(s.book.released, p.ClientOrderID())
			}
			continue
		}
		if p.Order().Side == exchange.Buy {
			bought += s.mayBuy(p, symbol)
			sinceMS = min(sinceMS, p.SentMS())
			continue
		}
		sold += p.Remaining()
		if !s.noteUnfrozen(p, symbol) {
			continue
		}
		stop := p.OrderID() != 0 && p.Purpose() == placement.StopLoss && p.Order().Type == exchange.StopLimit
		if stop && s.book.released[p.ClientOrderID()] == 0 && s.soldNothing(p, symbol) {
			s.book.noteFreed(p, s.fetched.EndedMS)
			s.book.released[p.ClientOrderID()], s.book.presumed[p.ClientOrderID()] = s.fetched.EndedMS, true
		}
	}
	excess := s.book.inWallet(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees()
	own := excess - symbol.Unattributed() - s.boughtByOthers(symbol, sinceMS)
	t.presumed, t.knew = max(0, min(own, bought)), symbol.Known()
	t.presumed = max(t.presumed, min(before, bought, own+sold)) // a purchase is not less once a sale that no list shows either has sold
}

// presumed is what the newest whole read showed of purchases that no list shows, without what was
// booked since.
func (s *SymbolState) presumed() exchange.Quantity {
	return max(0, s.spot.presumed-max(0, s.Known()-s.spot.knew))
}

// boughtByOthers is what purchases that no placement claims have bought since wallet and fills last
// agreed, or since a time. That a row shows no id makes it nobody's only where botd's own rows show none.
func (s *survey) boughtByOthers(symbol *SymbolState, sinceMS int64) (sum exchange.Quantity) {
	if !s.fetched.History.Done() {
		return 0
	}
	sinceMS = min(sinceMS-createdSlackMS, s.book.salesFrom(symbol))
	for i := range s.fetched.History.Items() {
		o := &s.fetched.History.Items()[i]
		unnamed := o.ClientOrderID == "" && s.book.idsLeftOut
		if o.Key() == symbol.Key() && o.Side == exchange.Buy && o.CreatedMS >= sinceMS && !unnamed && !s.claimed(o) {
			sum += o.Filled
		}
	}
	return sum
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

// soldNothing reports whether the wallet shows all of the asset, though it freezes none of it for
// a stop: that was canceled, or either read is older.
func (s *survey) soldNothing(p *account.Placement, symbol *SymbolState) bool {
	if s.book.CancelMS(p.ClientOrderID()) == 0 && s.fetched.BeganMS <= p.SentMS()+s.book.Settle().StalenessMS {
		return false
	}
	return s.book.inWallet(symbol) >= symbol.Baseline()+symbol.Known()-symbol.Fees()
}

// mostUnfrozenMS bounds how long after a sale the wallet is taken to be older than it.
const mostUnfrozenMS = 4_000

// noteUnfrozen notes, and reports, whether the wallet freezes nothing for a sale that no open list
// shows: it has ended or was never taken. A wallet that may be older than the sale says nothing.
func (s *survey) noteUnfrozen(p *account.Placement, symbol *SymbolState) bool {
	b, read := s.book, s.fetched
	frozen := symbol.Rules.QuantityOf(b.Balance(symbol.Rules.Base).Frozen)
	for i := 0; read.SpotOrders.Done() && i < len(read.SpotOrders.Items()); i++ {
		o := &read.SpotOrders.Items()[i]
		if _, _, ended := b.EndedAs(o.Key(), o.ID); o.Symbol == symbol.Key().Name && o.Side == exchange.Sell && !ended {
			frozen -= o.Remaining()
		}
	}
	for _, q := range b.Live() { // those that the exchange acknowledged hold it before one that it may not have taken
		if p.OrderID() == 0 && q.OrderID() != 0 && q.Symbol() == p.Symbol() && q.Order().Side == exchange.Sell && b.unlisted(q) {
			frozen -= q.Remaining()
		}
	}
	unfrozen := read.BeganMS > p.SentMS()+min(b.Settle().StalenessMS, mostUnfrozenMS) && frozen < p.Remaining()/2
	if b.unfrozen[p.ClientOrderID()] = true; !unfrozen {
		delete(b.unfrozen, p.ClientOrderID())
	}
	return unfrozen
}
