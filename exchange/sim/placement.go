package sim

import (
	"slices"

	"botd/exchange"
)

// placement is a futures or spot order being validated.
type placement struct {
	exchange  *Exchange
	operation exchange.Operation
	account   *account
	orderBook *orderBook
	request   exchange.NewOrder
}

func (p *placement) refuse(code int, format string, values ...any) *exchange.Refusal {
	return refuse(p.operation, code, format, values...)
}

// prepare finds the symbol and validates the requirements of both markets.
func (c *call) prepare() (*placement, *exchange.Refusal) {
	b, refusal := c.symbol(c.request.Order.Symbol)
	if refusal != nil {
		return nil, refusal
	}
	p := &c.exchange.validating // one at a time; allocating it would take a tenth of a placement
	p.exchange, p.operation, p.account, p.orderBook, p.request = c.exchange, c.request.Operation, c.account, b, c.request.Order
	request, s := &p.request, b.symbol
	switch {
	case request.Side != exchange.Buy && request.Side != exchange.Sell:
		return nil, p.refuse(CodeSide, "side %q is neither BUY nor SELL", request.Side)
	case request.Type < exchange.Limit || request.Type > exchange.TakeProfitMarket || !accepts(s, request.Type):
		return nil, p.refuse(CodeType, "type %q is not accepted on %s", request.Type, s.Name)
	case len(request.ClientOrderID) > maxClientOrderID:
		return nil, p.refuse(CodeClientOrderID, "client_order_id of %d bytes is longer than %d", len(request.ClientOrderID), maxClientOrderID)
	case !s.Tradable:
		return nil, p.refuse(CodeNotTradable, "%s is not traded: isTrade is false", s.Name)
	case b.last <= 0:
		return nil, p.refuse(CodeNoPrice, "%s has no price yet", s.Name)
	case c.account.open(s.Market).count >= MaxOpenOrders:
		return nil, p.refuse(CodeTooManyOrders, "%d open orders are the most", MaxOpenOrders)
	}
	return p, p.prices()
}

func accepts(s *exchange.Symbol, kind exchange.OrderType) bool {
	return len(s.OrderTypes) == 0 || slices.Contains(s.OrderTypes, kind)
}

// prices validates price, stopPrice and workingType.
func (p *placement) prices() *exchange.Refusal {
	request, s := &p.request, p.orderBook.symbol
	kind := request.Type
	futures := s.Market == exchange.Futures
	if refusal := p.price("price", request.Price, kind.Priced(), CodePriceMissing, CodePriceForbidden, CodePriceTick); refusal != nil {
		return refusal
	}
	if refusal := p.price("stopPrice", request.StopPrice, kind.Conditional(), CodeStopPriceMissing, CodeStopPriceForbidden, CodeStopPriceTick); refusal != nil {
		return refusal
	}
	switch {
	case request.WorkingType > exchange.MarkPrice:
		return p.refuse(CodeWorkingTypeMissing, "workingType %q is neither MARK_PRICE nor CONTRACT_PRICE", request.WorkingType)
	case futures && kind.Conditional() && request.WorkingType == exchange.NoWorkingType:
		return p.refuse(CodeWorkingTypeMissing, "workingType is required for %s: MARK_PRICE or CONTRACT_PRICE", kind)
	case !kind.Conditional() && request.WorkingType != exchange.NoWorkingType:
		return p.refuse(CodeWorkingTypeForbidden, "workingType %s must not be sent for %s", request.WorkingType, kind)
	}
	if !futures {
		request.WorkingType = exchange.NoWorkingType
	}
	return nil
}

// price validates a price that orders of some types require and all others forbid.
func (p *placement) price(name string, price exchange.Price, required bool, missing, forbidden, tick int) *exchange.Refusal {
	s, kind := p.orderBook.symbol, p.request.Type
	switch {
	case required && price == 0:
		return p.refuse(missing, "%s is required for %s", name, kind)
	case !required && price != 0:
		return p.refuse(forbidden, "%s %s must not be sent for %s", name, s.PriceDecimal(price), kind)
	case price < 0 || price > maxPrice || !s.OnPriceTick(price):
		return p.refuse(tick, "%s %s is not a multiple of priceTick %s above 0", name, s.PriceDecimal(price), s.PriceDecimal(s.PriceTick))
	}
	return nil
}

// quantity validates qt.
func (p *placement) quantity() *exchange.Refusal {
	s, quantity := p.orderBook.symbol, p.request.Quantity
	switch {
	case quantity <= 0:
		return p.refuse(CodeQuantity, "qt %s is not above 0", s.QuantityDecimal(quantity))
	case !s.OnQuantityTick(quantity):
		return p.refuse(CodeQuantityTick, "qt %s is not a multiple of quantityTick %s", s.QuantityDecimal(quantity), s.QuantityDecimal(s.QuantityTick))
	}
	return nil
}

// value validates the order's value at its basis (rule 2).
func (p *placement) value() *exchange.Refusal {
	s, basis := p.orderBook.symbol, p.basis()
	if rough := float64(s.PriceFloat(basis) * s.QuantityFloat(p.request.Quantity)); rough > maxValue {
		return p.refuse(CodeMaxNotional, "order value %.0f is above maxNotional %s", rough, s.MaxNotional)
	}
	return p.bounds(s.Notional(basis, p.request.Quantity))
}

// basis returns the basis of the order that would result from the request.
func (p *placement) basis() exchange.Price {
	return p.orderBook.basis(p.request.Type, p.request.Price, p.request.StopPrice)
}

func (p *placement) bounds(value exchange.Amount) *exchange.Refusal {
	s := p.orderBook.symbol
	if value.Less(s.MinNotional) {
		return p.refuse(CodeMinNotional, "order value %s is below minNotional %s", value, s.MinNotional)
	}
	if s.MaxNotional.Less(value) {
		return p.refuse(CodeMaxNotional, "order value %s is above maxNotional %s", value, s.MaxNotional)
	}
	return nil
}

// classify decides whether a conditional order is a stop-loss or a take-profit (rule 11). A market
// order stays a market order, a limit order a limit order.
func (p *placement) classify() *exchange.Refusal {
	request := &p.request
	if !request.Type.Conditional() || request.ClosePosition {
		return nil
	}
	current := p.orderBook.current(request.WorkingType)
	if request.StopPrice == current {
		return p.refuse(CodeStopPriceEqual, "stopPrice %s equals the current price", p.orderBook.symbol.PriceDecimal(current))
	}
	stop := (request.Side == exchange.Buy) == (request.StopPrice > current)
	switch {
	case stop && request.Type.Priced():
		request.Type = exchange.StopLimit
	case stop:
		request.Type = exchange.StopMarket
	case request.Type.Priced():
		request.Type = exchange.TakeProfitLimit
	default:
		request.Type = exchange.TakeProfitMarket
	}
	return nil
}

// send starts an accepted order on its way to the order book: at once, inside the call, if there is no
// delay. The answer contains the order as accepted.
func (c *call) send(o *order) {
	if !c.unread {
		c.answer.Order = o.report()
	}
	delay := c.exchange.delay()
	if t := o.orderBook.tape; t != nil && t.config.Costs.Bounded {
		o.delayed = delay > t.config.Costs.LaterMS
		t.follow(o.orderBook, o)
	}
	if delay > 0 {
		c.exchange.queue.push(c.exchange.nowMS+delay, o, false)
		return
	}
	o.orderBook.arrive(o)
}
