package reconcile

import (
	"slices"

	"botd/exchange"
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

// frozenThoughRefused returns the quantity that refused sales of a spot symbol hold, according to the wallet.
func (r *refusals) frozenThoughRefused(key exchange.SymbolKey) (sum exchange.Quantity) {
	for one := range r.salesOn(key) {
		if one.frozen {
			sum += one.order.Quantity
		}
	}
	return sum
}
