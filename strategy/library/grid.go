package library

import (
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type gridParams struct {
	Lower    decimal.Decimal `param:"lower" min:"0" help:"price of the lowest line"`
	Upper    decimal.Decimal `param:"upper" min:"0" help:"price of the highest line"`
	Lines    int             `param:"lines" default:"11" min:"2" max:"500" help:"number of lines, both ends included"`
	Quantity decimal.Decimal `param:"quantity" default:"0" min:"0" help:"base currency of each order"`
	Quote    decimal.Decimal `param:"quote" default:"0" min:"0" help:"alternatively USDT of each order"`
	Initial  bool            `param:"initial" default:"false" help:"start by buying the quantity that the lines above the price will sell"`
	Reinvest decimal.Decimal `param:"reinvest" default:"0" min:"0" max:"1" help:"share of the profit of closed pairs that goes into new orders; with quote"`
	Stop     decimal.Decimal `param:"stop" default:"0" min:"0" help:"close everything when the price reaches this level, beyond the grid; 0 for none"`
	Target   decimal.Decimal `param:"target" default:"0" min:"0" help:"the same on the winning side"`
	Spacing  string          `param:"spacing" default:"arithmetic" oneof:"arithmetic|geometric" help:"equal distances, or equal ratios"`
	Side     string          `param:"side" default:"long" oneof:"long|short" help:"long buys at a line, sells at the next; short mirrors it (futures)"`
	Orders   int             `param:"orders" default:"50" min:"1" max:"200" help:"maximum number of orders on each side, the nearest ones"`
	Trail    bool            `param:"trail" default:"false" help:"move the whole grid when the price leaves it on the winning side while flat"`
	Restart  bool            `param:"restart" default:"false" help:"start over after a stop or target, once the price is back; else stay idle"`
	Fee      decimal.Decimal `param:"fee" default:"0.1%" min:"0" max:"0.05" help:"spot: fee as a share of the bought quantity"`
}

// grid holds a buy in the book at each line below the price and, once it has filled, a sell at the
// next line above. Each pair earns the distance of two lines less fees, every time the price swings
// through it. It acts on each tick: with a schedule of some seconds it replaces filled orders
// quickly.
//
// It loses when the price leaves the grid on the losing side: it then holds every line, at a mean
// price far from the market. Use it with a stop.
func grid() strategy.Definition {
	return strategy.Define("grid", "buys at lines below the price and sells each one line higher, repeatedly",
		func(setting strategy.Setting, p gridParams) (strategy.Strategy, error) { return newGrid(setting, p) })
}

// mesh is a running grid. A cell is the space between two lines: it either waits to enter at one
// line or holds a quantity to exit at the other.
type mesh struct {
	symbol         *exchange.Symbol
	sign           exchange.Side
	quantity       exchange.Quantity // of an entry; 0 if quote is set
	quote          exchange.Amount   // of an entry
	afterFee       exchange.Rate     // share of a bought quantity left after the fee on spot
	fees           strategy.Fees
	reinvest       exchange.Rate
	initial        bool
	stop, target   exchange.Price
	entry, exit    []exchange.Quantity // of each cell
	closed         []int               // cells whose pair has closed since the last decision
	lower          float64
	step           float64 // distance or ratio between two lines
	geometric      bool
	cells          int
	orders         int
	trail, restart bool

	enters, leaves []string       // order keys of each cell
	cellOf         map[string]int // by key: the cell, or -1 minus the cell for an exit
	prices         []exchange.Price
	shift          int64               // current shift of the prices
	filled         []exchange.Quantity // filled quantities of each cell's entry and exit orders, as in the view
	begun          cellSet             // cells whose entries have filled at least in part

	// The last decision and its inputs: it stays valid while they do not change, and while the
	// price is between the first and the last price at which the same entries are passive.
	version        uint64
	from, to       exchange.Price
	entries, exits gridOrders
	opens          []strategy.DesiredOrder // the entries and the initial purchase
	trading        cellSet                 // cells whose orders the exchange accepts
	resized        bool                    // prices or quantities may have changed since the orders of all cells were built
}

func newGrid(setting strategy.Setting, p gridParams) (*mesh, error) {
	s := setting.Symbol
	if !p.Lower.IsPositive() || !p.Upper.GreaterThan(p.Lower) {
		return nil, wrongParameter("upper", "%s is not above lower %s, which must be above zero", p.Upper, p.Lower)
	}
	m := &mesh{symbol: s, sign: exchange.Buy, afterFee: exchange.RateOne, fees: setting.Fees, initial: p.Initial, lower: p.Lower.InexactFloat64(),
		cells: p.Lines - 1, orders: p.Orders, geometric: p.Spacing == "geometric", trail: p.Trail, restart: p.Restart, cellOf: map[string]int{}}
	if p.Side == "short" {
		if m.sign = exchange.Sell; setting.Market == exchange.Spot {
			return nil, wrongParameter("side", "short needs the futures market: spot has no short positions")
		}
	}
	upper := p.Upper.InexactFloat64()
	if m.step = (upper - m.lower) / float64(m.cells); m.geometric {
		m.step = math.Pow(upper/m.lower, 1/float64(m.cells))
	}
	m.lines(0)
	for i := 1; i < len(m.prices); i++ {
		if m.prices[i] <= m.prices[i-1] {
			return nil, wrongParameter("lines", "%d lines between %s and %s are closer than priceTick %s", p.Lines, p.Lower, p.Upper,
				s.PriceDecimal(s.PriceTick))
		}
	}
	if err := m.bounds(&p); err != nil {
		return nil, err
	}
	if err := m.sizes(&setting, &p); err != nil {
		return nil, err
	}
	for i := range m.cells {
		m.enters, m.leaves = append(m.enters, "in"+strconv.Itoa(i)), append(m.leaves, "out"+strconv.Itoa(i))
		m.cellOf[m.enters[i]], m.cellOf[m.leaves[i]] = i, -1-i
	}
	m.filled = make([]exchange.Quantity, 2*m.cells)
	m.entries, m.exits = newGridOrders(m.cells, m.sign == exchange.Buy), newGridOrders(m.cells, m.sign == exchange.Sell)
	return m, nil
}

// lines computes the prices of all lines, with the grid shifted by a number of lines.
func (m *mesh) lines(shift int64) {
	m.shift, m.resized = shift, true
	m.prices = m.prices[:0]
	for i := range m.cells + 1 {
		at := m.lower + float64(m.step*float64(int64(i)+shift))
		if m.geometric {
			at = float64(m.lower * math.Pow(m.step, float64(int64(i)+shift)))
		}
		ticks := math.Floor(at/m.symbol.PriceFloat(m.symbol.PriceTick) + 0.5)
		m.prices = append(m.prices, max(1, exchange.Price(ticks))*m.symbol.PriceTick)
	}
}

const (
	gridShift   = "shift"   // lines by which the grid has moved
	gridStopped = "stopped" // 1: a stop closed the position; 2: the price reached the stop or target, everything is being closed
	gridBegun   = "begun"   // 1 once the initial purchase is done
	gridBegin   = "begin"   // the price at which the grid began
	gridSize    = "size"    // with the number of a cell: the quantity of its entry, if profit is reinvested
	gridPairs   = "pairs"   // closed pairs
	gridProfit  = "profit"  // profit of closed pairs after fees, in hundred-millionths of a USDT
)

// heldKeys are the memory keys of the set of holding cells, one per number of a cellSet.
var heldKeys = [len(cellSet{})]string{"held0", "held1", "held2", "held3", "held4", "held5", "held6", "held7", "held8"}

func (*mesh) Warmup() int           { return 1 }
func (*mesh) RestsExits() bool      { return true }
func (*mesh) Candle(*strategy.View) {}

// Economics returns the profit of the narrowest pair of neighboring lines: a buy at one and a sell
// at the next.
func (m *mesh) Economics() (strategy.Economics, bool) {
	narrowest := math.Inf(1)
	for i := 1; i < len(m.prices); i++ {
		narrowest = min(narrowest, float64(m.prices[i]-m.prices[i-1])/float64(m.prices[i]))
	}
	return strategy.Economics{What: "a pair of neighboring lines", Gross: exchange.Rate(narrowest * float64(exchange.RateOne)), Makers: 2}, true
}

// Range returns the configured outermost lines. A grid that trails may have moved since.
func (m *mesh) Range() (lower, upper exchange.Price) { return m.prices[0], m.prices[len(m.prices)-1] }

func (m *mesh) Decide(view *strategy.View, plan *strategy.Plan) {
	if view.Version != 0 && view.Version == m.version && m.from <= view.Last && view.Last <= m.to {
		plan.Share(m.opens, m.exits.list)
		plan.Reason = gridReason
		return
	}
	plan.OrdersSet, plan.ExitsSet = true, true
	if m.rests(view, plan) {
		return
	}
	shift, _ := view.Memory.Get(gridShift)
	if shift != m.shift {
		m.lines(shift)
		m.size()
	}
	m.grow(view, plan)
	m.fills(view)
	before := heldBefore(view)
	held := m.heldNow(view, before)
	any := held != cellSet{}
	m.book(view, plan)
	if any && view.Position.Quantity == 0 && positionLost(view, &before, &held) {
		remember(plan, &before, &cellSet{})
		if !m.restart {
			plan.Remember(gridStopped, 1)
		}
		plan.Reason = "the position was closed: its orders are canceled"
		return
	}
	starting := m.start(view, plan, &held)
	remember(plan, &before, &held)
	if m.trail && !any && starting == nil {
		m.follow(view, plan)
	}
	m.placeOrders(view, plan, &held, starting)
	m.saveDecision(view, plan, &held)
}

const gridReason = "the lines nearest to the price"

// fills sorts the filled quantities by cell.
func (m *mesh) fills(view *strategy.View) {
	clear(m.filled)
	m.begun = cellSet{}
	for _, f := range view.Fills {
		switch cell, known := m.cellOf[f.Key]; {
		case known && cell >= 0:
			if m.filled[cell] = f.Quantity; f.Quantity > 0 {
				m.begun.add(cell)
			}
		case known:
			m.filled[m.cells-1-cell] = f.Quantity
		}
	}
}

// in returns the filled quantity of a cell's entry, and out that of its exit.
func (m *mesh) in(cell int) exchange.Quantity  { return m.filled[cell] }
func (m *mesh) out(cell int) exchange.Quantity { return m.filled[m.cells+cell] }

// heldBefore returns the remembered set of holding cells.
func heldBefore(view *strategy.View) (held cellSet) {
	for i := range held {
		held[i], _ = view.Memory.Get(heldKeys[i])
	}
	return held
}

// heldNow returns the cells that hold now: the remembered ones, updated by fills since then.
func (m *mesh) heldNow(view *strategy.View, held cellSet) cellSet {
	m.closed = m.closed[:0]
	if len(view.Fills) == 0 {
		return held
	}
	for i := range m.cells {
		switch {
		case !held.has(i):
			if m.entry[i] > 0 && m.in(i) >= m.entry[i] {
				held.add(i)
			}
		case m.out(i) >= m.exit[i]:
			held.remove(i)
			m.closed = append(m.closed, i)
		}
	}
	return held
}

// positionLost reports whether something other than the cells' own orders closed the position:
// cells held before, there is no position, and no order of theirs is in the book whose fill might
// still be unknown.
func positionLost(view *strategy.View, before, held *cellSet) bool {
	for i := range view.Working {
		if strings.HasPrefix(view.Working[i].Key, "out") {
			return false
		}
	}
	return before.and(held) != cellSet{}
}

// remember stores the set of holding cells if it has changed.
func remember(plan *strategy.Plan, before, held *cellSet) {
	for i, bits := range held {
		if before[i] != bits {
			plan.Remember(heldKeys[i], bits)
		}
	}
}

// follow moves the grid by whole lines until the price is inside it again.
func (m *mesh) follow(view *strategy.View, plan *strategy.Plan) {
	shift := m.shift
	for range m.cells {
		switch {
		case m.sign == exchange.Buy && view.Last > m.prices[m.cells]:
			m.lines(m.shift + 1)
		case m.sign == exchange.Sell && view.Last < m.prices[0]:
			m.lines(m.shift - 1)
		}
	}
	if m.shift != shift {
		m.size()
		m.grow(view, plan)
		plan.Remember(gridShift, m.shift)
	}
}
