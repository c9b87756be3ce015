package risk

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's rules about a single order (interface, rules 1 to 12).
// botd checks them before sending so that the exchange has no reason to refuse. Rules that depend
// on other orders are in position.go and money.go.

func (g *Gate) symbol(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	rules := facts.State.Rules()
	switch {
	case rules == nil:
		return f.refuse(intent.Order.Symbol, "a known symbol", "its rules have not been fetched yet")
	case !rules.Tradable:
		return f.refuse("isTrade false", "true", "the exchange currently accepts no new orders on this symbol; its rules are read again soon")
	case rules.ReduceOnly && rules.Market == exchange.Futures && !intent.Order.Reduces():
		return f.refuse("isReduceOnly true", "reduceOnly orders", "the exchange allows only closing positions on this symbol")
	}
	return true
}

// cancelable refuses a cancel while the symbol's isCancelOrder is false.
func (g *Gate) cancelable(_ *reconcile.Intent, facts *Facts, f *finding) bool {
	if rules := facts.State.Rules(); rules != nil && !rules.Cancelable {
		return f.refuse("isCancelOrder false", "true", "the exchange currently refuses cancels on this symbol; its rules are read again soon")
	}
	return true
}

// shape requires consistent fields (interface, POST /fhapi/v1/order and the spot
// order body).
func (g *Gate) shape(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	order, rules := &intent.Order, facts.State.Rules()
	futures := facts.State.Key().Market == exchange.Futures
	switch {
	case order.Side != exchange.Buy && order.Side != exchange.Sell:
		return f.refuse(order.Side, "BUY or SELL", "an order has a side")
	case order.Type < exchange.Limit || order.Type > exchange.TakeProfitMarket,
		len(rules.OrderTypes) > 0 && !slices.Contains(rules.OrderTypes, order.Type):
		return f.refuse(order.Type, fmt.Sprint(rules.OrderTypes), "the symbol accepts these order types")
	case order.ReduceOnly && order.ClosePosition:
		return f.refuse("reduceOnly and closePosition", "one of them", "they must not both be true (rule 3)")
	case !futures && (order.Reduces() || order.PostOnly):
		return f.refuse("reduceOnly, closePosition or postOnly", "none on spot", "spot orders have no such fields")
	case order.PostOnly && order.Type != exchange.Limit:
		return f.refuse("postOnly "+order.Type.String(), "LIMIT", "postOnly is only for LIMIT")
	case futures && !order.QuoteAmount.IsZero(), !order.QuoteAmount.IsZero() && order.Type != exchange.MarketOrder:
		return f.refuse(order.QuoteAmount.String()+" USDT", "a base quantity", "only a spot MARKET order is by amount")
	case futures && order.Type.Conditional() != (order.WorkingType != exchange.NoWorkingType), order.WorkingType > exchange.MarkPrice:
		return f.refuse("workingType "+order.WorkingType.String(), "one for conditional futures orders, none for others", "MARK_PRICE or CONTRACT_PRICE")
	}
	return true
}

// price requires a last price, by which the other rules value the order, and exactly the prices that the
// order's type takes.
func (g *Gate) price(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	order, rules := &intent.Order, facts.State.Rules()
	if facts.State.Last() <= 0 {
		return f.refuse("none", "a last price", "no price of this symbol has been read yet")
	}
	for _, p := range []struct {
		name  string
		price exchange.Price
		takes bool
	}{{"price", order.Price, order.Type.Priced()}, {"stopPrice", order.StopPrice, order.Type.Conditional()}} {
		if p.takes && p.price <= 0 {
			return f.refuse(p.name+" "+rules.PriceDecimal(p.price).String(), "above 0", order.Type.String()+" needs a "+p.name)
		}
		if !p.takes && p.price != 0 {
			return f.refuse(p.name+" "+rules.PriceDecimal(p.price).String(), "none", order.Type.String()+" takes no "+p.name)
		}
	}
	return f.compare(priceOf(rules, valuationPrice(order, facts.State)), number(exchange.Amount{}, plain).prefixed("above"), true, "")
}

func (g *Gate) priceTick(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	rules, shown := facts.State.Rules(), max(intent.Order.Price, intent.Order.StopPrice)
	tick := priceOf(rules, rules.PriceTick).prefixed("a multiple of")
	for _, p := range [...]exchange.Price{intent.Order.Price, intent.Order.StopPrice} {
		if !rules.OnPriceTick(p) {
			nearest := fmt.Sprintf("nearest: %s or %s", rules.PriceDecimal(rules.FloorPrice(p)), rules.PriceDecimal(rules.CeilPrice(p)))
			return f.compare(priceOf(rules, p), tick, false, nearest)
		}
	}
	if shown == 0 {
		return true
	}
	return f.compare(priceOf(rules, shown), tick, true, "")
}

func (g *Gate) quantityTick(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	rules, size := facts.State.Rules(), intent.Order.Quantity
	byAmount := intent.Order.Market == exchange.Spot && intent.Order.Type == exchange.MarketOrder
	switch {
	case intent.Order.ClosePosition || byAmount:
		if size != 0 {
			return f.compare(sizeOf(rules, size), countOf(0), false, "closePosition and spot MARKET orders carry no quantity (rule 8)")
		}
		if byAmount && intent.Order.QuoteAmount.Sign() <= 0 {
			return f.refuse(intent.Order.QuoteAmount, "above 0", "a spot market order carries an amount in USDT")
		}
		return true
	case size <= 0:
		return f.compare(sizeOf(rules, size), countOf(0).prefixed("above"), false, "an order needs a quantity")
	}
	return f.compare(sizeOf(rules, size), sizeOf(rules, rules.QuantityTick).prefixed("a multiple of"), rules.OnQuantityTick(size),
		"quantities are whole ticks")
}

// valuationPrice returns the price at which an order is valued (rule 2).
func valuationPrice(order *exchange.NewOrder, state *reconcile.SymbolState) exchange.Price {
	switch {
	case order.Type.Priced():
		return order.Price
	case order.Type.Conditional():
		return order.StopPrice
	}
	return state.Last()
}

// notionalOf returns the value of a quantity at a price, capped at exchange.MaxValue, and whether it is
// exact.
func notionalOf(rules *exchange.Symbol, at exchange.Price, size exchange.Quantity) (exchange.Amount, bool) {
	amount, known := rules.NotionalWithin(at, size, exchange.MaxValue)
	return amount.Min(exchange.MaxValue), known
}

// boundedNotional returns the value of a quantity at a price, capped at exchange.MaxValue.
func boundedNotional(rules *exchange.Symbol, at exchange.Price, size exchange.Quantity) exchange.Amount {
	amount, _ := notionalOf(rules, at, size)
	return amount
}

// value returns an order's value, capped at exchange.MaxValue, and whether it is exact.
func value(order *exchange.NewOrder, state *reconcile.SymbolState) (exchange.Amount, bool) {
	if !order.QuoteAmount.IsZero() {
		return order.QuoteAmount.Min(exchange.MaxValue), order.QuoteAmount.Less(exchange.MaxValue)
	}
	return notionalOf(state.Rules(), valuationPrice(order, state), order.Quantity)
}

// orderedQuantity returns an order's quantity. An amount is converted at the last price.
func orderedQuantity(order *exchange.NewOrder, state *reconcile.SymbolState) exchange.Quantity {
	if order.QuoteAmount.IsZero() {
		return order.Quantity
	}
	return addSaturating(order.Quantity, state.Rules().QuantityFor(order.QuoteAmount, state.Last()))
}

func (g *Gate) notional(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	order, rules := &intent.Order, facts.State.Rules()
	if order.ClosePosition {
		return true
	}
	lowest, highest := money(rules.MinNotional), money(rules.MaxNotional)
	limit := lowest
	limit.upTo = rules.MaxNotional
	notional, known := value(order, facts.State)
	switch {
	case !known || rules.MaxNotional.Less(notional):
		return f.compare(money(notional), highest.prefixed("at most"), false, "the order is too large for this symbol (rule 2)")
	case notional.Less(rules.MinNotional):
		return f.compare(money(notional), lowest.prefixed("at least"), false, "the order is too small for this symbol (rule 2)")
	}
	return f.compare(money(notional), limit, true, "")
}

// triggerReference returns the price that triggers a conditional order: the mark price if the order asks for
// it and it is known, else the last price.
func triggerReference(order *exchange.NewOrder, state *reconcile.SymbolState) exchange.Price {
	if order.WorkingType == exchange.MarkPrice && state.Mark() > 0 {
		return state.Mark()
	}
	return state.Last()
}

// stopPrice refuses a conditional order at the current price and a protection on the wrong side of
// it, because the exchange would treat it as the other type (rule 11). closePosition has its own
// rule.
func (g *Gate) stopPrice(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	order, rules := &intent.Order, facts.State.Rules()
	if !order.Type.Conditional() || order.ClosePosition {
		return true
	}
	stop, current := order.StopPrice, triggerReference(order, facts.State)
	if stop == current {
		return f.compare(priceOf(rules, stop), priceOf(rules, current).prefixed("another than"), false,
			"a stop at the current price is neither stop-loss nor take-profit (rule 11)")
	}
	side := "above"
	if stop < current {
		side = "below"
	}
	fits := true
	if intent.Purpose.Protects() {
		above := (order.Side == exchange.Buy) == order.Type.StopLoss()
		if fits = (stop > current) == above; above {
			side = "above"
		} else {
			side = "below"
		}
	}
	return f.compare(priceOf(rules, stop), priceOf(rules, current).prefixed(side), fits, "the price has already passed it (rule 11)")
}
