package backtest

import (
	"math"
	"strconv"
	"time"
)

// RollingSeries are the figures of the 180 days before each midnight, from day 180 on.
type RollingSeries struct {
	Days       int        `json:"days"`
	TimeMS     []int64    `json:"time_ms"`
	Volatility []*float64 `json:"volatility"`
	Sharpe     []*float64 `json:"sharpe"`
	Sortino    []*float64 `json:"sortino"`
	Beta       []*float64 `json:"beta"` // relative to holding the same symbols
}

// YearRow is one calendar year's change. The first and the last year may be incomplete.
type YearRow struct {
	Year   string   `json:"year"`
	Return *float64 `json:"return_pct"`
	Hold   *float64 `json:"hold_pct"` // of holding the same symbols
}

// Rolling returns the rolling figures of equity at UTC midnights, the first at firstMS, compared with the value of
// holding. It returns nil for fewer than 180 days.
func Rolling(firstMS int64, equity, bench []float64, riskFree float64) *RollingSeries {
	s := newSample(firstMS, equity, bench, riskFree)
	if s == nil || len(s.returns) < window {
		return nil
	}
	all := &RollingSeries{Days: window}
	for to := window; to <= len(s.returns); to++ {
		from := to - window
		returns, excess, year := s.returns[from:to], s.excess[from:to], math.Sqrt(daysPerYear)
		all.TimeMS = append(all.TimeMS, firstMS+int64(to)*(24*time.Hour).Milliseconds())
		all.Volatility = append(all.Volatility, finite(float64(deviationOf(returns)*year)))
		all.Sharpe = append(all.Sharpe, finite(float64(ratio(meanOf(excess), deviationOf(excess))*year)))
		all.Sortino = append(all.Sortino, finite(float64(ratio(meanOf(excess), downsideOf(excess))*year)))
		all.Beta = append(all.Beta, finite(betaOf(returns, s.bench[from:to])))
	}
	return all
}

// Years returns the changes by calendar year. A day belongs to the year in which it ends.
func Years(firstMS int64, equity, bench []float64) []YearRow {
	rows := []YearRow{}
	s := newSample(firstMS, equity, bench, 0)
	if s == nil {
		return rows
	}
	held := compounded(firstMS, s.bench, 12)
	first := time.UnixMilli(firstMS).UTC().Year()
	for i, r := range s.years {
		rows = append(rows, YearRow{strconv.Itoa(first + i), finite(float64(100 * r)), finite(float64(100 * held[i]))})
	}
	return rows
}
