package risk

import (
	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's own about money: leverage, margin,
// balances. What is in flight or uncertain counts as if it had been accepted and
// filled at a bad price; what the last fetch saw is in its figures already.

// usualSlip is how far a market order in flight is counted to slip where no
// price collar says otherwise.
const usualSlip = exchange.RateOne / 20

// setLeverage: within the user's limit and the bracket's, and not so low that
// what is open lacks margin.
func (g *Gate) setLeverage(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth := facts.Truth
	limit := tighter(g.limits.MaxLeverage, facts.Strategy.MaxLeverage)
	if limit != 0 && intent.Leverage > limit {
		return named(MaxLeverage, refuse(intent.Leverage, limit, "lower leverage or raise risk.max_leverage"))
	}
	switch {
	case truth.Rules == nil:
		return named("leverage", refuse(intent.Leverage, "a known symbol", "its rules were not fetched yet"))
	case intent.Leverage < 1:
		return named("leverage", refuse(intent.Leverage, "at least 1", "leverage is a whole number from 1"))
	case truth.Last <= 0:
		return named("leverage", refuse("no price", "a last price", "no price of this symbol was read yet"))
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == truth.Key && p.State.Unresolved() {
			return named("leverage", refuse("placement "+p.ClientOrderID+" "+p.State.String(), "a settled symbol", "its outcome is fetched before leverage changes"))
		}
	}
	size := max(worst(truth, facts.Book, exchange.Buy), worst(truth, facts.Book, exchange.Sell))
	if refusal := venueLeverage(intent.Leverage, truth.Rules.Notional(max(truth.Last, truth.Mark), size), facts); refusal != nil {
		return named("leverage", refusal)
	}
	return named("leverage", g.lowered(intent.Leverage, facts))
}

// lowered: with a lower leverage, what is open on the symbol needs more margin.
func (g *Gate) lowered(leverage int, facts *Facts) *Refusal {
	truth := facts.Truth
	if truth.Leverage != 0 && leverage >= truth.Leverage {
		return nil
	}
	var held exchange.Amount
	if truth.AtVenue() != 0 {
		held = amountOf(truth.EntryPrice, truth)
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == truth.Key && p.Purpose.Opens() {
			held = held.Add(truth.Rules.Notional(basis(&p.Order, truth), p.Remaining()))
		}
	}
	for i := range truth.Foreign {
		if o := &truth.Foreign[i]; !o.Reduces() {
			held = held.Add(truth.Rules.Notional(max(o.Price, o.StopPrice, truth.Last), o.Remaining()))
		}
	}
	if facts.Book.AccountMS == 0 {
		return refuse("unknown", "a fetched margin account", "the account was not fetched yet")
	}
	var more exchange.Amount // with nothing open too, the exchange wants no less than nothing available
	if !held.IsZero() {
		more = held.Div(int64(leverage)).Add(exchange.AmountOf(1).Div(100)) // a cent for rounding
	}
	if truth.Leverage != 0 {
		more = more.Sub(held.Div(int64(truth.Leverage))).Max(exchange.Amount{})
	}
	if free := g.free(facts); free.Less(more) {
		return refuse(more.String()+" USDT more margin", free.String()+" USDT available", "less size or a deposit")
	}
	return nil
}

// amountOf is what the position cost.
func amountOf(entry exchange.Amount, truth *reconcile.SymbolTruth) exchange.Amount {
	return truth.Rules.Notional(truth.Rules.PriceOf(entry)+1, max(truth.AtVenue(), -truth.AtVenue()))
}

func named(rule string, refusal *Refusal) *Refusal {
	if refusal != nil {
		refusal.Rule = rule
	}
	return refusal
}

// venueLeverage: the bracket that a size falls in bounds leverage, and the last
// one bounds size. A symbol without brackets names no bound.
func venueLeverage(leverage int, notional exchange.Amount, facts *Facts) *Refusal {
	brackets := facts.Truth.Rules.Brackets
	if len(brackets) == 0 {
		return nil
	}
	if last := brackets[len(brackets)-1].Max; last.Less(notional) {
		return refuse(notional.String()+" USDT", "at most "+last.String()+" USDT", "no margin bracket of the symbol reaches this size")
	}
	if most := facts.Truth.Rules.BracketOf(notional).MaxLeverage; leverage > most {
		return refuse(leverage, most, "the margin bracket of "+notional.String()+" USDT allows less leverage: lower it, or ask for less")
	}
	return nil
}

// leverage: the one set on the exchange must be known, within limits, and
// allowed for the position as it would be.
func (g *Gate) leverage(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth := facts.Truth
	if truth.Key.Market == exchange.Spot {
		return nil
	}
	if truth.Leverage == 0 {
		return refuse("unknown", "the leverage set on the exchange", "it was not fetched yet")
	}
	if limit := tighter(g.limits.MaxLeverage, facts.Strategy.MaxLeverage); limit != 0 && truth.Leverage > limit {
		return named(MaxLeverage, refuse(truth.Leverage, limit, "lower leverage or raise risk.max_leverage"))
	}
	price := max(basis(&intent.Order, truth), truth.Last)
	after := truth.Rules.Notional(price, worst(truth, facts.Book, intent.Order.Side)+intent.Order.Quantity)
	return venueLeverage(truth.Leverage, after, facts)
}

// margin: the order's margin fits what is available, everything in flight
// counted. Fees are not part of an order's own margin (decisions.md, margin).
func (g *Gate) margin(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth := facts.Truth
	if truth.Key.Market == exchange.Spot {
		return nil
	}
	if facts.Book.AccountMS == 0 {
		return refuse("unknown", "a fetched margin account", "the account was not fetched yet")
	}
	need, free := value(&intent.Order, truth).Div(int64(max(truth.Leverage, 1))), g.free(facts)
	if free.Less(need) {
		return refuse(need.String()+" USDT", free.String()+" USDT available", "less size, more leverage, or a deposit")
	}
	return nil
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
	slip := tighter(g.limits.PriceCollar, facts.Strategy.PriceCollar)
	if slip == 0 {
		slip = usualSlip
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
	sum := rules.Notional(high, left).MulRate(facts.TakerFee)
	if p.Seen && p.Order.Type.Priced() {
		return sum // it rests: its margin is in the fetched figures, and it fills at its price
	}
	if p.Purpose.Opens() && !p.Seen {
		sum = sum.Add(rules.Notional(high, left).Div(int64(max(truth.Leverage, 1))))
	}
	loss := high - truth.Last
	if p.Order.Side == exchange.Sell {
		loss = truth.Last - low
	}
	return sum.Add(rules.Notional(max(0, loss), left))
}

// balance: a spot order holds what it would spend, the fee included where it is
// paid in USDT; what is in flight is spent already.
func (g *Gate) balance(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth, order := facts.Truth, &intent.Order
	if truth.Key.Market != exchange.Spot {
		return nil
	}
	if facts.Book.WalletMS == 0 {
		return refuse("unknown", "a fetched wallet", "the wallet was not fetched yet")
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
	if free.Less(need) {
		return refuse(need.String()+" "+asset, free.String()+" "+asset+" free", "less size or a deposit; open orders may hold the rest")
	}
	return nil
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
	cost := order.QuoteAmount
	if !byAmount {
		cost = truth.Rules.Notional(basis(order, truth), left)
	}
	return cost.Add(cost.MulRate(facts.TakerFee))
}
