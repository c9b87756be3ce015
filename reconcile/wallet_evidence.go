package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// walletEvidence determines the quantities that spot orders have bought or sold, from the wallet of a snapshot and the rows that explain it.
type walletEvidence struct{ *evidence }

func (e *evidence) walletEvidence() walletEvidence { return walletEvidence{e} }

// boughtDespiteRefusal returns the quantity that a refused purchase has bought according to the wallet.
func (e walletEvidence) boughtDespiteRefusal(r *RefusedOrder, symbol *SymbolState) exchange.Quantity {
	if e.fetched.BeganMS <= r.atMS || e.tracker.boughtSince(nil, r.before) {
		return 0
	}
	return e.boughtFor(&r.order, r.before, symbol)
}

// boughtFor returns the quantity that a purchase has bought according to the wallet.
func (e walletEvidence) boughtFor(order *exchange.NewOrder, before priorBalance, symbol *SymbolState) exchange.Quantity {
	bought, _ := e.boughtTimes(order, before, symbol)
	return bought
}

// boughtTimes returns the quantity that a purchase has bought according to the wallet, and in how many executions. Both are 0 unless the wallet has lost
// the cost of that many executions, to within one quantity step each, and has gained the units which that money buys.
func (e walletEvidence) boughtTimes(order *exchange.NewOrder, before priorBalance, symbol *SymbolState) (bought exchange.Quantity, times int64) {
	if before.atMS == 0 || !e.fetched.Balances.Done() || e.tracker.StandsDown() {
		return 0, 0
	}
	balance, more := e.tracker.Balance(symbol.rules.Quote), e.tracker.baseBalance(symbol)-before.asset
	paid := before.amount.Sub(balance.Free.Add(balance.Frozen))
	worth, step := symbol.rules.Notional(symbol.last, more), symbol.rules.Notional(symbol.last, symbol.rules.QuantityTick)
	if symbol.tooSmallToTrade(more) || worth.Less(paid.MulRate(exchange.RateOne*9/10)) || paid.Less(worth.MulRate(exchange.RateOne*9/10)) {
		return 0, 0
	}
	for times := int64(1); times <= maxTimes; times++ {
		if costs(order, paid, step, times) {
			return more, times
		}
	}
	return 0, 0
}

// costs reports whether an amount is the cost of a purchase that was executed so many times, to within one quantity step each.
func costs(order *exchange.NewOrder, paid, step exchange.Amount, times int64) bool {
	all := order.QuoteAmount.Mul(times)
	return !all.Less(paid) && !paid.Less(all.Sub(step.MulRate(exchange.RateOne*11/10).Mul(times)))
}

// boughtByMoney returns the least that purchases by amount have bought which the exchange has accepted and no list shows: exactly their money is gone. A
// wallet that shows less of the asset than this is wrong about the asset.
func (e walletEvidence) boughtByMoney(symbol *SymbolState) (sum exchange.Quantity) {
	rules, money := symbol.rules, e.tracker.Balance(symbol.rules.Quote)
	step := rules.Notional(symbol.last, rules.QuantityTick)
	for _, p := range symbol.live {
		order, before := p.Order(), e.tracker.delivery(p).before
		if order.QuoteAmount.IsZero() || !e.tracker.Unlisted(p) || e.tracker.StandsDown() || !e.tracker.readAfter(e.tracker.arrivedMS(p)) ||
			e.tracker.boughtSince(p, before) {
			continue
		}
		if paid := before.amount.Sub(money.Free.Add(money.Frozen)); costs(&order, paid, step, 1) {
			sum += rules.QuantityFor(paid.MulRate(exchange.RateOne*99/100), symbol.last)
		}
	}
	return sum
}

// timesPaid returns how often the exchange may have executed a purchase: once, unless the wallet has since gained more of the asset and lost the
// money for all of it, besides the most that purchases of other assets may have cost, with no other known cause. A deposit costs no money, and a
// person's purchase in the same second would have to be for the same amount.
func (e walletEvidence) timesPaid(p *account.Placement, symbol *SymbolState) exchange.Quantity {
	before := e.tracker.delivery(p).before
	others, cost := e.concurrentPurchases(p, before)
	before.paid = slices.Concat(before.paid, others)
	if e.tracker.StandsDown() || e.tracker.boughtSince(p, before) {
		return 1
	}
	balance := e.tracker.Balance(symbol.rules.Quote)
	paid := before.amount.Sub(balance.Free.Add(balance.Frozen)).Sub(cost)
	more := e.tracker.baseBalance(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees() - symbol.Unattributed()
	if more <= symbol.mayBuy(p) || paid.Less(symbol.rules.Notional(symbol.last, more).MulRate(exchange.RateOne*98/100)) {
		return 1
	}
	return maxTimes
}

// concurrentPurchases returns the live purchases of other assets that a read of the wallet before a purchase did not show, and the most that they may have
// cost: their amounts, or what the units are worth that have come.
func (e walletEvidence) concurrentPurchases(p *account.Placement, before priorBalance) (others []*account.Placement, cost exchange.Amount) {
	for q := range e.tracker.Live() {
		order, on := q.Order(), e.tracker.Symbol(q.Symbol())
		if q == p || order.Side != exchange.Buy || order.QuoteAmount.IsZero() || on.rules == nil || e.tracker.sharesAsset(on, p.Symbol()) ||
			slices.Contains(before.paid, q) {
			continue
		}
		worth := on.rules.Notional(on.last, e.tracker.balanceBeyondFills(on)).MulRate(exchange.RateOne * 102 / 100)
		others, cost = append(others, q), cost.Add(order.QuoteAmount.Max(worth))
	}
	return others, cost
}

// boughtUnread returns the quantity that live and refused purchases have bought according to the wallet while the open list cannot be read. A purchase
// may still rest on that list, so more of the asset alone proves nothing: the money of the purchase must be gone too.
func (e walletEvidence) boughtUnread(symbol *SymbolState) (sum exchange.Quantity) {
	for _, p := range symbol.live {
		order, before := p.Order(), e.tracker.delivery(p).before
		if order.Side == exchange.Buy && e.fetched.BeganMS > e.tracker.arrivedMS(p) && !e.tracker.boughtSince(p, before) {
			sum += e.boughtFor(&order, before, symbol)
		}
	}
	for r := range e.tracker.refusedOn(symbol.Key()) {
		sum += r.bought
	}
	return sum
}

// soldNothing reports whether the wallet shows all of the asset, although it freezes none of it for a
// stop: the stop was canceled, or one of the two reads is older.
func (e walletEvidence) soldNothing(p *account.Placement, symbol *SymbolState) bool {
	if e.tracker.CancelMS(p.ClientOrderID()) == 0 && e.fetched.BeganMS <= e.tracker.arrivedMS(p)+e.tracker.Bounds().StalenessMS {
		return false
	}
	return e.tracker.baseBalance(symbol) >= symbol.Baseline()+symbol.Unattributed()+symbol.Known()-symbol.Fees()
}

// omitsOwnSale reports whether the open list omits a spot sale of botd's that the exchange has acknowledged and for which the wallet freezes the
// asset.
func (e walletEvidence) omitsOwnSale(symbol *SymbolState) bool {
	return slices.ContainsFunc(symbol.live, func(p *account.Placement) bool {
		return p.Order().Side == exchange.Sell && e.tracker.Unlisted(p) && !e.tracker.delivery(p).unfrozen && e.tracker.delivery(p).releasedMS == 0
	})
}

// restingRefusals returns consecutive refused sales of a symbol whose total quantity equals the quantity that the wallet freezes beyond all known sales.
// Unless the open list is known to be wrong, the wallet must not have frozen anything for such sales before: an old one may freeze what has been freed.
func (e walletEvidence) restingRefusals(symbol *SymbolState, sales []*RefusedOrder, wrong bool) []*RefusedOrder {
	on := e.tracker.inputs(&Desired{}, symbol, e.fetched.EndedMS)
	beyond := on.saleEvidence().balanceAfterSales(symbol.rules.QuantityOf(e.tracker.Balance(symbol.rules.Base).Frozen))
	for i := range slices.Backward(sales) {
		sum := exchange.Quantity(0)
		for n := i; n >= 0; n-- {
			sum += sales[n].order.Quantity
			grown := sales[n].before.frozen == 0 && e.tracker.freed(symbol) < sum
			if sum == beyond && (wrong || grown) && e.tracker.readAfter(sales[i].atMS) {
				return sales[n : i+1]
			}
		}
	}
	return nil
}

// lacksSales reports whether the wallet lacks the quantity of a position from before the start, and whether the history shows unclaimed sales of at
// least that quantity: then the journal lacks those sales. The wallet alone may be older than the position.
func (e walletEvidence) lacksSales(symbol *SymbolState) (short, sold bool) {
	missing := symbol.Known() - symbol.Fees() + symbol.Baseline() - e.tracker.baseBalance(symbol)
	if symbol.tooSmallToTrade(missing) {
		return false, false
	}
	_, sum := e.salesOfOthers(symbol)
	return true, symbol.spot.changedMS != 0 && sum >= missing
}

// salesOfOthers returns the quantity that orders which no placement claims have sold since wallet and fills last agreed. A change of the position is
// booked after the read that showed it, and that read may have missed a sale of the same moment.
func (e walletEvidence) salesOfOthers(symbol *SymbolState) (sales []sale, sum exchange.Quantity) {
	from := e.tracker.salesFrom(symbol)
	if symbol.spot.agreedMS == 0 {
		from -= createdSlackMS
	}
	for _, list := range [...]exchange.Fetched[exchange.Order]{e.fetched.SpotOrders, e.fetched.History} {
		if !list.Done() {
			continue
		}
		for i := range list.Items() {
			o := &list.Items()[i]
			counted := slices.ContainsFunc(sales, func(one sale) bool { return one.orderID == o.ID })
			recent := o.CreatedMS >= from || symbol.spot.replaced.mayHaveSold(o.ID)
			if o.Key() == symbol.Key() && o.Side == exchange.Sell && o.Filled > 0 && recent && !counted && !e.tracker.claimed(o) {
				sales = append(sales, sale{o.ID, o.Filled})
			}
		}
	}
	for _, one := range sales {
		sum += one.filled
		for _, before := range symbol.spot.sales {
			if before.orderID == one.orderID {
				sum -= before.filled
			}
		}
	}
	return sales, sum
}

// possibleOwnChange returns the size of a wallet change that botd's own order may have caused although botd has no position: any excess, or a
// shortfall soon after the last sale, because the exchange may have executed that sale twice.
func (e walletEvidence) possibleOwnChange(symbol *SymbolState, more exchange.Quantity) exchange.Quantity {
	bounds := e.tracker.Bounds()
	if more < 0 && e.fetched.BeganMS < symbol.FilledMS()+bounds.WindowMS+bounds.VisibilityMS+bounds.StalenessMS {
		return -more
	}
	return more
}

// shownInWallet returns how much of a spot symbol's base asset a snapshot shows.
func (e walletEvidence) shownInWallet(symbol *SymbolState) exchange.Quantity {
	for _, balance := range e.fetched.Balances.Items() {
		if balance.Asset == symbol.rules.Base {
			return symbol.rules.FloorQuantity(symbol.rules.QuantityOf(balance.Free.Add(balance.Frozen)))
		}
	}
	return 0
}
