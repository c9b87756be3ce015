package backtest_test

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// speaker reports to people at each candle, and requests nothing.
type speaker struct{}

func (speaker) Warmup() int           { return 1 }
func (speaker) Candle(*strategy.View) {}
func (speaker) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Notify("a candle")
	plan.Notify("a candle")
}

// failing is a strategy whose program returns an error when it is asked for many decisions at once.
type failing struct{ strategy.Strategy }

func (failing) Batch(*strategy.View, *exchange.Candles, int, int, func(int) exchange.Amount) int {
	panic("ValueError: no")
}

func TestAProgramThatFailsInABatchEndsItsTrading(t *testing.T) {
	t.Parallel()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	config := caseConfig(candlesOf(t, s, exchange.Minute1, midnight, stoppedRows(120)), &scripted{})
	config.Legs[0].Strategy.Strategy = failing{&scripted{}}
	result := mustRun(t, config)
	if result.EndedBy == nil || result.EndedBy.Limit != "strategy_failed" || result.Candles != 120 {
		t.Errorf("want it ended by its failure after all candles were passed, have %+v", result.EndedBy)
	}
}

// TestStrategyMessagesAreCounted sends one report a minute, of which a live run would send ten an hour.
func TestStrategyMessagesAreCounted(t *testing.T) {
	t.Parallel()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	config := caseConfig(candlesOf(t, s, exchange.Minute1, midnight, stoppedRows(120)), &scripted{})
	config.Legs[0].Strategy.Strategy = speaker{}
	result := mustRun(t, config)
	if n := result.Notices; n == nil || n.Count != 120 || n.Withheld != 100 {
		t.Errorf("want 120 of which 100 are withheld, have %+v", n)
	}
	config = caseConfig(candlesOf(t, s, exchange.Minute1, midnight, stoppedRows(120)), &scripted{})
	if result := mustRun(t, config); result.Notices != nil {
		t.Errorf("want none of a strategy that reports nothing, have %+v", result.Notices)
	}
}
