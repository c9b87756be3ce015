package backtest

import (
	"cmp"
	"math"
	"slices"
)

// rankings are the figures for ranking trials. Larger is better, and undefined values come last.
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

// Ranking returns the objective with a name of Rankings. Larger is better, and a trial without the figure has NaN.
// known is false for another name.
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

// Rank sorts trials by an objective, the best first and NaN last. Equal trials stay in their order.
func Rank(trials []Trial, objective func(*Trial) float64) {
	slices.SortStableFunc(trials, func(a, b Trial) int { return cmp.Compare(objective(&b), objective(&a)) }) // NaN compares below all numbers
}
