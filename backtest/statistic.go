package backtest

import (
	"math"
	"time"
)

// daysPerYear is how often a market that never closes has a day.
const daysPerYear = 365

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
	if len(returns) > 1 && deviation > 0 {
		s.Sharpe = finite(mean / deviation * math.Sqrt(perYear))
	}
	if downside := downsideOf(returns); downside > 0 {
		s.Sortino = finite(mean / downside * math.Sqrt(perYear))
	}
	return s
}

// yearly adds CAGR and Calmar; CAGR is undefined below 30 days.
func (s *statistics) yearly(first, last, years, drawdown float64) {
	if years*daysPerYear < 30 || first <= 0 || last <= 0 {
		return
	}
	cagr := math.Pow(last/first, 1/years) - 1
	s.CAGR = finite(cagr * 100)
	if drawdown > 0 {
		s.Calmar = finite(cagr / drawdown)
	}
}

// meanDeviation returns the mean and the sample deviation (n-1).
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
	return mean, math.Sqrt(deviation / float64(len(values)-1))
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

func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func yearsBetween(fromMS, toMS int64) float64 {
	return float64(toMS-fromMS) / float64((daysPerYear * 24 * time.Hour).Milliseconds())
}
