package backtest

import (
	"cmp"
	"slices"
	"strings"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/placement"
	"botd/strategy"
)

// A plan can keep orders in the order book. Within a round they are derived and sent as reconcile and the engine do: first
// the cancellations, then one opening, then the exits. Without exits further openings follow, as long as the openings
// that no round has read are at most half of the missing quantity. Passes over all orders walk one list of integers.

// resting is the machine's own record of an order in the order book.
type resting struct {
	id       int64
	purpose  placement.Purpose
	at       int // its place in the plan; -1 where the plan does not name its key
	canceled bool
}

// slot is one order of the plan in force.
type slot struct {
	stands bool              // an order with its key is in the order book
	filled exchange.Quantity // under its key
}

// keyFill is the quantity filled under a key since the plan first named it.
type keyFill struct {
	strategy.KeyFill
	at int // its place in the plan
}

// orders are the orders of one purpose.
type orders struct {
	purpose placement.Purpose
	fills   []keyFill // sorted by key
	slots   []slot
	missing []int // places in the plan of the orders to send
}

// ladder is the direct machine's record of a plan's orders.
type ladder struct {
	book           []resting               // in the order in which they were sent
	working        []strategy.WorkingOrder // the same, as the strategy sees them
	viewed         []strategy.WorkingOrder // those that the strategy saw last
	ending         bool                    // one was canceled since the last round
	agreed         bool                    // orders that differ from the plan were canceled since it came into force
	complete       bool                    // all missing orders were also sent, and nothing has filled since
	entries, exits orders
	fills          []strategy.KeyFill // for the view
}

// left returns the unfilled quantity of an order in the order book.
func (l *ladder) left(i int) exchange.Quantity { return l.working[i].Quantity - l.working[i].Filled }

// of returns the orders of a purpose.
func (l *ladder) of(purpose placement.Purpose) *orders {
	if purpose == placement.Order {
		return &l.entries
	}
	return &l.exits
}

// placeOf returns the place of a key in a list, or -1. It tries near first.
func placeOf(list []strategy.DesiredOrder, key string, near int) int {
	for _, at := range [...]int{near, near - 1, near + 1} {
		if uint(at) < uint(len(list)) && list[at].Key == key {
			return at
		}
	}
	return slices.IndexFunc(list, func(o strategy.DesiredOrder) bool { return o.Key == key })
}

// desired returns the plan's list of a purpose.
func (d *direct) desired(purpose placement.Purpose) []strategy.DesiredOrder {
	if purpose == placement.Order {
		return d.inForce.Orders
	}
	return d.inForce.Exits
}

// rests reports whether the plan in force keeps orders in the order book, or one is still there.
func (d *direct) rests() bool {
	return d.inForce.OrdersSet || d.inForce.ExitsSet || len(d.ladder.book) > 0
}

// adopt finds the places of orders and fills in a plan that has come into force. A key that it does not name starts
// from zero.
func (d *direct) adopt() {
	d.ladder.agreed, d.ladder.complete = false, false
	if !d.rests() {
		return
	}
	entries, exits := 0, 0 // the shift of the previous place: the next usually shifts equally
	for i := range d.ladder.book {
		o, by := &d.ladder.book[i], &entries
		if o.purpose == placement.ExitOrder {
			by = &exits
		}
		before := o.at
		if o.at = placeOf(d.desired(o.purpose), d.ladder.working[i].Key, before+*by); o.at >= 0 && before >= 0 {
			*by = o.at - before
		}
	}
	for _, of := range [...]*orders{&d.ladder.entries, &d.ladder.exits} {
		list := d.desired(of.purpose)
		for i := range of.fills {
			of.fills[i].at = placeOf(list, of.fills[i].Key, of.fills[i].at)
		}
		of.fills = slices.DeleteFunc(of.fills, func(f keyFill) bool { return f.at < 0 })
	}
}

// unresting returns why the engine must keep the plan's orders in the order book. It is empty where the direct machine can.
func (d *direct) unresting() string {
	costs := &d.run.config.Costs
	types := d.symbol.OrderTypes
	switch {
	case costs.LatencyMS+costs.LaterMS > 0:
		return "resting orders and latency"
	case !d.symbol.Cancelable || len(types) > 0 && !slices.Contains(types, exchange.Limit):
		return "a symbol without limit orders or cancels"
	}
	for _, list := range [...][]strategy.DesiredOrder{d.inForce.Orders, d.inForce.Exits} {
		for i := range list {
			if list[i].PostOnly || list[i].StopPrice != 0 {
				return "orders that are post-only, or wait for a price"
			}
		}
	}
	return ""
}

// settle assigns the executions since the last round to their orders, and reports whether they explain the position
// and the order book.
func (d *direct) settle(held *sim.Held) bool {
	l, sum := &d.ladder, d.held.Quantity
	for i := range d.run.fills {
		f := &d.run.fills[i]
		at, found := slices.BinarySearchFunc(l.book, f.OrderID, func(o resting, id int64) int { return cmp.Compare(o.id, id) })
		if !found {
			return false
		}
		l.working[at].Filled += f.Quantity
		sum += f.Quantity * exchange.Quantity(f.Side.Sign())
		l.of(l.book[at].purpose).fill(l.working[at].Key, l.book[at].at, f.Quantity)
	}
	if len(d.run.fills) > 0 || l.ending {
		d.removeEnded()
		l.complete = false
	}
	return held.Quantity == sum && d.run.venue.OpenOrders(account, exchange.Futures) == len(l.book)
}

// removeEnded removes filled or canceled orders.
func (d *direct) removeEnded() {
	l, stay := &d.ladder, 0
	for i := range l.book {
		o := &l.book[i]
		if left := l.left(i); o.canceled || left == 0 {
			d.run.ledger.events.over(o.id, l.working[i].Filled, left == 0)
			continue
		}
		if stay < i {
			l.book[stay], l.working[stay] = *o, l.working[i]
		}
		stay++
	}
	clear(l.working[stay:])
	l.book, l.working, l.ending = l.book[:stay], l.working[:stay], false
}

// spent returns the keys of the plan's orders when all of them are filled and there is no position that an order
// could close.
func (d *direct) spent() (keys []string) {
	if d.sendable(d.last, d.held.Quantity.Abs()) {
		return nil
	}
	d.ladder.entries.match(d.ladder.book, d.inForce.Orders)
	for at := range d.inForce.Orders {
		if d.ladder.entries.slots[at].filled < d.inForce.Orders[at].Quantity {
			return nil
		}
		keys = append(keys, d.inForce.Orders[at].Key)
	}
	return keys
}

// fill adds a fill to a key at the given place in the plan.
func (of *orders) fill(key string, at int, quantity exchange.Quantity) {
	i, found := slices.BinarySearchFunc(of.fills, key, func(f keyFill, key string) int { return strings.Compare(f.Key, key) })
	if !found {
		of.fills = slices.Insert(of.fills, i, keyFill{strategy.KeyFill{Key: key}, at})
	}
	of.fills[i].Quantity += quantity
}

// showOrders copies orders and fills to the view.
func (d *direct) showOrders() {
	l := &d.ladder
	l.fills = l.fills[:0]
	for _, of := range [...]*orders{&l.entries, &l.exits} {
		for i := range of.fills {
			l.fills = append(l.fills, of.fills[i].KeyFill)
		}
	}
	l.viewed = append(l.viewed[:0], l.working...)
	if order := &d.request.Order; d.pending != 0 {
		l.viewed = append(l.viewed, strategy.WorkingOrder{Side: order.Side, Type: order.Type, Quantity: order.Quantity})
	}
	d.view.Working, d.view.Fills = l.viewed, l.fills
}

// convergeOrders sends the orders and cancellations that lead from the order book to the plan. It schedules another round
// if it sent any.
func (d *direct) convergeOrders(nowMS int64) {
	l := &d.ladder
	if d.last <= 0 || l.complete {
		return
	}
	l.entries.match(l.book, d.inForce.Orders)
	l.exits.match(l.book, d.inForce.Exits)
	sent := d.withdraw()
	d.lackEntries()
	d.lackExits()
	missing := len(l.entries.missing) + len(l.exits.missing)
	if missing == 0 && !sent || len(l.entries.missing) > 0 && !d.opens() {
		l.complete = missing == 0
		return
	}
	unread := exchange.Quantity(0)
	if len(l.entries.missing) > 0 {
		unread += d.sendEntry(0)
	}
	for _, at := range l.exits.missing {
		d.rest(placement.ExitOrder, at, min(d.lacks(placement.ExitOrder, at), d.reducible()))
	}
	if len(l.exits.missing) == 0 {
		for at := d.fitting(unread); at >= 0; at = d.fitting(unread) {
			unread += d.sendEntry(at)
		}
	}
	l.complete = !sent && len(l.entries.missing) == 0
	d.roundMS = nowMS
	if d.uncovered != "" {
		d.roundMS = never
	}
}

// match finds which orders of a list stand, and the quantities filled under their keys.
func (of *orders) match(book []resting, list []strategy.DesiredOrder) {
	of.slots = slices.Grow(of.slots[:0], len(list))[:len(list)]
	clear(of.slots)
	for i := range of.fills {
		if f := &of.fills[i]; f.at >= 0 {
			of.slots[f.at].filled = f.Quantity
		}
	}
	for i := range book {
		if o := &book[i]; o.purpose == of.purpose && o.at >= 0 {
			of.slots[o.at].stands = true
		}
	}
}

// withdraw cancels orders that the plan lacks or has in another form, and reports whether there were any. A fill
// reduces both an order and the plan's remainder, so the order book matches the plan until the plan changes.
func (d *direct) withdraw() (any bool) {
	if d.ladder.agreed {
		return false
	}
	d.ladder.agreed = true
	for i := range d.ladder.book {
		o, stands := &d.ladder.book[i], &d.ladder.working[i]
		if o.at >= 0 {
			want := &d.desired(o.purpose)[o.at]
			if stands.Side == want.Side && stands.Price == want.Price && d.ladder.left(i) <= want.Quantity-d.ladder.of(o.purpose).slots[o.at].filled {
				continue
			}
		}
		d.cancel.OrderID = o.id
		if _, err := d.run.venue.Do(account, &d.cancel); err != nil {
			d.giveUp("an order that the exchange refused: %v", err)
			return false
		}
		o.canceled, any = true, true
	}
	d.ladder.ending = any
	return any
}

// lacks returns the unfilled quantity of an order of the plan.
func (d *direct) lacks(purpose placement.Purpose, at int) exchange.Quantity {
	return d.symbol.FloorQuantity(d.desired(purpose)[at].Quantity - d.ladder.of(purpose).slots[at].filled)
}

// sendable reports whether a quantity is large enough for an order at a price.
func (d *direct) sendable(price exchange.Price, quantity exchange.Quantity) bool {
	return quantity >= d.symbol.QuantityTick && !d.symbol.BelowMinimum(price, quantity)
}

// lackEntries lists the openings missing from the order book.
func (d *direct) lackEntries() {
	l := &d.ladder.entries
	l.missing = l.missing[:0]
	for at := range l.slots {
		if !l.slots[at].stands && d.sendable(d.inForce.Orders[at].Price, d.lacks(placement.Order, at)) {
			l.missing = append(l.missing, at)
		}
	}
}

// lackExits lists the exits missing from the order book, as far as the position allows.
func (d *direct) lackExits() {
	l, free := &d.ladder.exits, d.reducible()
	l.missing = l.missing[:0]
	for at := range l.slots {
		if l.slots[at].stands {
			continue
		}
		if quantity := min(d.lacks(placement.ExitOrder, at), free); d.sendable(d.inForce.Exits[at].Price, quantity) {
			l.missing = append(l.missing, at)
			free -= quantity
		}
	}
}

// reducible returns the part of the position that no exit in the order book covers.
func (d *direct) reducible() exchange.Quantity {
	free := d.held.Quantity.Abs()
	for i := range d.ladder.book {
		if d.ladder.book[i].purpose == placement.ExitOrder {
			free -= d.ladder.left(i)
		}
	}
	return d.symbol.FloorQuantity(max(0, free))
}

// fitting returns the missing opening that may go before the next round, or -1: openings that no round has read are
// at most half of the missing quantity.
func (d *direct) fitting(unread exchange.Quantity) int {
	left := exchange.Quantity(0)
	for _, at := range d.ladder.entries.missing {
		left += d.lacks(placement.Order, at)
	}
	return slices.IndexFunc(d.ladder.entries.missing, func(at int) bool { return unread+d.lacks(placement.Order, at) <= (unread+left)/2 })
}

// sendEntry sends one of the missing openings, and returns its quantity.
func (d *direct) sendEntry(i int) exchange.Quantity {
	l := &d.ladder.entries
	at := l.missing[i]
	l.missing = slices.Delete(l.missing, i, i+1)
	quantity := d.lacks(placement.Order, at)
	d.rest(placement.Order, at, quantity)
	return quantity
}

// opens reports whether all missing openings may be sent. It leaves an opening that a risk rule may refuse to the
// engine. So it counts more than the rules do: every order at its price or 5 % above the last one, with the taker's
// fee.
func (d *direct) opens() bool {
	l, orders := &d.ladder, d.inForce.Orders
	side, above := orders[l.entries.missing[0]].Side, d.last+d.last/20+2
	size, value, needed, highest := d.held.Quantity.Abs(), exchange.Amount{}, exchange.Amount{}, d.last
	for i := range l.book {
		o, left := &l.working[i], l.left(i)
		value = value.Add(d.symbol.Notional(max(o.Price, above), left))
		if l.book[i].purpose == placement.Order {
			size, highest = size+left, max(highest, o.Price)
			if o.Side != side {
				d.giveUp("openings of both sides")
				return false
			}
		}
	}
	for _, at := range l.entries.missing {
		o, quantity := &orders[at], d.lacks(placement.Order, at)
		worth := d.symbol.Notional(o.Price, quantity)
		if o.Side != side || d.symbol.MaxNotional.Less(worth) {
			d.giveUp("an intent that a rule may refuse")
			return false
		}
		size, highest = size+quantity, max(highest, o.Price)
		loss := max(0, (o.Price-d.last)*exchange.Price(side.Sign()))
		value = value.Add(d.symbol.Notional(max(o.Price, above), quantity))
		needed = needed.Add(worth.Div(int64(d.leverage))).Add(d.symbol.Notional(loss, quantity))
	}
	opposite := d.held.Quantity != 0 && (d.held.Quantity > 0) != (side == exchange.Buy)
	if needed = needed.Add(value.MulRate(d.fee)); opposite || d.available.Less(needed) || !d.bracketed(highest, size) {
		d.giveUp("an intent that a rule may refuse")
		return false
	}
	return true
}

// rest sends a limit order.
func (d *direct) rest(purpose placement.Purpose, at int, quantity exchange.Quantity) {
	if d.uncovered != "" {
		return
	}
	want := &d.desired(purpose)[at]
	exit := purpose == placement.ExitOrder
	if exit && ((want.Side == exchange.Buy) == (d.held.Quantity > 0) || d.symbol.MaxNotional.Less(d.symbol.Notional(want.Price, quantity))) {
		d.giveUp("an intent that a rule may refuse")
		return
	}
	order := &d.limit.Order
	order.Side, order.Price, order.Quantity, order.ReduceOnly = want.Side, want.Price, quantity, exit
	id, err := d.run.venue.Place(account, &d.limit)
	if err != nil {
		d.giveUp("refused by the exchange: %v", err)
		return
	}
	d.ladder.book = append(d.ladder.book, resting{id: id, purpose: purpose, at: at})
	d.ladder.working = append(d.ladder.working,
		strategy.WorkingOrder{Key: want.Key, Side: want.Side, Type: exchange.Limit, Price: want.Price, Quantity: quantity})
	d.run.ledger.events.rests(id, tag{purpose: purpose.String(), why: d.inForce.Reason})
}
