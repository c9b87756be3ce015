package backtest

import (
	"math"
	"testing"
)

// The equity follows the market on its days above the mean and is flat below it; the bands contain the actual
// result.
func TestRegimesAndBootstrapOfAKnownMarket(t *testing.T) {
	t.Parallel()
	bench, equity := []float64{100}, []float64{1000}
	for i := range 400 {
		bench = append(bench, 100+30*math.Sin(float64(i+1)/40)+float64(i)/20)
		r := bench[i+1]/bench[i] - 1
		if i >= trendDays && bench[i] <= meanOf(bench[i-trendDays:i]) {
			r = 0
		}
		equity = append(equity, equity[i]*(1+r))
	}
	rows := regimes(equity, bench)
	if len(rows) != 5 {
		t.Fatalf("want five regimes, have %+v", rows)
	}
	above, below := rows[3], rows[4]
	if math.Abs(*above.Return-*above.Hold) > 1e-9 || *below.Return != 0 || *below.Hold >= 0 || above.Days+below.Days != 400-trendDays {
		t.Errorf("want it to follow above the mean and rest below, have %+v, %+v", above, below)
	}
	if n := rows[0].Days + rows[1].Days + rows[2].Days; n != 400-calmDays {
		t.Errorf("want every day in a third, have %d", n)
	}
	b := bootstrap(equity)
	whole := 100 * (equity[400]/1000 - 1)
	if b == nil || b.Return.Low >= b.Return.Median || b.Return.Median >= b.Return.High || whole < b.Return.Low || whole > b.Return.High {
		t.Errorf("want bands around %f, have %+v", whole, b.Return)
	}
	if bootstrap(equity[:20]) != nil {
		t.Error("twenty days: want none")
	}
}
