package reconcile

import (
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
	for r := range s.book.refusedOn(symbol.Key()) {
		if r.bought == 0 {
			r.bought = s.walletEvidence().paidThoughRefused(r, symbol)
		}
		if r.bought > 0 && (sinceMS == 0 || r.SentMS < sinceMS) {
			sinceMS = r.SentMS
		}
		bought += r.bought
	}
	return bought, sinceMS
}

// reopenPaid marks confirmed refusals of purchases as unconfirmed again if the wallet shows that their money is gone: the lists that confirmed them
// were too old, or were read before the exchange executed the order. A list may show such an order until W + D + L after the refusal.
func (s unlistedOrders) reopenPaid(symbol *SymbolState) {
	s.book.confirmed = slices.DeleteFunc(s.book.confirmed, func(one RefusedOrder) bool {
		if one.Symbol != symbol.Key() || one.order.Side != exchange.Buy || s.fetched.BeganMS > s.noReadBefore(one.atMS) {
			return false
		}
		if one.bought = s.walletEvidence().paidThoughRefused(&one, symbol); one.bought > 0 {
			s.book.refused = append(s.book.refused, one)
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
	symbol := s.book.Symbol(r.Symbol)
	switch {
	case r.bought == 0:
		return false
	case symbol.spot.unlisted.presumed == 0:
		return symbol.Quarantine() != "" || s.book.mayHaveBought(symbol)
	}
	if r.paid.extend(s.fetched); r.paid.exceeds(s.book.Settle().StalenessMS) {
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
