package parity_test

import (
	"math"
	"testing"

	"botd/backtest/parity"
)

const minute = 60_000

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The pair shows the cost of live trading: a later time, and a worse price.
func TestOrdersArePairedWithBacktest(t *testing.T) {
	t.Parallel()
	live := []parity.Execution{
		{AtMS: 61 * minute, Order: "a", Buy: true, Quantity: 1, Price: 100.1, Purpose: "entry"},
		{AtMS: 62 * minute, Order: "a", Buy: true, Quantity: 3, Price: 100.5, Purpose: "entry"}, // of the same order
		{AtMS: 122 * minute, Order: "b", Quantity: 4, Price: 109, Purpose: "exit"},
	}
	backtest := []parity.Execution{
		{AtMS: 60 * minute, Buy: true, Quantity: 4, Price: 100, Purpose: "entry"},
		{AtMS: 120 * minute, Quantity: 4, Price: 110, Purpose: "exit"},
	}
	c := parity.Compare(live, backtest, 5*minute)
	if c.Matched != 2 || c.LiveOnly != 0 || c.BacktestOnly != 0 || len(c.Pairs) != 2 {
		t.Fatalf("want two pairs and nothing else, have %+v", c)
	}
	entry, exit := c.Pairs[0], c.Pairs[1]
	if entry.LaterMS != minute || !near(entry.Live.Price, 100.4) || !near(entry.Slippage, 0.4) || !near(entry.Cost, 1.6) {
		t.Errorf("the entry: want a minute later, 0.4 %% worse, 1.6 USDT; have %+v at %v", entry, entry.Live.Price)
	}
	if want := 100.0 / 110; exit.LaterMS != 2*minute || !near(exit.Slippage, want) || !near(exit.Cost, 4) { // a sale at a lower price is worse
		t.Errorf("the exit: want two minutes later, %v %% worse, 4 USDT; have %+v", want, exit)
	}
	if want := 100 * 5.6 / (400 + 440); c.Slippage == nil || !near(*c.Slippage, want) || !near(c.Cost, 5.6) {
		t.Errorf("all: want %v %%, 5.6 USDT; have %v, %v", want, c.Slippage, c.Cost)
	}
}

func TestUnpairedOrdersAreListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		live, backtest          []parity.Execution
		matched, lives, replays int
	}{
		{"nothing at all", nil, nil, 0, 0, 0},
		{"live alone", []parity.Execution{{AtMS: 1, Order: "a", Buy: true, Quantity: 1, Price: 5, Purpose: "entry"}}, nil, 0, 1, 0},
		{"backtest alone", nil, []parity.Execution{{AtMS: 1, Buy: true, Quantity: 1, Price: 5, Purpose: "entry"}}, 0, 0, 1},
		{"too late", []parity.Execution{{AtMS: 6 * minute, Order: "a", Quantity: 1, Price: 5, Purpose: "exit"}},
			[]parity.Execution{{AtMS: 0, Quantity: 1, Price: 5, Purpose: "exit"}}, 0, 1, 1},
		{"the other side", []parity.Execution{{AtMS: 1, Order: "a", Buy: true, Quantity: 1, Price: 5, Purpose: "exit"}},
			[]parity.Execution{{AtMS: 1, Quantity: 1, Price: 5, Purpose: "exit"}}, 0, 1, 1},
		{"a stop is no exit", []parity.Execution{{AtMS: 1, Order: "a", Quantity: 1, Price: 5, Purpose: "stop_loss"}},
			[]parity.Execution{{AtMS: 1, Quantity: 1, Price: 5, Purpose: "exit"}}, 0, 1, 1},
		{"one of two", []parity.Execution{{AtMS: 3 * minute, Order: "a", Quantity: 1, Price: 5, Purpose: "exit"}},
			[]parity.Execution{{AtMS: 0, Quantity: 1, Price: 5, Purpose: "exit"}, {AtMS: 2 * minute, Quantity: 1, Price: 5, Purpose: "exit"}}, 1, 0, 1},
	} {
		have := parity.Compare(c.live, c.backtest, 5*minute)
		if have.Matched != c.matched || have.LiveOnly != c.lives || have.BacktestOnly != c.replays {
			t.Errorf("%s: want %d pairs, %d live, %d of the backtest; have %d, %d, %d", c.name, c.matched, c.lives, c.replays, have.Matched,
				have.LiveOnly, have.BacktestOnly)
		}
	}
}

// Futures report none, and it must not be derived.
func TestAFillWithoutAPriceIsAPairWithoutSlippage(t *testing.T) {
	t.Parallel()
	c := parity.Compare([]parity.Execution{{AtMS: 1, Order: "a", Buy: true, Quantity: 1, Purpose: "entry"}},
		[]parity.Execution{{AtMS: 1, Buy: true, Quantity: 1, Price: 5, Purpose: "entry"}}, minute)
	if c.Matched != 1 || c.Pairs[0].Priced || c.Slippage != nil || c.Cost != 0 {
		t.Errorf("want a pair of unknown slippage, have %+v, mean %v", c.Pairs[0], c.Slippage)
	}
}

// The profit is computed at each close, at which the position is valued. Fees and funding count when they are paid, the initial
// position counts from the first open, and a fill without a price is at the last one.
func TestProfitFollowsFills(t *testing.T) {
	t.Parallel()
	fills := []parity.Execution{
		{AtMS: 1 * minute, Buy: true, Quantity: 1, Price: 50, Purpose: "entry"}, // before
		{AtMS: 11 * minute, Buy: true, Quantity: 2, Price: 101, Purpose: "entry"},
		{AtMS: 21 * minute, Quantity: 3, Purpose: "exit"},
	}
	charges := []parity.Charge{{AtMS: 1 * minute, USDT: 9}, {AtMS: 11 * minute, USDT: 0.5}, {AtMS: 22 * minute, USDT: 0.25}}
	at, closes := []int64{10 * minute, 20 * minute, 30 * minute, 40 * minute}, []float64{102, 103, 90, 70}
	c := parity.ProfitOf(fills, charges, 5*minute, 100, at, closes)
	// 1 from 100 to 102; 3 at 103, of which 2 cost 101, less 0.5; all sold at 103, the last price, less 0.75.
	want := []float64{2, 3 + 4 - 0.5, 3 + 4 - 0.75, 3 + 4 - 0.75}
	for i := range want {
		if !near(c.Profit[i], want[i]) || c.TimeMS[i] != at[i] {
			t.Errorf("at %d: want %v, have %v", at[i]/minute, want[i], c.Profit[i])
		}
	}
	if thin := c.Thinned(2); len(thin.Profit) != 2 || thin.TimeMS[0] != 20*minute || thin.TimeMS[1] != 40*minute {
		t.Errorf("want the last of each half, have %+v", thin)
	}
}
