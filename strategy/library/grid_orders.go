package library

import (
	"math"
	"math/bits"
	"sort"

	"botd/exchange"
	"botd/strategy"
)

// cellSet is a set of a grid's cells, 62 of them a number, as it is remembered.
type cellSet [9]int64

const cellsEach = 62

func (s *cellSet) has(cell int) bool { return s[cell/cellsEach]>>(cell%cellsEach)&1 != 0 }
func (s *cellSet) add(cell int)      { s[cell/cellsEach] |= 1 << (cell % cellsEach) }
func (s *cellSet) remove(cell int)   { s[cell/cellsEach] &^= 1 << (cell % cellsEach) }

// cellsFrom returns the cells from..to, to excluded.
func cellsFrom(from, to int) (s cellSet) {
	for i := range s {
		low, high := min(max(0, from-i*cellsEach), cellsEach), min(max(0, to-i*cellsEach), cellsEach)
		s[i] = 1<<high - 1<<low
	}
	return s
}

func (s *cellSet) and(other *cellSet) (both cellSet) {
	for i := range s {
		both[i] = s[i] & other[i]
	}
	return both
}

func (s *cellSet) or(other *cellSet) (either cellSet) {
	for i := range s {
		either[i] = s[i] | other[i]
	}
	return either
}

func (s *cellSet) without(other *cellSet) (rest cellSet) {
	for i := range s {
		rest[i] = s[i] &^ other[i]
	}
	return rest
}

// count is how many cells are in the set.
func (s *cellSet) count() (n int) {
	for _, part := range s {
		n += bits.OnesCount64(uint64(part))
	}
	return n
}

// next returns the first cell from one on that is in the set, or is not; the number of all where there is none.
func (s *cellSet) next(cell int, in bool) int {
	for i := cell / cellsEach; i < len(s); i++ {
		part := s[i]
		if !in {
			part ^= 1<<cellsEach - 1
		}
		if part = part >> max(0, cell-i*cellsEach) << max(0, cell-i*cellsEach); part != 0 {
			return i*cellsEach + bits.TrailingZeros64(uint64(part))
		}
	}
	return cellsEach * len(s)
}

// highest returns the last cell of the set, -1 for none.
func (s *cellSet) highest() int {
	back := s.backwards()
	return cellsEach*len(s) - 1 - back.next(0, true)
}

// backwards returns the set with the last of all cells as the first.
func (s *cellSet) backwards() (back cellSet) {
	for i, part := range s {
		back[len(s)-1-i] = int64(bits.Reverse64(uint64(part)) >> (64 - cellsEach))
	}
	return back
}

// gridOrders are the entries or the exits of a grid. The list of those desired is made of the orders of all cells, which stand
// in its sequence, and stays the same slice while the same ones are desired.
type gridOrders struct {
	all     []strategy.DesiredOrder // of each cell, the nearest to the price first
	downs   bool                    // the highest cell is the first
	desired cellSet                 // the cells of list
	list    []strategy.DesiredOrder // shared with plans, so never changed
}

func newGridOrders(cells int, downs bool) gridOrders {
	return gridOrders{all: make([]strategy.DesiredOrder, cells), downs: downs}
}

// set sets a cell's order.
func (o *gridOrders) set(cell int, order strategy.DesiredOrder) {
	if o.downs {
		cell = len(o.all) - 1 - cell
	}
	if before := &o.all[cell]; *before != order {
		*before, o.list = order, nil
	}
}

// desire lists the orders of a set of cells, so many at most.
func (o *gridOrders) desire(cells *cellSet, most int) {
	if o.list != nil && o.desired == *cells {
		return
	}
	o.desired = *cells
	places, before := *cells, 0 // in the set where the first order has its place
	if o.downs {
		places, before = cells.backwards(), cellsEach*len(cells)-len(o.all)
	}
	all := len(o.all) + before
	o.list = make([]strategy.DesiredOrder, 0, min(cells.count(), most))
	for first := places.next(before, true); first < all && len(o.list) < most; {
		end := min(places.next(first, false), all, first+most-len(o.list))
		o.list = append(o.list, o.all[first-before:end-before]...)
		first = places.next(end, true)
	}
}

// border returns the first cell whose entry is above the price, or at it where it buys.
func (m *mesh) border(last exchange.Price) int {
	return sort.Search(m.cells, func(i int) bool { return m.enterAt(i) > last || m.sign == exchange.Buy && m.enterAt(i) == last })
}

// placeOrders desires the orders nearest to the price: entries on its passive side, those filled in part, and an exit for each
// cell that holds.
func (m *mesh) placeOrders(view *strategy.View, plan *strategy.Plan, held *cellSet, starting *strategy.DesiredOrder) {
	if m.resized {
		m.resized, m.trading = false, cellSet{}
		for i := range m.cells {
			if m.trades(i) {
				m.trading.add(i)
			}
			m.entries.set(i, strategy.DesiredOrder{Key: m.enters[i], Side: m.sign, Price: m.enterAt(i), Quantity: m.entry[i]})
			m.exits.set(i, strategy.DesiredOrder{Key: m.leaves[i], Side: m.sign.Opposite(), Price: m.leaveAt(i), Quantity: m.exit[i]})
		}
	}
	enters := cellsFrom(0, m.border(view.Last))
	if m.sign == exchange.Sell {
		enters = cellsFrom(m.border(view.Last), m.cells)
	}
	enters = enters.or(&m.begun)
	enters = enters.and(&m.trading)
	enters = enters.without(held)
	if starting != nil { // buys what the cells at the beginning's price and above it are to hold
		begin, _ := plan.Remembered().Get(gridBegin)
		if begin == 0 {
			begin, _ = view.Memory.Get(gridBegin)
		}
		for i := range m.cells {
			if m.covered(i, exchange.Price(begin)) {
				enters.remove(i)
			}
		}
	}
	m.entries.desire(&enters, m.orders)
	m.exits.desire(held, m.orders)
	if m.opens = m.entries.list; starting != nil {
		m.opens = append([]strategy.DesiredOrder{*starting}, m.opens...)
	}
	plan.Share(m.opens, m.exits.list)
	plan.Reason = gridReason
}

// saveDecision stores what the decision depends on: it stands for as long as that does not change. A decision that
// remembers something changes that itself, and the lines of cells that hold do not count.
func (m *mesh) saveDecision(view *strategy.View, plan *strategy.Plan, held *cellSet) {
	m.version, m.from, m.to = view.Version, 0, math.MaxInt64
	border, at := m.border(view.Last), exchange.Price(0) // what a price at a line counts as: above it, or below it where it buys
	if m.sign == exchange.Buy {
		at = 1
	}
	below, above := cellsFrom(0, border), cellsFrom(border, m.cells)
	below, above = below.without(held), above.without(held)
	if cell := below.highest(); cell >= 0 {
		m.from = m.enterAt(cell) + at
	}
	if cell := above.next(border, true); cell < m.cells {
		m.to = m.enterAt(cell) + at - 1
	}
	low, high := m.stop, m.target
	if m.sign == exchange.Sell {
		low, high = m.target, m.stop
	}
	m.from = max(m.from, low+1)
	if high > 0 {
		m.to = min(m.to, high-1)
	}
	if len(plan.Remembered().Entries()) > 0 || m.trail {
		m.version = 0
	}
}
