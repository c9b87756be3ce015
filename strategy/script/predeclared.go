package script

import (
	"fmt"
	"maps"
	"math"

	starmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"

	"botd/strategy/indicator"
)

// shared holds the built-in names of every script in addition to Starlark's own. The series of the
// candle and state are added for each strategy.
var shared = predeclare()

func predeclare() starlark.StringDict {
	known := starlark.StringDict{
		"param":       function("param", param),
		"warmup":      function("warmup", warmup),
		"long_only":   function("long_only", longOnly),
		"reentry":     function("reentry", reentry),
		"hold":        function("hold", hold),
		"plan":        function("plan", plan),
		"order":       function("order", order),
		"size":        function("size", size),
		"quantity":    target("quantity"),
		"equity":      target("equity"),
		"quote":       target("quote"),
		"risk":        function("risk", risk),
		"trailing":    function("trailing", trailing),
		"targets":     function("targets", targets),
		"pair":        function("pair", pair),
		"cross_above": crossing("cross_above", func(before, now float64) bool { return before <= 0 && now > 0 }),
		"cross_below": crossing("cross_below", func(before, now float64) bool { return before >= 0 && now < 0 }),
		"rising":      steady("rising", func(before, now float64) bool { return now > before }),
		"falling":     steady("falling", func(before, now float64) bool { return now < before }),
		"notify":      function("notify", notify),
		"candles":     function("candles", candlesOf),
		"column":      function("column", column),
		"known":       function("known", known),
		"round":       function("round", round),
		"math":        starmath.Module,
	}
	maps.Copy(known, seriesFunctions())
	maps.Copy(known, seriesMemory())
	for name, function := range logic {
		known[name] = function
	}
	for _, function := range comparisons {
		known[function.Name()] = function
	}
	known[percent.Name()] = percent
	known[formatName] = format
	for _, name := range [...]string{"float", "int", "str"} {
		known[name] = ofNewest(name)
	}
	for _, definition := range indicator.All() {
		known[definition.Name] = maker(definition)
	}
	known.Freeze()
	return known
}

// priceSources are the series of the candle itself.
var priceSources = []struct {
	name string
	of   func(bar *indicator.Bar) float64
}{
	{"open", func(b *indicator.Bar) float64 { return b.Open }},
	{"high", func(b *indicator.Bar) float64 { return b.High }},
	{"low", func(b *indicator.Bar) float64 { return b.Low }},
	{"close", func(b *indicator.Bar) float64 { return b.Close }},
	{"volume", func(b *indicator.Bar) float64 { return b.Volume }},
	{"hl2", func(b *indicator.Bar) float64 { return float64((b.High + b.Low) / 2) }},
	{"hlc3", func(b *indicator.Bar) float64 { return (b.High + b.Low + b.Close) / 3 }},
	{"ohlc4", func(b *indicator.Bar) float64 { return float64((b.Open + b.High + b.Low + b.Close) / 4) }},
}

func isPredeclared(name string) bool {
	if _, is := shared[name]; is || name == "state" {
		return true
	}
	for _, source := range priceSources {
		if source.name == name {
			return true
		}
	}
	return false
}

// Names returns the names that a script can use, for help and suggestions.
func Names() []string {
	names := []string{"state"}
	for _, source := range priceSources {
		names = append(names, source.name)
	}
	for _, name := range shared.Keys() {
		if name[0] >= 'a' {
			names = append(names, name)
		}
	}
	return names
}

// maker returns a function that creates an indicator at the top of the file: name(series,
// parameters). Without a series it uses the candle itself.
func maker(definition indicator.Definition) *starlark.Builtin {
	return function(definition.Name, func(r *call) (starlark.Value, error) {
		if !r.loading {
			return nil, tooLate(definition.Name)
		}
		var source, second *series
		args := r.given
		on, text := r.own(), r.text()
		if len(args) > 0 {
			switch first := args[0].(type) {
			case *series:
				source, on, args = first, first.on, args[1:]
			case *candles:
				on, args = first.on, args[1:]
			}
		}
		if definition.Two() && source != nil {
			if len(args) > 0 {
				second, _ = args[0].(*series)
			}
			if second == nil {
				return nil, fmt.Errorf("%s needs two series: %s(candles(\"1d\").close, close, %g)", definition.Name, definition.Name,
					definition.Parameters[0].Default)
			}
			on, args = r.meet(on, second.on), args[1:]
		}
		values, err := parametersOf(&definition, args, r.named)
		if err != nil {
			return nil, err
		}
		stream, err := definition.New(values)
		if err != nil {
			return nil, err
		}
		return r.indicator(on, text, &definition, stream, source, second), nil
	})
}

// tooLate returns the error for an indicator that is created after candles have already passed.
func tooLate(name string) error {
	return fmt.Errorf("%s(...) defines an indicator, which must see every candle: call it at the top of the file, "+
		"outside any function, and use its name here", name)
}

func parametersOf(definition *indicator.Definition, args starlark.Tuple, named []starlark.Tuple) (map[string]float64, error) {
	if len(args) > len(definition.Parameters) {
		return nil, fmt.Errorf("%s: %d parameters given, it has %d", definition.Name, len(args), len(definition.Parameters))
	}
	values := map[string]float64{}
	set := func(name string, value starlark.Value) error {
		f, ok := number(value)
		if _, is := value.(*series); !ok || is || math.IsNaN(f) {
			return fmt.Errorf("%s: %s is a number, not %s", definition.Name, name, value.Type())
		}
		if _, twice := values[name]; twice {
			return fmt.Errorf("%s: %s is given twice", definition.Name, name)
		}
		values[name] = f
		return nil
	}
	for i, value := range args {
		if err := set(definition.Parameters[i].Name, value); err != nil {
			return nil, err
		}
	}
	for _, pair := range named {
		if err := set(string(pair[0].(starlark.String)), pair[1]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// indicator adds a node that feeds a stream: with one or two series, or with the candle.
func (r *running) indicator(on *clock, text string, definition *indicator.Definition, stream indicator.Stream, source, second *series) starlark.Value {
	all := make([]*series, len(definition.Outputs))
	for i, output := range definition.Outputs {
		name := text
		if len(all) > 1 {
			name += "." + output
		}
		all[i] = r.series(on, name)
	}
	values := make([]float64, len(all))
	on.nodes = append(on.nodes, &node{wrote: all, step: func(bar *indicator.Bar) {
		if source != nil {
			v := source.at(0)
			bar = &indicator.Bar{Open: v, High: v, Low: v, Close: v, Volume: bar.Volume, OpenMS: bar.OpenMS}
		}
		if second != nil {
			bar.Low = second.at(0)
		}
		if math.IsNaN(bar.Close) || math.IsNaN(bar.Low) { // no value yet
			for i := range values {
				values[i] = math.NaN()
			}
		} else {
			stream.Next(*bar, values)
		}
		for i, s := range all {
			s.push(values[i])
		}
	}})
	if len(all) == 1 {
		return all[0]
	}
	return &outputs{definition, all}
}

// newestTwo returns a value's newest value and the one before, at the previous candle of a clock. A number never changes.
func newestTwo(value starlark.Value, on *clock) (now, before float64, err error) {
	if s, is := value.(*series); is && s.on == on {
		return s.at(0), s.at(1), nil
	} else if is {
		return s.at(0), s.held, nil
	}
	f, ok := number(value)
	if !ok {
		return 0, 0, fmt.Errorf("needs a series or a number, not %s", value.Type())
	}
	return f, f, nil
}

// crossing returns a function of two series that is true on the candle of the cross.
func crossing(name string, is func(before, now float64) bool) *starlark.Builtin {
	return function(name, func(r *call) (starlark.Value, error) {
		if len(r.given) != 2 || len(r.named) > 0 {
			return nil, fmt.Errorf("%s takes two series: the crossing one and the crossed one", name)
		}
		on := r.clockFor(r.given)
		if made, err := r.joined(on, func() bool {
			a, aBefore, _ := newestTwo(r.given[0], on)
			b, bBefore, _ := newestTwo(r.given[1], on)
			return is(aBefore-bBefore, a-b)
		}); made != nil || err != nil {
			return made, err
		}
		a, aBefore, err := newestTwo(r.given[0], on)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b, bBefore, err := newestTwo(r.given[1], on)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return starlark.Bool(is(aBefore-bBefore, a-b)), nil
	})
}

// clockFor returns the clock of an operation on values, or nil if none of them is a series.
func (r *running) clockFor(values starlark.Tuple) (on *clock) {
	for _, value := range values {
		if s, is := value.(*series); is && on == nil {
			on = s.on
		} else if is {
			on = r.meet(on, s.on)
		}
	}
	return on
}

// joined returns a condition of two series at the top of the file as a series, or nil elsewhere.
func (r *call) joined(on *clock, holds func() bool) (starlark.Value, error) {
	if !r.loading {
		return nil, nil
	}
	for _, arg := range r.given {
		if _, ok := number(arg); !ok {
			return nil, fmt.Errorf("%s: needs a series or a number, not %s", r.function, arg.Type())
		}
	}
	if on == nil {
		return nil, fmt.Errorf("%s takes two series: the crossing one and the crossed one", r.function)
	}
	return condition(r.running, on, r.function+"("+label(r.given[0])+", "+label(r.given[1])+")", holds), nil
}

// steady returns a function of a series that is true if each of the last n values has the given
// relation to its predecessor.
func steady(name string, is func(before, now float64) bool) *starlark.Builtin {
	return function(name, func(r *call) (starlark.Value, error) {
		var of starlark.Value
		n := 1
		if err := r.unpack(&of, &n); err != nil {
			return nil, err
		}
		s, ok := of.(*series)
		if !ok || n < 1 || n >= history {
			return nil, fmt.Errorf("%s(series, candles): a series, and from 1 to %d candles", name, history-1)
		}
		holds := func() bool {
			for i := range n {
				if !is(s.at(i+1), s.at(i)) {
					return false
				}
			}
			return true
		}
		if r.loading {
			return condition(r.running, s.on, fmt.Sprintf("%s(%s, %d)", name, s.name, n), holds), nil
		}
		return starlark.Bool(holds()), nil
	})
}

// known implements known(value): whether a value exists yet.
func known(r *call) (starlark.Value, error) {
	var value starlark.Value
	if err := starlark.UnpackPositionalArgs("known", r.given, r.named, 1, &value); err != nil {
		return nil, err
	}
	if s, is := value.(*series); is && s.owner.loading {
		return condition(s.owner, s.on, "known("+s.name+")", func() bool { return !math.IsNaN(s.at(0)) }), nil
	}
	f, ok := number(value)
	return starlark.Bool(ok && !math.IsNaN(f)), nil
}

// round implements round(value, digits=0): it rounds to that many decimals, for strings.
func round(r *call) (starlark.Value, error) {
	var value starlark.Value
	digits := 0
	if err := r.unpack(&value, &digits); err != nil {
		return nil, err
	}
	f, ok := number(value)
	if !ok || digits < 0 || digits > 12 {
		return nil, fmt.Errorf("round(value, digits): a number, and from 0 to 12 digits")
	}
	unit := math.Pow10(digits)
	return starlark.Float(math.Round(f*unit) / unit), nil
}
