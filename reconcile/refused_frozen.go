package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// A spot sale that the exchange refused but accepted (exactly-once.md, case 3) rests, and the wallet freezes its coins. An open list that omits orders of
// botd's own omits that one as well, for minutes perhaps: another stop beside it would sell a person's coins. While the list is wrong in this way, and the
// wallet freezes exactly the coins of refused sales beyond all others, these sales count as resting.

// mostFrozenRefusals bounds the number of refused sales that are compared with the wallet, the newest of a symbol.
const mostFrozenRefusals = 8

// noteFrozenRefusals records which of a symbol's refused sales rest by the newest wallet, given whether the open list shows orders that have ended. One that
// rested, and whose coins are then missing, has sold them.
func (e *evidence) noteFrozenRefusals(symbol *SymbolState, old bool) {
	sales := slices.Collect(e.book.salesOn(symbol.Key()))
	slices.SortStableFunc(sales, func(a, b *RefusedOrder) int { return int(a.atMS - b.atMS) })
	sales = sales[max(0, len(sales)-mostFrozenRefusals):]
	var resting []*RefusedOrder
	if old || e.omitsOwnSale(symbol) {
		resting = e.restingRefusals(symbol, sales)
	}
	for _, r := range sales {
		before := r.frozen
		if r.frozen = slices.Contains(resting, r); before && !r.frozen {
			r.sold = r.sold || e.book.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
		}
	}
}

// restingRefusals returns successive ones of a symbol's refused sales whose quantities are together what the wallet freezes beyond all known sales.
func (e *evidence) restingRefusals(symbol *SymbolState, sales []*RefusedOrder) []*RefusedOrder {
	on := e.book.situation(&Desired{}, symbol, e.fetched.EndedMS)
	beyond := on.balanceAfterSales(symbol.rules.QuantityOf(e.book.Balance(symbol.rules.Base).Frozen))
	for i := range slices.Backward(sales) {
		sum := exchange.Quantity(0)
		for n := i; n >= 0 && sum < beyond; n-- {
			if sum += sales[n].order.Quantity; sum == beyond && e.book.readAfter(sales[i].atMS) {
				return sales[n : i+1]
			}
		}
	}
	return nil
}

// omitsOwnSale reports whether the open list omits an own sale on a spot symbol that the exchange has acknowledged, and for which the wallet freezes the
// coins.
func (e *evidence) omitsOwnSale(symbol *SymbolState) bool {
	return slices.ContainsFunc(symbol.live, func(p *account.Placement) bool {
		return p.Order().Side == exchange.Sell && e.book.Unlisted(p) && !e.book.delivery(p).unfrozen && e.book.delivery(p).releasedMS == 0
	})
}

// frozenThoughRefused returns the quantity that refused sales of a spot symbol hold by the wallet.
func (r *refusals) frozenThoughRefused(key exchange.SymbolKey) (sum exchange.Quantity) {
	for one := range r.salesOn(key) {
		if one.frozen {
			sum += one.order.Quantity
		}
	}
	return sum
}
