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
	o := c.exchange.newOrder(c.account, p.book, &p.asked)
	if o.Type.Conditional() {
		o.Status = exchange.StatusNew
	}
	h := &c.account.holdings[p.book.index]
	if o.opens() {
		c.exchange.clearing.holdMargin(o)
	} else {
		o.ClosePositionID = h.position.id
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
	asked := &p.asked
	switch {
	case asked.PostOnly && asked.Type != exchange.Limit:
		return p.refuse(CodePostOnlyType, "postOnly is for LIMIT, not for %s", asked.Type)
	case asked.ReduceOnly && asked.ClosePosition:
		return p.refuse(CodeReduceAndClose, "reduceOnly and closePosition are both true")
	case asked.ClosePosition && asked.Type != exchange.StopMarket && asked.Type != exchange.TakeProfitMarket:
		return p.refuse(CodeCloseType, "closePosition is for STOP_MARKET and TAKE_PROFIT_MARKET, not for %s", asked.Type)
	case p.book.symbol.ReduceOnly && !asked.Reduces():
		return p.refuse(CodeReduceOnlySymbol, "%s accepts reducing orders only: isReduceOnly is true", p.book.symbol.Name)
	case !asked.QuoteAmount.IsZero():
		return p.refuse(CodeQuantity, "a futures order requires a base quantity, not an amount of %s USDT", asked.QuoteAmount)
	}
	return nil
}

// size validates quantity and value; a closePosition order has neither (rule 8).
func (p *placement) size() *exchange.Refusal {
	if p.asked.ClosePosition {
		if p.asked.Quantity != 0 {
			return p.refuse(CodeCloseQuantity, "qt %s must be omitted or 0 with closePosition", p.book.symbol.QuantityDecimal(p.asked.Quantity))
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
	asked, s := &p.asked, p.book.symbol
	h := &p.account.holdings[p.book.index]
	position := h.position
	if !asked.Reduces() {
		if position != nil && position.side != sideOf(asked.Side) && !p.exchange.net {
			return p.refuse(CodeOppositeOrder, "%s is opposite to the open %s position: send reduceOnly", asked.Side, position.side)
		}
		return nil
	}
	if position == nil {
		return p.refuse(CodeNoPosition, "no open position on %s to reduce", s.Name)
	}
	if asked.Side != position.exitSide() {
		return p.refuse(CodeReduceSide, "side %s does not reduce the %s position: send %s", asked.Side, position.side, position.exitSide())
	}
	if asked.ClosePosition {
		return p.closing(position)
	}
	if asked.Quantity > position.remaining {
		return p.refuse(CodeReduceQuantity, "qt %s is above remainingQty %s", s.QuantityDecimal(asked.Quantity), s.QuantityDecimal(position.remaining))
	}
	// A MARKET order for the whole position sweeps the others (rule 6) and is exempt.
	sweeps := asked.Type == exchange.MarketOrder && asked.Quantity == position.remaining
	if sum := h.reducing + asked.Quantity; sum > position.remaining && !sweeps {
		return p.refuse(CodeReduceSum, "the sum %s of open reduceOnly orders and this one is above remainingQty %s",
			s.QuantityDecimal(sum), s.QuantityDecimal(position.remaining))
	}
	return nil
}

// closing validates a closePosition order: one per type, and its stopPrice on the side of the
// current price required by the table of rule 9.
func (p *placement) closing(position *position) *exchange.Refusal {
	asked, s := &p.asked, p.book.symbol
	for o := p.account.futuresOrders.first; o != nil; o = o.after {
		if o.ClosePosition && o.book == p.book && o.Type == asked.Type {
			return p.refuse(CodeCloseDuplicate, "closePosition %s order %d is active on %s", o.Type, o.ID, s.Name)
		}
	}
	current := p.book.current(asked.WorkingType)
	below, side := (position.side == exchange.Long) == (asked.Type == exchange.StopMarket), "above"
	if below {
		side = "below"
	}
	if asked.StopPrice == current || below != (asked.StopPrice < current) {
		return p.refuse(CodeCloseStopPrice, "stopPrice %s of %s for a %s position must be %s the current price %s",
			s.PriceDecimal(asked.StopPrice), asked.Type, position.side, side, s.PriceDecimal(current))
	}
	return nil
}

// margin validates that the available balance covers an opening order.
func (p *placement) margin() *exchange.Refusal {
	if p.asked.Reduces() {
		return nil
	}
	trial := order{account: p.account, book: p.book}
	trial.Side, trial.Type, trial.Price, trial.StopPrice, trial.Quantity = p.asked.Side, p.asked.Type, p.asked.Price, p.asked.StopPrice, p.asked.Quantity
	needed, available := p.exchange.clearing.marginOf(&trial), p.account.available()
	if available.Less(needed) {
		return p.refuse(CodeMargin, "order margin %s is above the available balance %s", needed, available)
	}
	return nil
}
