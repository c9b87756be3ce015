package backtest_test

import (
	"context"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

func TestAStudyRunsUnderWorseCircumstances(t *testing.T) {
	t.Parallel()
	config := speedConfig(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), 8_000), "10", "50")
	config.Costs.Slippage = 10_000
	config.Legs[0].Make = func(over *tape.Tape) (strategy.Strategy, error) {
		return build(
			t,
			"sma_cross",
			strategy.Setting{
				Market:   exchange.Futures,
				Symbol:   over.Symbol,
				Interval: exchange.Minute1,
				Size:     strategy.Size{Equity: exchange.RateOne},
			},
			strategy.Values{"fast": "10", "slow": "50"},
		), nil
	}
	result := mustRun(t, config)
	study, err := backtest.RunStudy(context.Background(), config, result)
	if err != nil {
		t.Fatal(err)
	}
	if len(study.Sensitivity) != 3 {
		t.Fatalf("want three other runs, have %d", len(study.Sensitivity))
	}
	fees, slippage, later := study.Sensitivity[0], study.Sensitivity[1], study.Sensitivity[2]
	last := equity(result)
	for _, c := range []backtest.Column{fees, slippage} {
		if exchange.MustAmount(c.FinalEquity).Float() >= last {
			t.Errorf("%s: want less than %v, have %s", c.Name, last, c.FinalEquity)
		}
	}
	if ratio := exchange.MustAmount(fees.TotalFees).Float() / exchange.MustAmount(result.TotalFees).Float(); ratio < 1.5 || ratio > 2.1 {
		t.Errorf("fees twice: want nearly twice the fees, have %.2f times", ratio)
	}
	if later.ResultSHA256 == result.ResultSHA256 || later.FinalEquity == result.FinalEquity {
		t.Error("one candle later: want another result")
	}
	if study.Lookahead == nil || !study.Lookahead.OK || study.Lookahead.Cuts == 0 {
		t.Errorf("want a clean look for decisions that know the future, have %+v", study.Lookahead)
	}
	s := study.Shuffles
	if s == nil || s.Trips != result.RoundTrips || s.Fifth > s.Quarter || s.Quarter > s.Median || s.Median > s.Third || s.Third > s.Worst ||
		s.Worst <= 0 {
		t.Errorf("shuffles: want rising shares of %d round trips, have %+v", result.RoundTrips, s)
	}
	again, err := backtest.RunStudy(context.Background(), config, result)
	if err != nil || *again.Shuffles != *s {
		t.Errorf("the same shuffles again: want %+v, have %+v (%v)", s, again.Shuffles, err)
	}
}
