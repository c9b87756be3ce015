package backtest

import "math"

// RegimeRow is the part of a run on the days of one market regime.
type RegimeRow struct {
	Regime string   `json:"regime"`
	Days   int      `json:"days"`
	Return *float64 `json:"return_pct"` // compounded over these days
	Hold   *float64 `json:"hold_pct"`   // of holding instead
	Sharpe *float64 `json:"sharpe"`
}

// The lookback periods of a regime. They precede the day itself.
const (
	calmDays  = 30 // of volatility
	trendDays = 50 // of the mean price
)

// regimes groups days by the volatility of holding over the thirty days before (thirds of the run's values), and by
// whether the price was above its mean of fifty days.
func regimes(equity, bench []float64) []RegimeRow {
	n := len(equity) - 1
	rows := []RegimeRow{}
	if n < trendDays+1 || len(bench) != len(equity) {
		return rows
	}
	r, b := make([]float64, n), make([]float64, n)
	for i := range n {
		if equity[i] <= 0 || bench[i] <= 0 {
			return rows
		}
		r[i], b[i] = equity[i+1]/equity[i]-1, bench[i+1]/bench[i]-1
	}
	var before []float64
	for i := calmDays; i < n; i++ {
		before = append(before, deviationOf(b[i-calmDays:i]))
	}
	low, high := quantileOf(before, 1.0/3), quantileOf(before, 2.0/3)
	add := func(name string, first int, is func(i int) bool) {
		var own, hold []float64
		for i := first; i < n; i++ {
			if is(i) {
				own, hold = append(own, r[i]), append(hold, b[i])
			}
		}
		row := RegimeRow{Regime: name, Days: len(own)}
		if len(own) > 1 {
			row.Return, row.Hold = finite(float64(100*compound(own))), finite(float64(100*compound(hold)))
			row.Sharpe = finite(float64(ratio(meanOf(own), deviationOf(own)) * math.Sqrt(daysPerYear)))
		}
		rows = append(rows, row)
	}
	add("calm", calmDays, func(i int) bool { return before[i-calmDays] <= low })
	add("usual volatility", calmDays, func(i int) bool { return before[i-calmDays] > low && before[i-calmDays] <= high })
	add("volatile", calmDays, func(i int) bool { return before[i-calmDays] > high })
	add("above the mean of 50 days", trendDays, func(i int) bool { return bench[i] > meanOf(bench[i-trendDays:i]) })
	add("below it", trendDays, func(i int) bool { return bench[i] <= meanOf(bench[i-trendDays:i]) })
	return rows
}

// compound compounds returns.
func compound(returns []float64) float64 {
	product := 1.0
	for _, r := range returns {
		product = float64(product * (1 + r))
	}
	return product - 1
}
