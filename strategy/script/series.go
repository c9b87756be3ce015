package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy/indicator"
)

// history is the number of past values of a series that a script can read.
const history = 256

// series has a value for every candle: a price, an indicator, or arithmetic of series defined at
// the top of the file. In decide it represents its newest value.
type series struct {
	owner *running
	on    *clock
	name  string
	ring  [history]float64
	count int
	held  float64 // the newest value at the strategy's previous candle; of a series of another clock

	condition bool // its values are 1 and 0
}

var (
	_ starlark.HasBinary = (*series)(nil)
	_ starlark.HasUnary  = (*series)(nil)
	_ starlark.Mapping   = (*series)(nil)
)

func (s *series) push(value float64) {
	s.ring[s.count%history] = value
	s.count++
}

// at returns the value n candles back, or NaN if there is none.
func (s *series) at(n int) float64 {
	if n >= s.count || n >= history {
		return math.NaN()
	}
	return s.ring[(s.count-1-n)%history]
}

// String returns the newest value.
func (s *series) String() string { return fmt.Sprintf("%s=%g", s.name, s.at(0)) }

// Type returns the Starlark type name.
func (s *series) Type() string { return "series" }

// Freeze does nothing: a script cannot change a series.
func (s *series) Freeze() {}

// Truth reports whether the newest value exists and is not zero.
func (s *series) Truth() starlark.Bool {
	if s.owner.loading {
		panic(&starlark.EvalError{Msg: undecided, CallStack: s.owner.thread.CallStack()})
	}
	return starlark.Bool(s.holds(0))
}

// Hash returns an error: a series cannot be a key.
func (s *series) Hash() (uint32, error) { return 0, errors.New("a series cannot be a key") }

// Get implements s[n], the value n candles back. At the top of the file it returns a series of
// these values.
func (s *series) Get(key starlark.Value) (starlark.Value, bool, error) {
	n, err := starlark.AsInt32(key)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("%s[%s]: the number of candles back must be an integer", s.name, key)
	case n < 0 || n >= history:
		return nil, false, fmt.Errorf("%s[%d]: a series has values from 0 (the newest) to %d candles back", s.name, n, history-1)
	}
	if s.owner.loading {
		return s.owner.derive(s.on, fmt.Sprintf("%s[%d]", s.name, n), func(*indicator.Bar) float64 { return s.at(n) }), true, nil
	}
	return starlark.Float(s.at(n)), true, nil
}

// Binary implements arithmetic with a number or another series.
func (s *series) Binary(operator syntax.Token, other starlark.Value, side starlark.Side) (starlark.Value, error) {
	compute, known := arithmetic[operator]
	if !known {
		return nil, nil
	}
	constant, ok := number(other)
	if !ok {
		return nil, nil
	}
	if !s.owner.loading {
		x, y := s.at(0), constant
		if side == starlark.Right {
			x, y = y, x
		}
		return starlark.Float(compute(x, y)), nil
	}
	operand, on := func() float64 { return constant }, s.on
	if series, is := other.(*series); is {
		operand, on = func() float64 { return series.at(0) }, s.owner.meet(s.on, series.on)
	}
	result := func() float64 {
		if side == starlark.Right {
			return compute(operand(), s.at(0))
		}
		return compute(s.at(0), operand())
	}
	name := s.name + " " + operator.String() + " " + label(other)
	if side == starlark.Right {
		name = label(other) + " " + operator.String() + " " + s.name
	}
	return s.owner.derive(on, "("+name+")", func(*indicator.Bar) float64 { return result() }), nil
}

// Unary implements -s and +s.
func (s *series) Unary(operator syntax.Token) (starlark.Value, error) {
	switch {
	case operator == syntax.PLUS:
		return s, nil
	case operator != syntax.MINUS:
		return nil, nil
	case s.owner.loading:
		return s.owner.derive(s.on, "-"+s.name, func(*indicator.Bar) float64 { return -s.at(0) }), nil
	}
	return starlark.Float(-s.at(0)), nil
}

var arithmetic = map[syntax.Token]func(x, y float64) float64{
	syntax.PLUS:  func(x, y float64) float64 { return x + y },
	syntax.MINUS: func(x, y float64) float64 { return x - y },
	syntax.STAR:  func(x, y float64) float64 { return float64(x * y) },
	syntax.SLASH: func(x, y float64) float64 {
		if y == 0 {
			return math.NaN()
		}
		return x / y
	},
}

func label(value starlark.Value) string {
	if s, is := value.(*series); is {
		return s.name
	}
	return value.String()
}

// callText returns a call as a script writes it, such as ema(close, 12).
func callText(function string, args starlark.Tuple, named []starlark.Tuple) string {
	texts := make([]string, 0, len(args)+len(named))
	for _, value := range args {
		texts = append(texts, label(value))
	}
	for _, pair := range named {
		texts = append(texts, string(pair[0].(starlark.String))+"="+label(pair[1]))
	}
	return function + "(" + strings.Join(texts, ", ") + ")"
}

// outputs holds the series of an indicator with several outputs, by name.
type outputs struct {
	definition *indicator.Definition
	all        []*series
}

var _ starlark.HasAttrs = (*outputs)(nil)

// String returns the indicator's name and newest values.
func (o *outputs) String() string {
	texts := make([]string, len(o.all))
	for i, s := range o.all {
		texts[i] = fmt.Sprintf("%s=%g", o.definition.Outputs[i], s.at(0))
	}
	return o.definition.Name + "(" + strings.Join(texts, ", ") + ")"
}

// Type returns the Starlark type name, which is the indicator's name.
func (o *outputs) Type() string { return o.definition.Name }

// Freeze does nothing: a script cannot change it.
func (o *outputs) Freeze() {}

// Truth is always true.
func (o *outputs) Truth() starlark.Bool { return true }

// Hash returns an error: it cannot be a key.
func (o *outputs) Hash() (uint32, error) { return 0, errors.New(o.Type() + " cannot be a key") }

// Attr returns one of the series.
func (o *outputs) Attr(name string) (starlark.Value, error) {
	if i := slices.Index(o.definition.Outputs, name); i >= 0 {
		return o.all[i], nil
	}
	return nil, noOutput(o.definition, name)
}

// noOutput returns the error for an output that the indicator does not have.
func noOutput(definition *indicator.Definition, name string) error {
	return fmt.Errorf("%s has no .%s: write %s", definition.Name, name, example(definition))
}

// AttrNames returns the names of the series.
func (o *outputs) AttrNames() []string { return slices.Sorted(slices.Values(o.definition.Outputs)) }

func example(definition *indicator.Definition) string {
	return definition.Name + "(...)." + strings.Join(definition.Outputs, " or .")
}
