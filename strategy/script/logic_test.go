package script

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// At the top of the file a comparison was once always False, because a series has no value there yet.
func TestConditionsOfSeriesAreSeries(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		"up = close > open",
		"far = up and close > 105 or not up and close < 95",
		"plain = 3 > 2 and \"text\" or 7",
		"streak = sum(up, 3)",
		"cross = cross_above(close, 100)",
		"passed = since(cross)",
		"price = value_when(cross, close)",
		"side = where(up, 1, -1)",
		"grows = rising(close, 2)",
		"anchored = anchored_vwap(cross)",
		"def decide(view):",
		"    if plain != \"text\":",
		"        fail(\"Starlark's own and, or\")",
		"    return plan(reason = \"%d %d %d %d %d %d %d %d %s\" % (up + 0, far + 0, streak[0] if known(streak) else -1, cross + 0, "+
			"passed + 0 if known(passed) else -1, price + 0 if known(price) else -1, side + 0, grows + 0, known(anchored)))")
	w := newWorld(setting(t, exchange.Futures))
	for i, c := range []struct {
		to   float64
		want string
	}{
		{90, "0 1 -1 0 -1 -1 -1 0 False"},
		{99, "1 0 -1 0 -1 -1 1 0 False"},
		{101, "1 0 2 1 0 101 1 1 True"},
		{110, "1 1 3 0 1 101 1 1 True"},
		{94, "0 1 2 0 2 101 -1 0 True"},
		{104, "1 0 2 1 0 104 1 0 True"},
	} {
		if plan := w.close(s, c.to); plan.Reason != c.want {
			t.Errorf("candle %d, to %v: want %s, have %s", i, c.to, c.want, plan.Reason)
		}
	}
}

// Conditions of each function, in a function that must see every candle.
func TestRulesUseEachFunctionOfConditionsInsideOthers(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"sum(rising(close), 2) == 2":                                   "0011",
		"sum(falling(close), 2) == 0":                                  "0111",
		"sum(cross_above(close, 100), 2) == 1":                         "0011",
		"sum(cross_below(100, close), 2) == 1":                         "0011",
		"sum(known(close), 2) == 2":                                    "0111",
		"sum(not known(close[2]), 2) == 1":                             "0010",
		"sum((close > open) or (close > 1000), 2) == 2":                "0011",
		"sum((close > open) and not (close > 100), 2) > 0":             "0110",
		"where(rising(close), 1, 0) > 0 and hour(zone = \"UTC\") >= 2": "0111",
		"since(close > 100, ) == 0":                                    "0011",
		"hour(offset = -1) == 1":                                       "0100",
		"max(close, round(open, 0)) > 99":                              "0011", // a number of the candle, which is no series
		"abs(close - 100) < 2 and -close < 0":                          "0110",
	} {
		made, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": rule, "exit_long": "not (" + rule + ")"})
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		w, have := newWorld(setting(t, exchange.Futures)), ""
		for _, to := range []float64{90, 99, 101, 110} {
			have += fmt.Sprint(w.close(made, to).Target.Sign())
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", rule, want, have)
		}
	}
}

// Each function of series has a history in a rule.
func TestFunctionsInRulesHaveAHistory(t *testing.T) {
	t.Parallel()
	for _, series := range []string{"abs(-close)", "log(close)", "max(close, open)", "min(close, open)", "sum(close, 1)", "hour() + 1",
		"minute() + 1", "weekday() + 1", "session(\"00:00\", \"24:00\")", "since(close > 0) + 1", "value_when(close > 0, close)",
		"where(close > 0, 1, 2)", "anchored_vwap(close > 0)",
		"ema(close, 1)", "candles(\"1h\").close", "bollinger(close, 2, deviations = 0).upper", "-(-close)", "(close)", "close * 2"} {
		made, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "(" + series + ")[1] > 0"})
		if err != nil {
			t.Errorf("%s: %v", series, err)
			continue
		}
		w, have := newWorld(setting(t, exchange.Futures)), ""
		for _, to := range []float64{90, 99, 101} {
			have += fmt.Sprint(w.close(made, to).Target.Sign())
		}
		if have != "011" && have != "001" { // the bands have their first value with the second candle
			t.Errorf("%s: want it long once there is a candle before, have %s", series, have)
		}
	}
}

// TestRulesUseConditionsInsideFunctions lifts them to the top.
func TestRulesUseConditionsInsideFunctions(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"sum(close > open, 3) >= 3":                      "0001",
		"since(cross_above(close, 100)) == 1":            "0001",
		"sum(close > open and close > 100, 2) == 2":      "0001",
		"close > value_when(close < 95, close)":          "0111",
		"session(\"00:00\", \"03:00\") and close > open": "0110",
	} {
		made, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": rule, "exit_long": "not (" + rule + ")"})
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		w, have := newWorld(setting(t, exchange.Futures)), ""
		for _, to := range []float64{90, 99, 101, 110} {
			have += fmt.Sprint(w.close(made, to).Target.Sign())
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", rule, want, have)
		}
	}
}

// New York changed to summer time on 2024-03-10. The candles are hourly.
func TestSessionsFollowTheirTimeZone(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		"us, night = session(\"09:30\", \"16:00\", zone = \"America/New_York\"), session(\"22:00\", \"02:00\")",
		"late, day = hour(zone = \"America/New_York\"), weekday(zone = \"Asia/Tokyo\")",
		"def decide(view):",
		"    return plan(reason = \"%d %d %d %d\" % (us + 0, night + 0, late + 0, day + 0))")
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, Interval: exchange.Hour1}, strategy.Plan{}
	for openMS, want := range map[int64]string{
		1709908200000: "1 0 10 5", // Friday 2024-03-08 14:30 UTC is 09:30 in New York, and 23:30 in Tokyo: its close is Saturday's
		1709906400000: "0 0 10 5", // 14:00: its close is midnight in Tokyo
		1710163800000: "1 0 10 0", // Monday 2024-03-11 13:30 UTC is 09:30 there
		1710187200000: "0 0 17 1", // 20:00 UTC is 16:00
		1710194400000: "0 1 19 1", // 22:00
		1710205200000: "0 1 22 1", // 01:00
		1710208800000: "0 0 23 1", // 02:00
	} {
		candles := &exchange.Candles{}
		candles.Append(exchange.Candle{OpenMS: openMS, Open: 1e8, High: 1e8, Low: 1e8, Close: 1e8})
		view.SetHistory(candles, 1)
		view.NowMS, view.Last = openMS+3_600_000, 1e8
		s.Candle(&view)
		plan.Reset()
		if s.Decide(&view, &plan); plan.Reason != want {
			t.Errorf("a candle that opens at %d: want %q, have %q", openMS, want, plan.Reason)
		}
	}
}

// Prices from before the entry do not count.
func TestATrailingStopOfATradeFollowsTheBestPriceSinceItsEntry(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):", "    return plan(stop_loss = trailing(\"10%\"))")
	w := newWorld(setting(t, exchange.Futures))
	if plan := w.close(s, 500); plan.Protection.StopLoss.Share != exchange.RateOne/10 {
		t.Errorf("flat: want the distance, have %+v", plan.Protection)
	}
	for _, side := range []exchange.Quantity{1, -1} {
		w.view.Position = strategy.Position{Quantity: side * 10 * w.view.Symbol.QuantityTick, EntryPrice: exchange.AmountOf(100), SinceMS: w.view.NowMS}
		for _, c := range []struct{ to, long, short float64 }{{100, 90, 110}, {120, 108, 110}, {110, 108, 110}, {80, 108, 88}, {90, 108, 88}, {130, 117, 88}} {
			if c.to == 100 { // the entry's own candle, from the previous price
				w.view.Position.SinceMS = w.view.NowMS + 1
				w.close(s, c.to)
				w.view.Position.SinceMS = w.view.NowMS
			}
			want := c.long
			if side < 0 {
				want = c.short
			}
			if have := w.view.Symbol.PriceFloat(w.close(s, c.to).Protection.StopLoss.Price); math.Abs(have-want) > 1e-9 {
				t.Errorf("side %d, price %v: want the stop at %v, have %v", side, c.to, want, have)
			}
		}
	}
}

// The first one may have filled.
func TestAListOfTakeProfitsIsSharesOfTheWholePosition(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):", "    return plan(exits = targets([(\"2%\", \"50%\"), (\"4%\", \"30%\"), (110, \"20%\")]))")
	w := newWorld(setting(t, exchange.Futures))
	shown := func(plan *strategy.Plan) string {
		var all []string
		for _, o := range plan.Exits {
			all = append(all, fmt.Sprintf("%s %s %s at %s", o.Key, o.Side, w.view.Symbol.QuantityDecimal(o.Quantity), w.view.Symbol.PriceDecimal(o.Price)))
		}
		return strings.Join(all, ", ")
	}
	if plan := w.close(s, 100); !plan.ExitsSet || len(plan.Exits) != 0 {
		t.Errorf("flat: want none, have %+v", plan.Exits)
	}
	tick := w.view.Symbol.QuantityTick
	w.view.Position = strategy.Position{Quantity: 101 * tick, EntryPrice: exchange.AmountOf(100), SinceMS: 1}
	want := "target 1 long SELL 0.05 at 102, target 2 long SELL 0.03 at 104, target 3 long SELL 0.021 at 110"
	if have := shown(w.close(s, 101)); have != want {
		t.Errorf("want %s\nhave %s", want, have)
	}
	w.view.Position.Quantity = 51 * tick
	w.view.Fills = []strategy.KeyFill{{Key: "target 1 long", Quantity: 50 * tick}}
	if have := shown(w.close(s, 103)); have != want {
		t.Errorf("after the first: want the same\n%s, have\n%s", want, have)
	}
	w.view.Position.Quantity, w.view.Fills = -100*tick, nil
	want = "target 1 short BUY 0.05 at 98, target 2 short BUY 0.03 at 96, target 3 short BUY 0.02 at 110"
	if have := shown(w.close(s, 103)); have != want {
		t.Errorf("want %s\nhave %s", want, have)
	}
}

// Both are there if the script names them. An unknown value compares as false with anything.
func TestFundingAndAPairAreInTheView(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "pair(\"ETH-USDT\")", "def decide(view):",
		"    return plan(reason = \"%s %s %s\" % (view.funding > 0.0001, view.pair_last > 3000, view.pair_position < 0))")
	want := strategy.Watching{Funding: true, Pair: exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}}
	if have := strategy.WatchingOf(s); have != want {
		t.Errorf("want it to watch %+v, have %+v", want, have)
	}
	w := newWorld(setting(t, exchange.Futures))
	if plan := w.close(s, 100); plan.Reason != "False False False" {
		t.Errorf("nothing known: have %s", plan.Reason)
	}
	w.view.Funding = strategy.Funding{Rate: exchange.RateOne / 1000, Known: true}
	w.view.Pair = strategy.Pair{Symbol: w.view.Symbol, Position: -5, Last: w.price(3500), Known: true}
	if plan := w.close(s, 100); plan.Reason != "True True True" {
		t.Errorf("want all true, have %s", plan.Reason)
	}
	if watching := strategy.WatchingOf(written(t, exchange.Futures, nil, "def decide(view):", "    pass")); watching != (strategy.Watching{}) {
		t.Errorf("want a script that names neither to watch nothing, have %+v", watching)
	}
}
