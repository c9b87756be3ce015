package library

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestGridBuysStockForUpperLines(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"initial": "true"})
	b.expect(115, "buy 2@115.5, buy 1@110, buy 1@100") // the cells from 120 and from 130 sell at 130 and 140
	b.expect(121, "buy 2@115.5, buy 1@110, buy 1@100") // not filled yet: its lines wait, whatever the price
	b.fill("start", 1500, 1500)
	b.expect(115, "buy 2@115.5, buy 1@110, buy 1@100")
	b.fill("start", 500, 2000)
	b.expect(115, "buy 1@110, buy 1@100, sell 1@130, sell 1@140")
	b.fill("out2", 1000, 1000)
	b.expect(131, "buy 1@120, buy 1@110, buy 1@100, sell 1@140")
	short := grids(t, exchange.Futures, strategy.Values{"initial": "true", "side": "short"})
	short.expect(125, "sell 2@124.4, sell 1@130, sell 1@140")
	short.fill("start", 2000, -2000)
	short.expect(125, "sell 1@130, sell 1@140, buy 1@110, buy 1@100")
}

func TestAGridOfMoneyBuysAsMuchAtEachLine(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"quantity": "0", "quote": "110"})
	b.expect(125, "buy 0.916@120, buy 1@110, buy 1.1@100")
	b.fill("in2", 916, 916)
	b.expect(119, "buy 1@110, buy 1.1@100, sell 0.916@130")
	spot := grids(t, exchange.Spot, strategy.Values{"quantity": "0", "quote": "110", "fee": "1%"})
	spot.expect(125, "buy 0.916@120, buy 1@110, buy 1.1@100")
	spot.fill("in1", 1000, 990)
	spot.expect(112, "buy 1.1@100, sell 0.99@120")
}

// pairs returns the stored count and profit of a grid's closed pairs.
func (b *book) pairs() (count, profit int64) {
	count, _ = b.view.Memory.Get(gridPairs)
	profit, _ = b.view.Memory.Get(gridProfit)
	return count, profit
}

func TestAGridCountsItsPairsAndReinvests(t *testing.T) {
	t.Parallel()
	where := setting(t, exchange.Futures)
	where.Fees.Maker = exchange.RateOne / 100
	made, err := grid().New(where, strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quote": "110", "reinvest": "100%"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBook(t, made, exchange.Futures)
	b.expect(111, "buy 1@110, buy 1.1@100")
	b.fill("in1", 1000, 1000)
	b.expect(109, "buy 1.1@100, sell 1@120")
	b.fill("out1", 1000, 0)
	b.expect(121, "buy 0.916@120, buy 1.017@110, buy 1.1@100") // 10 less fees of 2.3: 7.7, a quarter of it for each cell
	if count, profit := b.pairs(); count != 1 || profit != 770_000_000 {
		t.Errorf("want one pair and 7.7 USDT, have %d and %d", count, profit)
	}
	b.expect(121, "buy 0.916@120, buy 1.017@110, buy 1.1@100")
	if count, _ := b.pairs(); count != 1 {
		t.Errorf("want a pair counted once, have %d", count)
	}
	b.fill("in1", 1017, 1017)
	b.expect(109, "buy 1.1@100, sell 1.017@120")
}

func TestAGridClosesEverythingAtItsStopOrTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		values     strategy.Values
		price      float64
		back       float64
		held, flat exchange.Quantity
		again      string
	}{
		{"a stop", strategy.Values{"stop": "90"}, 90, 125, 1000, 0, ""},
		{"a target", strategy.Values{"target": "150"}, 150, 125, 1000, 0, ""},
		{"a stop, and again", strategy.Values{"stop": "90", "restart": "true"}, 89, 125, 1000, 0, "buy 1@120, buy 1@110, buy 1@100"},
		{"a short grid's stop", strategy.Values{"side": "short", "stop": "150"}, 151, 125, -1000, 0, ""},
	} {
		b := grids(t, exchange.Futures, c.values)
		b.decide(125)
		b.fill("in2", 1000, c.held)
		b.decide(124)
		for range 2 {
			if b.decide(c.price); b.plan.Target.Kind != strategy.ByQuantity || b.plan.Target.Quantity != 0 || b.plan.OrdersSet {
				t.Fatalf("%s: want everything closed, have %+v", c.name, b.plan)
			}
		}
		b.view.Position.Quantity = c.flat
		b.expect(c.back, "")
		b.expect(c.back, "")
		b.expect(c.back, c.again)
	}
	for name, values := range map[string]strategy.Values{"stop": {"stop": "100"}, "target": {"target": "140"}, "quote": {"quote": "50"},
		"reinvest": {"reinvest": "50%"}, "quantity": {"quantity": "0"}} {
		all := strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "1"}
		for key, value := range values {
			all[key] = value
		}
		var wrong *strategy.ValueError
		if _, err := grid().New(setting(t, exchange.Futures), all); !errors.As(err, &wrong) || wrong.Parameter != name {
			t.Errorf("%v: want an error of %s, have %v", values, name, err)
		}
	}
}

func TestAGridShowsItsPairs(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, nil)
	b.decide(125)
	b.fill("in2", 1000, 1000)
	b.decide(119)
	b.fill("out2", 1000, 0)
	b.decide(131)
	var shown []string
	for _, c := range b.strategy.(strategy.Conditional).Conditions(&b.view) {
		shown = append(shown, c.Name+" "+c.Value)
	}
	if have := strings.Join(shown, "; "); !strings.Contains(have, "closed pairs 1; profit of the pairs after fees 10 USDT") {
		t.Errorf("want the pair and its profit, have %s", have)
	}
}

// No order rests at the line of the price itself: the first order also buys for that line.
func TestALineAtThePriceIsBoughtAtTheBeginning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side  string
		price float64
		want  string
	}{
		{"long", 120, "buy 2@120.6, buy 1@110, buy 1@100"},
		{"long", 120.1, "buy 1@120.7, buy 1@120, buy 1@110, buy 1@100"},
		{"short", 120, "sell 2@119.4, sell 1@130, sell 1@140"},
		{"short", 119.9, "sell 1@119.4, sell 1@120, sell 1@130, sell 1@140"},
	} {
		grids(t, exchange.Futures, strategy.Values{"initial": "true", "side": c.side}).expect(c.price, c.want)
	}
}

// The price has returned by then.
func TestAGridClosesEverythingBeforeItStartsOver(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"stop": "90", "restart": "true"})
	b.decide(125)
	b.fill("in2", 1000, 1000)
	for _, price := range []float64{124, 90, 125, 125} {
		b.decide(price)
		b.view.Position.Quantity = 400
	}
	if b.plan.Target != strategy.Flat() || b.plan.OrdersSet {
		t.Errorf("want the rest of the position closed, have %+v", b.plan)
	}
	b.view.Position.Quantity = 0
	for _, want := range []string{"", "", "buy 1@120, buy 1@110, buy 1@100"} {
		b.expect(125, want)
	}
}

// A cell that has grown by its profit keeps that size.
func TestATrailingGridOfMoneyBuysAsMuchAtEachNewLine(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"quantity": "0", "quote": "110", "trail": "true"}
	b := grids(t, exchange.Futures, values)
	b.expect(155, "buy 0.733@150, buy 0.785@140, buy 0.846@130, buy 0.916@120")
	b.expect(155, "buy 0.733@150, buy 0.785@140, buy 0.846@130, buy 0.916@120")
	values["reinvest"] = "100%"
	grown := grids(t, exchange.Futures, values)
	grown.expect(135, "buy 0.846@130, buy 0.916@120, buy 1@110, buy 1.1@100")
	grown.fill("in3", 846, 846)
	grown.expect(129, "buy 0.916@120, buy 1@110, buy 1.1@100, sell 0.846@140")
	grown.fill("out3", 846, 0)
	// 8.46 USDT earned: 2.115 more for the cell, 112.115 at 130. The grid moves by a line.
	for range 2 {
		grown.expect(141, "buy 0.862@140, buy 0.846@130, buy 0.916@120, buy 1@110")
	}
}

// A coin priced at a few of the smallest units nevertheless has a stop below its grid.
func TestTheLowestPricesAreBounds(t *testing.T) {
	t.Parallel()
	where := cheap(t, exchange.Futures)
	for _, c := range []struct {
		side, bound string
		price       exchange.Price
		closes      bool
	}{
		{"long", "stop", 2, false}, {"long", "stop", 1, true}, {"short", "target", 2, false}, {"short", "target", 1, true},
	} {
		s := newStrategyIn(t, where, "grid", strategy.Values{"lower": "0.00000002", "upper": "0.00000006", "lines": "5", "quantity": "1000000000",
			"side": c.side, c.bound: "0.00000001"})
		var plan strategy.Plan
		s.Decide(&strategy.View{Symbol: where.Symbol, NowMS: 1, Last: c.price}, &plan)
		if closes := plan.Target.Kind == strategy.ByQuantity; closes != c.closes {
			t.Errorf("%s, at %d: want everything closed: %t, have %+v", c.side, c.price, c.closes, plan)
		}
	}
	// Five of the smallest units of money buy five units. Nothing is added before a pair has closed.
	s := newStrategyIn(t, where, "grid", strategy.Values{"lower": "0.00000001", "upper": "0.00000002", "lines": "2", "quote": "0.00000005", "reinvest": "100%"})
	var plan strategy.Plan
	if s.Decide(&strategy.View{Symbol: where.Symbol, NowMS: 1, Last: 2}, &plan); len(plan.Orders) != 1 || plan.Orders[0].Quantity != 5 ||
		plan.Orders[0].Price != 1 {
		t.Errorf("want five units bought at 1, have %+v", plan.Orders)
	}
	var wrong *strategy.ValueError
	_, err := grid().New(where, strategy.Values{"lower": "0.00000002", "upper": "0.00000003", "lines": "2", "quote": "0.00000001"})
	if !errors.As(err, &wrong) || wrong.Parameter != "quote" {
		t.Errorf("less money than a coin costs: want it refused, have %v", err)
	}
	// A short grid trails down to the smallest unit.
	short := newBook(t, newStrategyIn(t, where, "grid", strategy.Values{"lower": "0.00000003", "upper": "0.00000005", "lines": "3", "quantity": "7",
		"side": "short", "trail": "true"}), exchange.Futures)
	short.view.Symbol = where.Symbol
	short.view.Last = 1
	for range 3 {
		short.plan.Reset()
		short.strategy.Decide(&short.view, &short.plan)
		short.view.Memory, _ = short.view.Memory.With(short.plan.Remembered())
	}
	if have := short.text(); have != "sell 7@2e-08, sell 7@3e-08" {
		t.Errorf("want sells at 2 and 3, have %s", have)
	}
}

// 6 USDT buy a step of the quantity, which is worth less than the minimum of 5 below 5000 and more than 6 above 6000.
func TestATrailingGridLeavesOutLinesThatItsMoneyIsTooLittleFor(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"lower": "1000", "upper": "1400", "quantity": "0", "quote": "6", "trail": "true"})
	for _, c := range []struct {
		price float64
		want  string
	}{
		{1350, "buy 0.004@1300, buy 0.005@1200, buy 0.005@1100, buy 0.006@1000"},
		{3950, ""},
		{5150, "buy 0.001@5100, buy 0.001@5000"},
		{6150, "buy 0.001@6000, buy 0.001@5900, buy 0.001@5800"},
		{7950, ""},
	} {
		for range 20 { // a decision moves it by as many lines as it has cells
			b.decide(c.price)
		}
		b.fill("foreign", 1, 0)
		b.expect(c.price, c.want)
	}
}

// The grid has moved, and its cells have the sizes to which they have grown, as far as it still has such
// cells.
func TestRebuiltGridContinuesFromMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values strategy.Values
		memory []strategy.MemoryVariable
		want   string
	}{
		{"moved by a line", strategy.Values{"trail": "true"}, []strategy.MemoryVariable{{Key: gridShift, Value: 1}},
			"buy 0.785@140, buy 0.846@130, buy 0.916@120, buy 1@110"},
		{"grown", strategy.Values{"reinvest": "50%"}, []strategy.MemoryVariable{{Key: gridSize + "1", Value: 1_200}},
			"buy 0.846@130, buy 0.916@120, buy 1.2@110, buy 1.1@100"},
		{"with fewer lines", strategy.Values{"reinvest": "50%"}, []strategy.MemoryVariable{{Key: gridSize + "4", Value: 1_200}, {Key: gridSize + "7",
			Value: 1_200}},
			"buy 0.846@130, buy 0.916@120, buy 1@110, buy 1.1@100"},
		{"without reinvesting", nil, []strategy.MemoryVariable{{Key: gridSize + "1", Value: 1_200}}, "buy 0.846@130, buy 0.916@120, buy 1@110, buy 1.1@100"},
	} {
		values := strategy.Values{"quantity": "0", "quote": "110"}
		maps.Copy(values, c.values)
		b := grids(t, exchange.Futures, values)
		b.view.Memory = strategy.MemoryOf(c.memory...)
		if have := b.decide(145); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// No line is at zero.
func TestAGeometricGridTrailsByItsRatio(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"upper": "1600", "spacing": "geometric", "trail": "true"})
	b.expect(1700, "buy 1@1600, buy 1@800, buy 1@400, buy 1@200")
	grids(t, exchange.Futures, strategy.Values{"lower": "0.01", "upper": "10", "lines": "2", "quantity": "100"}).expect(5, "buy 100@0.1")
}

// The reasons range from the loss of its position to its next start.
func TestGridReportsReasonForRest(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"stop": "90", "restart": "true"})
	reasons := func(prices ...float64) (all []string) {
		for _, price := range prices {
			b.decide(price)
			all = append(all, b.plan.Reason)
		}
		return all
	}
	closes := "the price reached the grid's stop or target: everything is closed"
	if have, want := reasons(125, 90, 90, 85, 125, 125), []string{gridReason, closes, "everything is closed",
		"a stop or target closed the position; the grid rests", "the price is back: the grid starts over", gridReason}; !slices.Equal(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
	b = grids(t, exchange.Futures, nil)
	b.decide(105)
	b.fill("in0", 1000, 1000) // only the first cell
	b.decide(104)
	b.view.Position.Quantity = 0
	if have, want := reasons(104, 104, 104), []string{"the position was closed: its orders are canceled",
		"a stop or target closed the position; the grid rests",
		"a stop or target closed the position; the grid rests"}; !slices.Equal(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
}

// The cell is bought, and its exit is placed.
func TestFillBeforePositionIsNoLoss(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, nil)
	b.decide(125)
	b.fill("in2", 1000, 0)
	b.expect(119, "buy 1@110, buy 1@100, sell 1@130")
	one := grids(t, exchange.Futures, nil)
	one.decide(125)
	one.fill("in2", 1, 1) // a step of the quantity: the order stays where the price has passed it
	one.expect(115, "buy 1@120, buy 1@110, buy 1@100")
	least := grids(t, exchange.Futures, strategy.Values{"lower": "10000", "upper": "14000", "quantity": "0.001"})
	least.decide(12_500)
	least.fill("in2", 1, 1) // all of it
	least.expect(11_500, "buy 0.001@11000, buy 0.001@10000, sell 0.001@13000")
}

// The grid buys what its lines above that price sell.
func TestAGridThatStartsOverBuysAtTheNewPrice(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"initial": "true", "stop": "90", "restart": "true"})
	b.expect(115, "buy 2@115.5, buy 1@110, buy 1@100")
	b.fill("start", 2000, 2000)
	b.decide(115)
	if begun, _ := b.view.Memory.Get(gridBegun); begun != 1 {
		t.Errorf("want it remembered that it has begun, have %d", begun)
	}
	b.decide(89)
	b.view.Position.Quantity = 0
	for _, price := range []float64{89, 125, 125} {
		b.decide(price)
	}
	b.expect(125, "buy 1@125.6, buy 1@120, buy 1@110, buy 1@100")
}

// The grid has more cells than one number of the memory can store.
func TestLargeGridBuysStockForUpperLines(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"upper": "300", "lines": "201", "orders": "200", "initial": "true"})
	b.decide(150.5) // lines from 151 to 299
	b.fill("start", 149_000, 149_000)
	b.decide(150.5)
	if entries, exits := len(b.plan.Orders), len(b.plan.Exits); entries != 51 || exits != 149 {
		t.Errorf("want 51 entries from 100 to 150 and 149 exits, have %d and %d", entries, exits)
	}
}

// Fees are subtracted. The size is stored if profit is reinvested.
func TestAPairOfAShortGridEarnsItsFall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reinvest string
		size     int64 // of the cell, as stored
	}{{"0", 0}, {"0.00000001", 916}, {"100%", 935}} { // 110 USDT at 120; with a quarter of the profit, 112.23733
		where := setting(t, exchange.Futures)
		where.Fees.Maker = exchange.RateOne / 1_000
		b := newBook(t, newStrategyIn(t, where, "grid", strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quote": "110", "side": "short",
			"reinvest": c.reinvest}), exchange.Futures)
		b.decide(115)
		b.fill("in1", 916, -916)
		b.decide(121)
		b.fill("out1", 916, 0)
		b.decide(109)
		count, profit := b.pairs()
		// Sold for 109.92, bought for 100.76: 9.16, less a thousandth of both, 0.21068.
		if size, _ := b.view.Memory.Get(gridSize + "1"); count != 1 || profit != 894_932_000 || size != c.size {
			t.Errorf("reinvest %s: want one pair, 8.94932 USDT and a size of %d, have %d, %d and %d", c.reinvest, c.size, count, profit, size)
		}
	}
}
