package backtest_test

import (
	"slices"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/overlay"
	"botd/strategy/script"
)

// TestExitsByTheEntryPriceWorkOnSpot measures returns, a trailing stop and targets from the paid price: the exchange reports
// no entry price there. The rules close the position many times.
func TestExitsByTheEntryPriceWorkOnSpot(t *testing.T) {
	t.Parallel()
	const tenth = exchange.RateOne / 1_000
	for _, c := range []struct {
		name string
		exit overlay.Exit
	}{
		{"a return", overlay.Exit{Returns: []overlay.Return{{Profit: 2 * tenth}}, Reentry: strategy.ReentryImmediate}},
		{"a trailing stop", overlay.Exit{Trailing: overlay.Trailing{Distance: tenth, After: tenth}, Reentry: strategy.ReentryImmediate}},
		{"targets", overlay.Exit{ProfitTargets: []overlay.Step{{Away: tenth, Share: exchange.RateOne / 2}, {Away: 2 * tenth, Share: exchange.RateOne / 2}},
			Reentry: strategy.ReentryImmediate}},
		{"targets beside a stop", overlay.Exit{Base: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 5 * tenth}},
			ProfitTargets: []overlay.Step{{R: exchange.RateOne / 5, Share: exchange.RateOne / 2}, {R: exchange.RateOne / 2, Share: exchange.RateOne / 2}},
			Reentry:       strategy.ReentryImmediate}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := symbolWith(t, exchange.Spot, "5")
			candles := wave(s, midnight, 400)
			setting := strategy.Setting{Market: exchange.Spot, Symbol: s, Interval: exchange.Minute1, Size: strategy.Size{Equity: exchange.RateOne / 2}}
			made, err := candidateOf(t, &candidate{kind: "buy_and_hold"}, setting)
			if err != nil {
				t.Fatal(err)
			}
			config := backtest.Config{Cash: exchange.AmountOf(100_000), Costs: fees(0, 0), Legs: []backtest.Leg{{
				Strategy: engine.StrategyConfig{Name: "cell", Symbol: s, Interval: exchange.Minute1,
					Strategy: overlay.Wrap(made, overlay.TradeSettings{Exit: c.exit}),
					Size:     setting.Size, Protection: c.exit.Base, Reentry: strategy.ReentryImmediate},
				Kind: "buy_and_hold", Tape: &tape.Tape{Symbol: s, Candles: candles}}}}
			if result := mustRun(t, config); result.Fills < 10 {
				t.Errorf("want positions that end and begin again, have %d fills; %+v", result.Fills, result.NotTraded)
			}
		})
	}
}

// TestPositionClosedByOwnExitsIsReentered runs a script that sets targets with each cross and never requests flat. It
// once traded twice in 10,000 candles, since filled exits lower the target.
func TestPositionClosedByOwnExitsIsReentered(t *testing.T) {
	t.Parallel()
	compiled, err := script.Compile("targets.star", []byte(`
a, b = ema(close, 3), ema(close, 9)
def decide(view):
    parts = targets([("0.05%", "50%"), ("0.1%", "50%")])
    if cross_above(a, b):
        return plan(target = size(1), exits = parts)
    if view.position > 0:
        return plan(exits = parts)
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		s := symbolWith(t, market, "5")
		setting := strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1, Size: strategy.Size{Equity: exchange.RateOne / 2}}
		made, err := compiled.Definition().New(setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		result := mustRun(t, backtest.Config{Cash: exchange.AmountOf(100_000), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{{
			Strategy: engine.StrategyConfig{Name: "cell", Symbol: s, Interval: exchange.Minute1, Strategy: made, Size: setting.Size},
			Kind:     "script", Tape: &tape.Tape{Symbol: s, Candles: wave(s, midnight, 400)}}}})
		if result.Fills < 20 {
			t.Errorf("%s: want it to trade each cross, have %d fills; %+v", market, result.Fills, result.NotTraded)
		}
	}
}

// TestGridRangeAwayFromPriceIsAWarning runs a grid that waits for the price.
func TestGridRangeAwayFromPriceIsAWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lower, upper string
		want         bool
	}{{"48500", "51500", false}, {"60000", "70000", true}, {"10000", "20000", true}} {
		s := symbolWith(t, exchange.Futures, "5")
		grid := candidate{kind: "grid", values: strategy.Values{"lower": c.lower, "upper": c.upper, "quantity": "0.01"}}
		result := mustRun(t, cellConfig(t, exchange.Futures, &grid, s, wave(s, midnight, 50)))
		if have := slices.ContainsFunc(result.Warnings, func(w backtest.Warning) bool { return w.Code == backtest.OutsideRange }); have != c.want {
			t.Errorf("%s to %s: want a warning %v, have %v", c.lower, c.upper, c.want, result.Warnings)
		}
	}
}
