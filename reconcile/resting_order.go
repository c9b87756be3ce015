package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// cancelOpeningsAfterMS is the time after its fence for which an uncertain order waits for a stable snapshot. After that
// the symbol's resting openings are canceled to get one (case 37).
const cancelOpeningsAfterMS = 60_000

// refusedKeyWaitMS is the time for which a key is left without an order after the exchange refused one, such as
// a post-only order that would have matched.
const refusedKeyWaitMS = 5_000

// restingOrders keeps a plan's orders with keys on the exchange: those that open, and the resting exits.
type restingOrders struct {
	*inputs
	*changes
	reason  string // the plan's
	mayOpen bool
	exiting bool // this round exits the position: nothing is placed
}

func (d *derivation) restingOrders() restingOrders {
	return restingOrders{&d.inputs, &d.changes, d.reason, d.desired.MayOpen && d.readyToOpen(), d.exiting}
}

// convergeKeyed keeps the plan's resting orders on the exchange. It cancels orders that are no longer
// desired. If the plan changed an order, it cancels the old one, waits for the confirmation, and places
// the remainder.
func (d restingOrders) convergeKeyed(purpose placement.Purpose, desired account.Orders) {
	overdue := purpose == placement.Order && d.tracker.Overdue(d.symbol.Key(), d.nowMS, cancelOpeningsAfterMS) != nil
	keys := desired.Keys()
	slots := d.slots(&keys, purpose, desired.Len())
	for n, p := range d.keyedOrders {
		if p.Purpose() != purpose {
			continue
		}
		i := keys.Find(p.Key(), d.symbol.keyedAt[n])
		if i >= 0 {
			slots[i].placed = true // possibly by a different order, which must end first
			d.symbol.keyedAt[n] = i
		}
		if overdue {
			d.cancel(p, "canceled for a stable snapshot: it keeps filling")
		}
		switch {
		case i < 0 || !sameOrder(p, desired.At(i), slots[i].filled):
			d.cancel(p, "no longer desired")
		case purpose == placement.Order && p.Order().PostOnly && d.against(p.Order().Side):
			d.cancel(p, "the order on the other side has filled")
		}
	}
	if d.exiting {
		return
	}
	for i := range slots {
		if !slots[i].placed {
			d.placeKeyed(purpose, desired.At(i), slots[i].filled)
		}
	}
}

// slot is one order of a plan.
type slot struct {
	placed bool              // an order rests under its key, or did until a moment ago
	filled exchange.Quantity // quantity filled under its key
}

// slots returns the slots of a plan's orders, with their fills.
func (d restingOrders) slots(keys *account.Keys, purpose placement.Purpose, count int) []slot {
	slots := slices.Grow(d.tracker.slots[:0], count)[:count]
	clear(slots)
	for i, filled := range d.desired.Strategy.FilledAt(keys, purpose) {
		slots[i].filled = filled
	}
	d.tracker.slots = slots
	return slots
}

func sameOrder(p *account.Placement, desired strategy.DesiredOrder, filled exchange.Quantity) bool {
	order := p.Order()
	return order.Side == desired.Side && order.Price == desired.Price && order.StopPrice == desired.StopPrice && p.Remaining() <= desired.Quantity-filled
}

// placeKeyed places a desired order that no order rests for.
func (d restingOrders) placeKeyed(purpose placement.Purpose, desired strategy.DesiredOrder, filled exchange.Quantity) {
	if purpose == placement.Order && !d.mayOpen {
		return
	}
	if purpose == placement.ExitOrder && d.nowMS < d.desired.YieldMS {
		return
	}
	if purpose == placement.Order && desired.PostOnly && (d.against(desired.Side) || d.otherSideUncertain(desired.Side)) {
		return
	}
	if refused := d.desired.Strategy.RefusedByKey(purpose, desired.Key); d.nowMS-refused < refusedKeyWaitMS {
		return // the same order would be refused again right away (incident 54)
	}
	quantity := d.symbol.rules.FloorQuantity(desired.Quantity - filled)
	if purpose == placement.ExitOrder {
		quantity = min(quantity, d.reductions().uncovered())
	}
	if quantity < d.symbol.rules.QuantityTick || d.symbol.rules.BelowMinimum(desired.Price, quantity) {
		return
	}
	order := exchange.NewOrder{Type: exchange.Limit, Side: desired.Side, Quantity: quantity, Price: desired.Price, PostOnly: desired.PostOnly,
		ReduceOnly: purpose == placement.ExitOrder && d.symbol.Key().Market == exchange.Futures}
	if desired.StopPrice != 0 {
		order.Type, order.StopPrice, order.PostOnly = exchange.StopLimit, desired.StopPrice, false
		if d.symbol.Key().Market == exchange.Futures {
			order.WorkingType = exchange.ContractPrice
		}
	}
	if purpose == placement.ExitOrder && d.restsUnclaimed(&order) {
		return // both would sell the same quantity
	}
	d.add(Intent{Purpose: purpose, Key: desired.Key, Order: order, Reason: d.reason})
}

// restsUnclaimed reports whether a spot row without an id equals a sale in quantity and price, where lists may omit ids: another botd with a copy of the
// journal may have placed it.
func (s *inputs) restsUnclaimed(sale *exchange.NewOrder) bool {
	return s.symbol.Key().Market == exchange.Spot && s.tracker.omitsIDs() && slices.ContainsFunc(s.symbol.foreign, func(o exchange.Order) bool {
		return sameSize(&o, sale) && o.Price == sale.Price && o.StopPrice == sale.StopPrice
	})
}

// against reports whether a side would open against a position (futures rule 4).
func (s *inputs) against(side exchange.Side) bool {
	return s.symbol.Key().Market == exchange.Futures && int64(s.ownPosition)*side.Sign() < 0
}

// otherSideUncertain reports whether an opening on the other side will be sent in this round or is not
// acknowledged: a market maker's second quote waits for the first.
func (d restingOrders) otherSideUncertain(side exchange.Side) bool {
	if d.symbol.Key().Market != exchange.Futures {
		return false
	}
	for i := range d.intents {
		if d.intents[i].Purpose == placement.Order && d.intents[i].Order.Side != side {
			return true
		}
	}
	for _, p := range d.keyedOrders {
		if p.Purpose() == placement.Order && p.Order().Side != side && p.State() == placement.Sending {
			return true
		}
	}
	return false
}
