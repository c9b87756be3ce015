package risk

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// The rules of this file are the exchange's rules about money: leverage, margin and balances. An
// order in flight or uncertain is counted as accepted and filled at a bad price. The balances of the
// last read already include every order that the read returned.

// defaultCollar is the account's default price collar. If none is set, it still is the slippage assumed for orders in flight. A spot exit never
// goes further.
const defaultCollar = exchange.RateOne / 20

// setLeverage requires a leverage that the bracket allows and that leaves enough margin for the
// open position and orders.
func (g *Gate) setLeverage(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state := facts.State
	switch {
	case state.Rules() == nil:
		return f.refuse(intent.Leverage, "a known symbol", "its rules have not been fetched yet")
	case intent.Leverage < 1:
		return f.compare(countOf(intent.Leverage), countOf(1).prefixed("at least"), false, "leverage is a whole number from 1")
	case state.Last() <= 0:
		return f.refuse("no price", "a last price", "no price of this symbol has been read yet")
	}
	if p := facts.opening(intent.Strategy).uncertain(); p != nil {
		return f.refuse("placement "+p.ClientOrderID()+" "+p.State().String(), "a settled symbol", "its outcome must be known before leverage changes")
	}
	size := max(worstCaseSize(state, exchange.Buy), worstCaseSize(state, exchange.Sell))
	return g.marginAtLowerLeverage(intent.Leverage, facts, f) && bracketLeverage(intent.Leverage, max(state.Last(), state.Mark()), size, facts, f)
}

// marginAtLowerLeverage requires enough margin to hold the symbol's open position and orders at the lower
// leverage.
func (g *Gate) marginAtLowerLeverage(leverage int, facts *Facts, f *finding) bool {
	state := facts.State
	if state.Leverage() != 0 && leverage >= state.Leverage() {
		return true
	}
	if facts.Tracker.AccountMS() == 0 {
		return f.refuse("unknown", "a fetched margin account", "the account has not been fetched yet")
	}
	var open exchange.Amount
	if state.AtVenue() != 0 {
		open = entryCost(state)
	}
	for p := range state.Live() {
		if p.Purpose().Opens() {
			open = open.Add(boundedNotional(state.Rules(), valuationPrice(new(p.Order()), state), p.Remaining()))
		}
	}
	for _, o := range state.Foreign() {
		if !o.Reduces() {
			open = open.Add(boundedNotional(state.Rules(), max(o.Price, o.StopPrice, state.Last()), o.Remaining()))
		}
	}
	var more exchange.Amount // the exchange refuses with a negative balance even when nothing is open
	if !open.IsZero() {
		more = open.Div(int64(leverage)).Add(exchange.AmountOf(1).Div(100)) // a cent for rounding
	}
	if state.Leverage() != 0 {
		more = more.Sub(open.Div(int64(state.Leverage()))).Max(exchange.Amount{})
	}
	free := g.free(facts)
	return f.compare(number(more, "USDT more margin"), number(free, "USDT available"), !free.Less(more), "reduce the size or deposit")
}

// entryCost returns the value of the exchange's position at its entry price, rounded up by one price unit.
func entryCost(state *reconcile.SymbolState) exchange.Amount {
	return boundedNotional(state.Rules(), state.Rules().PriceOf(state.EntryPrice())+1, state.AtVenue().Abs())
}

// bracketLeverage applies the margin bracket of a size, which bounds leverage; the last bracket
// bounds the size itself. If the brackets are unknown, only leverage 1 is allowed, because it
// borrows nothing.
func bracketLeverage(leverage int, at exchange.Price, size exchange.Quantity, facts *Facts, f *finding) bool {
	rules := facts.State.Rules()
	brackets, notional := rules.Brackets, boundedNotional(rules, at, size)
	if len(brackets) == 0 {
		return f.compare(countOf(leverage), countOf(1), leverage <= 1,
			"the exchange has sent no margin levels for this symbol, so no bracket limits leverage: set leverage 1, or wait for them (read every minute)")
	}
	if last := brackets[len(brackets)-1].Max; last.Less(notional) {
		return f.compare(money(notional), money(last), false, "no margin bracket of the symbol reaches this size")
	}
	maxLeverage := rules.BracketOf(notional).MaxLeverage
	return f.compare(countOf(leverage), countOf(maxLeverage), leverage <= maxLeverage,
		"the margin bracket of this size allows less leverage: lower it, or reduce the order")
}

// leverage requires that the leverage set on the exchange is known and that the resulting position
// is allowed to have it.
func (g *Gate) leverage(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state := facts.State
	if state.Key().Market == exchange.Spot {
		return true
	}
	if state.Leverage() == 0 {
		return f.refuse("unknown", "the leverage set on the exchange", "it has not been fetched yet")
	}
	at := max(valuationPrice(&intent.Order, state), state.Last())
	return bracketLeverage(state.Leverage(), at, addSaturating(worstCaseSize(state, intent.Order.Side), intent.Order.Quantity), facts, f)
}

// margin requires the order's margin to be available, with everything in flight counted.
// Fees are not part of an order's own margin (docs/exchange.md, margin).
func (g *Gate) margin(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state := facts.State
	if state.Key().Market == exchange.Spot {
		return true
	}
	if facts.Tracker.AccountMS() == 0 {
		return f.refuse("unknown", "a fetched margin account", "the account has not been fetched yet")
	}
	needed, _ := value(&intent.Order, state)
	needed = needed.Div(int64(max(state.Leverage(), 1)))
	return f.available(needed, g.free(facts))
}

// available requires margin to be free.
func (f *finding) available(needed, free exchange.Amount) bool {
	return f.compare(money(needed), number(free, "USDT available"), !free.Less(needed), "reduce the size, raise the leverage, or deposit")
}

// Margin returns the rejection of an opening that needs more margin than is free, or nil if enough is free.
func Margin(needed, free exchange.Amount) *Rejection {
	f := finding{rule: "margin"}
	if f.refused = !f.available(needed, free); f.refused {
		return f.rejection()
	}
	return nil
}

// free returns the margin available for another opening: the last read value, less losses from
// price changes since, less everything in flight at its worst case.
func (g *Gate) free(facts *Facts) exchange.Amount {
	collar := g.collar(facts)
	if in := g.pass(facts, collar); in != nil {
		return in.free
	}
	return sumFree(facts, collar)
}

func sumFree(facts *Facts, collar exchange.Rate) exchange.Amount {
	free := facts.Tracker.Account().AvailableBalance
	for state := range facts.Tracker.Symbols() {
		free = free.Add(state.ProfitChange().Min(exchange.Amount{}))
		if state.LiveCount() > 0 {
			free = free.Sub(marginInFlight(state, collar, facts))
		}
	}
	return free
}

// marginInFlight returns the margin that a symbol's live placements may still take.
func marginInFlight(state *reconcile.SymbolState, collar exchange.Rate, facts *Facts) (sum exchange.Amount) {
	if away, takes := slippage(state, collar); takes {
		for p := range state.Live() {
			sum = sum.Add(marginReserve(p, state, away, facts))
		}
	}
	return sum
}

// slippage returns the assumed distance of a fill from a symbol's last price, or false if its orders count as taking no margin: on spot, and without
// rules.
func slippage(state *reconcile.SymbolState, collar exchange.Rate) (away exchange.Price, takes bool) {
	if state.Rules() == nil || state.Key().Market != exchange.Futures {
		return 0, false
	}
	return state.Rules().PriceOf(state.Rules().PriceAmount(state.Last()).MulRate(collar)) + 1, true
}

// collar returns the assumed distance of a fill from the last price: the strategy's price collar, or else
// the account's or the default, and at most the account's.
func (g *Gate) collar(facts *Facts) exchange.Rate {
	collar := cmp.Or(facts.Strategy.PriceCollar, g.limits.PriceCollar, defaultCollar)
	if account := g.limits.PriceCollar; account != 0 {
		collar = min(collar, account)
	}
	return collar
}

// ExitCollar returns the maximum distance of a spot exit's price beyond the last price: the default, unless
// the account's or the strategy's limits set less.
func ExitCollar(account, own *Limits) exchange.Rate {
	collar := exchange.Rate(defaultCollar)
	for _, limits := range [...]*Limits{account, own} {
		if limits.PriceCollar != 0 {
			collar = min(collar, limits.PriceCollar)
		}
	}
	return collar
}

// marginReserve returns the margin that a placement may still take: the margin of an opening that no read
// has returned yet, its fee, and the loss of a fill through the price.
func marginReserve(p *account.Placement, state *reconcile.SymbolState, away exchange.Price, facts *Facts) exchange.Amount {
	if p.Order().ClosePosition {
		return exchange.Amount{}
	}
	left, rules := p.Remaining(), state.Rules()
	low, high := max(0, state.Last()-away), state.Last()+away
	if p.Order().Type.Priced() {
		if p.Order().Side == exchange.Buy {
			high = p.Order().Price
		} else {
			low, high = p.Order().Price, max(high, p.Order().Price)
		}
	}
	sum := boundedNotional(rules, high, left).MulRate(facts.TakerFee)
	if p.Seen() && p.Order().Type.Priced() {
		return sum // the order rests: the read figures include its margin, and it fills at its price
	}
	if p.Purpose().Opens() && !p.Seen() {
		sum = sum.Add(boundedNotional(rules, high, left).Div(int64(max(state.Leverage(), 1))))
	}
	loss := high - state.Last()
	if p.Order().Side == exchange.Sell {
		loss = state.Last() - low
	}
	return sum.Add(boundedNotional(rules, max(0, loss), left))
}

// balance requires a free balance that covers a spot order, and the fee of a purchase in case it is charged
// in the quote asset. Orders in flight count as spent.
func (g *Gate) balance(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state, order := facts.State, &intent.Order
	if state.Key().Market != exchange.Spot {
		return true
	}
	if facts.Tracker.WalletMS() == 0 {
		return f.refuse("unknown", "a fetched wallet", "the wallet has not been fetched yet")
	}
	asset := state.Rules().Quote
	if order.Side == exchange.Sell {
		asset = state.Rules().Base
	}
	need, free := balanceNeeded(order, order.Quantity, state, facts), freeOf(asset, order.Side, facts)
	return f.compare(figure{number: need, unit: unit(asset), fine: true}, figure{number: free, unit: unit(asset), fine: true}, !free.Less(need),
		"reduce the size or deposit; open orders may lock the rest")
}

// freeOf returns the free balance of the asset that a spot order on this side spends. Orders in
// flight count as spent.
func freeOf(asset string, side exchange.Side, facts *Facts) exchange.Amount {
	free := facts.Tracker.Balance(asset).Free
	for p := range facts.Tracker.InFlight() {
		if p.Symbol().Market != exchange.Spot || p.Side() != side || p.Seen() {
			continue
		}
		other := facts.Tracker.Symbol(p.Symbol())
		if other.Rules() == nil || side == exchange.Sell && other.Rules().Base != asset || side == exchange.Buy && other.Rules().Quote != asset {
			continue
		}
		free = free.Sub(balanceNeeded(new(p.Order()), p.Remaining(), other, facts))
	}
	return free
}

// BuyingPower returns the value of the largest opening that the free funds can pay for, fee included. It
// uses the given leverage, or, if that is 0, the leverage set on the exchange. It is zero until the
// symbol's rules and the market's funds have been read.
func (g *Gate) BuyingPower(leverage int, facts *Facts) exchange.Amount {
	state := facts.State
	if state.Rules() == nil {
		return exchange.Amount{}
	}
	leverage = max(1, cmp.Or(leverage, state.Leverage()))
	free := exchange.Amount{}
	switch spot := state.Key().Market == exchange.Spot; {
	case spot && facts.Tracker.WalletMS() != 0:
		leverage, free = 1, freeOf(state.Rules().Quote, exchange.Buy, facts)
	case !spot && facts.Tracker.AccountMS() != 0:
		free = g.free(facts)
	}
	one := int64(exchange.RateOne)
	return free.Max(exchange.Amount{}).Mul(int64(leverage)).MulDiv(one, one+int64(leverage)*int64(facts.TakerFee))
}

// balanceNeeded returns the amount that a spot order takes from the free balance.
func balanceNeeded(order *exchange.NewOrder, left exchange.Quantity, state *reconcile.SymbolState, facts *Facts) exchange.Amount {
	byAmount := !order.QuoteAmount.IsZero()
	if order.Side == exchange.Sell {
		if byAmount {
			left = state.Rules().QuantityFor(order.QuoteAmount, state.Last()) + state.Rules().QuantityTick
		}
		return state.Rules().QuantityAmount(left)
	}
	spent := order.QuoteAmount
	if !byAmount {
		spent = boundedNotional(state.Rules(), valuationPrice(order, state), left)
	}
	return spent.Add(spent.MulRate(facts.TakerFee))
}
