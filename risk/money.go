package risk

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's own about money: leverage, margin,
// balances. What is in flight or uncertain counts as if it had been accepted and
// filled at a bad price; what the last fetch saw is in its figures already.

// usualSlip is how far a market order in flight is counted to slip where no
// price collar says otherwise.
const usualSlip = exchange.RateOne / 20

// setLeverage: not above the bracket's, and not so low that what is open lacks
// margin.
func (g *Gate) setLeverage(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	truth := facts.Truth
	switch {
	case truth.Rules == nil:
		return f.refuse(intent.Leverage, "a known symbol", "its rules were not fetched yet")
	case intent.Leverage < 1:
		return f.compare(countOf(intent.Leverage), countOf(1).prefixed("at least"), false, "leverage is a whole number from 1")
	case truth.Last <= 0:
		return f.refuse("no price", "a last price", "no price of this symbol was read yet")
	}
	if p := unresolved(facts); p != nil {
		return f.refuse("placement "+p.ClientOrderID+" "+p.State.String(), "a settled symbol", "its outcome is fetched before leverage changes")
	}
	size := max(worst(truth, facts.Book, exchange.Buy), worst(truth, facts.Book, exchange.Sell))
	return g.lowered(intent.Leverage, facts, f) && bracketLeverage(intent.Leverage, max(truth.Last, truth.Mark), size, facts, f)
}

// lowered: with a lower leverage, what is open on the symbol needs more margin.
func (g *Gate) lowered(leverage int, facts *Facts, f *finding) bool {
	truth := facts.Truth
	if truth.Leverage != 0 && leverage >= truth.Leverage {
		return true
	}
	if facts.Book.AccountMS == 0 {
		return f.refuse("unknown", "a fetched margin account", "the account was not fetched yet")
	}
	var held exchange.Amount
	if truth.AtVenue() != 0 {
		held = entryCost(truth)
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == truth.Key && p.Purpose.Opens() {
			held = held.Add(boundedNotional(truth.Rules, basis(&p.Order, truth), p.Remaining()))
		}
	}
	for i := range truth.Foreign {
		if o := &truth.Foreign[i]; !o.Reduces() {
			held = held.Add(boundedNotional(truth.Rules, max(o.Price, o.StopPrice, truth.Last), o.Remaining()))
		}
	}
	var more exchange.Amount // with nothing open too, the exchange wants no less than nothing available
	if !held.IsZero() {
		more = held.Div(int64(leverage)).Add(exchange.AmountOf(1).Div(100)) // a cent for rounding
	}
	if truth.Leverage != 0 {
		more = more.Sub(held.Div(int64(truth.Leverage))).Max(exchange.Amount{})
	}
	free := g.free(facts)
	return f.compare(money(more), money(free), !free.Less(more), "more margin than is available; less size or a deposit")
}

// entryCost is what the position cost.
func entryCost(truth *reconcile.SymbolTruth) exchange.Amount {
	return boundedNotional(truth.Rules, truth.Rules.PriceOf(truth.EntryPrice)+1, max(truth.AtVenue(), -truth.AtVenue()))
}

// bracketLeverage: the bracket that a size falls in bounds leverage, and the last
// one bounds size. A symbol without brackets names no bound.
func bracketLeverage(leverage int, at exchange.Price, size exchange.Quantity, facts *Facts, f *finding) bool {
	rules := facts.Truth.Rules
	brackets, notional := rules.Brackets, boundedNotional(rules, at, size)
	if len(brackets) == 0 {
		return f.compare(countOf(leverage), figure{}, true, "")
	}
	if last := brackets[len(brackets)-1].Max; last.Less(notional) {
		return f.compare(money(notional), money(last), false, "no margin bracket of the symbol reaches this size")
	}
	most := rules.BracketOf(notional).MaxLeverage
	return f.compare(countOf(leverage), countOf(most), leverage <= most, "the margin bracket of this size allows less leverage: lower it, or ask for less")
}

// leverage: the one set on the exchange must be known, and allowed for the
// position as it would be.
func (g *Gate) leverage(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	truth := facts.Truth
	if truth.Key.Market == exchange.Spot {
		return true
	}
	if truth.Leverage == 0 {
		return f.refuse("unknown", "the leverage set on the exchange", "it was not fetched yet")
	}
	at := max(basis(&intent.Order, truth), truth.Last)
	return bracketLeverage(truth.Leverage, at, plus(worst(truth, facts.Book, intent.Order.Side), intent.Order.Quantity), facts, f)
}

// margin: the order's margin fits what is available, everything in flight
// counted. Fees are not part of an order's own margin (decisions.md, margin).
func (g *Gate) margin(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	truth := facts.Truth
	if truth.Key.Market == exchange.Spot {
		return true
	}
	if facts.Book.AccountMS == 0 {
		return f.refuse("unknown", "a fetched margin account", "the account was not fetched yet")
	}
	needed, _ := value(&intent.Order, truth)
	needed = needed.Div(int64(max(truth.Leverage, 1)))
	free := g.free(facts)
	return f.compare(money(needed), money(free), !free.Less(needed), "more margin than is available: less size, more leverage, or a deposit")
}

// free is what is available on futures for one more opening: as fetched, less
// what the prices have taken since, less all that is in flight at its worst.
func (g *Gate) free(facts *Facts) exchange.Amount {
	free := facts.Book.Account.AvailableBalance
	for _, truth := range facts.Book.Symbols() {
		free = free.Add(truth.Moved().Min(exchange.Amount{}))
	}
	var of *reconcile.SymbolTruth // whose slip is known: most orders stand beside others of their symbol
	var away exchange.Price
	for _, p := range facts.Book.Live() {
		if p.Order.Market != exchange.Futures || p.Order.ClosePosition {
			continue
		}
		truth := facts.Book.Symbol(p.Order.Key())
		if truth.Rules == nil {
			continue
		}
		if truth != of {
			of, away = truth, g.slip(truth, facts)
		}
		free = free.Sub(reserve(p, truth, away, facts))
	}
	return free
}

// slip is how far from the last price a fill is counted.
func (g *Gate) slip(truth *reconcile.SymbolTruth, facts *Facts) exchange.Price {
	slip := cmp.Or(facts.Strategy.PriceCollar, g.limits.PriceCollar, usualSlip)
	if account := g.limits.PriceCollar; account != 0 {
		slip = min(slip, account)
	}
	return truth.Rules.PriceOf(truth.Rules.PriceAmount(truth.Last).MulRate(slip)) + 1
}

// reserve is what a placement may still take from what is available: the margin
// of an opening no fetch has seen, its fee, and the loss of a fill through the
// price.
func reserve(p *reconcile.Placement, truth *reconcile.SymbolTruth, away exchange.Price, facts *Facts) exchange.Amount {
	left, rules := p.Remaining(), truth.Rules
	low, high := max(0, truth.Last-away), truth.Last+away
	if p.Order.Type.Priced() {
		if p.Order.Side == exchange.Buy {
			high = p.Order.Price
		} else {
			low, high = p.Order.Price, max(high, p.Order.Price)
		}
	}
	sum := boundedNotional(rules, high, left).MulRate(facts.TakerFee)
	if p.Seen && p.Order.Type.Priced() {
		return sum // it rests: its margin is in the fetched figures, and it fills at its price
	}
	if p.Purpose.Opens() && !p.Seen {
		sum = sum.Add(boundedNotional(rules, high, left).Div(int64(max(truth.Leverage, 1))))
	}
	loss := high - truth.Last
	if p.Order.Side == exchange.Sell {
		loss = truth.Last - low
	}
	return sum.Add(boundedNotional(rules, max(0, loss), left))
}

// balance: a spot order holds what it would spend, the fee included where it is
// paid in USDT; what is in flight is spent already.
func (g *Gate) balance(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	truth, order := facts.Truth, &intent.Order
	if truth.Key.Market != exchange.Spot {
		return true
	}
	if facts.Book.WalletMS == 0 {
		return f.refuse("unknown", "a fetched wallet", "the wallet was not fetched yet")
	}
	asset := truth.Rules.Quote
	if order.Side == exchange.Sell {
		asset = truth.Rules.Base
	}
	need, free := spends(order, order.Quantity, truth, facts), facts.Book.Balance(asset).Free
	for _, p := range facts.Book.Live() {
		if p.Order.Market != exchange.Spot || p.Order.Side != order.Side || p.Seen {
			continue
		}
		other := facts.Book.Symbol(p.Order.Key())
		if other.Rules == nil || order.Side == exchange.Sell && other.Rules.Base != asset || order.Side == exchange.Buy && other.Rules.Quote != asset {
			continue
		}
		free = free.Sub(spends(&p.Order, p.Remaining(), other, facts))
	}
	return f.compare(number(need, unit(asset)), number(free, unit(asset)), !free.Less(need), "more than is free: less size or a deposit; open orders may hold the rest")
}

// spends is what a spot order takes out of the free balance.
func spends(order *exchange.NewOrder, left exchange.Quantity, truth *reconcile.SymbolTruth, facts *Facts) exchange.Amount {
	byAmount := !order.QuoteAmount.IsZero()
	if order.Side == exchange.Sell {
		if byAmount {
			left = truth.Rules.QuantityFor(order.QuoteAmount, truth.Last) + truth.Rules.QuantityTick
		}
		return truth.Rules.QuantityAmount(left)
	}
	spent := order.QuoteAmount
	if !byAmount {
		spent = boundedNotional(truth.Rules, basis(order, truth), left)
	}
	return spent.Add(spent.MulRate(facts.TakerFee))
}
