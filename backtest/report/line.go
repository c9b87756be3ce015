package report

import (
	"iter"
	"math"
	"slices"

	"botd/exchange"
	"botd/strategy/indicator"
)

// line is an output of an indicator, in units of a suitable size: its first value, then each one's distance from the
// one before. Values begin at the candle First.
type line struct {
	Name   string  `json:"name"`
	Own    bool    `json:"own"` // on its own scale, below the price
	Unit   float64 `json:"u"`
	First  int     `json:"from"`
	Values []int64 `json:"v"`
}

// linesOf returns the indicators that the strategy reads. They are computed over the candles that it decides on, and
// sampled at the last of those within each drawn candle. An indicator that cannot be computed is omitted: the run
// would have ended with its error.
func linesOf(source *Source, opens instants, interval exchange.Interval) (all []line) {
	for i := range source.Plots {
		plot := &source.Plots[i]
		lines, err := indicator.Lines(plot.Indicator, plot.Parameters, plot.Outputs, source.bars(opens, interval))
		if err != nil {
			continue
		}
		for _, l := range lines {
			if packed, some := lineOf(l.Values); some {
				packed.Name, packed.Own = l.Name, plot.OwnScale
				all = append(all, packed)
			}
		}
	}
	return all
}

// bars returns the candles one by one, since a list of all of them takes more than half of their own memory. Each comes
// with whether it is the last one within a drawn candle.
func (s *Source) bars(opens instants, interval exchange.Interval) iter.Seq2[indicator.Bar, bool] {
	return func(yield func(indicator.Bar, bool) bool) {
		candles, symbol := s.Candles, s.Symbol
		drawn := func(i, at int) bool { return candles.OpenMS[i]/1000 < opens[at]+int64(interval)/1000 }
		for i, at := 0, 0; i < candles.Len(); i++ {
			for at+1 < len(opens) && candles.OpenMS[i]/1000 >= opens[at+1] {
				at++
			}
			bar := indicator.Bar{Open: symbol.PriceFloat(candles.Open[i]), High: symbol.PriceFloat(candles.High[i]), Low: symbol.PriceFloat(candles.Low[i]),
				Close: symbol.PriceFloat(candles.Close[i]), Volume: candles.Volume[i], OpenMS: candles.OpenMS[i]}
			if last := drawn(i, at) && (i+1 == candles.Len() || !drawn(i+1, at)); !yield(bar, last) {
				return
			}
		}
	}
}

// lineOf encodes values. A missing value after the first one repeats its predecessor. some is false when all values
// are missing.
func lineOf(values []float64) (l line, some bool) {
	missing := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	first := slices.IndexFunc(values, func(v float64) bool { return !missing(v) })
	if first < 0 {
		return l, false
	}
	largest := 0.0
	for _, v := range values[first:] {
		if !missing(v) {
			largest = max(largest, math.Abs(v))
		}
	}
	if l.Unit = 1; largest > 0 { // five digits of the largest: less than a pixel
		l.Unit = math.Pow(10, math.Floor(math.Log10(largest))-4)
	}
	l.First, l.Values = first, make([]int64, 0, len(values)-first)
	before := int64(0)
	for _, v := range values[first:] {
		now := before
		if !missing(v) {
			now = int64(math.Round(v / l.Unit))
		}
		l.Values, before = append(l.Values, now-before), now
	}
	return l, true
}
