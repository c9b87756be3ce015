package view

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	Name   string `json:"name"` // sma 10
	Own    bool   `json:"own"`  // on its own scale, below the price
	Values Values `json:"values"`
}

// Values are floats of which some are missing, as NaN.
type Values []float64

// MarshalJSON writes eight digits, and null for a missing value.
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
		out = strconv.AppendFloat(out, value, 'g', 8, 64)
	}
	return append(out, ']'), nil
}

// WrongPlot is an indicator that cannot be computed as a strategy configures it.
type WrongPlot struct{ Err error }

func (w *WrongPlot) Error() string { return w.Err.Error() }

// Plots computes indicators over the candles of a symbol that open in a time.
func (m *MarketData) Plots(ctx context.Context, symbol *exchange.Symbol, interval exchange.Interval, plots []strategy.Plot,
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
	for i := range plots {
		lines, err := linesOf(&plots[i], bars, first)
		if err != nil {
			return out, &WrongPlot{err}
		}
		out.Lines = append(out.Lines, lines...)
	}
	return out, nil
}

// before is the number of candles that indicators need before the first shown value: several
// times their longest period, since some never forget.
func before(plots []strategy.Plot) int64 {
	longest := 0.0
	for _, plot := range plots {
		for _, value := range plot.Parameters {
			longest = max(longest, value)
		}
	}
	return int64(min(beforePlot, 4*longest+10))
}

// linesOf runs an indicator over all bars and returns its values from the first shown one.
func linesOf(plot *strategy.Plot, bars []indicator.Bar, first int) ([]Line, error) {
	definition, known := indicator.Find(plot.Indicator)
	if !known {
		return nil, fmt.Errorf("there is no indicator %q", plot.Indicator)
	}
	stream, err := definition.New(plot.Parameters)
	if err != nil {
		return nil, err
	}
	name := plot.Indicator
	for _, p := range definition.Parameters {
		if value, given := plot.Parameters[p.Name]; given {
			name += " " + strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
	outputs := plot.Outputs
	if outputs == nil {
		outputs = definition.Outputs
	}
	lines, values := make([]Line, len(outputs)), make([]float64, len(definition.Outputs))
	for k := range lines {
		lines[k] = Line{Name: name, Own: plot.OwnScale, Values: make(Values, 0, len(bars)-first)}
		if len(outputs) > 1 {
			lines[k].Name = strings.TrimSpace(name + " " + outputs[k])
		}
	}
	for i, bar := range bars {
		stream.Next(bar, values)
		for k := range lines {
			if i >= first {
				lines[k].Values = append(lines[k].Values, values[slices.Index(definition.Outputs, outputs[k])])
			}
		}
	}
	return lines, nil
}
