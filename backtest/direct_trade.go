package backtest

import (
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/strategy"
)

// round reads the position and sends the one order that leads to the target. The next round follows its fill.
func (d *direct) round(nowMS int64) {
	d.roundMS = never
	held := d.run.venue.Held(account, d.key.Name)
	switch {
	case d.rests():
		if !d.settle(&held) {
			d.giveUp("a liquidation, or an order that the exchange ended")
			return
		}
	case d.pending != 0 && held.Quantity == d.after && !d.liquidated():
		d.run.ledger.events.filled()
		d.pending = 0
	case held.Quantity != d.held.Quantity:
		d.giveUp("a liquidation, or an order that is filled in part")
		return
	case d.pending != 0 && d.run.venue.Ended(d.pending):
		d.giveUp("an order that ended without a fill")
		return
	}
	d.read(&held, nowMS)
	switch {
	case d.rests():
		d.convergeOrders(nowMS)
	case d.pending == 0:
		d.converge()
	case d.held.Quantity != 0 && d.inForce.Target != d.sentFor: // the engine may reduce the position in addition to the order
		d.giveUp("a target that changed next to an order under way")
	}
}

// liquidated reports whether a fill since the last round belongs to no order: a liquidation.
func (d *direct) liquidated() bool {
	return slices.ContainsFunc(d.run.fills, func(f sim.Fill) bool { return f.OrderID == 0 })
}

// read updates the account as an engine round does.
func (d *direct) read(held *sim.Held, nowMS int64) {
	d.version++
	d.equity, d.available = d.run.venue.Margin(account)
	if held.ID != d.held.ID || d.held.Quantity == 0 {
		d.position.SinceMS = nowMS
	}
	if d.position.Quantity = held.Quantity; held.Quantity == 0 {
		d.position = strategy.Position{}
	} else {
		d.position.EntryPrice = d.symbol.AverageCost(held.Cost, held.Quantity.Abs())
	}
	d.held, d.marked = *held, d.last
}

// worth returns the equity at the last price: the equity as read, plus the position's change in value since.
func (d *direct) worth() exchange.Amount {
	if d.held.Quantity == 0 || d.marked == 0 || d.last == d.marked {
		return d.equity
	}
	return d.equity.Add(d.symbol.Notional(d.last-d.marked, d.held.Quantity))
}

// converge sends the order that leads from the position to the target, as reconcile derives it.
func (d *direct) converge() {
	target, position := d.inForce.Target, d.held.Quantity
	if target.Kind == strategy.NoTarget {
		return
	}
	sign := target.Sign()
	if sign == 0 || position != 0 && (position > 0) != (sign > 0) {
		if position != 0 {
			d.reduce(position.Abs(), d.exitReason(sign))
		}
		return
	}
	if !d.priced {
		d.of, d.priced, d.quantity = target, true, reconcile.TargetQuantity(target, d.symbol, d.last, d.equity, 0)
	}
	switch delta := d.quantity - position; {
	case delta == 0:
	case (delta > 0) == (sign > 0):
		d.enter(delta)
	default:
		desired := max(d.quantity.Abs(), reconcile.UnroundedTarget(target, position.Abs()))
		if less := position.Abs() - desired; less > 0 {
			d.reduce(less, reconcile.SmallerTarget)
		}
	}
}

// exitReason returns why a position closes. It remembers a few texts, since most runs repeat them, and stores each once.
func (d *direct) exitReason(sign int) string {
	const few = 4
	for i := range d.reasons {
		if r := &d.reasons[i]; r.sign == sign && r.plan == d.inForce.Reason {
			return r.text
		}
	}
	text := reconcile.ExitReason(d.inForce.Target, d.inForce.Reason)
	if len(d.reasons) == few {
		d.reasons = slices.Delete(d.reasons, 0, 1)
	}
	d.reasons = append(d.reasons, reason{sign, d.inForce.Reason, text})
	return text
}

// capped limits one order to the symbol's maximum, as reconcile does. It returns the order's value too, which the hot
// path needs once more, and divides only where the maximum is exceeded.
func (d *direct) capped(quantity exchange.Quantity) (exchange.Quantity, exchange.Amount) {
	quantity = d.symbol.FloorQuantity(quantity)
	value := d.symbol.Notional(d.last, quantity)
	if d.symbol.MaxNotional.Less(value) {
		quantity = min(quantity, d.symbol.QuantityFor(d.symbol.MaxNotional, d.last))
		value = d.symbol.Notional(d.last, quantity)
	}
	return quantity, value
}

func (d *direct) tooSmall(quantity exchange.Quantity, value exchange.Amount) bool {
	return quantity < d.symbol.QuantityTick || value.Less(d.symbol.MinNotional)
}

// enter opens or adds to a position if the margin suffices. It leaves refusals by other risk rules to the engine.
func (d *direct) enter(delta exchange.Quantity) {
	quantity, value := d.capped(delta.Abs())
	if d.tooSmall(quantity, value) {
		return // within one step, or below minNotional: reached
	}
	if !d.bracketed(d.last, d.held.Quantity.Abs()+quantity) {
		d.giveUp("an intent that a rule may refuse")
		return
	}
	if rejection := risk.Margin(value.Div(int64(d.leverage)), d.available); rejection != nil {
		d.refuse(rejection)
		return
	}
	d.rejection = risk.Rejection{}
	d.place(placement.Entry, exchange.SideOf(delta), quantity, d.inForce.Reason)
}

// refuse counts a refused entry. A repeated refusal counts once.
func (d *direct) refuse(rejection *risk.Rejection) {
	if *rejection != d.rejection {
		d.rejection = *rejection
		d.run.ledger.events.counts.Derived++
		d.run.ledger.events.refuses(d.name, rejection)
	}
}

// bracketed reports whether the symbol's margin brackets allow a size at the configured leverage.
func (d *direct) bracketed(price exchange.Price, size exchange.Quantity) bool {
	brackets, value := d.symbol.Brackets, d.symbol.Notional(price, size)
	if len(brackets) == 0 {
		return d.leverage <= 1
	}
	return !brackets[len(brackets)-1].Max.Less(value) && d.leverage <= d.symbol.BracketOf(value).MaxLeverage
}

// reduce reduces or closes the position. It leaves a whole position that is too small for an order to the engine.
func (d *direct) reduce(part exchange.Quantity, why string) {
	position := d.held.Quantity
	quantity, value := d.capped(part)
	if d.tooSmall(quantity, value) {
		if quantity >= position.Abs() {
			d.giveUp("too small for an order of its own")
		}
		return
	}
	d.place(placement.Exit, exchange.SideOf(-position), quantity, why)
}

// place sends a market order.
func (d *direct) place(purpose placement.Purpose, side exchange.Side, quantity exchange.Quantity, why string) {
	order := &d.request.Order
	order.Side, order.Quantity, order.ReduceOnly = side, quantity, purpose == placement.Exit
	id, err := d.run.venue.Place(account, &d.request)
	if err != nil {
		d.giveUp("an order that the exchange refused: %v", err)
		return
	}
	d.sentFor, d.pending, d.after = d.inForce.Target, id, d.held.Quantity+quantity*exchange.Quantity(side.Sign())
	d.run.ledger.events.sent(d.pending, tag{purpose: purpose.String(), why: why})
}
