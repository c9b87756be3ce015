package sim

import "botd/exchange"

// placeFutures validates a futures order by the twelve rules of the interface and accepts it.
func (c *call) placeFutures() *exchange.Refusal {
	p, refusal := c.prepare()
	if refusal != nil {
		return refusal
	}
	for _, rule := range []func(*placement) *exchange.Refusal{(*placement).flags, (*placement).size, (*placement).reducing, (*placement).classify} {
		if refusal := rule(p); refusal != nil {
			return refusal
		}
	}
	if refusal := p.margin(); refusal != nil {
		return refusal
	}
	o := c.exchange.newOrder(c.account, p.orderBook, &p.request)
	if o.Type.Conditional() {
		o.Status = exchange.StatusNew
	}
	h := &c.account.holdings[p.orderBook.index]
	if o.opens() {
		c.exchange.clearing.holdMargin(o)
	} else {
		o.ClosePositionID = h.position.ID
	}
	if o.reduceOnly {
		h.reducing += o.Quantity
	}
	c.exchange.version++
	c.send(o)
	return nil
}

// flags validates reduceOnly, closePosition and postOnly.
func (p *placement) flags() *exchange.Refusal {
	request := &p.request
	switch {
	case request.PostOnly && request.Type != exchange.Limit:
		return p.refuse(CodePostOnlyType, "postOnly is for LIMIT, not for %s", request.Type)
	case request.ReduceOnly && request.ClosePosition:
		return p.refuse(CodeReduceAndClose, "reduceOnly and closePosition are both true")
	case request.ClosePosition && request.Type != exchange.StopMarket && request.Type != exchange.TakeProfitMarket:
		return p.refuse(CodeCloseType, "closePosition is for STOP_MARKET and TAKE_PROFIT_MARKET, not for %s", request.Type)
	case p.orderBook.symbol.ReduceOnly && !request.Reduces():
		return p.refuse(CodeReduceOnlySymbol, "%s accepts reducing orders only: isReduceOnly is true", p.orderBook.symbol.Name)
	case !request.QuoteAmount.IsZero():
		return p.refuse(CodeQuantity, "a futures order requires a base quantity, not an amount of %s USDT", request.QuoteAmount)
	}
	return nil
}

// size validates quantity and value; a closePosition order has neither (rule 8).
func (p *placement) size() *exchange.Refusal {
	if p.request.ClosePosition {
		if p.request.Quantity != 0 {
			return p.refuse(CodeCloseQuantity, "qt %s must be omitted or 0 with closePosition", p.orderBook.symbol.QuantityDecimal(p.request.Quantity))
		}
		return nil
	}
	if refusal := p.quantity(); refusal != nil {
		return refusal
	}
	return p.value()
}

// reducing validates an order against the open position: rules 5, 8 and 9, and the setting for
// opposite orders.
func (p *placement) reducing() *exchange.Refusal {
	request, s := &p.request, p.orderBook.symbol
	h := &p.account.holdings[p.orderBook.index]
	position := h.position
	if !request.Reduces() {
		if position != nil && position.Side != sideOf(request.Side) && !p.exchange.net {
			return p.refuse(CodeOppositeOrder, "%s is opposite to the open %s position: send reduceOnly", request.Side, position.Side)
		}
		return nil
	}
	if position == nil {
		return p.refuse(CodeNoPosition, "no open position on %s to reduce", s.Name)
	}
	if request.Side != position.exitSide() {
		return p.refuse(CodeReduceSide, "side %s does not reduce the %s position: send %s", request.Side, position.Side, position.exitSide())
	}
	if request.ClosePosition {
		return p.closing(position)
	}
	if request.Quantity > position.Remaining {
		return p.refuse(CodeReduceQuantity, "qt %s is above remainingQty %s", s.QuantityDecimal(request.Quantity), s.QuantityDecimal(position.Remaining))
	}
	// A MARKET order for the whole position sweeps the others (rule 6) and is exempt.
	sweeps := request.Type == exchange.MarketOrder && request.Quantity == position.Remaining
	if sum := h.reducing + request.Quantity; sum > position.Remaining && !sweeps {
		return p.refuse(CodeReduceSum, "the sum %s of open reduceOnly orders and this one is above remainingQty %s",
			s.QuantityDecimal(sum), s.QuantityDecimal(position.Remaining))
	}
	return nil
}

// closing validates a closePosition order: one per type, and its stopPrice on the side of the
// current price required by the table of rule 9.
func (p *placement) closing(position *position) *exchange.Refusal {
	request, s := &p.request, p.orderBook.symbol
	for o := p.account.futuresOrders.first; o != nil; o = o.after {
		if o.ClosePosition && o.orderBook == p.orderBook && o.Type == request.Type {
			return p.refuse(CodeCloseDuplicate, "closePosition %s order %d is active on %s", o.Type, o.ID, s.Name)
		}
	}
	current := p.orderBook.current(request.WorkingType)
	below, side := (position.Side == exchange.Long) == (request.Type == exchange.StopMarket), "above"
	if below {
		side = "below"
	}
	if request.StopPrice == current || below != (request.StopPrice < current) {
		return p.refuse(CodeCloseStopPrice, "stopPrice %s of %s for a %s position must be %s the current price %s",
			s.PriceDecimal(request.StopPrice), request.Type, position.Side, side, s.PriceDecimal(current))
	}
	return nil
}

// margin validates that the available balance covers an opening order.
func (p *placement) margin() *exchange.Refusal {
	if p.request.Reduces() {
		return nil
	}
	needed, available := p.account.marginOf(p.orderBook, p.request.Side, p.basis(), p.request.Quantity), p.account.available()
	if available.Less(needed) {
		return p.refuse(CodeMargin, "order margin %s is above the available balance %s", needed, available)
	}
	return nil
}
