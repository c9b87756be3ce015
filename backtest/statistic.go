package backtest

import (
	"math"
	"time"
)

// daysPerYear is how often a market that never closes has a day; leastDays is
// the shortest run whose growth is worth being made a yearly one.
const (
	daysPerYear = 365
	leastDays   = 30
)

// statistics of a series of equity, taken once a day at UTC midnight. Undefined
// is nil, never a sentinel (definitions: README, figures).
type statistics struct {
	Days    int // returns the figures below are made of
	Sharpe  *float64
	Sortino *float64
	CAGR    *float64 // per cent
	Calmar  *float64
}

// measure computes what follows from the returns alone; perYear is how many there
// are in a year.
func measure(equity []float64, perYear float64) statistics {
	returns := make([]float64, 0, len(equity))
	for i := 1; i < len(equity); i++ {
		if equity[i-1] <= 0 {
			return statistics{Days: len(returns)}
		}
		returns = append(returns, equity[i]/equity[i-1]-1)
	}
	s := statistics{Days: len(returns)}
	mean, deviation := meanDeviation(returns)
	if deviation > 0 {
		s.Sharpe = finite(mean / deviation * math.Sqrt(perYear))
	}
	if downside := downsideOf(returns); downside > 0 {
		s.Sortino = finite(mean / downside * math.Sqrt(perYear))
	}
	return s
}

// yearly adds CAGR and Calmar.
func (s *statistics) yearly(first, last, years, depth float64) {
	if years*daysPerYear < leastDays || first <= 0 || last <= 0 {
		return
	}
	cagr := growth(first, last, years)
	s.CAGR = finite(cagr * 100)
	if depth > 0 {
		s.Calmar = finite(cagr / depth)
	}
}

// growth is the yearly rate that makes last of first.
func growth(first, last, years float64) float64 { return math.Pow(last/first, 1/years) - 1 }

// noise is the spread, as a share of the mean, below which returns are equal but
// for the rounding of float64.
const noise = 1e-9

// meanDeviation returns the mean and the sample deviation (n-1), which is 0 for
// equal returns.
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
		deviation += (v - mean) * (v - mean)
	}
	deviation = math.Sqrt(deviation / float64(len(values)-1))
	if deviation <= noise*math.Abs(mean) {
		return mean, 0
	}
	return mean, deviation
}

// downsideOf is the root mean square of the losses over all returns.
func downsideOf(returns []float64) float64 {
	if len(returns) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range returns {
		if r < 0 {
			sum += r * r
		}
	}
	return math.Sqrt(sum / float64(len(returns)))
}

// drawdown follows the deepest fall of equity below its peak so far.
type drawdown struct {
	depth       float64 // as a share of the peak
	fromMS      int64   // when that peak was reached
	troughMS    int64
	recoveredMS int64 // when equity was back at that peak; 0 when it was not

	peak   float64
	peakMS int64
}

func (d *drawdown) take(atMS int64, equity float64) {
	if equity < d.peak {
		if depth := (d.peak - equity) / d.peak; depth > d.depth {
			d.depth, d.fromMS, d.troughMS, d.recoveredMS = depth, d.peakMS, atMS, 0
		}
		return
	}
	if d.depth > 0 && d.recoveredMS == 0 {
		d.recoveredMS = atMS
	}
	if equity > d.peak {
		d.peak, d.peakMS = equity, atMS
	}
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
