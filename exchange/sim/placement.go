package sim

import "botd/exchange"

// placement is a futures or spot order under examination.
type placement struct {
	exchange  *Exchange
	operation exchange.Operation
	account   *account
	book      *book
	asked     exchange.NewOrder
}

func (p *placement) refuse(code int, format string, values ...any) *exchange.Refusal {
	return refuse(p.operation, code, format, values...)
}

// prepare finds the symbol and examines what both markets ask of an order.
func (x *Exchange) prepare(a *account, request *exchange.Request) (*placement, *exchange.Refusal) {
	b, refusal := x.symbol(request, request.Order.Symbol)
	if refusal != nil {
		return nil, refusal
	}
	p := &x.examined // one at a time; an allocation each would be a tenth of a placement
	*p = placement{x, request.Operation, a, b, request.Order}
	asked, s := &p.asked, b.symbol
	switch {
	case asked.Side != exchange.Buy && asked.Side != exchange.Sell:
		return nil, p.refuse(CodeSide, "side %q is neither BUY nor SELL", asked.Side)
	case asked.Type < exchange.Limit || asked.Type > exchange.TakeProfitMarket || !accepts(s, asked.Type):
		return nil, p.refuse(CodeType, "type %q is not accepted on %s", asked.Type, s.Name)
	case len(asked.ClientOrderID) > maxClientOrderID:
		return nil, p.refuse(CodeClientOrderID, "client_order_id of %d bytes is longer than %d", len(asked.ClientOrderID), maxClientOrderID)
	case !s.Tradable:
		return nil, p.refuse(CodeNotTradable, "%s is not traded: isTrade is false", s.Name)
	case b.last <= 0:
		return nil, p.refuse(CodeNoPrice, "%s has no price yet", s.Name)
	case a.open(s.Market).count >= MaxOpenOrders:
		return nil, p.refuse(CodeTooManyOrders, "%d open orders are the most", MaxOpenOrders)
	}
	return p, p.prices()
}

func accepts(s *exchange.Symbol, kind exchange.OrderType) bool {
	for _, accepted := range s.OrderTypes {
		if accepted == kind {
			return true
		}
	}
	return len(s.OrderTypes) == 0
}

// prices examines price, stopPrice and workingType.
func (p *placement) prices() *exchange.Refusal {
	asked, s := &p.asked, p.book.symbol
	kind := asked.Type
	futures := s.Market == exchange.Futures
	switch {
	case kind.Priced() && asked.Price == 0:
		return p.refuse(CodePriceMissing, "price is required for %s", kind)
	case !kind.Priced() && asked.Price != 0:
		return p.refuse(CodePriceForbidden, "price %s must not be sent for %s", s.PriceDecimal(asked.Price), kind)
	case asked.Price < 0 || asked.Price > maxPrice || !s.OnPriceTick(asked.Price):
		return p.refuse(CodePriceTick, "price %s is not a multiple of priceTick %s above 0", s.PriceDecimal(asked.Price), s.PriceDecimal(s.PriceTick))
	case kind.Conditional() && asked.StopPrice == 0:
		return p.refuse(CodeStopPriceMissing, "stopPrice is required for %s", kind)
	case !kind.Conditional() && asked.StopPrice != 0:
		return p.refuse(CodeStopPriceForbidden, "stopPrice %s must not be sent for %s", s.PriceDecimal(asked.StopPrice), kind)
	case asked.StopPrice < 0 || asked.StopPrice > maxPrice || !s.OnPriceTick(asked.StopPrice):
		return p.refuse(CodeStopPriceTick, "stopPrice %s is not a multiple of priceTick %s above 0", s.PriceDecimal(asked.StopPrice), s.PriceDecimal(s.PriceTick))
	case asked.WorkingType > exchange.MarkPrice:
		return p.refuse(CodeWorkingTypeMissing, "workingType %q is neither MARK_PRICE nor CONTRACT_PRICE", asked.WorkingType)
	case futures && kind.Conditional() && asked.WorkingType == exchange.NoWorkingType:
		return p.refuse(CodeWorkingTypeMissing, "workingType is required for %s: MARK_PRICE or CONTRACT_PRICE", kind)
	case !kind.Conditional() && asked.WorkingType != exchange.NoWorkingType:
		return p.refuse(CodeWorkingTypeForbidden, "workingType %s must not be sent for %s", asked.WorkingType, kind)
	}
	if !futures {
		asked.WorkingType = exchange.NoWorkingType
	}
	return nil
}

// quantity examines qt.
func (p *placement) quantity() *exchange.Refusal {
	s, quantity := p.book.symbol, p.asked.Quantity
	switch {
	case quantity <= 0:
		return p.refuse(CodeQuantity, "qt %s is not above 0", s.QuantityDecimal(quantity))
	case !s.OnQuantityTick(quantity):
		return p.refuse(CodeQuantityTick, "qt %s is not a multiple of quantityTick %s", s.QuantityDecimal(quantity), s.QuantityDecimal(s.QuantityTick))
	}
	return nil
}

// value examines the order's value at its basis (rule 2).
func (p *placement) value() *exchange.Refusal {
	s, basis := p.book.symbol, p.book.last
	switch {
	case p.asked.Type.Priced():
		basis = p.asked.Price
	case p.asked.Type.Conditional():
		basis = p.asked.StopPrice
	}
	if rough := s.PriceFloat(basis) * s.QuantityFloat(p.asked.Quantity); rough > maxValue {
		return p.refuse(CodeMaxNotional, "order value %.0f is above maxNotional %s", rough, s.MaxNotional)
	}
	return p.bounds(s.Notional(basis, p.asked.Quantity))
}

func (p *placement) bounds(value exchange.Amount) *exchange.Refusal {
	s := p.book.symbol
	if value.Less(s.MinNotional) {
		return p.refuse(CodeMinNotional, "order value %s is below minNotional %s", value, s.MinNotional)
	}
	if s.MaxNotional.Less(value) {
		return p.refuse(CodeMaxNotional, "order value %s is above maxNotional %s", value, s.MaxNotional)
	}
	return nil
}

// classify decides whether a conditional order is a stop-loss or a take-profit
// (rule 11): the market or limit nature stays as sent.
func (p *placement) classify() *exchange.Refusal {
	asked := &p.asked
	if !asked.Type.Conditional() || asked.ClosePosition {
		return nil
	}
	_, current := p.book.working(asked.WorkingType)
	if asked.StopPrice == current {
		return p.refuse(CodeStopPriceEqual, "stopPrice %s equals the current price", p.book.symbol.PriceDecimal(current))
	}
	stop := (asked.Side == exchange.Buy) == (asked.StopPrice > current)
	switch {
	case stop && asked.Type.Priced():
		asked.Type = exchange.StopLimit
	case stop:
		asked.Type = exchange.StopMarket
	case asked.Type.Priced():
		asked.Type = exchange.TakeProfitLimit
	default:
		asked.Type = exchange.TakeProfitMarket
	}
	return nil
}

// send puts an accepted order on its way to the book: at once, inside the call,
// when there is no delay. The answer shows it as it was accepted.
func (x *Exchange) send(o *order, answer *exchange.Answer) {
	answer.Order = o.told()
	if delay := x.delay(); delay > 0 {
		x.queue.push(x.nowMS+delay, o, false)
		return
	}
	o.book.arrive(o)
}
