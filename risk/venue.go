package risk

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's own about an order by itself
// (interface, Rules 1 to 12), judged before sending so that the venue has
// nothing left to refuse. Rules about what else is in flight stand in
// position.go and money.go.

// mostValue is the largest value of one order in USDT that is looked at at all,
// so that no product overflows.
const mostValue = 1e15

func (g *Gate) symbol(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules := facts.Truth.Rules
	switch {
	case rules == nil:
		return refuse(intent.Order.Symbol, "a known symbol", "its rules were not fetched yet")
	case !rules.Tradable:
		return refuse("isTrade false", "true", "the exchange accepts no new orders on this symbol now; its rules are read again soon")
	case rules.ReduceOnly && rules.Market == exchange.Futures && !intent.Order.Reduces():
		return refuse("isReduceOnly true", "reduceOnly orders", "the exchange lets positions on this symbol only be closed")
	}
	return nil
}

// shape: the order's fields go together (interface, POST /fhapi/v1/order and the
// spot order body).
func (g *Gate) shape(intent *reconcile.Intent, facts *Facts) *Refusal {
	order, rules := &intent.Order, facts.Truth.Rules
	futures := facts.Truth.Key.Market == exchange.Futures
	switch {
	case order.Side != exchange.Buy && order.Side != exchange.Sell:
		return refuse(order.Side, "BUY or SELL", "an order has a side")
	case order.Type < exchange.Limit || order.Type > exchange.TakeProfitMarket,
		len(rules.OrderTypes) > 0 && !slices.Contains(rules.OrderTypes, order.Type):
		return refuse(order.Type, fmt.Sprint(rules.OrderTypes), "the symbol accepts these order types")
	case order.ReduceOnly && order.ClosePosition:
		return refuse("reduceOnly and closePosition", "one of them", "they must not both be true (rule 3)")
	case !futures && (order.Reduces() || order.PostOnly):
		return refuse("reduceOnly, closePosition or postOnly", "none on spot", "spot orders have no such fields")
	case order.PostOnly && order.Type != exchange.Limit:
		return refuse("postOnly "+order.Type.String(), "LIMIT", "postOnly is for LIMIT alone")
	case futures && !order.QuoteAmount.IsZero(), !order.QuoteAmount.IsZero() && order.Type != exchange.MarketOrder:
		return refuse(order.QuoteAmount.String()+" USDT", "a base quantity", "only a spot MARKET order is by amount")
	case futures && order.Type.Conditional() != (order.WorkingType != exchange.NoWorkingType), order.WorkingType > exchange.MarkPrice:
		return refuse("workingType "+order.WorkingType.String(), "one for conditional futures orders, none for others", "MARK_PRICE or CONTRACT_PRICE")
	}
	return nil
}

// price: there is one to judge by, and the order carries those its type needs
// and no others.
func (g *Gate) price(intent *reconcile.Intent, facts *Facts) *Refusal {
	order, rules := &intent.Order, facts.Truth.Rules
	if facts.Truth.Last <= 0 {
		return refuse("none", "a last price", "no price of this symbol was read yet")
	}
	for _, p := range []struct {
		name  string
		price exchange.Price
		takes bool
	}{{"price", order.Price, order.Type.Priced()}, {"stopPrice", order.StopPrice, order.Type.Conditional()}} {
		if p.takes && p.price <= 0 {
			return refuse(p.name+" "+rules.PriceDecimal(p.price).String(), "above 0", order.Type.String()+" needs a "+p.name)
		}
		if !p.takes && p.price != 0 {
			return refuse(p.name+" "+rules.PriceDecimal(p.price).String(), "none", order.Type.String()+" takes no "+p.name)
		}
	}
	return nil
}

func (g *Gate) priceTick(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules := facts.Truth.Rules
	for _, price := range [...]exchange.Price{intent.Order.Price, intent.Order.StopPrice} {
		if !rules.OnPriceTick(price) {
			return refuse(rules.PriceDecimal(price), "a multiple of "+rules.PriceDecimal(rules.PriceTick).String(),
				fmt.Sprintf("nearest: %s or %s", rules.PriceDecimal(rules.FloorPrice(price)), rules.PriceDecimal(rules.CeilPrice(price))))
		}
	}
	return nil
}

func (g *Gate) quantityTick(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules, quantity := facts.Truth.Rules, intent.Order.Quantity
	byAmount := intent.Order.Market == exchange.Spot && intent.Order.Type == exchange.MarketOrder
	switch {
	case intent.Order.ClosePosition || byAmount:
		if quantity != 0 {
			return refuse(rules.QuantityDecimal(quantity), "0", "closePosition and spot MARKET orders carry no quantity (rule 8)")
		}
		if byAmount && intent.Order.QuoteAmount.Sign() <= 0 {
			return refuse(intent.Order.QuoteAmount, "above 0", "a spot market order carries an amount in USDT")
		}
	case quantity <= 0:
		return refuse(rules.QuantityDecimal(quantity), "above 0", "an order needs a quantity")
	case !rules.OnQuantityTick(quantity):
		return refuse(rules.QuantityDecimal(quantity), "a multiple of "+rules.QuantityDecimal(rules.QuantityTick).String(), "quantities are whole ticks")
	}
	return nil
}

// basis is the price an order's value is judged at (rule 2).
func basis(order *exchange.NewOrder, truth *reconcile.SymbolTruth) exchange.Price {
	switch {
	case order.Type.Priced():
		return order.Price
	case order.Type.Conditional():
		return order.StopPrice
	}
	return truth.Last
}

func value(order *exchange.NewOrder, truth *reconcile.SymbolTruth) exchange.Amount {
	if !order.QuoteAmount.IsZero() {
		return order.QuoteAmount
	}
	return truth.Rules.Notional(basis(order, truth), order.Quantity)
}

func (g *Gate) notional(intent *reconcile.Intent, facts *Facts) *Refusal {
	order, rules := &intent.Order, facts.Truth.Rules
	if order.ClosePosition {
		return nil
	}
	tooLarge := func(value any) *Refusal {
		return refuse(fmt.Sprint(value)+" USDT", "at most "+rules.MaxNotional.String()+" USDT", "the order is too large for this symbol (rule 2)")
	}
	if rough := rules.PriceFloat(basis(order, facts.Truth)) * rules.QuantityFloat(order.Quantity); rough > mostValue {
		return tooLarge(rough)
	}
	notional := value(order, facts.Truth)
	if notional.Less(rules.MinNotional) {
		return refuse(notional.String()+" USDT", "at least "+rules.MinNotional.String()+" USDT", "the order is too small for this symbol (rule 2)")
	}
	if rules.MaxNotional.Less(notional) {
		return tooLarge(notional)
	}
	return nil
}

// working is the price that activates an order: spot has the last price alone.
func working(order *exchange.NewOrder, truth *reconcile.SymbolTruth) exchange.Price {
	if order.WorkingType == exchange.MarkPrice && truth.Mark > 0 {
		return truth.Mark
	}
	return truth.Last
}

// stopPrice: a conditional order's stop price is not the current one, and a
// protection's lies on the side of its type, else the exchange would take it for
// the other type (rule 11). closePosition has a rule of its own.
func (g *Gate) stopPrice(intent *reconcile.Intent, facts *Facts) *Refusal {
	order, rules := &intent.Order, facts.Truth.Rules
	if !order.Type.Conditional() || order.ClosePosition {
		return nil
	}
	current := working(order, facts.Truth)
	if order.StopPrice == current {
		return refuse(rules.PriceDecimal(order.StopPrice), "another than the current price", "a stop at the current price is neither stop-loss nor take-profit (rule 11)")
	}
	above := (order.Side == exchange.Buy) == order.Type.StopLoss()
	if intent.Purpose.Protects() && (order.StopPrice > current) != above {
		return refuse(rules.PriceDecimal(order.StopPrice), "the other side of "+rules.PriceDecimal(current).String(), "the price has passed it already (rule 11)")
	}
	return nil
}

// cancelable: an order of a symbol whose isCancelOrder is false stays.
func cancelable(facts *Facts) *Refusal {
	if rules := facts.Truth.Rules; rules != nil && !rules.Cancelable {
		r := refuse("isCancelOrder false", "true", "the exchange cancels no orders on this symbol now; its rules are read again soon")
		r.Rule = "symbol"
		return r
	}
	return nil
}
