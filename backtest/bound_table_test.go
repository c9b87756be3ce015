package backtest_test

import (
	"strings"
	"testing"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// TestAWalkNeedsTwoCandlesInEachPart also expects at least one window, and one part before it.
func TestAWalkNeedsTwoCandlesInEachPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candles, windows, train int
		walks                   bool
	}{{10, 3, 2, true}, {9, 3, 2, false}, {4, 1, 1, true}, {3, 1, 1, false}, {10, 0, 2, false}, {10, 3, 0, false}} {
		config := caseConfig(flatTape(t, exchange.Futures, c.candles, "100"), &scripted{})
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{}, nil }
		trials := []backtest.Trial{trialOf("one", config)}
		walked, err := backtest.Walk(t.Context(), config, trials, c.windows, c.train, func(all []backtest.Trial) *backtest.Trial { return &all[0] }, nil)
		if (err == nil) != c.walks || len(walked) != map[bool]int{true: c.windows}[c.walks] ||
			err != nil && !strings.Contains(err.Error(), "at least two candles each") {
			t.Errorf("%+v: have %d windows, %v", c, len(walked), err)
		}
	}
}

// TestAMonthsRowEndsWithItsLastCandle checks that a run that ends at midnight has no row for the month that
// begins then.
func TestAMonthsRowEndsWithItsLastCandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from  string
		hours int
		want  string
	}{
		{"2024-01-31T00:00", 24, "2024-01"}, {"2024-01-31T00:00", 25, "2024-01 2024-02"}, {"2024-01-31T00:00", 23, "2024-01"},
		{"2024-01-31T23:00", 1, "2024-01"}, {"2024-01-31T23:00", 2, "2024-01 2024-02"}, {"2024-02-01T00:00", 1, "2024-02"},
		{"2024-01-30T00:00", 24 * 31, "2024-01 2024-02"}, {"2024-01-30T00:00", 24*31 + 1, "2024-01 2024-02 2024-03"},
	} {
		recorded := flatTape(t, exchange.Futures, c.hours, "100")
		from, err := time.Parse("2006-01-02T15:04", c.from)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.hours {
			recorded.Candles.OpenMS[i] = from.UnixMilli() + int64(i)*int64(exchange.Hour1)
		}
		recorded.Candles.Interval = exchange.Hour1
		var months []string
		for _, row := range mustRun(t, caseConfig(recorded, &scripted{})).Figures.Months {
			months = append(months, row.Month)
		}
		if have := strings.Join(months, " "); have != c.want {
			t.Errorf("%d hours from %s: want %s, have %s", c.hours, c.from, c.want, have)
		}
	}
}

// TestALeverageIsSetOnFuturesAlone also checks that without a configured leverage the exchange's stays.
func TestALeverageIsSetOnFuturesAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market   exchange.Market
		leverage int
	}{{exchange.Futures, 0}, {exchange.Futures, 3}, {exchange.Spot, 0}, {exchange.Spot, 3}} {
		config := caseConfig(flatTape(t, c.market, 5, "100"), &scripted{})
		config.Legs[0].Strategy.Leverage = c.leverage
		if _, err := backtest.Run(t.Context(), config); err != nil {
			t.Errorf("%s with %d: have %v", c.market, c.leverage, err)
		}
	}
}
