package backtest_test

import (
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/strategy"
	"botd/strategy/overlay"
	"botd/strategy/script"
)

// stoppedRows are candles whose lows reach a stop of 1 % from their opens.
func stoppedRows(count int) string { return strings.Repeat("50000 50100 49000 50000\n", count) }

// entries counts the fills that bought.
func entries(r *backtest.Result) (n int) {
	for _, e := range r.Executions {
		if e.Side == exchange.Buy.String() {
			n++
		}
	}
	return n
}

func TestReentryAfterStopInEntryCandle(t *testing.T) {
	t.Parallel()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	for _, c := range []struct {
		name, targets string
		policy        strategy.Reentry
		want          int
	}{
		{"a target after a decision without one is a new signal", "0.01 . . 0.01 . . .", strategy.ReentryUnset, 2},
		{"it is at once after the stop, too", "0.01 . 0.01 . 0.01 . .", strategy.ReentrySignal, 3},
		{"a target that stands is no new signal", "0.01 0.01 0.01 0.01 0.01 . .", strategy.ReentrySignal, 1},
		{"a target that was flat in between", "0.01 0 0.01 0.01 0.01 . .", strategy.ReentryNever, 2},
		{"immediate enters while the target stands", "0.01 0.01 0.01 0.01 . . .", strategy.ReentryImmediate, 4},
		{"never waits for flat or the other side", "0.01 . 0.01 . 0.01 . .", strategy.ReentryNever, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := caseConfig(candlesOf(t, s, exchange.Hour1, midnight, stoppedRows(8)), &scripted{targets: hold(t, s, c.targets)})
			leg := &config.Legs[0].Strategy
			leg.Reentry = c.policy
			leg.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 100}}
			if result := mustRun(t, config); entries(result) != c.want {
				t.Errorf("want %d entries, have %d: %+v", c.want, entries(result), result.Executions)
			}
		})
	}
}

// While the exit moves the strategy is not asked, and its target stays.
func TestMovingExitKeepsTarget(t *testing.T) {
	t.Parallel()
	percent := exchange.RateOne / 100
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, c := range []struct {
			name string
			exit overlay.Exit
		}{
			{"a trailing stop", overlay.Exit{Trailing: overlay.Trailing{Distance: percent}}},
			{"targets, and a stop", overlay.Exit{ProfitTargets: []overlay.Step{{Away: percent, Share: exchange.RateOne / 4}}}},
			{"returns, and a stop", overlay.Exit{Returns: []overlay.Return{{Profit: exchange.RateOne}}}},
		} {
			t.Run(market.String()+" "+c.name, func(t *testing.T) {
				t.Parallel()
				s := symbol(t, market, "0.1", "0.001")
				rows := strings.Repeat("50000 50900 49900 50800\n50800 50850 48000 50000\n", 6)
				inner := &scripted{targets: hold(t, s, "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1")}
				config := caseConfig(candlesOf(t, s, exchange.Hour1, midnight, rows), inner)
				leg := &config.Legs[0].Strategy
				leg.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: percent}}
				c.exit.Base = leg.Protection
				leg.Strategy = overlay.Wrap(inner, overlay.TradeSettings{Exit: c.exit})
				if result := mustRun(t, config); entries(result) != 1 || result.OpenPosition != nil {
					t.Errorf("want one entry and its stop, have %+v", result.Executions)
				}
			})
		}
	}
}

// Rules once locked themselves permanently after a stop in the candle of the entry.
func TestRulesReenterAfterStopInAnyCandle(t *testing.T) {
	t.Parallel()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	const count = 20
	for _, c := range []struct {
		name, rows string
		want       int
	}{
		{"in the candle of the entry", stoppedRows(count), count - 1},
		{"in a later one", strings.Repeat("50000 50100 49900 50000\n50000 50100 49000 50000\n", count/2), count / 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			setting := strategy.Setting{Market: exchange.Futures, Symbol: s, Interval: exchange.Hour1, Size: strategy.Size{Quantity: 10}}
			made, err := script.Rules().New(setting, strategy.Values{"entry_long": "close > 1"})
			if err != nil {
				t.Fatal(err)
			}
			config := caseConfig(candlesOf(t, s, exchange.Hour1, midnight, c.rows), nil)
			leg := &config.Legs[0].Strategy
			leg.Strategy, leg.Protection = made, strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 100}}
			if result := mustRun(t, config); entries(result) < c.want-1 || entries(result) > c.want+1 {
				t.Errorf("want %d entries, have %d", c.want, entries(result))
			}
		})
	}
}

// An entry with a stop and a target and no explicit flat once traded once a year,
// without any explanation.
func TestLatchedStrategyIsWarnedOf(t *testing.T) {
	t.Parallel()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	run := func(targets string, policy strategy.Reentry) *backtest.Result {
		config := caseConfig(candlesOf(t, s, exchange.Hour1, midnight, stoppedRows(12)), &scripted{targets: hold(t, s, targets)})
		leg := &config.Legs[0].Strategy
		leg.Reentry, leg.Protection = policy, strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 100}}
		return mustRun(t, config)
	}
	warned := func(r *backtest.Result) (text string) {
		for _, w := range r.Warnings {
			if w.Code == backtest.Latched {
				text = w.Text
			}
		}
		return text
	}
	ever := "0.01 0.01 0.01 0.01 0.01 0.01 0.01 0.01 0.01 0.01 0.01"
	for _, want := range []string{"latched since 2023-", "after stop_loss", "hold(\"flat\")", "reentry: immediate"} {
		if have := warned(run(ever, strategy.ReentrySignal)); !strings.Contains(have, want) {
			t.Errorf("want %q reported, have %q", want, have)
		}
	}
	if have := warned(run(ever, strategy.ReentryImmediate)); have != "" {
		t.Errorf("it enters again: want no warning, have %q", have)
	}
	if have := warned(run("0.01 . 0.01 . 0.01 . 0.01 . 0.01 . 0.01", strategy.ReentrySignal)); have != "" {
		t.Errorf("each is a new signal: want no warning, have %q", have)
	}
	result := run("0.01 . 0.01 . 0.01 . 0.01 . 0.01 . .", strategy.ReentryNever)
	for _, n := range result.NotTraded {
		if n.Reason == "latched" && (n.Count != 4 || n.Signals != 5) {
			t.Errorf("want 4 of 5 signals latched, have %+v", n)
		}
	}
	if len(result.NotTraded) != 1 {
		t.Errorf("want the latched signals, have %+v", result.NotTraded)
	}
}
