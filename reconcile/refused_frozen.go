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

// noteFrozenRefusals records which of a symbol's refused sales rest by the newest wallet. One that rested, and whose coins are then missing, has sold them.
func (s *survey) noteFrozenRefusals(symbol *SymbolState) {
	sales := slices.Collect(s.book.salesOn(symbol.Key()))
	slices.SortStableFunc(sales, func(a, b *RefusedOrder) int { return int(a.atMS - b.atMS) })
	sales = sales[max(0, len(sales)-mostFrozenRefusals):]
	resting := s.restingRefusals(symbol, sales)
	for _, r := range sales {
		before := r.frozen
		if r.frozen = slices.Contains(resting, r); before && !r.frozen {
			r.sold = r.sold || s.book.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
		}
	}
}

// restingRefusals returns successive ones of a symbol's refused sales whose quantities are together what the wallet freezes beyond all known sales.
func (s *survey) restingRefusals(symbol *SymbolState, sales []*RefusedOrder) []*RefusedOrder {
	if len(sales) == 0 || !s.omitsOwnSale(symbol) {
		return nil
	}
	on := s.book.situation(&Desired{}, symbol, s.fetched.EndedMS)
	beyond := on.balanceAfterSales(symbol.rules.QuantityOf(s.book.Balance(symbol.rules.Base).Frozen))
	for i := range slices.Backward(sales) {
		sum := exchange.Quantity(0)
		for n := i; n >= 0 && sum < beyond; n-- {
			if sum += sales[n].order.Quantity; sum == beyond && s.book.readAfter(sales[i].atMS) {
				return sales[n : i+1]
			}
		}
	}
	return nil
}

// omitsOwnSale reports whether the open list is known to be wrong about a spot symbol: it omits an own sale that the exchange has acknowledged, and for which
// the wallet freezes the coins, or it still shows one that has ended.
func (s *survey) omitsOwnSale(symbol *SymbolState) bool {
	return slices.Contains(s.old, exchange.Spot) || slices.ContainsFunc(symbol.live, func(p *account.Placement) bool {
		return p.Order().Side == exchange.Sell && s.book.Unlisted(p) && !s.book.delivery(p).unfrozen && s.book.delivery(p).releasedMS == 0
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
