package indicator

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bar is a candle as indicators take it.
type Bar struct {
	Open, High, Low, Close, Volume float64
}

// Stream is any indicator of the table: it takes a candle and writes a value for
// each output, NaN before the first.
type Stream interface {
	Next(bar Bar, values []float64)
}

// Parameter describes one parameter of an indicator.
type Parameter struct {
	Name     string
	Default  float64
	Min, Max float64
	Whole    bool
}

// Definition describes one indicator.
type Definition struct {
	Name       string
	Summary    string
	Parameters []Parameter
	Outputs    []string

	make func(p []float64) Stream
}

const longest = 100_000 // candles of a period

// New returns a stream with the given parameters, the rest by default.
func (d *Definition) New(given map[string]float64) (Stream, error) {
	values := make([]float64, len(d.Parameters))
	known := make([]string, len(d.Parameters))
	for i, p := range d.Parameters {
		known[i], values[i] = p.Name, p.Default
		value, set := given[p.Name]
		if !set {
			continue
		}
		switch {
		case p.Whole && value != math.Trunc(value):
			return nil, fmt.Errorf("%s: %s %v is not a whole number", d.Name, p.Name, value)
		case !(value >= p.Min && value <= p.Max):
			return nil, fmt.Errorf("%s: %s %v is not from %v to %v", d.Name, p.Name, value, p.Min, p.Max)
		}
		values[i] = value
	}
	var unknown []string
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%s has no parameter %q (known: %s)", d.Name, slices.Min(unknown), strings.Join(known, ", "))
	}
	return d.make(values), nil
}

// Find returns the definition of that name.
func Find(name string) (*Definition, bool) {
	all := All()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// All returns every indicator, by name. Defaults are TA-Lib's.
func All() []Definition {
	one := []string{"value"}
	return []Definition{
		{"adx", "average directional index and the two directions", []Parameter{period(14, 2)}, []string{"plus_di", "minus_di", "adx"},
			func(p []float64) Stream { return adxStream{NewADX(int(p[0]))} }},
		{"atr", "average true range", []Parameter{period(14, 1)}, one, func(p []float64) Stream { return candled{NewATR(int(p[0]))} }},
		{"bollinger", "a mean and bands of deviations around it", []Parameter{period(5, 2), {"deviations", 2, -100, 100, false}}, []string{"upper", "middle", "lower"},
			func(p []float64) Stream { return bollingerStream{NewBollinger(int(p[0]), p[1])} }},
		{"ema", "exponential moving average", []Parameter{period(30, 1)}, one, func(p []float64) Stream { return closed{NewEMA(int(p[0]))} }},
		{"macd", "convergence and divergence of two averages", []Parameter{named("fast", 12, 2), named("slow", 26, 2), named("signal", 9, 1)}, []string{"macd", "signal", "histogram"},
			func(p []float64) Stream { return macdStream{NewMACD(int(p[0]), int(p[1]), int(p[2]))} }},
		{"rsi", "relative strength index", []Parameter{period(14, 2)}, one, func(p []float64) Stream { return closed{NewRSI(int(p[0]))} }},
		{"sma", "simple moving average", []Parameter{period(30, 1)}, one, func(p []float64) Stream { return closed{NewMean(int(p[0]))} }},
		{"stddev", "standard deviation of a population", []Parameter{period(5, 2)}, one, func(p []float64) Stream { return closed{NewStdDev(int(p[0]))} }},
		{"stoch", "slow stochastic", []Parameter{named("k", 5, 1), named("k_smooth", 3, 1), named("d", 3, 1)}, []string{"k", "d"},
			func(p []float64) Stream { return stochStream{NewStoch(int(p[0]), int(p[1]), int(p[2]))} }},
		{"supertrend", "a trend line of average true ranges", []Parameter{period(10, 1), {"multiplier", 3, 0, 1_000, false}}, one,
			func(p []float64) Stream { return candled{NewSupertrend(int(p[0]), p[1])} }},
	}
}

func named(name string, fallback, least float64) Parameter {
	return Parameter{name, fallback, least, longest, true}
}

func period(fallback, least float64) Parameter { return named("period", fallback, least) }

// closed runs an indicator of closes.
type closed struct {
	next interface {
		Next(value float64) (float64, bool)
	}
}

func (c closed) Next(bar Bar, values []float64) { values[0] = orNaN(c.next.Next(bar.Close)) }

// candled runs an indicator of high, low and close.
type candled struct {
	next interface {
		Next(high, low, closes float64) (float64, bool)
	}
}

func (c candled) Next(bar Bar, values []float64) {
	values[0] = orNaN(c.next.Next(bar.High, bar.Low, bar.Close))
}

func orNaN(value float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return value
}

func set(values []float64, ok bool, all ...float64) {
	for i, value := range all {
		values[i] = orNaN(value, ok)
	}
}

type bollingerStream struct{ bands *Bollinger }

func (s bollingerStream) Next(bar Bar, values []float64) {
	upper, middle, lower, ok := s.bands.Next(bar.Close)
	set(values, ok, upper, middle, lower)
}

type macdStream struct{ lines *MACD }

func (s macdStream) Next(bar Bar, values []float64) {
	macd, signal, histogram, ok := s.lines.Next(bar.Close)
	set(values, ok, macd, signal, histogram)
}

type stochStream struct{ lines *Stoch }

func (s stochStream) Next(bar Bar, values []float64) {
	k, d, ok := s.lines.Next(bar.High, bar.Low, bar.Close)
	set(values, ok, k, d)
}

type adxStream struct{ index *ADX }

func (s adxStream) Next(bar Bar, values []float64) {
	d, _ := s.index.Next(bar.High, bar.Low, bar.Close)
	set(values, true, d.Plus, d.Minus, d.Index)
}
