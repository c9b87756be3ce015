package library

import (
	"math"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The cases list the price range in which a grid of lines from 100 to 140 makes the same decision, unless something other than the price
// changes.
func TestSavedDecisionIsValidWithinPriceRange(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	for _, c := range []struct {
		name     string
		values   strategy.Values
		held     int64 // cells, as stored
		price    float64
		from, to exchange.Price // in units of the price; both 0: no saved decision
	}{
		{"between two lines", nil, 0, 115, 110e8 + 1, 120e8},
		{"at a line: it is not passive there", nil, 0, 120, 110e8 + 1, 120e8},
		{"a tick above it", nil, 0, 120.1, 120e8 + 1, 130e8},
		{"below all lines", nil, 0, 95, 1, 100e8},
		{"above all entries", nil, 0, 145, 130e8 + 1, most},
		{"lines that hold do not count", nil, 0b0110, 115, 100e8 + 1, 130e8},
		{"all lines hold", nil, 0b1111, 115, 1, most},
		{"with a stop below", strategy.Values{"stop": "90"}, 0, 95, 90e8 + 1, 100e8},
		{"with a stop below, far from it", strategy.Values{"stop": "90"}, 0, 115, 110e8 + 1, 120e8},
		{"with a target above", strategy.Values{"target": "150"}, 0, 145, 130e8 + 1, 150e8 - 1},
		{"with a target above, far from it", strategy.Values{"target": "150"}, 0, 115, 110e8 + 1, 120e8},
		{"with both", strategy.Values{"stop": "90", "target": "150"}, 0b1111, 115, 90e8 + 1, 150e8 - 1},
		{"short, between two lines", strategy.Values{"side": "short"}, 0, 115, 110e8, 120e8 - 1},
		{"short, at a line", strategy.Values{"side": "short"}, 0, 120, 120e8, 130e8 - 1},
		{"short, a tick below it", strategy.Values{"side": "short"}, 0, 119.9, 110e8, 120e8 - 1},
		{"short, above all lines", strategy.Values{"side": "short"}, 0, 145, 140e8, most},
		{"short, below all entries", strategy.Values{"side": "short"}, 0, 95, 1, 110e8 - 1},
		{"short, with both", strategy.Values{"side": "short", "stop": "150", "target": "90"}, 0b1111, 115, 90e8 + 1, 150e8 - 1},
		{"short, with a stop alone", strategy.Values{"side": "short", "stop": "150"}, 0b1111, 115, 1, 150e8 - 1},
		{"short, with a target alone", strategy.Values{"side": "short", "target": "90"}, 0b1111, 115, 90e8 + 1, most},
		{"it trails: a price alone may move it", strategy.Values{"trail": "true"}, 0, 115, 0, 0},
		{"it begins: what it remembers changes it", strategy.Values{"initial": "true"}, 0, 115, 0, 0},
	} {
		b := grids(t, exchange.Futures, c.values)
		b.view.Version, b.view.Last = 1, exchange.Price(math.Round(c.price*10))*1e7
		if c.held != 0 {
			b.view.Memory, b.view.Position.Quantity = strategy.MemoryOf(strategy.MemoryVariable{Key: heldKeys[0], Value: c.held}), 1
		}
		b.strategy.Decide(&b.view, &b.plan)
		m := b.strategy.(*mesh)
		if saved := m.version == 1; saved != (c.to != 0) || saved && (m.from != c.from || m.to != c.to) {
			t.Errorf("%s: want it from %d to %d, have %d to %d of version %d", c.name, c.from, c.to, m.from, m.to, m.version)
		}
	}
}

// The grid has more cells than one number of the memory can store.
func TestASavedDecisionOfManyLinesCountsThoseThatHold(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"upper": "300", "lines": "201", "orders": "200"})
	b.view.Version, b.view.Last, b.view.Position.Quantity = 1, 225_5e7, 1
	// Cells 62 to 65 and cells 124 and 125 are bought: their lines are at 162 to 165, and at 224 and 225.
	b.view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: heldKeys[1], Value: 0b1111}, strategy.MemoryVariable{Key: heldKeys[2], Value: 0b11})
	b.strategy.Decide(&b.view, &b.plan)
	if m := b.strategy.(*mesh); m.version != 1 || m.from != 223e8+1 || m.to != 226e8 || len(m.opens) != 126-6 || len(m.exits.list) != 6 {
		t.Errorf("want it from 223.00000001 to 226 with 120 entries and 6 exits, have %d to %d with %d and %d", m.from, m.to, len(m.opens), len(m.exits.list))
	}
	b.view.Version, b.view.Last = 2, 163_5e7
	b.strategy.Decide(&b.view, &b.plan)
	if m := b.strategy.(*mesh); m.from != 161e8+1 || m.to != 166e8 {
		t.Errorf("want it from 161.00000001 to 166, have %d to %d", m.from, m.to)
	}
}

// Neither a fill nor a changed memory requires another decision.
func TestTrailingGridMovesWithPriceAlone(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"trail": "true"})
	b.view.Version = 1
	b.expect(135, "buy 1@130, buy 1@120, buy 1@110, buy 1@100")
	b.expect(145, "buy 1@140, buy 1@130, buy 1@120, buy 1@110")
}

// The plan in force refers to them, while the grid continues to decide.
func TestTheListsOfADecisionNeverChange(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, nil)
	b.view.Version = 1
	b.expect(125, "buy 1@120, buy 1@110, buy 1@100")
	first := b.plan // including its lists
	b.view.Version++
	b.fill("in2", 1000, 1000)
	b.expect(119, "buy 1@110, buy 1@100, sell 1@130")
	second := b.plan
	b.view.Version++
	b.expect(105, "buy 1@100, sell 1@130")
	for _, c := range []struct {
		plan strategy.Plan
		want string
	}{{first, "buy 1@120, buy 1@110, buy 1@100"}, {second, "buy 1@110, buy 1@100, sell 1@130"}} {
		b.plan = c.plan
		if have := b.text(); have != c.want {
			t.Errorf("want %s as before, have %s", c.want, have)
		}
	}
}

// The decision is computed again nevertheless.
func TestUnchangedGridDecisionDoesNotAllocate(t *testing.T) {
	b := grids(t, exchange.Futures, nil)
	b.view.Version, b.view.Last = 1, 125e8
	b.fill("in2", 1000, 1000)
	b.decide(125)
	if n := testing.AllocsPerRun(100, func() {
		b.view.Version++
		b.plan.Reset()
		b.strategy.Decide(&b.view, &b.plan)
	}); n != 0 {
		t.Errorf("want no allocation, have %v", n)
	}
}

// Up to the bounds themselves it reads nothing but the price. A decision that another price or another version may change is computed
// again.
func TestSavedDecisionReadsOnlyPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version uint64
		price   exchange.Price
		saved   bool
	}{{1, 115e8, true}, {1, 110e8 + 1, true}, {1, 120e8, true}, {1, 110e8, false}, {1, 120e8 + 1, false}, {2, 115e8, false}, {0, 115e8, false}} {
		b := grids(t, exchange.Futures, nil)
		b.view.Version, b.view.Last = 1, 115e8
		b.strategy.Decide(&b.view, &b.plan)
		// Fills without a new version do not happen; here they show whether fills were read.
		b.fill("in0", 1000, 1000)
		b.view.Version, b.view.Last = c.version, c.price
		b.plan.Reset()
		if b.strategy.Decide(&b.view, &b.plan); (len(b.plan.Exits) == 0) != c.saved || b.plan.Reason != gridReason || !b.plan.OrdersSet || !b.plan.ExitsSet {
			t.Errorf("version %d at %d: want it saved: %t, have %+v", c.version, c.price, c.saved, b.plan)
		}
	}
}
