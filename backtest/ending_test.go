package backtest_test

import (
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/risk"
	"botd/strategy"
)

func TestTheReportNamesTheLimitThatEndedTrading(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100  94  95
		 95  95  84  85
		 85 100  85 100
		100 100 100 100
		100 100 100 100`)
	config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "200 . 0 200 0 200")})
	config.Limits = risk.Limits{MaxDrawdown: risk.Loss{Share: exchange.RateOne / 5}}
	result := mustRun(t, config)
	ended := result.EndedBy
	if ended == nil || ended.Limit != risk.MaxDrawdown || !strings.HasPrefix(ended.Value, "0.") || ended.Time.UnixMilli() < midnight {
		t.Fatalf("want it ended by max_drawdown, have %+v of %v", ended, result.Warnings)
	}
	if !coded(result, backtest.LimitEnded) || !listed(result, "held back by max_drawdown") {
		t.Errorf("want it warned of and the target of the fourth candle listed, have %v, %+v", result.Warnings, result.NotTraded)
	}
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
		return &scripted{targets: hold(t, symbol, "200 . 0 200 0 200")}, nil
	}
	columns, err := backtest.RunColumns(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if c := columns.Columns[1]; c.EndedBy == nil || c.EndedBy.Limit != risk.MaxDrawdown {
		t.Errorf("the realistic column: want it ended by max_drawdown, have %+v", c.EndedBy)
	}
	trials := []backtest.Trial{trialOf("one", config)}
	if _, err := backtest.Sweep(t.Context(), config, trials, 0, nil); err != nil || trials[0].Seen.EndedBy == nil {
		t.Errorf("want the trial of a sweep marked, have %+v, %v", trials[0].Seen, err)
	}
	config.Limits = risk.Limits{}
	if free := mustRun(t, config); free.EndedBy != nil || len(free.NotTraded) != 0 {
		t.Errorf("without limits: have %+v, %+v", free.EndedBy, free.NotTraded)
	}
}

func listed(r *backtest.Result, reason string) bool {
	for _, n := range r.NotTraded {
		if n.Reason == reason && n.Count > 0 && n.First != "" && n.Strategy != "" {
			return true
		}
	}
	return false
}

func TestReportListsTooSmallOrders(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := flatTape(t, exchange.Futures, 6, "60000")
	small := func(target strategy.Target) *backtest.Result {
		return mustRun(t, caseConfig(recorded, &scripted{targets: []strategy.Target{target}}))
	}
	rounded := small(strategy.Size{Quote: exchange.AmountOf(20)}.Target(1))
	if !listed(rounded, "rounded to nothing") || !warned(rounded, "one step of "+symbol.Name+", 0.001, is worth 60.00") ||
		!coded(rounded, backtest.NoTrade) {
		t.Errorf("20 USDT at 60000: have %+v, %v", rounded.NotTraded, rounded.Warnings)
	}
	cheap := flatTape(t, exchange.Futures, 6, "100")
	result := mustRun(t, caseConfig(cheap, &scripted{targets: []strategy.Target{strategy.Size{Quote: exchange.AmountOf(2)}.Target(1)}}))
	if !listed(result, "below minNotional") {
		t.Errorf("2 USDT where 5 is the least: have %+v, %v", result.NotTraded, result.Warnings)
	}
}

// minutely buys when the last price is below the newest close, and sells above it.
type minutely struct{ blind bool }

func (minutely) Warmup() int           { return 1 }
func (minutely) Candle(*strategy.View) {}
func (m minutely) Decide(view *strategy.View, plan *strategy.Plan) {
	if m.blind { // in and out, whatever the price
		plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(view.NowMS/60_000%2), "by the clock")
		return
	}
	switch {
	case view.Last < view.Close():
		plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(1), "below the close")
	case view.Last > view.Close():
		plan.Hold(strategy.Flat(), "above it")
	}
}

// The view at the cut has what is known there, and no more.
func TestLookaheadOfScheduledStrategyIsFound(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_000)
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	config.Legs[0].Strategy.Schedule = every(recorded.Candles.Interval / 2)
	config.Legs[0].Make = func(over *tape.Tape) (strategy.Strategy, error) { return &peeker{over.Candles, 1, 0}, nil }
	if found, err := backtest.FindLookahead(t.Context(), config, 12); err != nil || found.OK {
		t.Errorf("want it found, have %+v, %v", found, err)
	}
}

// TestFineScheduleGainsNoPathKnowledge runs a strategy that once made three and a half
// times its money by trading at the guessed low and high of each candle.
func TestFineScheduleGainsNoPathKnowledge(t *testing.T) {
	t.Parallel()
	fine := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 6_000)
	coarse := &exchange.Candles{Interval: exchange.Hour1}
	for i := range fine.Candles.Len() {
		coarse.Merge(fine.Candles.At(i))
	}
	run := func(detail *tape.Tape, strategies minutely) (*backtest.Result, *backtest.Lookahead) {
		config := crossing(t, &tape.Tape{Symbol: fine.Symbol, Candles: coarse}, exchange.RateOne, strategy.Protection{}, bothWays)
		config.Costs = backtest.Costs{}
		config.Legs[0].Strategy.Schedule, config.Legs[0].Detail = every(exchange.Minute1), detail
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return strategies, nil }
		found, err := backtest.FindLookahead(t.Context(), config, 12)
		if err != nil {
			t.Fatal(err)
		}
		config.Legs[0].Strategy.Strategy = strategies
		return mustRun(t, config), found
	}
	for _, strategies := range []minutely{{}, {blind: true}} {
		blind, honest := run(nil, strategies)
		if len(honest.Differences) != 0 || honest.OK != (honest.Decisions > 0) || honest.Cuts < 4 {
			t.Errorf("an honest strategy: want no look-ahead found, have %+v", honest)
		}
		if !coded(blind, backtest.FineSchedule) {
			t.Errorf("want %s, have %v", backtest.FineSchedule, blind.Warnings)
		}
		seeing, honest := run(fine, strategies)
		if !honest.OK || coded(seeing, backtest.FineSchedule) {
			t.Errorf("with detail: have %+v, %v", honest, seeing.Warnings)
		}
		if strategies.blind && (blind.Fills < 3_000 || equity(blind) > equity(seeing)) || equity(blind) > 10_000 {
			t.Errorf("on hours %s without costs, on minutes %s: want no gain where less is known", blind.FinalEquity, seeing.FinalEquity)
		}
		t.Logf("hours %s (%d fills), minutes %s (%d fills)", blind.FinalEquity, blind.Fills, seeing.FinalEquity, seeing.Fills)
	}
}
