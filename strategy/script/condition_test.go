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

// TestAMistakeIsReportedForItsRule makes each mistake in each rule while the others are correct.
func TestAMistakeIsReportedForItsRule(t *testing.T) {
	t.Parallel()
	for mistake, want := range map[string]string{
		"close[-1] > 3":                    "values from 0, the newest",
		"rsi(close, 0) < 30":               "period 0 is not from",
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
