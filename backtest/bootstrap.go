package backtest

import (
	"math"
	"slices"
)

// Bootstrap is what daily returns drawn again, in blocks, lead to: how much of the result is the luck
// of these days.
type Bootstrap struct {
	Draws    int   `json:"draws"`
	Block    int   `json:"block_days"`
	Return   *Band `json:"return_pct"`
	Drawdown *Band `json:"max_drawdown_pct"`
	Sharpe   *Band `json:"sharpe"`
}

// Band is the range that nine draws of ten lie in, and the median.
type Band struct {
	Low    float64 `json:"p5"`
	Median float64 `json:"p50"`
	High   float64 `json:"p95"`
}

// A draw takes blocks of ten days, which keep what one day has to do with the next.
const (
	bootstrapDraws = 1_000
	bootstrapBlock = 10
)

// bootstrap draws the days of an equity again. It is the same in every run: the draws are of a counter.
func bootstrap(equity []float64) *Bootstrap {
	n := len(equity) - 1
	if n < 3*bootstrapBlock || slices.Min(equity) <= 0 {
		return nil
	}
	var totals, depths, sharpes []float64
	counter, returns := uint64(0), make([]float64, n)
	for range bootstrapDraws {
		for i := range returns {
			if i%bootstrapBlock == 0 {
				counter++
			}
			at := (int(splitmix(counter)%uint64(n)) + i%bootstrapBlock) % n
			returns[i] = equity[at+1]/equity[at] - 1
		}
		value, peak, depth := 1.0, 1.0, 0.0
		for _, r := range returns {
			value *= 1 + r
			peak = max(peak, value)
			depth = max(depth, 1-value/peak)
		}
		totals, depths = append(totals, 100*(value-1)), append(depths, 100*depth)
		if deviation := deviationOf(returns); deviation > 0 {
			sharpes = append(sharpes, meanOf(returns)/deviation*math.Sqrt(daysPerYear))
		}
	}
	return &Bootstrap{bootstrapDraws, bootstrapBlock, bandOf(totals), bandOf(depths), bandOf(sharpes)}
}

func bandOf(values []float64) *Band {
	if len(values) == 0 {
		return nil
	}
	all := sorted(values)
	return &Band{quantile(all, 0.05), quantile(all, 0.5), quantile(all, 0.95)}
}

// splitmix turns a counter into a uniform draw.
func splitmix(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
