package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// A closePosition order closes a symbol's whole position. If botd may close only part of the position,
// or a foreign closePosition order exists, reduceOnly orders for the quantity of botd's part protect it.
// Like foreign orders, they count in the exchange's sum (rule 5): a stop has priority over a
// take-profit.

// positionShared reports whether others hold part of the position, or a foreign closePosition stop makes
// the exchange refuse botd's (rule 8).
func (s *inputs) positionShared() bool {
	return s.symbol.Ignored() != 0 || s.symbol.slotTaken(exchange.StopMarket)
}

// slotTaken reports whether a foreign order of this type closes the position: the exchange accepts only
// one per symbol (rule 8).
func (o *observation) slotTaken(kind exchange.OrderType) bool {
	return slices.ContainsFunc(o.foreignOrders(), func(o exchange.Order) bool { return o.ClosePosition && o.Type == kind })
}

// foreignOrders returns the symbol's open orders that are foreign, or that a person left to their owner.
func (o *observation) foreignOrders() []exchange.Order {
	return slices.Concat(o.foreign, o.leftToOwner)
}

// partProtection keeps reduceOnly orders for botd's part of a futures position.
type partProtection struct{ *safeguards }

func (d *safeguards) partProtection() partProtection { return partProtection{d} }

// convergeStop keeps a stop for botd's part. If the price has already passed it, the part exits at
// market.
func (d partProtection) convergeStop(price exchange.Price) {
	if !d.pricePassed(placement.StopLoss, price) {
		d.converge(placement.StopLoss, exchange.NewOrder{Type: exchange.StopMarket, StopPrice: price}, "protects botd's part of the position")
		return
	}
	resting := slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return p.Order().StopPrice == price && !d.mayRepeat(p) })
	if !resting {
		d.positionExit().exitNow()
	}
}

// converge keeps orders of one kind for botd's part. An order that is too large, or at another
// price, is canceled, confirmed and placed again; a missing quantity is added. An order for the whole
// position stays until these rest, and is then canceled.
func (d partProtection) converge(purpose placement.Purpose, order exchange.NewOrder, reason string) {
	live := d.stops
	if purpose == placement.TakeProfit {
		live = d.profits
	}
	open, ends := d.ownPosition.Abs(), false
	var whole *account.Placement
	for _, p := range live {
		moved := p.Order().StopPrice != order.StopPrice && d.nowMS-p.SentMS() >= int64(d.desired.Interval)
		switch {
		case p.Order().ClosePosition:
			whole = p
		case !p.State().OutcomeUncertain() && moved && !d.declared():
			d.cancel(p, "the protection moves")
			ends = true
		case !p.State().OutcomeUncertain() && p.Remaining() > open && !d.declared() && d.symbol.position == d.symbol.Known():
			d.cancel(p, "its quantity exceeds botd's part of the position")
			ends = true
		default:
			open -= p.Remaining()
		}
	}
	switch {
	case ends || d.exiting: // an exit replaces it
	case open > 0:
		d.addPart(purpose, order, open, reason)
	case whole != nil && d.symbol.Ignored() != 0:
		d.cancel(whole, "it would also close the part that others hold")
	}
}

// addPart places an order for the missing quantity, as far as the sum has room for it.
func (d partProtection) addPart(purpose placement.Purpose, order exchange.NewOrder, open exchange.Quantity, reason string) {
	order.ReduceOnly, order.Quantity = true, d.symbol.rules.FloorQuantity(min(open, d.reductions().room()))
	if purpose == placement.StopLoss && order.Quantity < d.symbol.rules.FloorQuantity(open) {
		for _, p := range d.profits {
			if p.Order().ReduceOnly {
				d.cancel(p, "makes room for the stop")
			}
		}
	}
	if purpose == placement.TakeProfit && order.Quantity < d.symbol.rules.FloorQuantity(open) {
		return // an order for a tiny part would only use up the room of others
	}
	if !d.tooSmall(order.Quantity) {
		d.protectBy(purpose, order, reason)
	}
}

// convergeProfit keeps a take-profit for botd's part. If the list is not trusted, the room for
// reducing orders may be smaller than known: the take-profit then waits until the stop rests, so that it
// does not use the stop's room.
func (d partProtection) convergeProfit(protection strategy.Protection) {
	standing := func(p *account.Placement) bool { return !p.State().OutcomeUncertain() }
	if d.symbol.TrustedPosition() != d.symbol.position && !protection.StopLoss.IsZero() && !slices.ContainsFunc(d.stops, standing) {
		return
	}
	price := d.protectionPrice(placement.TakeProfit, protection.TakeProfit)
	if price > 0 && !d.pricePassed(placement.TakeProfit, price) {
		d.converge(
			placement.TakeProfit,
			exchange.NewOrder{Type: exchange.TakeProfitMarket, StopPrice: price},
			"takes the profit of botd's part of the position",
		)
	}
}
