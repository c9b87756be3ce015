package view

import (
	"context"
	"math"
	"slices"
	"strconv"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

// beforePlot bounds the candles that an indicator takes before the first shown one.
const beforePlot = 2_000

// Plots are the indicators that a strategy reads, over the candles it decides on.
type Plots struct {
	Schema   int     `json:"schema"`
	Strategy string  `json:"strategy"`
	Interval string  `json:"interval"`
	OpenMS   []int64 `json:"open_ms"`
	Lines    []Line  `json:"lines"`
}

// Line is one output of an indicator; a missing value is null.
type Line struct {
	Name   string `json:"name"` // the indicator with its parameters, such as sma 10
	Own    bool   `json:"own"`  // whether it is drawn below the price, on its own scale
	Values Values `json:"values"`
}

// Values are floats; a missing one is NaN.
type Values []float64

// MarshalJSON writes seven digits, and null for a missing value.
func (v Values) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 2+10*len(v)), '[')
	for i, value := range v {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, value, 'g', 7, 64)
	}
	return append(out, ']'), nil
}

// WrongPlot is an indicator that cannot be computed as a strategy configures it.
type WrongPlot struct{ Err error }

func (w *WrongPlot) Error() string { return w.Err.Error() }

// Plots computes indicators over the candles of a symbol that open in a time.
func (m *MarketReader) Plots(ctx context.Context, symbol *exchange.Symbol, interval exchange.Interval, plots []strategy.Plot,
	fromMS, toMS int64) (Plots, error) {
	out := Plots{Schema: 1, Interval: interval.String(), OpenMS: []int64{}, Lines: []Line{}}
	if len(plots) == 0 {
		return out, nil
	}
	var bars []indicator.Bar
	if err := m.each(ctx, symbol, interval, max(0, fromMS-before(plots)*int64(interval)), toMS, func(c *exchange.Candle) {
		bars = append(bars, indicator.Bar{Open: symbol.PriceFloat(c.Open), High: symbol.PriceFloat(c.High), Low: symbol.PriceFloat(c.Low),
			Close: symbol.PriceFloat(c.Close), Volume: c.Volume, OpenMS: c.OpenMS})
	}); err != nil {
		return out, err
	}
	first, _ := slices.BinarySearchFunc(bars, fromMS, func(bar indicator.Bar, ms int64) int { return int(min(1, max(-1, bar.OpenMS-ms))) })
	for _, bar := range bars[first:] {
		out.OpenMS = append(out.OpenMS, bar.OpenMS)
	}
	each := func(yield func(indicator.Bar, bool) bool) {
		for i := 0; i < len(bars) && yield(bars[i], i >= first); i++ {
		}
	}
	for i := range plots {
		lines, err := indicator.Lines(plots[i].Indicator, plots[i].Parameters, plots[i].Outputs, each)
		if err != nil {
			return out, &WrongPlot{err}
		}
		for _, line := range lines {
			out.Lines = append(out.Lines, Line{Name: line.Name, Own: plots[i].OwnScale, Values: line.Values})
		}
	}
	return out, nil
}

// before returns the number of candles that indicators need before the first shown value: several times
// their longest period, since the memory of some has no end.
func before(plots []strategy.Plot) int64 {
	longest := 0.0
	for _, plot := range plots {
		for _, value := range plot.Parameters {
			longest = max(longest, value)
		}
	}
	return int64(min(beforePlot, float64(4*longest)+10))
}
