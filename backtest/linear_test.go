//go:build unix

package backtest_test

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"botd/backtest"
	"botd/exchange"
)

// processorTime is the time that this process has used so far: a busy machine adds little to it.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// least returns the processor time of the cheapest of five runs.
func least(t testing.TB, config func() backtest.Config) time.Duration {
	t.Helper()
	best := time.Duration(math.MaxInt64)
	for range 5 {
		before := processorTime(t)
		if _, err := backtest.Run(context.Background(), config()); err != nil {
			t.Fatal(err)
		}
		best = min(best, processorTime(t)-before)
	}
	return best
}

// TestTimeIsLinear doubles the candles and the resting orders twice each, and measures the processor time:
// four times the work takes four times as long, not sixteen. It is not parallel, since other tests of the
// process would count.
func TestTimeIsLinear(t *testing.T) {
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	few, many := steps(symbol, 40_000), steps(symbol, 160_000)
	const most = 8.0
	for _, c := range []struct {
		name         string
		small, large func() backtest.Config
	}{
		{"candles that trade", func() backtest.Config { return speedConfig(t, few, "10", "50") },
			func() backtest.Config { return speedConfig(t, many, "10", "50") }},
		{"quiet candles", func() backtest.Config { return speedConfig(t, few, "4000", "10000") },
			func() backtest.Config { return speedConfig(t, many, "4000", "10000") }},
		{"orders at rest", func() backtest.Config { return gridConfig(t, few, 45) }, func() backtest.Config { return gridConfig(t, few, 180) }},
	} {
		small, large := least(t, c.small), least(t, c.large)
		ratio := fmt.Sprintf("%.1f", float64(large)/float64(small))
		t.Logf("%s: %v, four times as many %v: %s times as long", c.name, small, large, ratio)
		if float64(large) > most*float64(small)+float64(5*time.Millisecond) {
			t.Errorf("%s: want less than %v times the time for four times as many, have %s (%v, %v)", c.name, most, ratio, small, large)
		}
	}
}
