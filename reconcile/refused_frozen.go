package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// A spot sale that the exchange refused but accepted (exactly-once.md, case 3) rests, and the wallet freezes its asset. An open list that omits other
// orders of botd's may omit this one too, possibly for minutes: another stop alongside it would sell a person's holdings. While the list is wrong in
// this way, and the wallet freezes exactly the quantity of refused sales beyond all known ones, these sales count as resting.

// maxFrozenRefusals limits how many refused sales of a symbol, the newest ones, are compared with the wallet.
const maxFrozenRefusals = 8

// noteFrozenRefusals records which of a symbol's refused sales rest according to the newest wallet; old reports whether the open list shows orders that
// have ended. If a sale rested and its quantity is then missing from the wallet, it was executed.
func (s unlistedOrders) noteFrozenRefusals(symbol *SymbolState, old bool) {
	sales := slices.Collect(s.book.salesOn(symbol.Key()))
	slices.SortStableFunc(sales, func(a, b *RefusedOrder) int { return int(a.atMS - b.atMS) })
	sales = sales[max(0, len(sales)-maxFrozenRefusals):]
	var resting []*RefusedOrder
	if old || s.walletEvidence().omitsOwnSale(symbol) {
		resting = s.walletEvidence().restingRefusals(symbol, sales)
	}
	for _, r := range sales {
		before := r.frozen
		if r.frozen = slices.Contains(resting, r); before && !r.frozen {
			r.sold = r.sold || s.book.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
		}
	}
}

// restingRefusals returns consecutive refused sales of a symbol whose total quantity equals the quantity that the wallet freezes beyond all known sales.
func (e walletEvidence) restingRefusals(symbol *SymbolState, sales []*RefusedOrder) []*RefusedOrder {
	on := e.book.situation(&Desired{}, symbol, e.fetched.EndedMS)
	beyond := on.spotSales().balanceAfterSales(symbol.rules.QuantityOf(e.book.Balance(symbol.rules.Base).Frozen))
	for i := range slices.Backward(sales) {
		sum := exchange.Quantity(0)
		for n := i; n >= 0; n-- {
			if sum += sales[n].order.Quantity; sum == beyond && e.book.readAfter(sales[i].atMS) {
				return sales[n : i+1]
			}
		}
	}
	return nil
}

// omitsOwnSale reports whether the open list omits a spot sale of botd's that the exchange has acknowledged and for which the wallet freezes the
// asset.
func (e walletEvidence) omitsOwnSale(symbol *SymbolState) bool {
	return slices.ContainsFunc(symbol.live, func(p *account.Placement) bool {
		return p.Order().Side == exchange.Sell && e.book.Unlisted(p) && !e.book.delivery(p).unfrozen && e.book.delivery(p).releasedMS == 0
	})
}

// frozenThoughRefused returns the quantity that refused sales of a spot symbol hold, according to the wallet.
func (r *refusals) frozenThoughRefused(key exchange.SymbolKey) (sum exchange.Quantity) {
	for one := range r.salesOn(key) {
		if one.frozen {
			sum += one.order.Quantity
		}
	}
	return sum
}
