package backtest_test

import (
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// signaled is a run of strategy signal over steps.
func signaled(t *testing.T, recorded *tape.Tape, signals []backtest.Signal) backtest.Config {
	t.Helper()
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	setting := strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: recorded.Candles.Interval,
		Size: strategy.Size{Equity: exchange.RateOne}}
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
		return build(t, "signal", setting, strategy.Values{"mode": "long_short", "expiry": "0s"}), nil
	}
	config.Signals = signals
	return config
}

// The signals are at a close, inside a candle, and before the first price.
func TestRecordedSignalsTradeFromTheirTimeOn(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 200)
	minute := int64(exchange.Minute1)
	openMS := recorded.Candles.OpenMS[0]
	signals := []backtest.Signal{
		{TimeMS: openMS - 5, Strategy: "crossing", Side: 1, Share: exchange.RateOne},
		{TimeMS: openMS + 10*minute, Strategy: "crossing", Side: -1, Share: exchange.RateOne / 2},
		{TimeMS: openMS + 50*minute + 17_000, Strategy: "crossing", Side: 0, Share: exchange.RateOne},
		{TimeMS: openMS + 120*minute, Strategy: "crossing", Side: 1, Share: exchange.RateOne},
		{TimeMS: openMS + 900*minute, Strategy: "crossing", Side: 0, Share: exchange.RateOne}, // after the candles
	}
	result := mustRun(t, signaled(t, recorded, signals))
	want := []int64{0, 10 * minute, 10 * minute, 50*minute + 17_000, 120 * minute}
	if len(result.Executions) != len(want) {
		t.Fatalf("want %d fills, have %+v, %v", len(want), result.Executions, result.NotTraded)
	}
	for i, e := range result.Executions {
		if have := e.TimeMS - openMS; have != want[i] {
			t.Errorf("fill %d: want it at %d, have %d", i+1, want[i], have)
		}
	}
	walked := mustRun(t, backtest.Walking(signaled(t, recorded, signals)))
	if walked.ResultSHA256 != result.ResultSHA256 {
		t.Errorf("playing every path changes the result: %s, %s", result.FinalEquity, walked.FinalEquity)
	}
	found, err := backtest.FindLookahead(t.Context(), signaled(t, recorded, signals), 8)
	if err != nil || !found.OK || found.Decisions < 4 {
		t.Errorf("signals are causal: have %+v, %v", found, err)
	}
}
