package library

import (
	"math"
	"math/bits"
	"sort"

	"botd/exchange"
	"botd/strategy"
)

// cellSet is a set of a grid's cells, stored as numbers of 62 cells each, as memory requires.
type cellSet [9]int64

const cellsEach = 62

func (s *cellSet) has(cell int) bool { return s[cell/cellsEach]>>(cell%cellsEach)&1 != 0 }
func (s *cellSet) add(cell int)      { s[cell/cellsEach] |= 1 << (cell % cellsEach) }
func (s *cellSet) remove(cell int)   { s[cell/cellsEach] &^= 1 << (cell % cellsEach) }

// cellsFrom returns the cells from up to but not including to.
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

// count returns the number of cells in the set.
func (s *cellSet) count() (n int) {
	for _, part := range s {
		n += bits.OnesCount64(uint64(part))
	}
	return n
}

// next returns the first cell, starting at the given one, that is in the set (or is not), or the
// total number of cells if there is none.
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

// highest returns the last cell of the set, or -1 if it is empty.
func (s *cellSet) highest() int {
	back := s.backwards()
	return cellsEach*len(s) - 1 - back.next(0, true)
}

// backwards returns the set with the order of all cells reversed.
func (s *cellSet) backwards() (back cellSet) {
	for i, part := range s {
		back[len(s)-1-i] = int64(bits.Reverse64(uint64(part)) >> (64 - cellsEach))
	}
	return back
}

// gridOrders are the entries or the exits of a grid. The list of desired orders is built from the
// orders of all cells, in their sequence, and stays the same slice while the desired set does not
// change.
type gridOrders struct {
	all     []strategy.DesiredOrder // order of each cell, the nearest to the price first
	downs   bool                    // the highest cell comes first
	desired cellSet                 // cells of the orders in list
	list    []strategy.DesiredOrder // shared with plans, so never modified
}

func newGridOrders(cells int, downs bool) gridOrders {
	return gridOrders{all: make([]strategy.DesiredOrder, cells), downs: downs}
}

// set stores a cell's order.
func (o *gridOrders) set(cell int, order strategy.DesiredOrder) {
	if o.downs {
		cell = len(o.all) - 1 - cell
	}
	if before := &o.all[cell]; *before != order {
		*before, o.list = order, nil
	}
}

// desire lists the orders of a set of cells, up to a maximum.
func (o *gridOrders) desire(cells *cellSet, most int) {
	if o.list != nil && o.desired == *cells {
		return
	}
	o.desired = *cells
	places, before := *cells, 0 // cells in the order of the list, and the position of the first order
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

// border returns the first cell whose entry is above the price. For buys, an entry at the price
// counts as above it.
func (m *mesh) border(last exchange.Price) int {
	return sort.Search(m.cells, func(i int) bool { return m.enterAt(i) > last || m.sign == exchange.Buy && m.enterAt(i) == last })
}

// placeOrders desires the orders nearest to the price: entries on its passive side, partly filled
// entries, and an exit for each holding cell.
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
	if starting != nil { // buys the quantity for the cells at and above the price at which the grid began
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

// saveDecision stores the inputs of the decision, which stays valid while they do not change. A
// decision that remembers something changes its own inputs. The lines of holding cells do not
// matter.
func (m *mesh) saveDecision(view *strategy.View, plan *strategy.Plan, held *cellSet) {
	m.version, m.from, m.to = view.Version, 0, math.MaxInt64
	border, at := m.border(view.Last), exchange.Price(0) // the side of a price exactly at a line: above it, or below it for buys
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
	if plan.Remembered().Len() > 0 || m.trail {
		m.version = 0
	}
}
