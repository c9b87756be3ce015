package sim

import "botd/exchange"

// cancelable finds the order of a cancel request. An order can be canceled once it is accepted,
// even before list and GET show it.
func (c *call) cancelable() (*order, *exchange.Refusal) {
	op := c.request.Operation
	o := c.exchange.orders.of(c.account, op.Market(), c.request.OrderID)
	switch {
	case o == nil:
		return nil, refuse(op, CodeUnknownOrder, "order %d is unknown", c.request.OrderID)
	case o.Status.Final() || o.dead:
		status := o.Status
		if o.dead {
			status = canceled
		}
		return nil, refuse(op, CodeFinishedOrder, "order %d is finished: %s", o.ID, status)
	case !o.orderBook.symbol.Cancelable:
		return nil, refuse(op, CodeNotCancelable, "orders on %s cannot be canceled: isCancelOrder is false", o.Symbol)
	}
	return o, nil
}

// cancelFutures accepts a cancel. The answer's status is PRE_CANCELED; the order is CANCELED after
// the delay, unless it fills first.
func (c *call) cancelFutures() *exchange.Refusal {
	o, refusal := c.cancelable()
	if refusal != nil {
		return refusal
	}
	c.answer.Order = o.report()
	c.answer.Order.Status = exchange.StatusPreCanceled
	c.exchange.cancel(o)
	return nil
}

// cancelAllFutures accepts a cancel of every order. The answer shows the orders as they were.
func (c *call) cancelAllFutures() *exchange.Refusal {
	var canceling []exchange.Order
	for o := c.account.futuresOrders.first; o != nil; {
		next := o.after
		if o.orderBook.symbol.Cancelable {
			canceling = append(canceling, o.report())
			c.exchange.cancel(o)
		}
		o = next
	}
	c.answer.Orders = exchange.FetchedOf(canceling)
	return nil
}

// cancelSpot cancels a spot order. The answer's status is CANCELED and no fill follows; list,
// history and wallet follow after the delay.
func (c *call) cancelSpot() *exchange.Refusal {
	b, refusal := c.symbol(c.request.Symbol)
	if refusal != nil {
		return refusal
	}
	o, refusal := c.cancelable()
	if refusal != nil {
		return refusal
	}
	if o.orderBook != b {
		return refuse(c.request.Operation, CodeUnknownOrder, "order %d is unknown on %s", c.request.OrderID, b.symbol.Name)
	}
	c.answer.Order = c.exchange.removeAndCancel(o)
	return nil
}

func (c *call) cancelAllSpot() *exchange.Refusal {
	b, refusal := c.symbol(c.request.Symbol)
	if refusal != nil {
		return refusal
	}
	if !b.symbol.Cancelable {
		return refuse(c.request.Operation, CodeNotCancelable, "orders on %s cannot be canceled: isCancelOrder is false", b.symbol.Name)
	}
	var canceling []exchange.Order
	for o := c.account.spotList.first; o != nil; {
		next := o.after
		if o.orderBook == b && !o.dead {
			canceling = append(canceling, c.exchange.removeAndCancel(o))
		}
		o = next
	}
	c.answer.Orders = exchange.FetchedOf(canceling)
	return nil
}

// removeAndCancel removes a spot order from the order book at once and cancels it after the delay.
func (x *Exchange) removeAndCancel(o *order) exchange.Order {
	reported := o.report()
	reported.Status = canceled
	o.dead = true
	o.orderBook.remove(o)
	x.cancel(o)
	return reported
}

// cancel ends an order after the delay, but not before it has reached the order book.
func (x *Exchange) cancel(o *order) {
	x.version++
	x.noteOrder(o)
	if delay := x.delay(); delay > 0 {
		x.queue.push(x.nowMS+delay, o, true)
		return
	}
	x.finish(o, canceled)
}

// setLeverage changes a symbol's leverage: at most the leverage of the position's bracket, and not
// so low that margin is missing.
func (c *call) setLeverage() *exchange.Refusal {
	b, refusal := c.symbol(c.request.Symbol)
	if refusal != nil {
		return refusal
	}
	h := &c.account.holdings[b.index]
	var notional exchange.Amount
	if h.position != nil {
		notional = b.symbol.Notional(b.mark, h.position.Remaining)
	}
	if maximum := b.symbol.BracketOf(notional).MaxLeverage; c.request.Leverage < 1 || c.request.Leverage > maximum {
		return refuse(c.request.Operation, CodeLeverage, "leverage %d is outside 1..%d of the bracket that %s USDT on %s fall in",
			c.request.Leverage, maximum, notional, b.symbol.Name)
	}
	before := h.leverage
	c.exchange.clearing.applyLeverage(c.account, b, c.request.Leverage)
	if available := c.account.available(); available.Sign() < 0 && c.request.Leverage < before {
		c.exchange.clearing.applyLeverage(c.account, b, before)
		return refuse(c.request.Operation, CodeLeverageMargin, "leverage %d on %s needs %s USDT more than is available",
			c.request.Leverage, b.symbol.Name, available.Neg())
	}
	c.exchange.clearing.markChanged(c.account)
	c.answer.Status = "ok"
	return nil
}

// applyLeverage recomputes a symbol's position and order margin.
func (c *clearing) applyLeverage(a *account, b *orderBook, leverage int) {
	h := &a.holdings[b.index]
	h.leverage = leverage
	if p := h.position; p != nil {
		margin := p.Cost.Div(int64(leverage))
		a.positionMargin = a.positionMargin.Add(margin).Sub(p.margin)
		p.margin = margin
	}
	for o := a.futuresOrders.first; o != nil; o = o.after {
		if o.orderBook == b && o.opens() {
			c.holdMargin(o)
		}
	}
}
