package backtest_test

import (
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// TestARunThatIsStoppedHasTheFiguresUntilThen compares it with a run over the candles until then.
func TestARunThatIsStoppedHasTheFiguresUntilThen(t *testing.T) {
	t.Parallel()
	rules := symbol(t, exchange.Futures, "0.1", "0.001")
	whole := steps(rules, 20_000)
	config := crossing(t, whole, 3*exchange.RateOne, strategy.Protection{}, bothWays)
	config.Costs.Futures.Taker = 200_000 // 0.2 %: it loses steadily
	full, err := backtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"drawdown>20%", "loss>20%"} {
		if config.StopWhen, err = backtest.ParseStopWhen(text); err != nil {
			t.Fatal(err)
		}
		stopped, err := backtest.Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if stopped.EndedBy == nil || stopped.EndedBy.Limit != backtest.Stopped || stopped.Fills >= full.Fills || !stopped.To.Before(full.To) {
			t.Fatalf("%s: want it ended early, have %+v with %d of %d fills, to %s", text, stopped.EndedBy, stopped.Fills, full.Fills, stopped.To)
		}
		passed := 0
		for whole.Candles.CloseMS(passed) <= stopped.To.UnixMilli() {
			passed++
		}
		until := config
		until.StopWhen = backtest.StopWhen{}
		until.Legs = append([]backtest.Leg(nil), config.Legs...)
		until.Legs[0].Tape = &tape.Tape{Symbol: whole.Symbol, Candles: whole.Candles.Slice(0, passed)}
		want, err := backtest.Run(t.Context(), until)
		if err != nil {
			t.Fatal(err)
		}
		if stopped.FinalEquity != want.FinalEquity || stopped.Fills != want.Fills || stopped.MaxDrawdown != want.MaxDrawdown ||
			*stopped.Sharpe != *want.Sharpe {
			t.Errorf("%s after %d candles: want %s, %d fills, %g, %g; have %s, %d fills, %g, %g", text, passed, want.FinalEquity, want.Fills, want.MaxDrawdown,
				*want.Sharpe, stopped.FinalEquity, stopped.Fills, stopped.MaxDrawdown, *stopped.Sharpe)
		}
	}
}

func TestStopWhenIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"drawdown>30%": "drawdown>0.3", " loss > 0.2": "loss>0.2", "": ""} {
		if have, err := backtest.ParseStopWhen(text); err != nil || have.String() != want {
			t.Errorf("%q: want %q, have %q, %v", text, want, have, err)
		}
	}
	for _, text := range []string{"drawdown", "drawdown>", "drawdown>0", "drawdown>100%", "profit>3%", "loss<3%"} {
		if have, err := backtest.ParseStopWhen(text); err == nil {
			t.Errorf("%q: want it refused, have %s", text, have)
		}
	}
}
