package backtest_test

import (
	"context"
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// crossings is a configuration that trades, and can be rebuilt.
func crossings(t *testing.T, candles int) backtest.Config {
	t.Helper()
	config := speedConfig(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), candles), "10", "50")
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
	return config
}

func TestRunsInTurnAreTheSameAndAllPaced(t *testing.T) {
	t.Parallel()
	config := crossings(t, 20_000)
	want, err := backtest.RunColumns(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	runs, paces, under := 0, 0, false
	config.InTurn = true
	config.Pace = func(done, total int) { // without a lock: only one goroutine may call this
		if under {
			t.Error("two runs at once")
		}
		under = true
		if paces++; done == 0 {
			runs++
		}
		if done > total || total == 0 {
			t.Errorf("paced at %d of %d", done, total)
		}
		under = false
	}
	have, err := backtest.RunColumns(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	if runs != 3 || paces < 3*4 {
		t.Errorf("want three runs, each paced again and again, have %d and %d", runs, paces)
	}
	for i := range want.Columns {
		if have.Columns[i].ResultSHA256 != want.Columns[i].ResultSHA256 {
			t.Errorf("column %s: want the same result in turn, have another", want.Columns[i].Name)
		}
	}
	runs = 0
	study, err := backtest.RunStudy(context.Background(), config, have)
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 + 1 + study.Lookahead.Cuts; runs != want {
		t.Errorf("a study: want %d runs paced, have %d", want, runs)
	}
}

func TestARunEndsAtItsMostFills(t *testing.T) {
	t.Parallel()
	config := crossings(t, 20_000)
	config.MaxFills = 10
	if _, err := backtest.Run(context.Background(), config); err == nil || !strings.Contains(err.Error(), "more than 10 fills") {
		t.Errorf("want it ended, have %v", err)
	}
	config.MaxFills = 1_000_000
	if _, err := backtest.Run(context.Background(), config); err != nil {
		t.Errorf("want it to its end, have %v", err)
	}
}
