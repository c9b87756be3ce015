package parity_test

import (
	"math"
	"slices"
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

func TestTheComparisonIsOneSentence(t *testing.T) {
	t.Parallel()
	at := func(minutes int64, buy bool, price float64) parity.Execution {
		return parity.Execution{AtMS: minutes * minute, Buy: buy, Quantity: 2, Price: price}
	}
	for _, c := range []struct {
		live, backtest []parity.Execution
		want           string
	}{
		{nil, nil, "0 of 0 orders match between live trading and the backtest; none has a known price on both sides"},
		{[]parity.Execution{at(1, true, 101)}, []parity.Execution{at(1, true, 100)},
			"1 of 1 orders match between live trading and the backtest; live prices were 1.0000 % worse on average, 2.00 USDT in all"},
		{[]parity.Execution{at(1, false, 101)}, []parity.Execution{at(1, false, 100)},
			"1 of 1 orders match between live trading and the backtest; live prices were 1.0000 % better on average, 2.00 USDT in all"},
		{[]parity.Execution{at(1, true, 100)}, []parity.Execution{at(1, true, 100)},
			"1 of 1 orders match between live trading and the backtest; live prices were 0.0000 % worse on average, 0.00 USDT in all"},
		{[]parity.Execution{at(1, true, 100), at(50, true, 7)}, []parity.Execution{at(1, true, 0), at(100, true, 1), at(150, true, 1)},
			"1 of 4 orders match between live trading and the backtest, 1 exist only live, 2 exist only in the backtest; none has a known price on both sides"},
	} {
		if have := parity.Compare(c.live, c.backtest, minute).Sentence(); have != c.want {
			t.Errorf("want\n%s, have\n%s", c.want, have)
		}
	}
}

// TestTheNearestOrderIsThePair compares one live order with three orders of the backtest at about that time:
// the nearest is its pair, or the earlier of two equally near ones.
func TestTheNearestOrderIsThePair(t *testing.T) {
	t.Parallel()
	at := func(minutes int64, purpose string) parity.Execution {
		return parity.Execution{AtMS: minutes * minute, Buy: true, Quantity: 1, Price: 100, Purpose: purpose}
	}
	for _, c := range []struct {
		name     string
		backtest []parity.Execution
		want     int64 // minutes of the pair
	}{
		{"the last is the nearest", []parity.Execution{at(1, "entry"), at(7, "entry"), at(9, "entry")}, 9},
		{"the first is the nearest", []parity.Execution{at(9, "entry"), at(14, "entry"), at(15, "entry")}, 9},
		{"two as near", []parity.Execution{at(9, "entry"), at(11, "entry")}, 9},
		{"another purpose is nearer", []parity.Execution{at(3, "entry"), at(10, "stop")}, 3},
	} {
		pairs := parity.Compare([]parity.Execution{at(10, "entry")}, c.backtest, 10*minute)
		var have int64
		for _, p := range pairs.Pairs {
			if p.Live != nil && p.Backtest != nil {
				have = p.Backtest.AtMS / minute
			}
			if want := p.Backtest; p.Live == nil && p.AtMS() != want.AtMS {
				t.Errorf("%s: want the time of the backtest's order, have %d", c.name, p.AtMS())
			}
		}
		if have != c.want || pairs.Matched != 1 || pairs.BacktestOnly != len(c.backtest)-1 {
			t.Errorf("%s: want the order at %d, have %d of %+v", c.name, c.want, have, pairs)
		}
	}
	two := []parity.Execution{at(1, "entry"), at(1, "stop")}
	if c := parity.Compare(two, two, 0); c.Matched != 2 || len(c.Pairs) != 2 {
		t.Errorf("want two orders of one time kept apart by their purpose, have %+v", c)
	}
}

func TestDigitsOfAMean(t *testing.T) {
	t.Parallel()
	for number, want := range map[float64]string{
		0: "0", 0.1 + 0.2: "0.3", 1e-7: "0.0000001", 123456789: "123456790", 100.0 / 3: "33.333333", -2.5: "-2.5", 1e12: "1000000000000",
	} {
		if have := parity.Digits(number); have != want {
			t.Errorf("%v: want %s, have %s", number, want, have)
		}
	}
}

// TestSpotFeesAreTakenFromTheAsset starts with 10 bought for 1,000 before the period, of which a fee takes 1.
// Another 1 is taken at the close.
func TestSpotFeesAreTakenFromTheAsset(t *testing.T) {
	t.Parallel()
	fills := []parity.Execution{{AtMS: minute, Buy: true, Quantity: 10, Price: 7}, {AtMS: 10 * minute, Buy: false, Quantity: 2, Price: 130}}
	charges := []parity.Charge{{AtMS: minute, Base: 1, USDT: 50}, {AtMS: 10 * minute, Base: 1}, {AtMS: 20 * minute, USDT: 3}}
	// 9 at the open price of 100 are worth 900. At 120 at minute 10: 2 sold for 260, 1 taken, 6 left, less 900. At 110: 6 of 110.
	at, closes := []int64{10 * minute, 20 * minute, 30 * minute}, []float64{120, 110, 110}
	c := parity.ProfitOf(fills, charges, 5*minute, 100, at, closes)
	for i, want := range []float64{260 + 720 - 900, 260 + 660 - 900 - 3, 260 + 660 - 900 - 3} {
		if !near(c.Profit[i], want) {
			t.Errorf("close %d: want %v, have %v", i+1, want, c.Profit[i])
		}
	}
	for most, want := range map[int][]int64{1: {30 * minute}, 2: {20 * minute, 30 * minute}, 3: at, 4: at} {
		if thin := c.Thinned(most); !slices.Equal(thin.TimeMS, want) || len(thin.Profit) != len(want) || thin.Profit[len(want)-1] != c.Profit[2] {
			t.Errorf("%d points at most: want %v, have %+v", most, want, thin)
		}
	}
}

// TestPairsAreInTheOrderOfTheirTimes covers fills out of order, of which only some name their order.
func TestPairsAreInTheOrderOfTheirTimes(t *testing.T) {
	t.Parallel()
	at := func(minutes int64, order string) parity.Execution {
		return parity.Execution{AtMS: minutes * minute, Buy: true, Quantity: 1, Order: order}
	}
	live := []parity.Execution{at(30, "3"), at(10, "1"), at(10, ""), at(31, "3"), at(20, "2")}
	c := parity.Compare(live, []parity.Execution{at(35, ""), at(15, ""), at(30, "")}, 0)
	var have []int64
	for i := range c.Pairs {
		have = append(have, c.Pairs[i].AtMS()/minute)
	}
	if want := []int64{10, 10, 15, 20, 30, 35}; !slices.Equal(have, want) || c.Matched != 1 {
		t.Errorf("want the times %v, of which 30 is the pair, have %v, %+v", want, have, c)
	}
}

// TestTheBeginningIsPartOfThePeriod covers a fill and a charge at the beginning: the fill counts at its own
// price, and the charge counts.
func TestTheBeginningIsPartOfThePeriod(t *testing.T) {
	t.Parallel()
	fills := []parity.Execution{{AtMS: 5 * minute, Buy: true, Quantity: 2, Price: 90}}
	c := parity.ProfitOf(fills, []parity.Charge{{AtMS: 5 * minute, USDT: 7}}, 5*minute, 100, []int64{10 * minute}, []float64{110})
	if want := 2*(110.0-90) - 7; len(c.Profit) != 1 || !near(c.Profit[0], want) {
		t.Errorf("want %v, have %v", want, c.Profit)
	}
}

// TestFillsOfOneOrderAreOne covers an order filled in parts, and two unnamed orders of one time on two sides.
func TestFillsOfOneOrderAreOne(t *testing.T) {
	t.Parallel()
	part := func(minutes int64, quantity, price float64) parity.Execution {
		return parity.Execution{Order: "1", AtMS: minutes * minute, Buy: true, Quantity: quantity, Price: price}
	}
	for _, c := range []struct {
		fills []parity.Execution
		want  parity.Execution
	}{
		{[]parity.Execution{part(7, 1, 100), part(5, 3, 104)}, part(5, 4, 103)}, // (100 + 312) / 4
		{[]parity.Execution{part(5, 1, 0), part(7, 3, 104)}, part(5, 4, 104)},
		{[]parity.Execution{part(5, 1, 100), part(7, 3, 0)}, part(5, 4, 100)},
	} {
		if have := parity.Compare(c.fills, nil, minute).Pairs; len(have) != 1 || *have[0].Live != c.want {
			t.Errorf("want one order, %+v, have %+v", c.want, have[0].Live)
		}
	}
	both := []parity.Execution{{AtMS: minute, Buy: true, Quantity: 1}, {AtMS: minute, Quantity: 1}, {AtMS: minute, Quantity: 2}}
	if have := parity.Compare(nil, both, minute).Pairs; len(have) != 2 || have[0].Backtest.Quantity != 1 || have[1].Backtest.Quantity != 3 {
		t.Errorf("want a purchase of 1 and a sale of 3, have %+v", have)
	}
}
