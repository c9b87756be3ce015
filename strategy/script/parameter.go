package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"go.starlark.net/starlark"

	"botd/strategy"
)

// param implements param(name, default, min=, max=, oneof=, help=): a parameter of the strategy,
// set in its YAML. The default determines its kind.
func param(r *call) (starlark.Value, error) {
	if !r.loading {
		return nil, errors.New("param(...) belongs at the top of the file, outside any function")
	}
	var (
		name, help       string
		fallback         starlark.Value
		minimum, maximum starlark.Value
		oneOf            *starlark.List
		kinds            = map[string]string{"int": "int", "float": "decimal", "bool": "bool", "string": "text"}
		parameterName    = func() string { return fmt.Sprintf("param(%q)", name) }
	)
	if err := r.unpack(&name, &fallback, &minimum, &maximum, &oneOf, &help); err != nil {
		return nil, err
	}
	if !identifier(name) {
		return nil, fmt.Errorf("%s: a name consists of a-z, 0-9 and _", parameterName())
	}
	if slices.ContainsFunc(r.parameters, func(p strategy.Parameter) bool { return p.Name == name }) {
		return nil, fmt.Errorf("%s: the name is already used", parameterName())
	}
	kind, ok := kinds[fallback.Type()]
	if !ok {
		return nil, fmt.Errorf("%s: the default must be a number, a string, True or False, not a %s", parameterName(), fallback.Type())
	}
	p := strategy.Parameter{Name: name, Kind: kind, Help: help, Default: text(fallback)}
	for _, bound := range []struct {
		given starlark.Value
		into  *string
	}{{minimum, &p.Min}, {maximum, &p.Max}} {
		if bound.given != nil && bound.given != starlark.None {
			if _, isNumber := number(bound.given); !isNumber {
				return nil, fmt.Errorf("%s: min and max must be numbers", parameterName())
			}
			*bound.into = text(bound.given)
		}
	}
	if oneOf != nil {
		for element := range oneOf.Elements() {
			p.OneOf = append(p.OneOf, text(element))
		}
	}
	if err := p.Check(p.Default); err != nil {
		return nil, fmt.Errorf("%s: its default %w", parameterName(), err)
	}
	r.parameters = append(r.parameters, p)
	given, set := r.values[name]
	if !set {
		return fallback, nil
	}
	return valueOf(p, given)
}

func identifier(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func text(value starlark.Value) string {
	switch value := value.(type) {
	case starlark.String:
		return string(value)
	case starlark.Float:
		return strconv.FormatFloat(float64(value), 'f', -1, 64)
	case starlark.Bool:
		return strconv.FormatBool(bool(value))
	}
	return value.String()
}

// valueOf converts a checked YAML value to a script value.
func valueOf(p strategy.Parameter, given string) (starlark.Value, error) {
	switch p.Kind {
	case "int":
		n, err := strconv.Atoi(given)
		return starlark.MakeInt(n), err
	case "bool":
		b, err := strconv.ParseBool(given)
		return starlark.Bool(b), err
	case "decimal":
		number, percent := strings.CutSuffix(given, "%")
		d, err := decimal.NewFromString(number)
		if percent {
			d = d.Shift(-2)
		}
		return starlark.Float(d.InexactFloat64()), err
	}
	return starlark.String(given), nil
}

// reentry implements reentry("signal"), "immediate" or "never": the condition for entering a side
// again after a stop-loss or take-profit ended its position.
func reentry(r *call) (_ starlark.Value, err error) {
	var policy string
	if err := r.unpack(&policy); err != nil {
		return nil, err
	}
	if !r.loading {
		return nil, errors.New("reentry(policy) belongs at the top of the file")
	}
	r.reentry, err = strategy.ParseReentry(policy)
	return starlark.None, err
}

// longOnly implements long_only(): the script holds only long positions. Its view never shows a
// short position, and a target below zero is an error.
func longOnly(r *call) (starlark.Value, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	if !r.loading {
		return nil, errors.New("long_only() belongs at the top of the file")
	}
	r.long = true
	return starlark.None, nil
}

// warmup implements warmup(candles): the number of closed candles required before the first
// decision takes effect, if the measured number is too small.
func warmup(r *call) (starlark.Value, error) {
	var candles int
	if err := r.unpack(&candles); err != nil {
		return nil, err
	}
	if !r.loading || candles < 1 || candles > 100_000 {
		return nil, errors.New("warmup(candles) belongs at the top of the file; from 1 to 100000 candles")
	}
	r.warmup = candles
	return starlark.None, nil
}
