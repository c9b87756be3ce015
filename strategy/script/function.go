package script

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"botd/strategy/indicator"
)

// seriesFunctions returns functions of series. At the top of the file they return a series, in decide a
// number. Without any series argument, abs, max and min are Starlark's own.
func seriesFunctions() starlark.StringDict {
	return starlark.StringDict{
		"abs":     ofSeries("abs", 1, 1, func(values []float64) float64 { return math.Abs(values[0]) }),
		"log":     ofSeries("log", 1, 1, func(values []float64) float64 { return math.Log(values[0]) }),
		"max":     ofSeries("max", 2, 16, func(values []float64) float64 { return extremeOf(values, math.Max) }),
		"min":     ofSeries("min", 2, 16, func(values []float64) float64 { return extremeOf(values, math.Min) }),
		"sum":     function("sum", sum),
		"hour":    ofTime("hour", func(minutes int64) int64 { return minutes / 60 % 24 }),
		"minute":  ofTime("minute", func(minutes int64) int64 { return minutes % 60 }),
		"session": function("session", session),
		"weekday": ofTime("weekday", func(minutes int64) int64 { return (minutes/1440 + 3) % 7 }), // 1970-01-01 was a Thursday
	}
}

// liftable are the functions whose calls are series if their arguments are.
var liftable = map[string]bool{"abs": true, "log": true, "max": true, "min": true, "sum": true, "hour": true, "minute": true, "weekday": true,
	"session": true, "since": true, "value_when": true, "where": true, "anchored_vwap": true}

func extremeOf(values []float64, of func(x, y float64) float64) float64 {
	best := values[0]
	for _, v := range values[1:] {
		best = of(best, v)
	}
	return best
}

// ofSeries returns a function of series and numbers. If any argument has no value yet, neither has
// the result.
func ofSeries(name string, least, most int, of func(values []float64) float64) *starlark.Builtin {
	return function(name, func(r *call) (starlark.Value, error) {
		on := r.clockFor(r.given)
		if own, is := starlark.Universe[name]; is && on == nil {
			return starlark.Call(r.thread, own, r.given, r.named)
		}
		if len(r.named) > 0 || len(r.given) < least || len(r.given) > most {
			return nil, fmt.Errorf("%s takes from %d to %d series or numbers", name, least, most)
		}
		values := make([]float64, len(r.given))
		compute := func() float64 {
			for i, arg := range r.given {
				values[i], _ = number(arg)
			}
			result := of(values)
			if math.IsInf(result, 0) {
				return math.NaN()
			}
			return result
		}
		for _, arg := range r.given {
			if _, ok := number(arg); !ok {
				return nil, fmt.Errorf("%s: needs series or numbers, not a %s", name, arg.Type())
			}
		}
		if !r.loading || on == nil {
			return starlark.Float(compute()), nil
		}
		return r.derive(on, r.text(), func(*indicator.Bar) float64 { return compute() }), nil
	})
}

// sum implements sum(series, candles), the sum of the last values.
func sum(r *call) (starlark.Value, error) {
	var of starlark.Value
	var n int
	if err := r.unpack(&of, &n); err != nil {
		return nil, err
	}
	s, is := of.(*series)
	if !is || n < 1 || n > history {
		return nil, fmt.Errorf("sum(series, candles): a series, and from 1 to %d candles", history)
	}
	compute := func() (all float64) {
		for i := range n {
			all += s.at(i)
		}
		return all
	}
	if r.loading {
		return r.derive(s.on, fmt.Sprintf("sum(%s, %d)", s.name, n), func(*indicator.Bar) float64 { return compute() }), nil
	}
	return starlark.Float(compute()), nil
}
