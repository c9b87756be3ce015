package sim

import "botd/exchange"

// cancelable finds the order of a cancel request. An order can be canceled once it is accepted,
// even before list and GET show it.
func (x *Exchange) cancelable(a *account, request *exchange.Request) (*order, *exchange.Refusal) {
	op := request.Operation
	o := x.orders.of(a, op.Market(), request.OrderID)
	switch {
	case o == nil:
		return nil, refuse(op, CodeUnknownOrder, "order %d is unknown", request.OrderID)
	case o.Status.Final() || o.dead:
		status := o.Status
		if o.dead {
			status = canceled
		}
		return nil, refuse(op, CodeFinishedOrder, "order %d is finished: %s", o.ID, status)
	case !o.book.symbol.Cancelable:
		return nil, refuse(op, CodeNotCancelable, "orders on %s cannot be canceled: isCancelOrder is false", o.Symbol)
	}
	return o, nil
}

// cancelFutures accepts a cancel. The answer says PRE_CANCELED; the order is CANCELED after the
// delay, unless it fills first.
func (x *Exchange) cancelFutures(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	o, refusal := x.cancelable(a, request)
	if refusal != nil {
		return refusal
	}
	answer.Order = o.report()
	answer.Order.Status = exchange.StatusPreCanceled
	x.cancel(o)
	return nil
}

// cancelAllFutures accepts a cancel of every order. The answer shows the orders as they were.
func (x *Exchange) cancelAllFutures(a *account, answer *exchange.Answer) *exchange.Refusal {
	var canceling []exchange.Order
	for o := a.futuresOrders.first; o != nil; {
		next := o.after
		if o.book.symbol.Cancelable {
			canceling = append(canceling, o.report())
			x.cancel(o)
		}
		o = next
	}
	answer.Orders = exchange.FetchedOf(canceling)
	return nil
}

// cancelSpot cancels a spot order. The answer says CANCELED and no fill follows; list, history and
// wallet follow after the delay.
func (x *Exchange) cancelSpot(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	b, refusal := x.symbol(request, request.Symbol)
	if refusal != nil {
		return refusal
	}
	o, refusal := x.cancelable(a, request)
	if refusal != nil {
		return refusal
	}
	if o.book != b {
		return refuse(request.Operation, CodeUnknownOrder, "order %d is unknown on %s", request.OrderID, b.symbol.Name)
	}
	answer.Order = x.takeOutAndCancel(o)
	return nil
}

func (x *Exchange) cancelAllSpot(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	b, refusal := x.symbol(request, request.Symbol)
	if refusal != nil {
		return refusal
	}
	if !b.symbol.Cancelable {
		return refuse(request.Operation, CodeNotCancelable, "orders on %s cannot be canceled: isCancelOrder is false", b.symbol.Name)
	}
	var canceling []exchange.Order
	for o := a.spotList.first; o != nil; {
		next := o.after
		if o.book == b && !o.dead {
			canceling = append(canceling, x.takeOutAndCancel(o))
		}
		o = next
	}
	answer.Orders = exchange.FetchedOf(canceling)
	return nil
}

// takeOutAndCancel removes a spot order from the book at once and cancels it after the delay.
func (x *Exchange) takeOutAndCancel(o *order) exchange.Order {
	reported := o.report()
	reported.Status = canceled
	o.dead = true
	o.book.takeOut(o)
	x.cancel(o)
	return reported
}

// cancel ends an order after the delay, but not before it reached the book.
func (x *Exchange) cancel(o *order) {
	x.version++
	x.noteOrder(o)
	if delay := x.delay(); delay > 0 {
		x.queue.push(x.nowMS+delay, o, true)
		return
	}
	x.finish(o, canceled)
}

// setLeverage changes a symbol's leverage: at most that of the position's bracket, and not so low
// that margin is missing.
func (x *Exchange) setLeverage(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	b, refusal := x.symbol(request, request.Symbol)
	if refusal != nil {
		return refusal
	}
	h := &a.holdings[b.index]
	var notional exchange.Amount
	if h.position != nil {
		notional = b.symbol.Notional(b.mark, h.position.remaining)
	}
	if maximum := b.symbol.BracketOf(notional).MaxLeverage; request.Leverage < 1 || request.Leverage > maximum {
		return refuse(request.Operation, CodeLeverage, "leverage %d is outside 1..%d of the bracket that %s USDT on %s fall in",
			request.Leverage, maximum, notional, b.symbol.Name)
	}
	before := h.leverage
	x.applyLeverage(a, b, request.Leverage)
	if available := a.available(); available.Sign() < 0 && request.Leverage < before {
		x.applyLeverage(a, b, before)
		return refuse(request.Operation, CodeLeverageMargin, "leverage %d on %s needs %s USDT more than is available",
			request.Leverage, b.symbol.Name, available.Neg())
	}
	x.markChanged(a)
	answer.Status = "ok"
	return nil
}

// applyLeverage recomputes a symbol's position and order margin.
func (x *Exchange) applyLeverage(a *account, b *book, leverage int) {
	h := &a.holdings[b.index]
	h.leverage = leverage
	if p := h.position; p != nil {
		margin := p.cost.Div(int64(leverage))
		a.positionMargin = a.positionMargin.Add(margin).Sub(p.margin)
		p.margin = margin
	}
	for o := a.futuresOrders.first; o != nil; o = o.after {
		if o.book == b && o.opens() {
			x.holdMargin(o)
		}
	}
}
