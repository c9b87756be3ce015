package script

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// TestRulesShowWhetherTheyHoldAndTheirValues evaluates rules on every candle of a rising, then falling price.
// The evaluation changes nothing.
func TestRulesShowWhetherTheyHoldAndTheirValues(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	setting := strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Minute1, Size: strategy.Size{Quantity: symbol.QuantityTick}}
	values := strategy.Values{"entry_long": "cross_above(sma(close, 2), sma(close, 4))", "exit_long": "close < sma(close, 4)"}
	run := func(ask bool) (reasons []string, held string) {
		made, err := Rules().New(setting, values)
		if err != nil {
			t.Fatal(err)
		}
		view, candles := &strategy.View{Symbol: symbol, Interval: exchange.Minute1}, &exchange.Candles{}
		for i, close := range []int64{10, 10, 10, 10, 10, 9, 9, 12, 14, 15, 12, 8, 7, 7} {
			price := exchange.Price(close * 1e8)
			candles.Append(exchange.Candle{OpenMS: int64(i) * 60_000, Open: price, High: price, Low: price, Close: price})
			view.SetHistory(candles, i+1)
			view.Last, view.NowMS = price, int64(i+1)*60_000
			made.Candle(view)
			if ask {
				for _, c := range made.(strategy.Conditional).Conditions(view) {
					if c.Met {
						held += c.Name + " at " + strategy.Figure(float64(close)) + "; "
					}
					if c.Name == "entry_long" && c.Requires != values["entry_long"] {
						t.Errorf("entry_long: want its text, have %+v", c)
					}
					if i > 5 && strings.HasPrefix(c.Name, "sma") && c.Value == "none yet" {
						t.Errorf("candle %d: want a figure, have %+v", i, c)
					}
				}
			}
			var plan strategy.Plan
			made.Decide(view, &plan)
			reasons = append(reasons, plan.Reason)
		}
		return reasons, held
	}
	quiet, _ := run(false)
	asked, held := run(true)
	if strings.Join(quiet, "|") != strings.Join(asked, "|") {
		t.Errorf("decisions with and without asking: want the same\n%v\n%v", quiet, asked)
	}
	for _, want := range []string{"entry_long at 12", "exit_long at 8"} {
		if !strings.Contains(held, want) {
			t.Errorf("want %q to hold, have %s", want, held)
		}
	}
}

// shown are the names of a strategy's conditions and their values, without those of the candle itself.
func shown(s strategy.Strategy, v *strategy.View) (all []string) {
	for _, c := range s.(strategy.Conditional).Conditions(v) {
		if !isSource(c.Name) {
			all = append(all, c.Name+" = "+c.Value)
		}
	}
	return all
}

// Two series that differ have two names: a reader sees the values of both.
func TestEachSeriesIsShownUnderTheTextThatDefinesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		top  string
		want []string // after closes of 100, 110, 105 and 120
	}{
		{"a, b = sma(close, 2), sma(close, period = 4)", []string{"sma(close, 2) = 112.5", "sma(close, period=4) = 108.75"}},
		{"a, b = sma(close, 2), sma(close, 2)", []string{"sma(close, 2) = 112.5"}},
		{"a = sma(close, 2) - sma(open, 2)", []string{"sma(close, 2) = 112.5", "sma(open, 2) = 107.5", "(sma(close, 2) - sma(open, 2)) = 5"}},
		{"a = 240 / close[1]", []string{"close[1] = 105", "(240 / close[1]) = 2.285714286"}},
		{"a = donchian(2)", []string{"donchian(2).upper = 120", "donchian(2).middle = 112.5", "donchian(2).lower = 105"}},
		{"a, b = max(close, 130), max(close, open)", []string{"max(close, 130) = 130", "max(close, open) = 120"}},
		{"a, b = hour(), hour(offset = 2)", []string{"hour() = 4", "hour(offset=2) = 6"}},
		{"a = session(\"03:00\", \"04:00\", zone = \"UTC\")", []string{`session("03:00", "04:00", zone="UTC") = 1`}},
		{"a, b = where(close > 1, 2, 3), where(close > 1, 3, 2)",
			[]string{"(close > 1) = 1", "where((close > 1), 2, 3) = 2", "where((close > 1), 3, 2) = 3"}},
		{"a, b = close > 1 and open > 110, close > 1 or open > 110",
			[]string{"(close > 1) = 1", "(open > 110) = 0", "((close > 1) and (open > 110)) = 0", "((close > 1) or (open > 110)) = 1"}},
		{"a = close > 1 and False", []string{"(close > 1) = 1", "((close > 1) and False) = 0"}},
		{"a = not (close > 1)", []string{"(close > 1) = 1", "not (close > 1) = 0"}},
		{"a = -sum(close, 2)", []string{"sum(close, 2) = 225", "-sum(close, 2) = -225"}},
		{"a = cross_above(close, 110)", []string{"cross_above(close, 110) = 1"}},
		{"a = rising(volume, 3)", []string{"rising(volume, 3) = 1"}},
		{"a = known(close[4])", []string{"close[4] = none yet", "known(close[4]) = 0"}},
		{"a = since(close < open)", []string{"(close < open) = 0", "since((close < open)) = 1"}},
		{"a = value_when(close < open, volume)", []string{"(close < open) = 0", "value_when((close < open), volume) = 12"}},
	} {
		s := written(t, exchange.Futures, nil, c.top, "def decide(view):", "    return None")
		w := newWorld(setting(t, exchange.Futures))
		for _, price := range []float64{100, 110, 105, 120} {
			w.close(s, price)
		}
		if want, have := strings.Join(c.want, "\n"), strings.Join(shown(s, &w.view), "\n"); have != want {
			t.Errorf("%s: want\n%s\nhave\n%s", c.top, want, have)
		}
	}
}

func TestTheCandlesOfALongerIntervalAreShownWithIt(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "day = candles(\"4h\")", "a, b = sma(day.close, 2), atr(day, 1)", "c = candles(\"1h\", symbol = \"ETH-USDT\").close",
		"def decide(view):", "    return None")
	w := newWorld(setting(t, exchange.Futures))
	for _, price := range []float64{100, 110, 105, 120, 130, 125, 115, 140} {
		w.close(s, price)
	}
	have := strings.Join(shown(s, &w.view), "\n")
	for _, want := range []string{"candles(4h).close = 140", "candles(4h).open = 120", "sma(candles(4h).close, 2) = 130", "atr(candles(4h), 1) = 25",
		"candles(ETH-USDT 1h).close = none yet"} {
		if !strings.Contains(have+"\n", want+"\n") {
			t.Errorf("want %s, have\n%s", want, have)
		}
	}
}

// A script shows sixty conditions, and a name of at most two hundred bytes.
func TestTheConditionsOfAScriptAreBounded(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "a = [sma(close, n) for n in range(1, 60)]", "def decide(view):", "    return None")
	w := newWorld(setting(t, exchange.Futures))
	w.close(s, 100)
	all := s.(strategy.Conditional).Conditions(&w.view)
	if n := len(all); n != 60 || all[n-1].Name != "sma(close, 52)" { // eight are of the candle itself
		t.Errorf("want sixty, have %d, the last %+v", n, all[n-1])
	}
	s = written(t, exchange.Futures, nil, "def long(a):", "    for _ in range(300):", "        a = sma(a, 1)", "    return a", "a = long(close)",
		"def decide(view):", "    return None")
	w.close(s, 100)
	for _, c := range s.(strategy.Conditional).Conditions(&w.view) {
		if len(c.Name) > 200+len("…") {
			t.Errorf("want at most 200 bytes, have %q", c.Name)
		}
	}
}

// A rule that cannot be evaluated is shown with its error, and the others with their truth.
func TestTheConditionsOfRulesAreTheirTruth(t *testing.T) {
	t.Parallel()
	s, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "close > 100", "exit_long": "view.missed == 7 and [][0]",
		"entry_short": "close < 100"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(setting(t, exchange.Futures))
	w.close(s, 110)
	w.view.Missed = 7
	all := s.(strategy.Conditional).Conditions(&w.view)
	if len(all) != 3+len(priceSources) || all[0] != (strategy.Condition{Name: "entry_long", Value: "true", Requires: "close > 100", Met: true}) ||
		all[1].Name != "exit_long" || all[1].Met || !strings.Contains(all[1].Value, "out of range") ||
		all[2] != (strategy.Condition{Name: "entry_short", Value: "false", Requires: "close < 100"}) {
		t.Errorf("want three rules, the second with its error, have %+v", all)
	}
}

// TestAMistakeIsReportedForItsRule makes each mistake in each rule while the others are correct.
func TestAMistakeIsReportedForItsRule(t *testing.T) {
	t.Parallel()
	for mistake, want := range map[string]string{
		"close[-1] > 3":                    "values from 0 (the newest)",
		"rsi(close, 0) < 30":               "period 0 is not between",
		"ema(candles(\"7h\"), 5) > 1":      "unknown interval",
		"foo(close) > 3":                   "foo is not defined",
		"close >":                          "got end of file",
		"close > \"x\"":                    "float > string",
		"5":                                "is a value, not a condition",
		"cross_above(close, close, close)": "cross_above",
	} {
		for i, name := range ruleNames {
			values := strategy.Values{}
			for _, other := range ruleNames {
				values[other] = "ema(close, 3) > ema(close, 5)"
			}
			values[name] = mistake
			_, err := Rules().New(setting(t, exchange.Futures), values)
			var wrong *strategy.ValueError
			if !errors.As(err, &wrong) || wrong.Parameter != name || !strings.Contains(err.Error(), want) {
				t.Errorf("%s in rule %d: want %s: %s, have %v", mistake, i+1, name, want, err)
			}
		}
	}
}
