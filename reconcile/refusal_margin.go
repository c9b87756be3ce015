package reconcile

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/placement"
)

// A futures opening that the exchange refused but executed (exactly-once.md, case 3) may be missing from the lists of orders and positions, if these
// are empty, old or incomplete. The account still shows it, because its margin is in use. If the account uses more margin than the known orders and
// the listed positions need, the refusal is not confirmed; that margin never proves that an order exists.

// heldMargin is the reason for a contradiction between lists and account.
const heldMargin = "the account uses the margin of an opening that the exchange refused, and no list shows that order"

// marginUse measures margin that no known order or position explains.
type marginUse struct {
	*tracked
	observed *observedAccount
	sent     *sentRequests
}

func (t *Tracker) marginUse() marginUse {
	return marginUse{&t.tracked, &t.observedAccount, &t.sentRequests}
}

// beyond returns the margin that the account uses beyond the needs of the listed positions and the known openings. If possible is set, openings that may
// not rest count too. It returns false if the needs are not known.
func (m marginUse) beyond(possible bool) (beyond exchange.Amount, known bool) {
	orders, positions := m.observed.marginAccount.OrderMargin, m.observed.marginAccount.PositionMargin
	if exchange.MaxValue.Less(orders.Abs()) || exchange.MaxValue.Less(positions.Abs()) {
		return exchange.Amount{}, false
	}
	beyond, known = orders.Add(positions), true
	need := func(name string, leverage int, price exchange.Price, quantity exchange.Quantity) {
		key := exchange.SymbolKey{Market: exchange.Futures, Name: name}
		rules := m.rulesOf(key)
		if leverage == 0 && rules != nil {
			leverage = m.Symbol(key).leverage
		}
		if known = known && rules != nil && leverage > 0; !known {
			return
		}
		notional, within := rules.NotionalWithin(price, quantity, exchange.MaxValue)
		known, beyond = within, beyond.Sub(notional.Div(int64(leverage)))
	}
	for i := range m.observed.openPositions {
		if p := &m.observed.openPositions[i]; p.Remaining != 0 {
			if rules := m.rulesOf(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}); rules != nil {
				need(p.Symbol, p.Leverage, rules.PriceOf(p.EntryPrice), p.Remaining)
			} else {
				known = false
			}
		}
	}
	for p := range m.Live() {
		rests := possible || p.State() == placement.Working && m.sent.CancelMS(p.ClientOrderID()) == 0
		if order := p.Order(); rests && order.Market == exchange.Futures && p.Purpose().Opens() {
			need(order.Symbol, 0, m.orderPrice(&order), p.Remaining())
		}
	}
	for symbol := range m.Symbols() {
		for i := range symbol.foreign {
			if o := &symbol.foreign[i]; o.Market == exchange.Futures && !o.Reduces() {
				need(o.Symbol, 0, cmp.Or(o.Price, o.StopPrice, symbol.last), o.Remaining())
			}
		}
	}
	return beyond, known
}

// holdsMargin reports whether the account uses at least half the margin of a refused opening that nothing else needs, and that it did not use before.
// If this persists, the symbol is contradicted. It also reports true while the listed positions need that much more than the account uses, because such a
// list is old. From long before a start nothing is compared, because an exchange may compute the margin from the current price.
func (s refusalChecks) holdsMargin(r *RefusedOrder) bool {
	symbol := s.tracker.Symbol(r.Symbol)
	if !r.Opens() || r.Symbol.Market != exchange.Futures || r.before.atMS == 0 || s.fetched.Account == nil || symbol.rules == nil || symbol.leverage == 0 {
		return false
	}
	beyond, known := s.tracker.marginUse().beyond(false)
	known = known && s.tracker.bootMS <= s.tracker.noReadBefore(r.SentMS)
	needs := symbol.rules.Notional(s.tracker.orderPrice(&r.order), r.order.Quantity).Div(int64(symbol.leverage))
	if known && !beyond.Mul(-2).Less(needs) && !r.before.amount.Sub(beyond).Mul(2).Less(needs) {
		return true
	}
	if !known || beyond.Mul(2).Less(needs) || beyond.Sub(r.before.amount).Mul(2).Less(needs) {
		r.paid.reset()
		return false
	}
	r.paid.extend(s.fetched)
	return true
}

// marginContradicts reports whether the account has used the margin of a refused opening for longer than L.
func (r *refusals) marginContradicts(symbol *SymbolState, stalenessMS int64) bool {
	for one := range r.refusedOn(symbol.Key()) {
		if one.Symbol.Market == exchange.Futures && one.paid.exceeds(stalenessMS) {
			return true
		}
	}
	return false
}
