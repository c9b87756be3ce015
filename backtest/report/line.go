package report

import (
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
	if len(source.Plots) == 0 {
		return nil
	}
	bars := barsOf(source)
	last := make([]int, len(opens)) // for each drawn candle, the last one within it
	at := -1
	for i := range bars {
		for at+1 < len(opens) && bars[i].OpenMS/1000 >= opens[at+1] {
			at++
		}
		if at >= 0 && bars[i].OpenMS/1000 < opens[at]+int64(interval)/1000 {
			last[at] = i
		}
	}
	for i := range source.Plots {
		plot := &source.Plots[i]
		lines, err := indicator.Lines(plot.Indicator, plot.Parameters, plot.Outputs, bars)
		if err != nil {
			continue
		}
		for _, l := range lines {
			shown := make([]float64, len(last))
			for k, bar := range last {
				shown[k] = l.Values[bar]
			}
			if packed, some := lineOf(shown); some {
				packed.Name, packed.Own = l.Name, plot.OwnScale
				all = append(all, packed)
			}
		}
	}
	return all
}

func barsOf(source *Source) []indicator.Bar {
	candles, symbol := source.Candles, source.Symbol
	bars := make([]indicator.Bar, candles.Len())
	for i := range bars {
		bars[i] = indicator.Bar{Open: symbol.PriceFloat(candles.Open[i]), High: symbol.PriceFloat(candles.High[i]), Low: symbol.PriceFloat(candles.Low[i]),
			Close: symbol.PriceFloat(candles.Close[i]), Volume: candles.Volume[i], OpenMS: candles.OpenMS[i]}
	}
	return bars
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
