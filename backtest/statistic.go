package backtest

import (
	"math"
	"slices"
	"time"
)

// daysPerYear is 365, since the market never closes. minDays is the length of the shortest run with an annualized
// growth.
const (
	daysPerYear = 365
	minDays     = 30
)

// Series are the statistics of equity at equal steps: daily at UTC midnight, or hourly. Undefined values are null,
// never a sentinel (definitions: docs/backtest.md, Metrics).
type Series struct {
	Returns    int      `json:"returns"`  // N, the number of returns
	PerYear    int      `json:"per_year"` // P, returns per year
	Sharpe     *float64 `json:"sharpe"`
	Sortino    *float64 `json:"sortino"`
	Volatility *float64 `json:"volatility_pct"`
	Omega      *float64 `json:"omega"`
	VaR        *float64 `json:"var_95_pct"`        // the minimum loss of the worst twentieth of returns
	CVaR       *float64 `json:"cvar_95_pct"`       // the mean loss of that twentieth
	VaRNormal  *float64 `json:"var_95_normal_pct"` // for normally distributed returns
	Skew       *float64 `json:"skew"`
	Kurtosis   *float64 `json:"kurtosis"` // 3 for normal returns
	PSR        *float64 `json:"psr"`      // probability that the true Sharpe ratio is above zero
	Ulcer      *float64 `json:"ulcer_pct"`
	UPI        *float64 `json:"upi"`
	Best       *float64 `json:"best_pct"`
	Worst      *float64 `json:"worst_pct"`
}

// measure computes the statistics of a series; riskFree is a year's rate.
func measure(equity []float64, perYear int, riskFree float64) Series {
	s := Series{PerYear: perYear}
	returns := make([]float64, 0, len(equity))
	for i := 1; i < len(equity); i++ {
		if equity[i-1] <= 0 {
			s.Returns = len(returns)
			return s // no further returns are defined after ruin
		}
		returns = append(returns, equity[i]/equity[i-1]-1-riskFree/float64(perYear))
	}
	s.Returns = len(returns)
	if len(returns) == 0 {
		return s
	}
	root := math.Sqrt(float64(perYear))
	mean, deviation := meanDeviation(returns)
	if deviation > 0 {
		s.Sharpe = finite(float64(mean / deviation * root))
		s.Volatility = finite(float64(100 * deviation * root))
		s.VaRNormal = finite(float64(100 * (float64(normal5*deviation) - mean)))
		s.shape(returns, mean, deviation)
	}
	if downside := downsideOf(returns); downside > 0 {
		s.Sortino = finite(float64(mean / downside * root))
	}
	s.tail(returns)
	s.Ulcer = finite(float64(100 * ulcer(equity)))
	return s
}

// normal5 is the distance below the mean, in deviations, of the lowest twentieth of normal values.
const normal5 = 1.6448536269514722

// shape adds skew and kurtosis (moments over n), and the certainty of the Sharpe ratio that follows from them (Bailey
// and Lopez de Prado, 2012).
func (s *Series) shape(returns []float64, mean, deviation float64) {
	n := float64(len(returns))
	var second, third, fourth float64
	for _, r := range returns {
		d := r - mean
		second, third, fourth = second+float64(d*d), third+float64(d*d*d), fourth+float64(d*d*d*d)
	}
	second, third, fourth = second/n, third/n, fourth/n
	skew, kurtosis := third/math.Pow(second, 1.5), fourth/(second*second)
	s.Skew, s.Kurtosis = finite(skew), finite(kurtosis)
	ratio := mean / deviation
	if spread := 1 - float64(skew*ratio) + float64((kurtosis-1)/4*ratio*ratio); spread > 0 {
		s.PSR = finite(normalBelow(ratio * math.Sqrt(n-1) / math.Sqrt(spread)))
	}
}

// normalBelow returns the share of normal values below x.
func normalBelow(x float64) float64 { return float64(math.Erfc(-x/math.Sqrt2) / 2) }

// tail adds the figures of the extreme returns.
func (s *Series) tail(returns []float64) {
	sorted := slices.Sorted(slices.Values(returns))
	s.Worst, s.Best = finite(float64(100*sorted[0])), finite(float64(100*sorted[len(sorted)-1]))
	bound := quantile(sorted, 0.05)
	gains, losses, beyond, count := 0.0, 0.0, 0.0, 0
	for _, r := range sorted {
		gains, losses = gains+max(0, r), losses+max(0, -r)
		if r <= bound {
			beyond, count = beyond+r, count+1
		}
	}
	s.VaR, s.CVaR = finite(float64(-100*bound)), finite(-100*beyond/float64(count))
	if losses > 0 {
		s.Omega = finite(gains / losses)
	}
}

// quantile returns a quantile of sorted values, linear between two of them. It returns 0 for no values.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := float64(share * float64(len(sorted)-1))
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + float64((at-float64(low))*(sorted[low+1]-sorted[low]))
}

// ulcer returns the root mean square of the drawdown over all values, as P. Martin and B. McCann define it (The
// Investor's Guide to Fidelity Funds, 1989). quantstats divides the same sum by the number of returns less one, which
// is two less. That is no sample deviation, since no mean is subtracted.
func ulcer(equity []float64) float64 {
	sum, peak := 0.0, 0.0
	for _, e := range equity {
		if peak = max(peak, e); peak > 0 {
			fall := e/peak - 1
			sum += float64(fall * fall)
		}
	}
	return math.Sqrt(sum / float64(len(equity)))
}

// yearlyGrowth returns CAGR in percent and Calmar. They are null for less than a month, and when the equity was
// lost.
func yearlyGrowth(first, last, years, depth float64) (cagr, calmar *float64) {
	if years*daysPerYear < minDays || first <= 0 || last <= 0 {
		return nil, nil
	}
	rate := growth(first, last, years)
	if depth > 0 {
		calmar = finite(rate / depth)
	}
	return finite(float64(rate * 100)), calmar
}

// growth returns the yearly rate that leads from first to last.
func growth(first, last, years float64) float64 { return math.Pow(last/first, 1/years) - 1 }

// noise is the spread, as a share of the mean, below which returns count as equal up to float64 rounding.
const noise = 1e-9

// meanDeviation returns the mean and the sample deviation (n-1). The deviation of equal returns is 0.
func meanDeviation(values []float64) (mean, deviation float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		deviation += float64((v - mean) * (v - mean))
	}
	deviation = math.Sqrt(deviation / float64(len(values)-1))
	if deviation <= noise*math.Abs(mean) {
		return mean, 0
	}
	return mean, deviation
}

// downsideOf returns the root mean square of the losses over all returns.
func downsideOf(returns []float64) float64 {
	if len(returns) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range returns {
		if r < 0 {
			sum += float64(r * r)
		}
	}
	return math.Sqrt(sum / float64(len(returns)))
}

func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func yearsBetween(fromMS, toMS int64) float64 {
	return float64(toMS-fromMS) / float64((daysPerYear * 24 * time.Hour).Milliseconds())
}
