package indicator

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bar is a candle as indicators use it.
type Bar struct {
	Open, High, Low, Close, Volume float64
	OpenMS                         int64 // for indicators that start over each day
}

// Stream is any indicator of the table. It takes a candle and writes a value for each output, NaN
// before the first.
type Stream interface {
	Next(bar Bar, values []float64)
}

// Parameter describes one parameter of an indicator.
type Parameter struct {
	Name    string  `json:"name"`
	Default float64 `json:"default"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Whole   bool    `json:"-"`
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

// New returns a stream with the given parameters and defaults for the others.
func (d *Definition) New(given map[string]float64) (Stream, error) {
	values := make([]float64, len(d.Parameters))
	for i, p := range d.Parameters {
		values[i] = p.Default
		value, set := given[p.Name]
		if old := d.oldName(p.Name); old != "" && !set {
			value, set = given[old]
		}
		if !set {
			continue
		}
		switch {
		case p.Whole && value != math.Trunc(value):
			return nil, fmt.Errorf("%s: %s %v is not an integer", d.Name, p.Name, value)
		case !(value >= p.Min && value <= p.Max):
			return nil, fmt.Errorf("%s: %s %v is not between %v and %v", d.Name, p.Name, value, p.Min, p.Max)
		}
		values[i] = value
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := d.Has(name); err != nil {
			return nil, err
		}
	}
	return d.make(values), nil
}

// Has returns an error unless the indicator has a parameter of that name.
func (d *Definition) Has(parameter string) error {
	known := make([]string, len(d.Parameters))
	for i, p := range d.Parameters {
		if known[i] = p.Name; d.oldName(p.Name) == parameter && parameter != "" {
			return nil
		}
	}
	if !slices.Contains(known, parameter) {
		return fmt.Errorf("%s has no parameter %q (known: %s)", d.Name, parameter, strings.Join(known, ", "))
	}
	return nil
}

// oldName returns a deprecated name of a parameter, which configurations may still have, or "".
func (d *Definition) oldName(parameter string) string {
	if d.Name == "psar" && parameter == "maximum" {
		return "most"
	}
	return ""
}

// Find returns the definition with that name.
func Find(name string) (*Definition, bool) {
	all := All()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// All returns every indicator, by name. Defaults are TA-Lib's, or those of the publication where TA-Lib has none.
func All() []Definition {
	all := slices.Concat(averages(), oscillators(), channels(), trends(), volumes(), relations(), patternDefinitions())
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func named(name string, fallback, minimum float64) Parameter {
	return Parameter{name, fallback, minimum, longest, true}
}

func period(fallback, minimum float64) Parameter { return named("period", fallback, minimum) }

// factor returns a parameter that need not be an integer.
func factor(name string, fallback, minimum, maximum float64) Parameter {
	return Parameter{name, fallback, minimum, maximum, false}
}
