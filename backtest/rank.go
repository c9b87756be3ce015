package backtest

import (
	"cmp"
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
	{"drawdown", func(c *Column) *float64 { negative := -c.MaxDrawdown; return &negative }},
}

func Rankings() (names []string) {
	for _, o := range rankings {
		names = append(names, o.name)
	}
	return names
}

func Rank(trials []Trial, by string) {
	of := rankings[slices.Index(Rankings(), by)].of
	slices.SortStableFunc(trials, func(a, b Trial) int {
		x, y := of(a.Seen), of(b.Seen)
		switch {
		case x == nil || y == nil:
			return cmp.Compare(present(y), present(x))
		default:
			return cmp.Compare(*y, *x)
		}
	})
}

func present(x *float64) int {
	if x == nil {
		return 0
	}
	return 1
}
