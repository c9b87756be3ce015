package library

import (
	"strconv"

	"botd/exchange"
	"botd/strategy"
)

// rests reports whether the grid desires nothing or a close of everything, because a stop has
// filled or the price has reached the grid's own stop or target.
func (m *mesh) rests(view *strategy.View, plan *strategy.Plan) bool {
	stopped, _ := view.Memory.Get(gridStopped)
	beyond := m.beyond(view.Last)
	switch {
	case stopped == 0 && !beyond:
		return false
	case stopped == 1 && m.restart && !beyond:
		plan.Remember(gridStopped, 0)
		plan.Remember(gridBegun, 0)
		plan.Remember(gridBegin, 0)
		plan.Reason = "the price is back: the grid starts over"
	case stopped == 1:
		plan.Reason = "a stop or target closed the position; the grid rests"
	case stopped == 2 && m.symbol.BelowMinimum(view.Last, view.Position.Quantity.Abs()):
		remember(plan, new(heldBefore(view)), &cellSet{})
		plan.Remember(gridStopped, 1)
		plan.Reason = "everything is closed"
	default:
		if stopped == 0 {
			plan.Remember(gridStopped, 2)
		}
		plan.OrdersSet = false
		plan.Hold(strategy.Flat(), "the price reached the grid's stop or target: everything is closed")
	}
	return true
}

// beyond reports whether a price has reached the stop or target.
func (m *mesh) beyond(last exchange.Price) bool {
	low, high := m.stop, m.target
	if m.sign == exchange.Sell {
		low, high = m.target, m.stop
	}
	return last <= low || high > 0 && last >= high
}

// covered reports whether the initial purchase includes the cell: its line was not passive at the
// beginning.
func (m *mesh) covered(cell int, begin exchange.Price) bool {
	if m.sign == exchange.Sell {
		return m.enterAt(cell) <= begin
	}
	return m.enterAt(cell) >= begin
}

// start desires the initial purchase until it has filled completely, then marks its cells as held.
// It is a limit order half a percent beyond the starting price, so that it fills at once but at no
// bad price.
func (m *mesh) start(view *strategy.View, plan *strategy.Plan, held *cellSet) (order *strategy.DesiredOrder) {
	if begun, _ := view.Memory.Get(gridBegun); !m.initial || begun != 0 {
		return nil
	}
	begin, _ := view.Memory.Get(gridBegin)
	if begin == 0 {
		begin = int64(view.Last)
		plan.Remember(gridBegin, begin)
	}
	var all exchange.Quantity
	for i := range m.cells {
		if m.covered(i, exchange.Price(begin)) {
			all += m.entry[i]
		}
	}
	if view.Filled(gridStart) < all {
		price := m.symbol.FloorPrice(exchange.Price(begin + begin/200))
		if m.sign == exchange.Sell {
			price = m.symbol.CeilPrice(exchange.Price(begin - begin/200))
		}
		return &strategy.DesiredOrder{Key: gridStart, Side: m.sign, Price: price, Quantity: all}
	}
	for i := range m.cells {
		if m.covered(i, exchange.Price(begin)) {
			held.add(i)
		}
	}
	plan.Remember(gridBegun, 1)
	return nil
}

const gridStart = "start" // key of the initial purchase

// book records the pairs that have closed and their profit after fees.
func (m *mesh) book(view *strategy.View, plan *strategy.Plan) {
	if len(m.closed) == 0 {
		return
	}
	pairs, _ := view.Memory.Get(gridPairs)
	profit, _ := view.Memory.Get(gridProfit)
	for _, i := range m.closed {
		pairs++
		profit += m.earned(i).Quo(hundredMillionth)
		if m.reinvest > 0 {
			m.entry[i] = m.sizeOf(i, profit)
			m.resized = true
			plan.Remember(gridSize+strconv.Itoa(i), int64(m.entry[i]))
		}
	}
	plan.Remember(gridPairs, pairs)
	plan.Remember(gridProfit, profit)
}

// earned returns the profit of a closed pair of a cell. On spot, the quantity that is not sold
// again already contains the entry's fee.
func (m *mesh) earned(cell int) exchange.Amount {
	in, out := m.symbol.Notional(m.enterAt(cell), m.entry[cell]), m.symbol.Notional(m.leaveAt(cell), m.exit[cell])
	gain, fee := out.Sub(in), out.MulRate(m.fees.Maker)
	if m.sign == exchange.Sell {
		gain = in.Sub(out)
	}
	if m.afterFee == exchange.RateOne {
		fee = fee.Add(in.MulRate(m.fees.Maker))
	}
	return gain.Sub(fee)
}
