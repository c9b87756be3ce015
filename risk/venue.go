package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's own (interface, Rules 1 to 12),
// judged before sending so that the venue has nothing left to refuse.

func (g *Gate) symbol(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules := facts.Truth.Rules
	switch {
	case rules == nil:
		return refuse(intent.Order.Symbol, "a known symbol", "its rules were not fetched yet")
	case !rules.Tradable && !intent.Order.Reduces():
		return refuse("isTrade false", "true", "the exchange accepts no new orders on this symbol now")
	case rules.ReduceOnly && !intent.Order.Reduces():
		return refuse("isReduceOnly true", "reduceOnly orders", "the exchange lets positions on this symbol only be closed")
	}
	return nil
}

func (g *Gate) price(intent *reconcile.Intent, facts *Facts) *Refusal {
	if facts.Truth.Last <= 0 {
		return refuse("none", "a last price", "no price of this symbol was read yet")
	}
	if intent.Order.Type.Priced() && intent.Order.Price <= 0 {
		return refuse(facts.Truth.Rules.PriceDecimal(intent.Order.Price), "above 0", "a limit order needs a price")
	}
	if intent.Order.Type.Conditional() && intent.Order.StopPrice <= 0 {
		return refuse(facts.Truth.Rules.PriceDecimal(intent.Order.StopPrice), "above 0", "a conditional order needs a stop price")
	}
	return nil
}

func (g *Gate) priceTick(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules := facts.Truth.Rules
	for _, price := range []exchange.Price{intent.Order.Price, intent.Order.StopPrice} {
		if !rules.OnPriceTick(price) {
			return refuse(rules.PriceDecimal(price), "a multiple of "+rules.PriceDecimal(rules.PriceTick).String(),
				fmt.Sprintf("nearest: %s or %s", rules.PriceDecimal(rules.FloorPrice(price)), rules.PriceDecimal(rules.CeilPrice(price))))
		}
	}
	return nil
}

func (g *Gate) quantityTick(intent *reconcile.Intent, facts *Facts) *Refusal {
	rules, quantity := facts.Truth.Rules, intent.Order.Quantity
	switch {
	case intent.Order.ClosePosition:
		if quantity != 0 {
			return refuse(rules.QuantityDecimal(quantity), "0", "a closePosition order carries no quantity (rule 8)")
		}
	case intent.Order.Market == exchange.Spot && intent.Order.Type == exchange.MarketOrder:
		if intent.Order.QuoteAmount.Sign() <= 0 {
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
	if intent.Order.ClosePosition {
		return nil
	}
	rules, notional := facts.Truth.Rules, value(&intent.Order, facts.Truth)
	if notional.Less(rules.MinNotional) {
		return refuse(notional.String()+" USDT", "at least "+rules.MinNotional.String()+" USDT", "the order is too small for this symbol")
	}
	if rules.MaxNotional.Less(notional) {
		return refuse(notional.String()+" USDT", "at most "+rules.MaxNotional.String()+" USDT", "the order is too large for this symbol")
	}
	return nil
}

// reduceOnly: a position must be open and the side opposite to it (rule 5).
func (g *Gate) reduceOnly(intent *reconcile.Intent, facts *Facts) *Refusal {
	if !intent.Order.Reduces() {
		return nil
	}
	position := facts.Truth.Position
	if position == 0 {
		return refuse("no position", "an open position", "reduceOnly needs a position to reduce")
	}
	if (position > 0) == (intent.Order.Side == exchange.Buy) {
		return refuse(intent.Order.Side, intent.Order.Side.Opposite(), "a reducing order is opposite to the position")
	}
	if intent.Order.ClosePosition {
		return nil
	}
	held := max(position, -position)
	if intent.Order.Quantity > held {
		return refuse(facts.Truth.Rules.QuantityDecimal(intent.Order.Quantity), facts.Truth.Rules.QuantityDecimal(held), "more than the position's remaining quantity")
	}
	return nil
}

// reduceOnlySum: all reducing quantities together, this one, those in flight and
// strangers' counted, stay within the position (rule 5). An exit that was sent
// and never answered is class R: it may be sent again from a fresh position.
func (g *Gate) reduceOnlySum(intent *reconcile.Intent, facts *Facts) *Refusal {
	if !intent.Order.ReduceOnly {
		return nil
	}
	sum := intent.Order.Quantity
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == facts.Truth.Key && p.Order.ReduceOnly && p.State != reconcile.Uncertain {
			sum += p.Remaining()
		}
	}
	for i := range facts.Truth.Foreign {
		if o := &facts.Truth.Foreign[i]; o.Reduces() && !o.ClosePosition {
			sum += o.Remaining()
		}
	}
	if held := max(facts.Truth.Position, -facts.Truth.Position); sum > held {
		return refuse(facts.Truth.Rules.QuantityDecimal(sum), facts.Truth.Rules.QuantityDecimal(held), "open reduceOnly orders already cover the position")
	}
	return nil
}

// closePosition: one active per symbol and type (rule 8), on its side of the
// current price (rule 9).
func (g *Gate) closePosition(intent *reconcile.Intent, facts *Facts) *Refusal {
	if !intent.Order.ClosePosition {
		return nil
	}
	rules, order := facts.Truth.Rules, &intent.Order
	if order.Type != exchange.StopMarket && order.Type != exchange.TakeProfitMarket {
		return refuse(order.Type, "STOP_MARKET or TAKE_PROFIT_MARKET", "closePosition belongs to these types (rule 8)")
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == facts.Truth.Key && p.Order.ClosePosition && p.Order.Type == order.Type && p.State != reconcile.Uncertain {
			return refuse("a second one", "one per symbol and type", "the first is canceled before (rule 8)")
		}
	}
	current := facts.Truth.Last
	if order.WorkingType == exchange.MarkPrice && facts.Truth.Mark > 0 {
		current = facts.Truth.Mark
	}
	below := (facts.Truth.Position > 0) == (order.Type == exchange.StopMarket)
	if below && order.StopPrice >= current || !below && order.StopPrice <= current {
		return refuse(rules.PriceDecimal(order.StopPrice), "the other side of "+rules.PriceDecimal(current).String(), "the price has passed it already (rule 9)")
	}
	return nil
}

// opposite: an order against an open position without reduceOnly is never sent;
// its meaning is not documented.
func (g *Gate) opposite(intent *reconcile.Intent, facts *Facts) *Refusal {
	position := facts.Truth.Position
	if facts.Truth.Key.Market == exchange.Spot || position == 0 || (position > 0) == (intent.Order.Side == exchange.Buy) {
		return nil
	}
	return refuse(intent.Order.Side, intent.Order.Side.Opposite(), "against an open position only reduceOnly orders are sent")
}

func (g *Gate) setLeverage(intent *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(g.limits.MaxLeverage, facts.Strategy.MaxLeverage)
	if limit != 0 && intent.Leverage > limit {
		r := refuse(intent.Leverage, limit, "lower leverage or raise risk.max_leverage")
		r.Rule = "max_leverage"
		return r
	}
	return venueLeverage(intent.Leverage, exchange.Amount{}, facts)
}

func venueLeverage(leverage int, notional exchange.Amount, facts *Facts) *Refusal {
	if facts.Truth.Rules == nil {
		return refuse(leverage, "a known symbol", "its rules were not fetched yet")
	}
	if len(facts.Truth.Rules.Brackets) == 0 {
		return nil
	}
	if most := facts.Truth.Rules.BracketOf(notional).MaxLeverage; leverage > most {
		r := refuse(leverage, most, "the margin bracket of this size allows less leverage")
		r.Rule = "leverage"
		return r
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
		return refuse(truth.Leverage, limit, "lower leverage or raise risk.max_leverage")
	}
	after := truth.Rules.Notional(basis(&intent.Order, truth), worst(truth, facts.Book, intent.Order.Side)+intent.Order.Quantity)
	return venueLeverage(truth.Leverage, after, facts)
}

// worst is the size the position can reach on a side with everything in flight filled.
func worst(truth *reconcile.SymbolTruth, book *reconcile.Book, side exchange.Side) exchange.Quantity {
	size := truth.Position * exchange.Quantity(side.Sign())
	for _, p := range book.Live() {
		if p.Order.Key() == truth.Key && p.Purpose.Opens() && p.Order.Side == side {
			size += p.Remaining()
			if truth.Rules != nil && !p.Order.QuoteAmount.IsZero() {
				size += truth.Rules.QuantityFor(p.Order.QuoteAmount, max(truth.Last, 1))
			}
		}
	}
	return max(0, size)
}

// margin: the order's margin fits what is available, openings not yet in the
// account's figures counted.
func (g *Gate) margin(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth := facts.Truth
	if truth.Key.Market == exchange.Spot {
		return nil
	}
	if facts.Book.AccountMS == 0 {
		return refuse("unknown", "a fetched margin account", "the account was not fetched yet")
	}
	need := value(&intent.Order, truth).Div(int64(max(truth.Leverage, 1)))
	free := facts.Book.Account.AvailableBalance
	for _, p := range facts.Book.Live() {
		if p.Order.Market == exchange.Futures && p.Purpose.Opens() && !p.Seen {
			other := facts.Book.Symbol(p.Order.Key())
			if other.Rules != nil && other.Leverage > 0 {
				free = free.Sub(value(&p.Order, other).Div(int64(other.Leverage)))
			}
		}
	}
	if free.Less(need) {
		return refuse(need.String()+" USDT", free.String()+" USDT available", "less size, more leverage, or a deposit")
	}
	return nil
}

// balance: a spot order holds what it would spend.
func (g *Gate) balance(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth, order := facts.Truth, &intent.Order
	if truth.Key.Market != exchange.Spot {
		return nil
	}
	if facts.Book.WalletMS == 0 {
		return refuse("unknown", "a fetched wallet", "the wallet was not fetched yet")
	}
	if order.Side == exchange.Sell && order.QuoteAmount.IsZero() {
		need, free := truth.Rules.QuantityAmount(order.Quantity), facts.Book.Balance(truth.Rules.Base).Free
		if free.Less(need) {
			return refuse(need.String()+" "+truth.Rules.Base, free.String()+" free", "an open order may hold the rest")
		}
		return nil
	}
	need, free := value(order, truth), facts.Book.Balance(truth.Rules.Quote).Free
	for _, p := range facts.Book.Live() {
		if p.Order.Market == exchange.Spot && p.Order.Side == exchange.Buy && !p.Seen {
			other := facts.Book.Symbol(p.Order.Key())
			if other.Rules != nil {
				free = free.Sub(value(&p.Order, other))
			}
		}
	}
	if free.Less(need) {
		return refuse(need.String()+" "+truth.Rules.Quote, free.String()+" free", "less size or a deposit")
	}
	return nil
}
