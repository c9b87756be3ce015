package backtest

import (
	"iter"
	"math"
	"slices"
)

// The arithmetic of metrics. Undefined values are NaN.

func positive(x float64) bool { return x > 0 }
func negative(x float64) bool { return x < 0 }

func filtered(values []float64, which func(float64) bool) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for _, v := range values {
			if (which == nil || which(v)) && !yield(v) {
				return
			}
		}
	}
}

func sumOf(values []float64, which func(float64) bool) (sum float64) {
	for v := range filtered(values, which) {
		sum += v
	}
	return sum
}

func meanOf(values []float64) float64 { return ratio(sumOf(values, nil), float64(len(values))) }

func meanWhere(values []float64, which func(float64) bool) float64 {
	return meanOf(slices.Collect(filtered(values, which)))
}

// longest returns the length of the longest run of values that fulfill a condition.
func longest(values []float64, which func(float64) bool) float64 {
	most, now := 0, 0
	for _, v := range values {
		if now++; !which(v) {
			now = 0
		}
		most = max(most, now)
	}
	return float64(most)
}

// shortfall5 is the mean distance of the worst twentieth of normal values below the mean, in deviations.
const shortfall5 = 2.062712807507426

// autocorrelated returns the factor by which the deviation of a sum of autocorrelated values exceeds that of
// independent ones (A. Lo, The Statistics of Sharpe Ratios, 2002).
func autocorrelated(values []float64) float64 {
	n := len(values)
	if n < 3 {
		return 1
	}
	coefficient, sum := math.Abs(correlation(values[:n-1], values[1:])), 0.0
	for i := 1; i < n; i++ {
		sum += float64(float64(n-i) / float64(n) * math.Pow(coefficient, float64(i)))
	}
	return math.Sqrt(1 + float64(2*sum))
}

// profitRatio weights each mean by its number of days.
func profitRatio(returns []float64) float64 {
	notLost := slices.Collect(filtered(returns, func(r float64) bool { return r >= 0 }))
	lost := slices.Collect(filtered(returns, negative))
	return ratio(ratio(meanOf(notLost), float64(len(notLost))), -ratio(meanOf(lost), float64(len(lost))))
}

// deviationOf returns the standard deviation of a sample.
func deviationOf(values []float64) float64 { return math.Sqrt(covariance(values, values)) }

func covariance(a, b []float64) float64 {
	if len(a) < 2 {
		return math.NaN()
	}
	x, y, sum := meanOf(a), meanOf(b), 0.0
	for i := range a {
		sum += float64((a[i] - x) * (b[i] - y))
	}
	return sum / float64(len(a)-1)
}

func correlation(a, b []float64) float64 {
	return ratio(covariance(a, b), math.Sqrt(covariance(a, a)*covariance(b, b)))
}

func betaOf(returns, bench []float64) float64 {
	return ratio(covariance(returns, bench), covariance(bench, bench))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

func quantileOf(values []float64, share float64) float64 { return quantile(sorted(values), share) }

func tailRatio(returns []float64) float64 {
	return math.Abs(ratio(quantileOf(returns, 0.95), quantileOf(returns, 0.05)))
}

func gainToPain(returns []float64) float64 {
	return ratio(sumOf(returns, nil), -sumOf(returns, negative))
}

func wins(returns []float64) float64 {
	won, lost := 0, 0
	for _, r := range returns {
		if r > 0 {
			won++
		} else if r < 0 {
			lost++
		}
	}
	return ratio(float64(won), float64(won+lost))
}

func payoff(returns []float64) float64 {
	return ratio(meanWhere(returns, positive), -meanWhere(returns, negative))
}

// geometric returns the constant return that compounds to the same result.
func geometric(returns []float64) float64 {
	product := 1.0
	for _, r := range returns {
		product = float64(product * (1 + r))
	}
	return math.Pow(product, 1/float64(len(returns))) - 1
}

func least(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Min(values)
}

func negated(values []float64) []float64 {
	all := slices.Clone(values)
	for i := range all {
		all[i] = -all[i]
	}
	return all
}

// last returns the window that ends with the last value, or nil with too few values.
func last(values []float64) []float64 {
	if len(values) < window {
		return nil
	}
	return values[len(values)-window:]
}

// moments returns the sums of the second, third and fourth power of the distance from the mean.
func moments(values []float64) (second, third, fourth float64) {
	mean := meanOf(values)
	for _, v := range values {
		d := v - mean
		second, third, fourth = second+float64(d*d), third+float64(d*d*d), fourth+float64(d*d*d*d)
	}
	return second, third, fourth
}

func skewOf(s *sample) float64 {
	n := float64(len(s.returns))
	second, third, _ := moments(s.returns)
	return float64(ratio(float64(n*math.Sqrt(n-1)), n-2) * ratio(third, math.Pow(second, 1.5)))
}

func kurtosisOf(s *sample) float64 {
	n := float64(len(s.returns))
	if n < 4 {
		return math.NaN()
	}
	second, _, fourth := moments(s.returns)
	return float64(n*(n+1)*(n-1)/((n-2)*(n-3))*ratio(fourth, float64(second*second))) - 3*(n-1)*(n-1)/((n-2)*(n-3))
}
