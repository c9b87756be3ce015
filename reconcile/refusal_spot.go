package reconcile

import (
	"iter"
	"slices"

	"botd/exchange"
)

// A spot purchase that the exchange refused but executed (exactly-once.md, case 3) may be missing from the order history too. The wallet still shows
// it: since the order was sent, the asset has grown, and exactly the money of this order is gone. A deposit costs no money, and it is unlikely that a
// person buys for the same amount in the same seconds. The purchased quantity gets a stop, and the refusal stays unconfirmed.

// noteRefusedPurchases records the quantity that a symbol's refused purchases have bought according to the wallet. It returns the sum and the send
// time of the oldest.
func (s unlistedOrders) noteRefusedPurchases(symbol *SymbolState) (bought exchange.Quantity, sinceMS int64) {
	s.reopenPaid(symbol)
	for r := range s.tracker.refusedOn(symbol.Key()) {
		if r.bought == 0 {
			r.bought = s.walletEvidence().boughtDespiteRefusal(r, symbol)
		}
		if r.bought > 0 && (sinceMS == 0 || r.SentMS < sinceMS) {
			sinceMS = r.SentMS
		}
		bought += r.bought
	}
	return bought, sinceMS
}

// predatesRefusal reports whether the snapshot began before the answer to a refused purchase on the symbol: its wallet may already contain what that
// purchase has bought, which is not a person's.
func (s walletComparison) predatesRefusal(symbol *SymbolState) bool {
	for r := range s.tracker.refusedOn(symbol.Key()) {
		if r.order.Side == exchange.Buy && s.fetched.BeganMS <= r.atMS {
			return true
		}
	}
	return false
}

// reopenPaid marks confirmed refusals of purchases as unconfirmed again if the wallet shows that their money is gone: the lists that confirmed them
// were too old, or were read before the exchange executed the order. A list may show such an order until W + D + L after the refusal.
func (s unlistedOrders) reopenPaid(symbol *SymbolState) {
	s.tracker.confirmed = slices.DeleteFunc(s.tracker.confirmed, func(one RefusedOrder) bool {
		if one.Symbol != symbol.Key() || one.order.Side != exchange.Buy || s.fetched.BeganMS > s.tracker.noReadBefore(one.atMS) {
			return false
		}
		if one.bought = s.walletEvidence().boughtDespiteRefusal(&one, symbol); one.bought > 0 {
			s.tracker.refused = append(s.tracker.refused, one)
		}
		return one.bought > 0
	})
}

// repeatsRefused reports whether a row without an id equals a refused purchase in every parameter and was created in the same seconds, while the wallet
// shows that its money is gone: then it is that purchase.
func (r *refusals) repeatsRefused(o *exchange.Order) bool {
	return slices.ContainsFunc(r.refused, func(one RefusedOrder) bool {
		return one.bought > 0 && sameParameters(o, &one.order) && exchange.Quantity(o.CreatedMS-one.SentMS).Abs() <= repeatedMS
	})
}

// paidFor reports whether the wallet has shown the result of a purchase that the exchange refused, since the start or before it.
func (r *refusals) paidFor(symbol *SymbolState) bool {
	if symbol.spot.inherited.quantity > 0 {
		return true
	}
	for one := range r.refusedOn(symbol.Key()) {
		if one.bought > 0 {
			return true
		}
	}
	return false
}

// executedUnlisted reports whether a refusal cannot be confirmed because the wallet has shown the purchase. If this persists, it needs manual
// resolution.
func (s refusalChecks) executedUnlisted(r *RefusedOrder) bool {
	symbol := s.tracker.Symbol(r.Symbol)
	switch {
	case r.bought == 0:
		return false
	case symbol.spot.unlisted.inferred == 0:
		return symbol.Quarantine() != "" || s.tracker.mayHaveBought(symbol)
	}
	if r.paid.extend(s.fetched); r.paid.exceeds(s.tracker.Bounds().StalenessMS) {
		s.quarantine(symbol, "the wallet change matches the refused purchase "+r.clientOrderID+", but no list shows a fill")
	}
	return true
}

// forgetRefused discards this evidence, and that of stops, for orders that a list has shown or a person has decided.
func (r *refusals) forgetRefused(of func(*RefusedOrder) bool) {
	for i := range r.refused {
		if one := &r.refused[i]; of(one) {
			one.bought, one.before, one.paid, one.decided = 0, priorBalance{}, persistence{}, true
		}
	}
	for i := range r.confirmed {
		if one := &r.confirmed[i]; one.order.Side == exchange.Buy && of(one) {
			one.before = priorBalance{}
		}
	}
}

// The exchange may refuse a spot sale and execute it all the same (exactly-once.md, case 3). The order history may then omit the sale for minutes, but
// the wallet shows it: since the order was sent, some of the asset has left, at most the order's quantity, and the money for it has arrived. Nothing
// else looks like this: a wallet that is wrong about the asset, or a withdrawal, shows no money. Until the wallet again shows everything that the fills
// explain, botd sells no more than the wallet holds beyond a person's units.

// noteRefusedSales records which of a symbol's refused sales the newest wallet shows.
func (s unlistedOrders) noteRefusedSales(symbol *SymbolState) {
	for r := range s.tracker.salesOn(symbol.Key()) {
		if !s.tracker.readAfter(r.atMS) || s.tracker.showsEarlier(symbol) {
			continue
		}
		if r.sold {
			r.sold = s.tracker.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
			continue
		}
		missing := r.before.asset - s.tracker.baseBalance(symbol)
		balance, worth := s.tracker.Balance(symbol.rules.Quote), symbol.rules.Notional(symbol.last, missing)
		got := balance.Free.Add(balance.Frozen).Sub(r.before.amount)
		beyond := missing - s.possiblySoldUnlisted(symbol) // an accepted sale that no list shows explains the missing quantity at least as well
		r.sold = !symbol.tooSmallToTrade(beyond) && beyond <= r.order.Quantity && !s.tracker.boughtSince(nil, r.before) &&
			!got.Less(worth.MulRate(exchange.RateOne*9/10)) && !worth.Less(got.MulRate(exchange.RateOne*9/10))
	}
}

// possiblySoldUnlisted returns the quantity that live sales of a symbol missing from the open list may have sold.
func (s unlistedOrders) possiblySoldUnlisted(symbol *SymbolState) (sum exchange.Quantity) {
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && s.tracker.delivery(p).releasedMS == 0 && (!p.Seen() || s.tracker.Unlisted(p)) {
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

// A spot sale that the exchange refused but accepted (exactly-once.md, case 3) rests, and the wallet freezes its asset. An open list may
// omit it, possibly for minutes: another sale alongside it would sell a person's holdings. While the wallet freezes exactly the quantity of refused sales
// beyond all known ones, these count as resting, for stops only until lists have confirmed the refusal, unless the open list omits other orders of botd's.

// maxFrozenRefusals limits how many refused sales of a symbol, the newest ones, are compared with the wallet.
const maxFrozenRefusals = 8

// noteFrozenRefusals records which of a symbol's refused sales rest according to the newest wallet; old reports whether the open list shows orders that
// have ended. If a sale rested and its quantity is then missing from the wallet, it was executed.
func (s unlistedOrders) noteFrozenRefusals(symbol *SymbolState, old bool) {
	sales := slices.Collect(s.tracker.salesOn(symbol.Key()))
	slices.SortStableFunc(sales, func(a, b *RefusedOrder) int { return int(a.atMS - b.atMS) })
	sales = sales[max(0, len(sales)-maxFrozenRefusals):]
	wrong := old || s.walletEvidence().omitsOwnSale(symbol)
	resting := s.walletEvidence().restingRefusals(symbol, sales, wrong)
	for _, r := range sales {
		before := r.frozen
		if r.frozen = slices.Contains(resting, r); before && !r.frozen {
			r.sold = r.sold || s.tracker.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()
		}
		confirmed := slices.ContainsFunc(s.tracker.confirmed, func(one RefusedOrder) bool { return one.clientOrderID == r.clientOrderID })
		r.onlyFrozen = r.frozen && confirmed && !wrong
	}
}

// frozenThoughRefused returns the quantity that refused sales of a spot symbol hold, according to the wallet; alone also counts those that only the
// wallet shows, against lists.
func (r *refusals) frozenThoughRefused(key exchange.SymbolKey, alone bool) (sum exchange.Quantity) {
	for one := range r.salesOn(key) {
		if one.frozen && (alone || !one.onlyFrozen) {
			sum += one.order.Quantity
		}
	}
	return sum
}
