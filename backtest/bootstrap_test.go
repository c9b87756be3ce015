package backtest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The bands equal those of a thousand equities computed day by day, for lengths that the blocks fill exactly
// and for others.
func TestJoinedBlocksEqualDrawsDayByDay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, days := range []int{30, 31, 365, 694} {
		equity := []float64{1000}
		for range days {
			equity = append(equity, equity[len(equity)-1]*(1+0.03*random.NormFloat64()))
		}
		var totals, depths, sharpes []float64
		counter := uint64(0)
		for range bootstrapDraws {
			value, peak, depth, returns := 1.0, 1.0, 0.0, []float64{}
			for i := range days {
				if i%bootstrapBlock == 0 {
					counter++
				}
				at := (int(splitmix(counter)%uint64(days)) + i%bootstrapBlock) % days
				returns = append(returns, equity[at+1]/equity[at]-1)
				value *= equity[at+1] / equity[at]
				peak = max(peak, value)
				depth = max(depth, 1-value/peak)
			}
			totals, depths = append(totals, 100*(value-1)), append(depths, 100*depth)
			sharpes = append(sharpes, meanOf(returns)/deviationOf(returns)*math.Sqrt(daysPerYear))
		}
		have := bootstrap(equity)
		for _, c := range []struct {
			name       string
			want, have *Band
		}{{"return", bandOf(totals), have.Return}, {"drawdown", bandOf(depths), have.Drawdown}, {"Sharpe", bandOf(sharpes), have.Sharpe}} {
			if far := max(math.Abs(c.want.Low-c.have.Low), math.Abs(c.want.Median-c.have.Median), math.Abs(c.want.High-c.have.High)); !(far < 1e-9) {
				t.Errorf("%d days, %s: want %+v, have %+v", days, c.name, c.want, c.have)
			}
		}
	}
}
