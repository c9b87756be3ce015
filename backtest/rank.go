package backtest

import (
	"cmp"
	"math"
	"slices"
)

// rankings are what trials are ranked by: the larger the better, and nothing last.
var rankings = []struct {
	name string
	of   func(c *Column) *float64
}{
	{"sharpe", func(c *Column) *float64 { return c.Sharpe }},
	{"profit", func(c *Column) *float64 { return c.Profit }},
	{"profit_factor", func(c *Column) *float64 { return c.ProfitFactor }},
	{"drawdown", func(c *Column) *float64 { return number(-c.MaxDrawdown) }},
}

func Rankings() (names []string) {
	for _, o := range rankings {
		names = append(names, o.name)
	}
	return names
}

// Ranking returns the objective with a name of Rankings, the larger the better; NaN where a trial says
// nothing. known is false for another name.
func Ranking(name string) (objective func(*Trial) float64, known bool) {
	at := slices.Index(Rankings(), name)
	if at < 0 {
		return nil, false
	}
	return func(t *Trial) float64 {
		if figure := rankings[at].of(t.Seen); figure != nil {
			return *figure
		}
		return math.NaN()
	}, true
}

// Rank sorts trials by an objective, the best first, and those of which it is NaN last; equal ones
// stay in their order.
func Rank(trials []Trial, objective func(*Trial) float64) {
	slices.SortStableFunc(trials, func(a, b Trial) int { return cmp.Compare(objective(&b), objective(&a)) }) // NaN is below all
}
