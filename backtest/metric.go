package backtest

import (
	"math"
	"slices"
	"time"
)

// Definition is a metric: its name, its formula, and the formula's source.
type Definition struct {
	Name    string                  `json:"name"`
	Formula string                  `json:"formula"`
	Source  string                  `json:"source"`
	of      func(s *sample) float64 // NaN where undefined
}

// sample is the input of metrics: equity at each UTC midnight, its returns, the returns of holding the same symbols,
// and both without the risk-free rate.
type sample struct {
	equity         []float64
	returns, bench []float64
	excess, over   []float64
	months, years  []float64
	quarters       []float64
	depths, spans  []float64 // of each daily drawdown: its depth, and its days
	beta           float64
}

// The sources of formulas. A year has 365 days, since the markets never close.
const (
	quantstats = "quantstats"
	capm       = "Jensen, 1968"
)

// window is the length of the rolling figures in days.
const window = 180

// Metrics returns the definitions in display order.
func Metrics() []Definition { return metricTable }

var metricTable = []Definition{
	{"cumulative_return", "E_n / E_0 - 1", quantstats, func(s *sample) float64 { return s.equity[len(s.equity)-1]/s.equity[0] - 1 }},
	{"volatility", "sd(r) sqrt(365)", quantstats, func(s *sample) float64 { return float64(deviationOf(s.returns) * math.Sqrt(daysPerYear)) }},
	{"sharpe", "mean(r - f) / sd(r - f) sqrt(365)", "Sharpe, 1994", func(s *sample) float64 {
		return float64(ratio(meanOf(s.excess), deviationOf(s.excess)) * math.Sqrt(daysPerYear))
	}},
	{"sortino", "mean(r - f) / sqrt(mean(min(0, r - f)^2)) sqrt(365)", "Sortino, 1994", func(s *sample) float64 {
		return float64(ratio(meanOf(s.excess), downsideOf(s.excess)) * math.Sqrt(daysPerYear))
	}},
	{"sortino_by_root_2", "sortino / sqrt(2)", "Schwager", func(s *sample) float64 {
		return ratio(meanOf(s.excess), downsideOf(s.excess)) * math.Sqrt(daysPerYear) / math.Sqrt2
	}},
	{"smart_sharpe", "sharpe / sqrt(1 + 2 sum((1 - i / n) a^i)), a = |autocorrelation| of a day", quantstats, func(s *sample) float64 {
		return ratio(meanOf(s.excess), deviationOf(s.excess)) * math.Sqrt(daysPerYear) / autocorrelated(s.excess)
	}},
	{"smart_sortino", "sortino, likewise", quantstats, func(s *sample) float64 {
		return ratio(meanOf(s.excess), downsideOf(s.excess)) * math.Sqrt(daysPerYear) / autocorrelated(s.excess)
	}},
	{"risk_return_ratio", "mean(r) / sd(r)", quantstats, func(s *sample) float64 { return ratio(meanOf(s.returns), deviationOf(s.returns)) }},
	{"omega", "sum(max(0, r - f)) / sum(max(0, f - r))", "Keating, Shadwick, 2002", func(s *sample) float64 {
		return ratio(sumOf(s.excess, positive), -sumOf(s.excess, negative))
	}},
	{"beta", "cov(r, b) / var(b)", capm, func(s *sample) float64 { return s.beta }},
	{"alpha", "365 (mean(r - f) - beta mean(b - f))", capm, func(s *sample) float64 {
		return float64(daysPerYear * (meanOf(s.excess) - float64(s.beta*meanOf(s.over))))
	}},
	{"correlation", "cov(r, b) / (sd(r) sd(b))", quantstats, func(s *sample) float64 { return correlation(s.returns, s.bench) }},
	{"r_squared", "correlation^2", quantstats, func(s *sample) float64 { return math.Pow(correlation(s.returns, s.bench), 2) }},
	{"information_ratio", "mean(r - b) / sd(r - b)", quantstats, func(s *sample) float64 {
		active := make([]float64, len(s.returns))
		for i := range active {
			active[i] = s.returns[i] - s.bench[i]
		}
		return ratio(meanOf(active), deviationOf(active))
	}},
	{"treynor", "(E_n / E_0 - 1) / beta", quantstats, func(s *sample) float64 {
		return ratio(s.equity[len(s.equity)-1]/s.equity[0]-1, s.beta)
	}},
	{"skew", "n / ((n-1)(n-2)) sum(((r - mean) / sd)^3)", "pandas", skewOf},
	{"kurtosis", "excess kurtosis, corrected for n", "pandas", kurtosisOf},
	{"value_at_risk_95", "mean(r) - 1.6448536 sd(r)", quantstats, func(s *sample) float64 {
		return meanOf(s.returns) - float64(normal5*deviationOf(s.returns))
	}},
	{"expected_shortfall_95", "mean(r) - 2.0627128 sd(r)", quantstats, func(s *sample) float64 {
		return meanOf(s.returns) - float64(shortfall5*deviationOf(s.returns))
	}},
	{"tail_ratio", "|q95(r) / q5(r)|", quantstats, func(s *sample) float64 { return tailRatio(s.returns) }},
	{"gain_to_pain", "sum(r) / |sum(min(0, r))|", "Schwager", func(s *sample) float64 { return gainToPain(s.returns) }},
	{"gain_to_pain_months", "the same of months", "Schwager", func(s *sample) float64 { return gainToPain(s.months) }},
	{"profit_factor_days", "sum(max(0, r)) / |sum(min(0, r))|", quantstats, func(s *sample) float64 {
		return ratio(sumOf(s.returns, positive), -sumOf(s.returns, negative))
	}},
	{"payoff_days", "mean(r > 0) / |mean(r < 0)|", quantstats, func(s *sample) float64 { return payoff(s.returns) }},
	{"common_sense_ratio", "profit_factor_days tail_ratio", quantstats, func(s *sample) float64 {
		return float64(ratio(sumOf(s.returns, positive), -sumOf(s.returns, negative)) * tailRatio(s.returns))
	}},
	{"cpc_index", "profit_factor_days win_days payoff_days", quantstats, func(s *sample) float64 {
		return float64(ratio(sumOf(s.returns, positive), -sumOf(s.returns, negative)) * wins(s.returns) * payoff(s.returns))
	}},
	{"kelly_days", "w - (1 - w) / payoff_days, w = win_days", "Kelly, 1956", func(s *sample) float64 {
		w := wins(s.returns)
		return w - ratio(1-w, payoff(s.returns))
	}},
	{"outlier_win", "q99(r) / mean(r >= 0)", quantstats, func(s *sample) float64 {
		return ratio(quantileOf(s.returns, 0.99), meanOf(slices.Collect(filtered(s.returns, func(r float64) bool { return r >= 0 }))))
	}},
	{"outlier_loss", "q1(r) / mean(r < 0)", quantstats, func(s *sample) float64 {
		return ratio(quantileOf(s.returns, 0.01), meanOf(slices.Collect(filtered(s.returns, negative))))
	}},
	{"win_days", "share of days with r > 0 among those with r != 0", quantstats, func(s *sample) float64 { return wins(s.returns) }},
	{"average_day", "mean(r != 0)", quantstats, func(s *sample) float64 { return meanWhere(s.returns, func(r float64) bool { return r != 0 }) }},
	{"average_up_day", "mean(r > 0)", quantstats, func(s *sample) float64 { return meanWhere(s.returns, positive) }},
	{"average_down_day", "mean(r < 0)", quantstats, func(s *sample) float64 { return meanWhere(s.returns, negative) }},
	{"longest_up_days", "days with r > 0, the most in a row", quantstats, func(s *sample) float64 { return longest(s.returns, positive) }},
	{"longest_down_days", "days with r < 0, the most in a row", quantstats, func(s *sample) float64 { return longest(s.returns, negative) }},
	{"profit_ratio", "(mean(r >= 0) / count) / (|mean(r < 0)| / count)", quantstats, func(s *sample) float64 { return profitRatio(s.returns) }},
	{"risk_of_ruin", "((1 - w) / (1 + w))^n, w = win_days", quantstats, func(s *sample) float64 {
		w := wins(s.returns)
		return math.Pow((1-w)/(1+w), float64(len(s.returns)))
	}},
	{"win_months", "the same of months", quantstats, func(s *sample) float64 { return wins(s.months) }},
	{"win_quarters", "the same of quarters", quantstats, func(s *sample) float64 { return wins(s.quarters) }},
	{"win_years", "the same of years", quantstats, func(s *sample) float64 { return wins(s.years) }},
	{"expected_daily", "(E_n / E_0)^(1/n) - 1", quantstats, func(s *sample) float64 { return geometric(s.returns) }},
	{"expected_monthly", "the same of months", quantstats, func(s *sample) float64 { return geometric(s.months) }},
	{"expected_yearly", "the same of years", quantstats, func(s *sample) float64 { return geometric(s.years) }},
	{"best_day", "max(r)", quantstats, func(s *sample) float64 { return slices.Max(s.returns) }},
	{"worst_day", "min(r)", quantstats, func(s *sample) float64 { return slices.Min(s.returns) }},
	{"best_month", "max of months", quantstats, func(s *sample) float64 { return slices.Max(s.months) }},
	{"worst_month", "min of months", quantstats, func(s *sample) float64 { return slices.Min(s.months) }},
	{"average_up_month", "mean(month > 0)", quantstats, func(s *sample) float64 { return meanWhere(s.months, positive) }},
	{"average_down_month", "mean(month < 0)", quantstats, func(s *sample) float64 { return meanWhere(s.months, negative) }},
	{"max_drawdown_days", "min(E / peak - 1), of the days", quantstats, func(s *sample) float64 { return least(s.depths) }},
	{"longest_drawdown_days", "days below the peak, the most in a row", quantstats, func(s *sample) float64 { return -least(negated(s.spans)) }},
	{"average_drawdown", "mean of the drawdowns' depths", quantstats, func(s *sample) float64 { return meanOf(s.depths) }},
	{"average_drawdown_days", "mean of the drawdowns' days", quantstats, func(s *sample) float64 { return meanOf(s.spans) }},
	{"recovery_factor", "|sum(r - f)| / |max_drawdown_days|", quantstats, func(s *sample) float64 {
		return ratio(math.Abs(sumOf(s.excess, nil)), -least(s.depths))
	}},
	{"ulcer_index", "sqrt(mean((E / peak - 1)^2)), of n + 1 values", "Martin, 1987 (quantstats divides by n - 1)", func(s *sample) float64 {
		return ulcer(s.equity)
	}},
	{"rolling_volatility", "sd(r) sqrt(365) of the last 180 days", quantstats, func(s *sample) float64 {
		return float64(deviationOf(last(s.returns)) * math.Sqrt(daysPerYear))
	}},
	{"rolling_sharpe", "sharpe of the last 180 days", quantstats, func(s *sample) float64 {
		return float64(ratio(meanOf(last(s.excess)), deviationOf(last(s.excess))) * math.Sqrt(daysPerYear))
	}},
	{"rolling_sortino", "sortino of the last 180 days", quantstats, func(s *sample) float64 {
		return float64(ratio(meanOf(last(s.excess)), downsideOf(last(s.excess))) * math.Sqrt(daysPerYear))
	}},
	{"rolling_beta", "beta of the last 180 days", quantstats, func(s *sample) float64 { return betaOf(last(s.returns), last(s.bench)) }},
}

// Measure returns every metric of equity at UTC midnights, the first at firstMS, compared with the value of holding.
// Undefined ones are nil.
func Measure(firstMS int64, equity, bench []float64, riskFree float64) map[string]*float64 {
	all := make(map[string]*float64, len(metricTable))
	s := newSample(firstMS, equity, bench, riskFree)
	for i := range metricTable {
		m := &metricTable[i]
		if all[m.Name] = nil; s != nil {
			all[m.Name] = finite(m.of(s))
		}
	}
	return all
}

// newSample returns nil with fewer than two returns, or when the equity was lost.
func newSample(firstMS int64, equity, bench []float64, riskFree float64) *sample {
	n := len(equity) - 1
	if n < 2 || len(bench) != len(equity) {
		return nil
	}
	s := &sample{equity: equity}
	f := riskFree / daysPerYear
	for i := 1; i <= n; i++ {
		if equity[i-1] <= 0 || bench[i-1] <= 0 {
			return nil
		}
		r, b := equity[i]/equity[i-1]-1, bench[i]/bench[i-1]-1
		s.returns, s.bench = append(s.returns, r), append(s.bench, b)
		s.excess, s.over = append(s.excess, r-f), append(s.over, b-f)
	}
	s.months = compounded(firstMS, s.returns, 1)
	s.quarters = compounded(firstMS, s.returns, 3)
	s.years = compounded(firstMS, s.returns, 12)
	s.beta = betaOf(s.returns, s.bench)
	s.drawdowns()
	return s
}

// compounded returns the returns of calendar periods of the given number of months. A day belongs to the period in
// which it ends.
func compounded(firstMS int64, returns []float64, months int) (all []float64) {
	before := -1
	for i, r := range returns {
		day := time.UnixMilli(firstMS + int64(i)*int64(24*time.Hour/time.Millisecond)).UTC()
		period := (day.Year()*12 + int(day.Month()) - 1) / months
		if period != before {
			before, all = period, append(all, 0)
		}
		all[len(all)-1] = float64((1+all[len(all)-1])*(1+r)) - 1
	}
	return all
}

// drawdowns finds the drawdowns of the days.
func (s *sample) drawdowns() {
	peak, below := s.equity[0], false
	for _, e := range s.equity {
		peak = max(peak, e)
		fall := e/peak - 1
		switch {
		case fall == 0:
			below = false
			continue
		case !below:
			s.depths, s.spans, below = append(s.depths, 0), append(s.spans, 0), true
		}
		n := len(s.depths) - 1
		s.depths[n], s.spans[n] = min(s.depths[n], fall), s.spans[n]+1
	}
}
