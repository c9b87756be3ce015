package backtest_test

import (
	"testing"
	"time"

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

// TestADipAtAnyCloseStopsARun lets a position lose a quarter of the equity at one close, and recover at the next one. Where in
// the series that close is does not matter: the run is stopped at the next check, or at its end.
func TestADipAtAnyCloseStopsARun(t *testing.T) {
	t.Parallel()
	rules := symbol(t, exchange.Futures, "0.1", "0.001")
	for _, c := range []struct{ candles, dip, passed int }{
		{100, 50, 100}, {100, 99, 100}, {4_096, 4_095, 4_096},
		{10_000, 2, 4_096}, {10_000, 4_095, 4_096}, {10_000, 4_096, 8_192}, {10_000, 9_000, 10_000}, {10_000, 9_999, 10_000},
	} {
		recorded := &tape.Tape{Symbol: rules, Candles: &exchange.Candles{Interval: exchange.Minute1}}
		for i := range c.candles {
			price := 1_000 * rules.PriceTick
			if i == c.dip {
				price = price * 7 / 10
			}
			recorded.Candles.Append(exchange.Candle{OpenMS: midnight + int64(i)*int64(exchange.Minute1), Open: price, High: price, Low: price, Close: price,
				Volume: 1})
		}
		config := caseConfig(recorded, nil)
		config.Legs[0].Strategy.Protection = strategy.Protection{Set: true}
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
			return &scripted{targets: hold(t, rules, "80")}, nil
		}
		whole := mustRun(t, config)
		for text, stops := range map[string]bool{"drawdown>20%": true, "loss>20%": true, "drawdown>25%": false, "loss>25%": false} {
			config.StopWhen, _ = backtest.ParseStopWhen(text)
			have, engine := mustRun(t, config), mustRun(t, backtest.ByEngine(config))
			if have.Machine != "direct" || have.ResultSHA256 != engine.ResultSHA256 || explained(have) != explained(engine) || !have.To.Equal(engine.To) {
				t.Errorf("%+v, %s: want the engine's result to %s, have one to %s by %q", c, text, engine.To, have.To, have.Machine)
			}
			passed, want := int(have.To.Sub(have.From)/time.Minute), c.candles
			if stops {
				want = c.passed
			}
			if have.EndedBy != nil != stops || passed != want {
				t.Errorf("%+v, %s: want it stopped %v after %d candles, have %+v after %d", c, text, stops, want, have.EndedBy, passed)
			}
			if passed == c.candles && (have.FinalEquity != whole.FinalEquity || have.MaxDrawdown != whole.MaxDrawdown) {
				t.Errorf("%+v, %s: want the figures of the whole run, have %s and %g", c, text, have.FinalEquity, have.MaxDrawdown)
			}
		}
	}
}
