package reconcile

import (
	"iter"

	"botd/exchange"
)

// A spot sale that the exchange refused but executed (exactly-once.md, case 3) may be missing from the order history, even for minutes. The wallet
// still shows it: since the order was sent, some of the asset is missing, no more than the order's quantity, and the money for it has arrived. A
// wallet that is wrong about the asset shows no money, a withdrawal brings none, and one that shows asset and money of an earlier read is old. Until
// the wallet shows everything again that fills explain, no more is sold than it has beyond a person's holdings.

// noteRefusedSales records which of a symbol's refused sales the newest wallet shows.
func (s unlistedOrders) noteRefusedSales(symbol *SymbolState) {
	for r := range s.book.salesOn(symbol.Key()) {
		if !s.book.readAfter(r.atMS) || s.book.showsEarlier(symbol) {
			continue
		}
		if r.sold {
			r.sold = s.book.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
			continue
		}
		missing := r.before.asset - s.book.baseBalance(symbol)
		balance, worth := s.book.Balance(symbol.rules.Quote), symbol.rules.Notional(symbol.last, missing)
		got := balance.Free.Add(balance.Frozen).Sub(r.before.amount)
		beyond := missing - s.possiblySoldUnlisted(symbol) // an accepted sale that no list shows explains the missing quantity at least as well
		r.sold = !symbol.tooSmallToTrade(beyond) && beyond <= r.order.Quantity && !s.book.boughtSince(nil, r.before) &&
			!got.Less(worth.MulRate(exchange.RateOne*9/10)) && !worth.Less(got.MulRate(exchange.RateOne*9/10))
	}
}

// possiblySoldUnlisted returns the quantity that live sales of a symbol missing from the open list may have sold.
func (s unlistedOrders) possiblySoldUnlisted(symbol *SymbolState) (sum exchange.Quantity) {
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && s.book.delivery(p).releasedMS == 0 && (!p.Seen() || s.book.Unlisted(p)) {
			sum += p.Remaining()
		}
	}
	return sum
}

// soldThoughRefused returns the quantity of a symbol's refused sales that the wallet shows as executed.
func (r *refusals) soldThoughRefused(key exchange.SymbolKey) (sum exchange.Quantity) {
	for one := range r.salesOn(key) {
		if one.sold {
			sum += one.order.Quantity
		}
	}
	return sum
}

// salesOn yields the refused sales of a spot symbol, confirmed or not.
func (r *refusals) salesOn(key exchange.SymbolKey) iter.Seq[*RefusedOrder] {
	return func(yield func(*RefusedOrder) bool) {
		for _, list := range [...][]RefusedOrder{r.refused, r.confirmed} {
			for i := range list {
				if one := &list[i]; one.Symbol == key && key.Market == exchange.Spot && one.order.Side == exchange.Sell && !yield(one) {
					return
				}
			}
		}
	}
}
