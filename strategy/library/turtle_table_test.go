package library

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// mirrored returns a price, reflected at 100 if sign is -1.
func mirrored(sign int, price float64) float64 {
	if sign < 0 {
		return 200 - price
	}
	return price
}

// mirroredCandle closes a candle, or its reflection.
func (b *book) mirroredCandle(sign int, high, low, closed float64) {
	if sign < 0 {
		high, low, closed = 200-low, 200-high, 200-closed
	}
	b.candle(high, low, closed)
}

// A turtle skips a breakout after one that would have won, traded or not, unless it is also one of the longer channel. At the
// start N is 1 and the extremes are 101 and 100. Short mirrors long.
func TestTurtleSkipsBreakoutAfterWinner(t *testing.T) {
	t.Parallel()
	type candle struct{ high, low float64 }
	four := func(high, low float64) []candle { return slices.Repeat([]candle{{high, low}}, 4) }
	won := slices.Concat([]candle{{130, 102}, {130, 129}, {130, 108}, {110, 101.5}}, four(110, 109)) // a breakout at 101, ended at 108
	half, wide := strategy.Values{"stop": "0.5"}, strategy.Values{"stop": "9"}
	after := func(candles ...candle) []candle { return slices.Concat(candles, four(102.6, 102.3)) } // by then 103 is the longer channel's high
	for _, c := range []struct {
		name    string
		values  strategy.Values
		candles []candle
		price   float64
		skips   bool
	}{
		{"after a winner", nil, won, 111, true},
		{"after a winner, one of the longer channel", nil, won, 131, false},
		{"after a loser: more than half an N below", half, after(candle{103, 100}, candle{102.5, 100.4}, candle{102.8, 102.2}, candle{102.8, 102.4},
			candle{102.6, 101.9}), 102.7, false},
		{"after a loser: half an N below", half, after(candle{103, 100}, candle{102.5, 100.5}, candle{102.8, 102.2}, candle{102.8, 102.4},
			candle{102.6, 101.9}), 102.7, false},
		{"not quite half an N below, and it won then", half, after(candle{103, 100}, candle{102.5, 100.6}, candle{102.8, 102.2}, candle{102.8, 102.4},
			candle{102.6, 101.9}), 102.7, true},
		{"the low of the exit candles touched is no end of it", half, after(candle{103, 100}, candle{102.5, 102}, candle{102.8, 102.2}, candle{102.8, 102}),
			102.7, false},
		{"it ends where it began: no winner", wide, after(candle{103, 101}, candle{102.5, 101}, candle{102.8, 100.9}, candle{102.6, 102.3}), 102.7, false},
		{"it ends a tick further: a winner", wide, after(candle{103, 101.1}, candle{102.5, 101.1}, candle{102.8, 100.9}, candle{102.6, 102.3}), 102.7, true},
		{"after a winner and a loser", strategy.Values{"stop": "0.5", "failsafe": "9"}, slices.Concat(won, []candle{{113, 109}, {112, 100}}, four(111, 109)),
			112, false},
		// Until the longest channel is complete no breakout is traded.
		{"a breakout in the warm-up", strategy.Values{"warmup": "-1"}, won, 111, false},
		{"a breakout at its end", strategy.Values{"warmup": "0"}, won, 111, true},
	} {
		for _, sign := range []int{1, -1} {
			values := strategy.Values{"entry": "4", "exit": "2", "failsafe": "12", "period": "2", "mode": "long_short", "max_notional": "1000%"}
			before := 13
			for name, value := range c.values {
				switch {
				case name != "warmup":
					values[name] = value
				case value == "-1":
					before = 11 // the breakout's candle is the twelfth, which completes the channel
				default:
					before = 12
				}
			}
			b := newBook(t, newStrategy(t, "turtle", exchange.Futures, values), exchange.Futures)
			b.view.Equity = exchange.AmountOf(10_000)
			for range before {
				b.mirroredCandle(sign, 101, 100, 100)
			}
			for _, one := range c.candles {
				b.mirroredCandle(sign, one.high, one.low, one.low)
			}
			b.view.NowMS = 60_000
			b.decide(mirrored(sign, c.price))
			want := map[bool]string{true: "the last breakout won: this one is skipped", false: "a breakout"}[c.skips]
			if b.plan.Reason != want || b.plan.Target.Sign() != map[bool]int{true: 0, false: sign}[c.skips] {
				t.Errorf("%s, side %d: want %q, have %q and %+v", c.name, sign, want, b.plan.Reason, b.plan.Target)
			}
		}
	}
}

// With an N of 2, half of it below a breakout at 102 is 101.
func TestALosersDistanceIsInN(t *testing.T) {
	t.Parallel()
	for low, want := range map[float64]string{101.1: "the last breakout won: this one is skipped", 101: "a breakout"} {
		b := newBook(t, newStrategy(t, "turtle", exchange.Futures, strategy.Values{"entry": "4", "exit": "2", "failsafe": "12", "period": "2", "stop": "0.5"}),
			exchange.Futures)
		b.view.Equity, b.view.NowMS = exchange.AmountOf(10_000), 60_000
		for range 13 {
			b.candle(102, 100, 100)
		}
		for _, one := range [][2]float64{{104, 101}, {103.5, low}, {103.8, 103.2}, {103.8, 103.4}, {103.6, 102.9}, {103.6, 103.3}, {103.6, 103.3},
			{103.6, 103.3}, {103.6, 103.3}} {
			b.candle(one[0], one[1], one[1])
		}
		if b.decide(103.7); b.plan.Reason != want {
			t.Errorf("down to %v: want %q, have %q", low, want, b.plan.Reason)
		}
	}
}

// Units of 1 % of 10,000 are 100, since N is 1. They are half an N apart, and stops are 2 N behind the newest.
func TestTurtleDecisions(t *testing.T) {
	t.Parallel()
	const waits, units, breakout, over, closes = "waits for a breakout", "holds its units", "a breakout", "the price broke the opposite extreme",
		"closes the position"
	type event = strategy.Event
	stopped := event{Kind: strategy.EventStopped, Reduces: true}
	type step struct {
		price  float64
		held   exchange.Quantity // in the smallest steps, on the side of the first breakout
		event  event
		want   exchange.Quantity
		stop   float64
		reason string
		signal int // the step whose signal is in force
	}
	for _, c := range []struct {
		name   string
		values strategy.Values
		steps  []step
	}{
		{"it enters above the high", nil, []step{{101, 0, event{}, 0, 0, waits, 0}, {101.1, 0, event{}, 100_000, 99.1, breakout, 2}}},
		{"an entry that is not filled yet stays", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {103, 0, event{}, 100_000, 100, units, 1},
			{101.5, 0, event{}, 100_000, 100, units, 1}}},
		{"a unit is added at half an N, when those before are filled but for a fiftieth and a step", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{102.4, 100_000, event{}, 100_000, 100, units, 1}, {102.5, 97_998, event{}, 100_000, 100, units, 1},
			{102.5, 97_999, event{}, 200_000, 100.5, "unit 2 of 4", 1}, {103, 195_998, event{}, 200_000, 100.5, units, 1},
			{103, 195_999, event{}, 300_000, 101, "unit 3 of 4", 1}, {104, 300_000, event{}, 400_000, 102, "unit 4 of 4", 1},
			{109, 400_000, event{}, 400_000, 102, units, 1}}},
		{"one unit alone", strategy.Values{"units": "1"}, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {103, 100_000, event{}, 100_000, 100, units,
			1}}},
		{"it leaves below the low of the exit candles", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {100, 100_000, event{}, 100_000, 100, units,
			1},
			{99.9, 100_000, event{}, 0, 0, over, 0}, {102, 50_000, event{}, 0, 0, closes, 0}, {102, 0, event{}, 100_000, 100, breakout, 5}}},
		{"a stop ends all units", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {101, 100_000, event{}, 100_000, 100, units, 1},
			{100.5, 0, stopped, 0, 0, waits, 0}, {102, 0, event{}, 100_000, 100, breakout, 4}, {101.5, 0, event{}, 100_000, 100, units, 4}}},
		{"a stop that has sold a part does not yet", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {101, 40_000, stopped, 100_000, 100, units, 1}}},
		{"a stop in the moment of its entry, which was not seen", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {100.5, 0, stopped, 0, 0, waits,
			0}}},
		{"a take-profit of its configuration", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{100.5, 0, event{Kind: strategy.EventTookProfit, Reduces: true}, 0, 0, waits, 0}}},
		{"a person closed it", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {100.5, 0, event{Kind: strategy.EventLatched}, 0, 0, waits, 0}}},
		{"the position vanished without an event", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {101.5, 1, event{}, 100_000, 100, units, 1},
			{100.5, 0, event{}, 0, 0, waits, 0}}},
		{"an entry is refused", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {100.5, 0, event{Kind: strategy.EventRefused}, 0, 0, waits, 0}}},
		{"an entry is refused, and the price is above the high still", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{103, 0, event{Kind: strategy.EventRefused}, 100_000, 101, breakout, 2}}},
		{"a second unit is refused", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1}, {102.5, 100_000, event{}, 200_000, 100.5, "unit 2 of 4", 1},
			{102.6, 100_000, event{Kind: strategy.EventRefused}, 100_000, 100.5, units, 1}}},
		{"an exit is refused", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{102.1, 40_000, event{Kind: strategy.EventRefused, Reduces: true}, 100_000, 100, units, 1}}},
		{"another order by a key is refused", nil, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{102.1, 40_000, event{Kind: strategy.EventRefused, Key: "k"}, 100_000, 100, units, 1}}},
		// 10,000 USDT at 100 USDT, or at 102.5, bound a unit.
		{"as much as its cap", strategy.Values{"max_notional": "105%"}, []step{{102, 0, event{}, 100_000, 100, breakout, 1},
			{102.5, 100_000, event{}, 102_439, 100.5, "unit 2 of 4", 1}, {110, 102_439, event{}, 102_439, 100.5, units, 1},
			{100.5, 0, stopped, 0, 0, waits, 0}, {102, 0, event{}, 100_000, 100, breakout, 5}}},
		{"more than its cap already", strategy.Values{"max_notional": "101%"}, []step{{101.1, 0, event{}, 99_901, 99.1, breakout, 1},
			{104, 99_901, event{}, 99_901, 99.1, units, 1}}},
		{"a cap that holds all of a position again", strategy.Values{"max_notional": "51%"}, []step{{102, 0, event{}, 50_000, 100, breakout, 1},
			{100.5, 0, stopped, 0, 0, waits, 0}, {102, 0, event{}, 50_000, 100, breakout, 3}}},
		// The exchange's minimum is 5 USDT: 0.05 at 102.
		{"the smallest units", strategy.Values{"risk": "0.00001"}, []step{{102, 0, event{}, 100, 100, breakout, 1}, {102.5, 100, event{}, 200, 100.5,
			"unit 2 of 4", 1}}},
		{"a unit is too small", strategy.Values{"max_notional": "0.1%", "risk": "0.00001", "equity": "4000"}, []step{
			{102, 0, event{}, 0, 0, "a unit is less than the smallest order", 0}}},
	} {
		for _, sign := range []int{1, -1} {
			values := strategy.Values{}
			equity := int64(10_000)
			for name, value := range c.values {
				if name == "equity" {
					equity = 4_000
				} else {
					values[name] = value
				}
			}
			if sign < 0 && (values["max_notional"] != "") {
				continue // a cap in USDT has no mirror image
			}
			b := turtleBook(t, values)
			for range 13 {
				b.mirroredCandle(sign, 101, 100, 100)
			}
			b.view.Equity = exchange.AmountOf(equity)
			var times []int64
			for i, s := range c.steps {
				b.view.NowMS += 60_000
				times = append(times, b.view.NowMS)
				b.view.Position.Quantity, b.view.Events = s.held*exchange.Quantity(sign), nil
				if s.event != (event{}) {
					b.view.Events = []event{s.event}
				}
				b.decide(mirrored(sign, s.price))
				want := strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: s.want * exchange.Quantity(sign)}, Reason: s.reason}
				if s.stop != 0 {
					want.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: exchange.Price(mirrored(sign, s.stop)*10+0.5) * 1e7}}
				}
				if s.signal != 0 {
					want.SignalMS = times[s.signal-1]
				}
				if !b.plan.Equal(&want) || b.plan.Reason != want.Reason || b.plan.SignalMS != want.SignalMS {
					t.Errorf("%s, side %d, step %d at %v: want %+v, have %+v", c.name, sign, i+1, s.price, want, b.plan)
				}
			}
		}
	}
}

// A turtle waits for enough candles, and for a price that has moved.
func TestATurtleWaitsForItsFigures(t *testing.T) {
	t.Parallel()
	made := func() *book {
		b := newBook(t, newStrategy(t, "turtle", exchange.Futures, strategy.Values{"entry": "2", "exit": "1", "failsafe": "0", "period": "2"}),
			exchange.Futures)
		b.view.Equity, b.view.NowMS = exchange.AmountOf(10_000), 60_000
		return b
	}
	moving, still := made(), made()
	for i := range 9 { // three times the period plus one
		moving.candle(101, 100, 100)
		still.candle(100, 100, 100)
		moving.decide(102)
		still.decide(102)
		if want := map[bool]strategy.TargetKind{true: strategy.ByQuantity, false: strategy.NoTarget}[i >= 6]; moving.plan.Target.Kind != want {
			t.Errorf("after %d candles: want a target of kind %d, have %+v", i+1, want, moving.plan.Target)
		}
		if still.plan.Target.Kind != strategy.NoTarget {
			t.Errorf("after %d candles of one price: want no target, have %+v", i+1, still.plan.Target)
		}
		known := fmt.Sprint(conditionLines(moving.strategy, &moving.view)[0])
		if none := conditionLines(still.strategy, &still.view); !slices.Equal(none, []string{"N: none yet"}) || (known == "N: none yet") != (i < 6) {
			t.Errorf("after %d candles: want N shown from the seventh on, where the price moves, have %q and %q", i+1, known, none)
		}
	}
}

// Without N it could neither lose nor win.
func TestTurtleIgnoresBreakoutFromConstantPrice(t *testing.T) {
	t.Parallel()
	b := newBook(t, newStrategy(t, "turtle", exchange.Futures, strategy.Values{"entry": "4", "exit": "2", "failsafe": "12", "period": "2"}), exchange.Futures)
	b.view.Equity, b.view.NowMS = exchange.AmountOf(10_000), 60_000
	for range 13 {
		b.candle(100, 100, 100)
	}
	for _, one := range [][2]float64{{130, 120}, {130, 125}, {130, 126}, {126, 119}, {125, 124}, {125, 124}, {125, 124}, {125, 124}} {
		b.candle(one[0], one[1], one[1])
	}
	if b.decide(127); b.plan.Reason != "a breakout" {
		t.Errorf("want it taken, have %s", b.plan.Reason)
	}
}

// The cases include a waiting turtle and one with a position.
func TestTurtleConditions(t *testing.T) {
	t.Parallel()
	high, low := "price: 102 | above the highest high before 101 | met", "price: 102 | below the lowest low before 100 | not met"
	lost, won := "the last breakout won: false | false, or a longer breakout | met", "the last breakout won: true | false, or a longer breakout | not met"
	for _, c := range []struct {
		values strategy.Values
		memory map[string]int64
		wins   bool
		want   []string
	}{
		{nil, nil, false, []string{high, "N: 1", lost, low}},
		{strategy.Values{"mode": "long_only"}, nil, false, []string{high, "N: 1", lost}},
		{strategy.Values{"mode": "long_only"}, map[string]int64{turtleSide: 1, turtleUnits: 2}, false, []string{high, "N: 1", lost,
			"units: 2 | at most 4 | met"}},
		{nil, map[string]int64{turtleSide: -1, turtleUnits: 3}, false, []string{high, "N: 1", lost, low, "units: 3 | at most 4 | met"}},
		{strategy.Values{"mode": "long_only", "failsafe": "12"}, nil, true, []string{high, "N: 1", won}},
		{strategy.Values{"mode": "long_only"}, nil, true, []string{high, "N: 1", lost}}, // System 2 skips none
	} {
		b := turtleBook(t, c.values)
		if c.wins {
			for _, one := range [][2]float64{{130, 102}, {130, 129}, {130, 108}, {110, 101.5}} {
				b.candle(one[0], one[1], one[1])
			}
			for range 40 { // N is 1 again
				b.candle(101, 100, 100)
			}
		}
		for key, value := range c.memory {
			b.view.Memory, _ = b.view.Memory.With(strategy.MemoryOf(strategy.MemoryVariable{Key: key, Value: value}))
		}
		b.view.NowMS, b.view.Last = 60_000, 102e8
		have := conditionLines(b.strategy, &b.view)
		for i, line := range have {
			if strings.HasPrefix(line, "N: 1.00") { // next to nothing of the earlier range is left
				have[i] = "N: 1"
			}
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%v, %v: want %q, have %q", c.values, c.memory, c.want, have)
		}
	}
}

// A coin that costs a few of the smallest units may have its stop at one of them, but not at zero.
func TestStopAtZeroIsOmitted(t *testing.T) {
	t.Parallel()
	where := cheap(t, exchange.Futures)
	for last, want := range map[exchange.Price]strategy.Protection{
		6: {}, 7: {Set: true, StopLoss: strategy.Distance{Price: 1}}, 8: {Set: true, StopLoss: strategy.Distance{Price: 2}},
	} {
		b := newBook(t, newStrategyIn(t, where, "turtle", strategy.Values{"entry": "1", "exit": "1", "failsafe": "0", "period": "2", "stop": "3"}),
			exchange.Futures)
		b.view.Symbol, b.view.Equity, b.view.NowMS, b.view.Last = where.Symbol, exchange.AmountOf(10_000), 60_000, last
		for range 7 { // N is 2
			show(&b.view, exchange.Candle{Open: 3, High: 5, Low: 3, Close: 3})
			b.strategy.Candle(&b.view)
		}
		if b.strategy.Decide(&b.view, &b.plan); b.plan.Target.Sign() != 1 || b.plan.Protection != want {
			t.Errorf("at %d: want it long with %+v, have %+v", last, want, b.plan)
		}
	}
}

// Less than a step is no unit.
func TestAUnitOfOneStepIsAUnit(t *testing.T) {
	t.Parallel()
	where := cheap(t, exchange.Futures)
	for _, c := range []struct {
		equity string // 1 % of it, divided by an N of 0.00000002, is a unit
		want   []exchange.Quantity
		reason string
	}{{"0.000002", []exchange.Quantity{1, 2, 3}, "unit 3 of 4"}, {"0.0000019", []exchange.Quantity{0, 0, 0}, "a unit is less than the smallest order"}} {
		b := newBook(t, newStrategyIn(t, where, "turtle", strategy.Values{"entry": "1", "exit": "1", "failsafe": "0", "period": "2"}), exchange.Futures)
		b.view.Symbol, b.view.Equity, b.view.NowMS = where.Symbol, exchange.MustAmount(c.equity), 60_000
		for range 7 {
			show(&b.view, exchange.Candle{Open: 3, High: 5, Low: 3, Close: 3})
			b.strategy.Candle(&b.view)
		}
		for i, want := range c.want {
			b.view.Last = exchange.Price(8 + i)
			b.plan.Reset()
			b.strategy.Decide(&b.view, &b.plan)
			b.view.Memory, _ = b.view.Memory.With(b.plan.Remembered())
			if b.view.Position.Quantity = b.plan.Target.Quantity; b.plan.Target.Quantity != want {
				t.Errorf("with %s USDT, at %d: want %d, have %+v", c.equity, b.view.Last, want, b.plan)
			}
		}
		if b.plan.Reason != c.reason {
			t.Errorf("with %s USDT: want %q, have %q", c.equity, c.reason, b.plan.Reason)
		}
	}
}
