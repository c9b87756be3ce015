package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// A closePosition order closes a symbol's whole position. If part of it is not botd's to close, or
// a foreign closePosition order exists, botd's part is protected by reduceOnly orders for its
// quantity. They count in the exchange's sum (rule 5), as do foreign orders: a stop has priority
// over a profit.

// positionShared reports whether others hold part of the position, or one of their
// closePosition stops keeps the exchange from taking botd's (rule 8).
func (s *situation) positionShared() bool {
	return s.symbol.Ignored() != 0 || s.slotTaken(exchange.StopMarket)
}

// slotTaken reports whether an order of others closes the position by this type, of
// which the exchange takes one a symbol (rule 8).
func (s *situation) slotTaken(kind exchange.OrderType) bool {
	return slices.ContainsFunc(s.foreignOrders(), func(o exchange.Order) bool { return o.ClosePosition && o.Type == kind })
}

// foreignOrders are the symbol's open orders that are foreign, or released by a person.
func (s *situation) foreignOrders() []exchange.Order {
	return slices.Concat(s.symbol.foreign, s.symbol.leftToOwner)
}

// convergeStopPart keeps the stop of botd's part. If the price has already been passed, the part
// exits at market.
func (d *derivation) convergeStopPart(price exchange.Price) {
	if !d.pricePassed(placement.StopLoss, price) {
		d.convergePart(placement.StopLoss, exchange.NewOrder{Type: exchange.StopMarket, StopPrice: price}, "protects botd's part of the position")
		return
	}
	resting := slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return p.Order().StopPrice == price && !d.mayRepeat(p) })
	if !resting {
		d.exitNow()
	}
}

// convergePart keeps orders of one kind over botd's part: an order that is too large, or at another
// price, is canceled, confirmed and placed again; a missing quantity is added. An order for the
// whole position stays until they rest and is then canceled.
func (d *derivation) convergePart(purpose placement.Purpose, order exchange.NewOrder, reason string) {
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
		case !p.State().OutcomeUnknown() && moved && !d.declared():
			d.cancel(p, "the protection moves")
			ends = true
		case !p.State().OutcomeUnknown() && p.Remaining() > open && !d.declared() && d.symbol.position == d.symbol.Known():
			d.cancel(p, "it is more than botd's part of the position")
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
		d.cancel(whole, "it would close what others hold too")
	}
}

// addPart places the missing quantity, as far as the sum has room for it.
func (d *derivation) addPart(purpose placement.Purpose, order exchange.NewOrder, open exchange.Quantity, reason string) {
	order.ReduceOnly, order.Quantity = true, d.symbol.rules.FloorQuantity(min(open, d.reducingRoom()))
	if purpose == placement.StopLoss && order.Quantity < d.symbol.rules.FloorQuantity(open) {
		for _, p := range d.profits {
			if p.Order().ReduceOnly {
				d.cancel(p, "makes room for the stop")
			}
		}
	}
	if purpose == placement.TakeProfit && order.Quantity < d.symbol.rules.FloorQuantity(open) {
		return // a tiny part would only take others' room
	}
	if !d.tooSmall(order.Quantity) {
		d.protectBy(purpose, order, reason)
	}
}

// convergeProfitPart keeps the profit of botd's part. If the list is not trusted, the position may
// have less room for reducing orders than known: the profit then waits until the stop rests and
// takes none of its room.
func (d *derivation) convergeProfitPart(protection strategy.Protection) {
	standing := func(p *account.Placement) bool { return !p.State().OutcomeUnknown() }
	if d.symbol.Standing() != d.symbol.position && !protection.StopLoss.IsZero() && !slices.ContainsFunc(d.stops, standing) {
		return
	}
	price := d.protectionPrice(placement.TakeProfit, protection.TakeProfit)
	if price > 0 && !d.pricePassed(placement.TakeProfit, price) {
		d.convergePart(
			placement.TakeProfit,
			exchange.NewOrder{Type: exchange.TakeProfitMarket, StopPrice: price},
			"takes the profit of botd's part of the position",
		)
	}
}

// reducingRoom returns the part of the position that the exchange's sum of reducing quantities
// leaves free, including those derived in this round (rule 5). On spot it is the part of the asset
// that no order sells.
func (d *derivation) reducingRoom() exchange.Quantity {
	free := d.ownPosition.Abs()
	if d.symbol.Key().Market == exchange.Futures {
		free = d.symbol.StandingAtVenue().Abs()
	}
	for _, p := range d.keyedOrders {
		if p.Purpose() == placement.ExitOrder {
			free -= p.Remaining()
		}
	}
	for _, p := range slices.Concat(d.stops, d.profits) { // on spot a stop holds the asset; closePosition orders have no quantity
		free -= p.Remaining()
	}
	for _, p := range d.targetOrders {
		if p.Order().ReduceOnly || p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell {
			free -= p.Remaining()
		}
	}
	for _, o := range d.foreignOrders() {
		if o.Reduces() && !o.ClosePosition {
			free -= o.Remaining()
		}
	}
	for i := range d.intents {
		if order := &d.intents[i].Order; order.ReduceOnly || d.intents[i].Purpose == placement.ExitOrder || d.intents[i].Purpose == placement.Exit {
			free -= order.Quantity
		}
	}
	return max(0, free)
}
