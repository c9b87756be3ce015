package backtest

import (
	"math"
	"slices"
)

// Bootstrap summarizes daily returns that are resampled in blocks. It shows how much of the result depends on the
// luck of these days.
type Bootstrap struct {
	Draws    int   `json:"draws"`
	Block    int   `json:"block_days"`
	Return   *Band `json:"return_pct"`
	Drawdown *Band `json:"max_drawdown_pct"`
	Sharpe   *Band `json:"sharpe"`
}

// Band is the median, and the range of nine draws in ten.
type Band struct {
	Low    float64 `json:"p5"`
	Median float64 `json:"p50"`
	High   float64 `json:"p95"`
}

// A draw uses blocks of ten days, which preserve the dependence between successive days.
const (
	bootstrapDraws = 1_000
	bootstrapBlock = 10
)

// block is the effect of some successive days on equity.
type block struct {
	growth, top, bottom float64 // the end, the highest and the lowest, of an equity that starts at 1
	depth               float64 // the deepest drawdown within
	sum, squares        float64 // of the returns
}

func blockOf(returns []float64, from, days int) block {
	b := block{growth: 1, top: 1, bottom: 1}
	for i := range days {
		r := returns[(from+i)%len(returns)]
		b.growth = float64(b.growth * (1 + r))
		b.top, b.bottom = max(b.top, b.growth), min(b.bottom, b.growth)
		b.depth = max(b.depth, 1-b.growth/b.top)
		b.sum, b.squares = b.sum+r, b.squares+float64(r*r)
	}
	return b
}

// bootstrap resamples the days of an equity curve. Every run draws the same, since the draws come from a counter. Each
// block is measured once, and a draw joins blocks: day by day, a thousand draws of two years would take a tenth of a
// whole backtest of a million candles.
func bootstrap(equity []float64) *Bootstrap {
	n := len(equity) - 1
	if n < 3*bootstrapBlock || slices.Min(equity) <= 0 {
		return nil
	}
	returns, blocks := make([]float64, n), make([]block, n)
	for i := range returns {
		returns[i] = equity[i+1]/equity[i] - 1
	}
	for i := range blocks {
		blocks[i] = blockOf(returns, i, bootstrapBlock)
	}
	var totals, depths, sharpes []float64
	counter, days := uint64(0), float64(n)
	for range bootstrapDraws {
		value, peak, depth, sum, squares := 1.0, 1.0, 0.0, 0.0, 0.0
		for at := 0; at < n; at += bootstrapBlock {
			counter++
			from := int(splitmix(counter) % uint64(n))
			b := &blocks[from]
			if rest := n - at; rest < bootstrapBlock {
				b = new(blockOf(returns, from, rest))
			}
			depth = max(depth, b.depth, 1-value*b.bottom/peak)
			peak = max(peak, value*b.top)
			value, sum, squares = float64(value*b.growth), sum+b.sum, squares+b.squares
		}
		totals, depths = append(totals, float64(100*(value-1))), append(depths, float64(100*depth))
		mean := sum / days
		if deviation := math.Sqrt(max(0, squares-float64(days*mean*mean)) / (days - 1)); deviation > 0 {
			sharpes = append(sharpes, float64(mean/deviation*math.Sqrt(daysPerYear)))
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

// splitmix maps a counter to a uniform draw.
func splitmix(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
