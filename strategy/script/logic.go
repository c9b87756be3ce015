package script

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy/indicator"
)

// At the top of the file a comparison of series is itself a series: 1 on each candle on which it is
// true, else 0. The same applies to crosses and to and, or and not of such conditions.

// logic holds and, or and not at the top of the file, under names that a script cannot write. The
// second operand is a function that is called only when needed.
var logic = map[string]*starlark.Builtin{
	"and": starlark.NewBuiltin("and", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return both(thread, args, "and", func(x, y bool) bool { return x && y }, false)
	}),
	"or": starlark.NewBuiltin("or", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return both(thread, args, "or", func(x, y bool) bool { return x || y }, true)
	}),
	"not": starlark.NewBuiltin("not", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if s, is := args[0].(*series); is && runningOf(thread).loading {
			return condition(runningOf(thread), s.on, "not "+s.name, func() bool { return !s.holds(0) }), nil
		}
		return !args[0].Truth(), nil
	}),
}

// both joins two conditions. Without a series it behaves like Starlark: it returns the first
// operand if that decides, else the second.
func both(thread *starlark.Thread, args starlark.Tuple, word string, of func(x, y bool) bool, decided starlark.Bool) (starlark.Value, error) {
	first, isSeries := args[0].(*series)
	isSeries = isSeries && runningOf(thread).loading
	if !isSeries && args[0].Truth() == decided {
		return args[0], nil
	}
	value, err := starlark.Call(thread, args[1], nil, nil)
	second, is := value.(*series)
	switch {
	case err != nil:
		return nil, err
	case !isSeries:
		return value, nil
	case is:
		return condition(first.owner, first.owner.meet(first.on, second.on), "("+first.name+" "+word+" "+second.name+")",
			func() bool { return of(first.holds(0), second.holds(0)) }), nil
	}
	constant := bool(value.Truth())
	return condition(first.owner, first.on, "("+first.name+" "+word+" "+label(value)+")", func() bool { return of(first.holds(0), constant) }), nil
}

// holds reports whether a value exists and is not zero, n candles back.
func (s *series) holds(n int) bool { v := s.at(n); return v == v && v != 0 }

// condition makes a series that is 1 while something is true and 0 otherwise.
func condition(r *running, on *clock, name string, is func() bool) *series {
	return r.condition(on, name, func(*indicator.Bar) bool { return is() })
}

// condition makes a condition of the candle.
func (r *running) condition(on *clock, name string, is func(bar *indicator.Bar) bool) *series {
	s := r.derive(on, name, func(bar *indicator.Bar) float64 {
		if is(bar) {
			return 1
		}
		return 0
	})
	s.condition = true
	return s
}

// rewriteLogic replaces and, or and not at the top of the file by calls.
func rewriteLogic(expression syntax.Expr) syntax.Expr {
	call := func(at syntax.Position, name string, args ...syntax.Expr) syntax.Expr {
		return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
	}
	switch e := expression.(type) {
	case *syntax.BinaryExpr:
		if e.Op == syntax.AND || e.Op == syntax.OR {
			return call(e.OpPos, e.Op.String(), e.X, &syntax.LambdaExpr{Lambda: e.OpPos, Body: e.Y})
		}
	case *syntax.UnaryExpr:
		if e.Op == syntax.NOT {
			return call(e.OpPos, "not", e.X)
		}
	}
	return expression
}

// undecided is the error of an if at the top of the file whose condition is a series.
const undecided = "a series has no value yet at the top of the file: decide by it in decide or candle, or choose a value with where(condition, a, b)"

// seriesMemory returns functions with memory: they are series at the top of the file and in rules.
func seriesMemory() starlark.StringDict {
	return starlark.StringDict{
		"since":         function("since", since),
		"value_when":    function("value_when", valueWhen),
		"where":         function("where", where),
		"anchored_vwap": function("anchored_vwap", anchoredVWAP),
	}
}

// since implements since(condition): the number of candles since it was last true; 0 on that
// candle.
func since(r *call) (starlark.Value, error) {
	var of *series
	if err := r.unpackSeries(&of); err != nil {
		return nil, err
	}
	passed := math.NaN()
	return r.derive(of.on, "since("+of.name+")", func(*indicator.Bar) float64 {
		if passed++; of.holds(0) {
			passed = 0
		}
		return passed
	}), nil
}

// valueWhen implements value_when(condition, series): the series' value on the last candle on which
// the condition was true.
func valueWhen(r *call) (starlark.Value, error) {
	var when, of *series
	if err := r.unpackSeries(&when, &of); err != nil {
		return nil, err
	}
	value := math.NaN()
	return r.derive(r.meet(when.on, of.on), "value_when("+when.name+", "+of.name+")", func(*indicator.Bar) float64 {
		if when.holds(0) {
			value = of.at(0)
		}
		return value
	}), nil
}

// where implements where(condition, a, b): a on each candle on which the condition is true, else b.
func where(r *call) (starlark.Value, error) {
	var when *series
	var yes, no starlark.Value
	if err := r.unpackSeries(&when, &yes, &no); err != nil {
		return nil, err
	}
	on := when.on
	for _, value := range []starlark.Value{yes, no} {
		if _, ok := number(value); !ok {
			return nil, fmt.Errorf("where: needs series or numbers, not a %s", value.Type())
		}
		if s, is := value.(*series); is {
			on = r.meet(on, s.on)
		}
	}
	return r.derive(on, r.text(), func(*indicator.Bar) float64 {
		value, _ := number(no)
		if when.holds(0) {
			value, _ = number(yes)
		}
		return value
	}), nil
}

// anchoredVWAP implements anchored_vwap(condition): the volume-weighted average price since the last
// candle on which the condition was true, that candle included.
func anchoredVWAP(r *call) (starlark.Value, error) {
	var from *series
	if err := r.unpackSeries(&from); err != nil {
		return nil, err
	}
	price, begun := indicator.NewVWAP(0, 1), false
	return r.derive(r.own(), "anchored_vwap("+from.name+")", func(bar *indicator.Bar) float64 {
		if from.holds(0) {
			price.Anchor()
			begun = true
		}
		if value := price.Add(*bar); begun {
			return value
		}
		return math.NaN()
	}), nil
}
