package strategy

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Setting describes where a strategy will run. Its constructor receives it.
type Setting struct {
	Market   exchange.Market
	Symbol   *exchange.Symbol
	Interval exchange.Interval
	Size     Size
	Fees     Fees    // expected fees of fills
	TickMS   int64   // regular interval between two ticks; 0 if the schedule has none
	MemoryMB int64   // of a strategy that runs in its own process; 0 is the default
	CatchUp  int     // slices per tick, for strategies that trade in slices; 0 is 1
	Columns  Columns // external series; nil for none
}

// Definition describes a kind of strategy: its registry name, its summary, its parameters and its
// constructor.
type Definition struct {
	Name       string
	Summary    string // one sentence
	Parameters []Parameter
	Silent     bool // the strategy declares no parameters: all are accepted
	New        func(setting Setting, values Values) (Strategy, error)
}

// Parameter describes one parameter, as read from the tags of its struct.
type Parameter struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`              // int, decimal, duration, text, bool
	Default string   `json:"default,omitempty"` // as written in YAML; required when empty
	Min     string   `json:"min,omitempty"`     // inclusive bounds; empty for none
	Max     string   `json:"max,omitempty"`
	OneOf   []string `json:"one_of,omitempty"`
	Help    string   `json:"help,omitempty"`
}

// Values are parameter values as text, by name, as written in YAML.
type Values map[string]string

// ValueError names the invalid parameter, so that the configuration loader can report its line.
type ValueError struct {
	Parameter string
	Err       error
}

// Error returns the parameter and its fault.
func (e *ValueError) Error() string { return "params." + e.Parameter + ": " + e.Err.Error() }

// Unwrap returns the fault.
func (e *ValueError) Unwrap() error { return e.Err }

// Define makes a Definition from a parameter struct. Its fields carry tags: param (name), default,
// min, max, oneof (a|b), help. Field types are int, decimal.Decimal, time.Duration, string, bool
// and exchange.Side; an embedded struct adds its own fields.
func Define[P any](name, summary string, build func(Setting, P) (Strategy, error)) Definition {
	definition := Definition{Name: name, Summary: summary}
	var all []reflect.StructField
	for _, field := range reflect.VisibleFields(reflect.TypeFor[P]()) {
		if !field.Anonymous { // the fields of an embedded struct are listed on their own
			all = append(all, field)
			definition.Parameters = append(definition.Parameters, parameterOf(field))
		}
	}
	definition.New = func(setting Setting, values Values) (Strategy, error) {
		var params P
		fields := reflect.ValueOf(&params).Elem()
		for i, parameter := range definition.Parameters {
			if err := setField(fields.FieldByIndex(all[i].Index), parameter, values); err != nil {
				return nil, &ValueError{parameter.Name, err}
			}
		}
		for given := range values {
			if !slices.ContainsFunc(definition.Parameters, func(p Parameter) bool { return p.Name == given }) {
				return nil, &ValueError{given, fmt.Errorf("%s does not have this parameter", name)}
			}
		}
		return build(setting, params)
	}
	return definition
}

func parameterOf(field reflect.StructField) Parameter {
	tag := field.Tag
	parameter := Parameter{
		Name: tag.Get("param"), Default: tag.Get("default"), Min: tag.Get("min"), Max: tag.Get("max"), Help: tag.Get("help"),
	}
	if choice := tag.Get("oneof"); choice != "" {
		parameter.OneOf = strings.Split(choice, "|")
	}
	switch field.Type {
	case reflect.TypeFor[int]():
		parameter.Kind = "int"
	case reflect.TypeFor[decimal.Decimal]():
		parameter.Kind = "decimal"
	case reflect.TypeFor[time.Duration]():
		parameter.Kind = "duration"
	case reflect.TypeFor[string]():
		parameter.Kind = "text"
	case reflect.TypeFor[bool]():
		parameter.Kind = "bool"
	case reflect.TypeFor[exchange.Side]():
		parameter.Kind, parameter.OneOf = "text", []string{"buy", "sell"}
	default:
		panic(fmt.Sprintf("strategy: parameter %s has the unsupported type %s", field.Name, field.Type))
	}
	return parameter
}

func setField(field reflect.Value, parameter Parameter, values Values) error {
	text, given := values[parameter.Name]
	if !given {
		text = parameter.Default
	}
	if err := parameter.Check(text); err != nil {
		return err
	}
	value, _, err := parseValue(field.Type(), text)
	if err != nil {
		return fmt.Errorf("%q is not %s", text, article(parameter.Kind))
	}
	field.Set(reflect.ValueOf(value))
	return nil
}

func article(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "decimal":
		return "a decimal number"
	case "duration":
		return "a duration such as 90s or 5m"
	}
	return "a " + kind
}

// parseValue returns the value and, for numbers and durations (in seconds), its magnitude.
func parseValue(kind reflect.Type, text string) (any, decimal.Decimal, error) {
	switch kind {
	case reflect.TypeFor[int]():
		n, err := strconv.Atoi(text)
		return n, decimal.NewFromInt(int64(n)), err
	case reflect.TypeFor[decimal.Decimal]():
		d, err := parseDecimal(text)
		return d, d, err
	case reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		return d, decimal.New(d.Nanoseconds(), -9), err
	case reflect.TypeFor[bool]():
		b, err := strconv.ParseBool(text)
		return b, decimal.Zero, err
	case reflect.TypeFor[exchange.Side]():
		side, err := exchange.ParseSide(strings.ToUpper(text))
		return side, decimal.Zero, err
	}
	return text, decimal.Zero, nil
}

// parseDecimal reads a number or a percentage.
func parseDecimal(text string) (decimal.Decimal, error) {
	number, percent := strings.CutSuffix(text, "%")
	d, err := decimal.NewFromString(number)
	if err == nil && (d.Exponent() > 30 || d.Exponent() < -30) {
		return d, fmt.Errorf("%q is out of range", text)
	}
	if percent {
		d = d.Shift(-2)
	}
	return d, err
}

func (p Parameter) bounded(value decimal.Decimal, text string) error {
	bound := func(limit string) (decimal.Decimal, bool) {
		if limit == "" {
			return decimal.Zero, false
		}
		if p.Kind == "duration" {
			d, err := time.ParseDuration(limit)
			return decimal.New(d.Nanoseconds(), -9), err == nil
		}
		d, err := decimal.NewFromString(limit)
		return d, err == nil
	}
	if low, ok := bound(p.Min); ok && value.LessThan(low) {
		return fmt.Errorf("%s is below %s", text, p.Min)
	}
	if high, ok := bound(p.Max); ok && value.GreaterThan(high) {
		return fmt.Errorf("%s is above %s", text, p.Max)
	}
	return nil
}

// Registry holds a program's kinds of strategy by name. The command line builds it; there is no
// global registry.
type Registry struct {
	definitions []Definition
}

// NewRegistry returns a registry of the definitions, sorted by name. It panics if two have the same
// name.
func NewRegistry(definitions ...Definition) *Registry {
	sorted := slices.Clone(definitions)
	slices.SortFunc(sorted, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Name == sorted[i-1].Name {
			panic("strategy: two definitions named " + sorted[i].Name)
		}
	}
	return &Registry{sorted}
}

// Find returns the definition with that name.
func (r *Registry) Find(name string) (Definition, bool) {
	i, found := slices.BinarySearchFunc(r.definitions, name, func(d Definition, name string) int { return strings.Compare(d.Name, name) })
	if !found {
		return Definition{}, false
	}
	return r.definitions[i], true
}

// All returns the definitions, sorted by name.
func (r *Registry) All() []Definition { return r.definitions }

// SourceError is an error in the source of a strategy: a script or a rule.
type SourceError struct {
	File    string   `json:"file,omitempty"` // or the parameter that holds the source
	Line    int      `json:"line,omitempty"` // from 1; 0 for the source as a whole
	Column  int      `json:"column,omitempty"`
	Err     error    `json:"-"`
	Unknown string   `json:"unknown,omitempty"` // the undefined name, if that is the error
	Known   []string `json:"known,omitempty"`   // similar defined names
	Member  bool     `json:"member,omitempty"`  // Unknown is a member, such as view.price
	Hint    string   `json:"hint,omitempty"`    // the correct spelling or construct for a common mistake
	Trace   []string `json:"trace,omitempty"`   // the call stack of the script, outermost first; empty when it did not run
}

// Error returns position and fault, and the call stack when it has several entries.
func (e *SourceError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	return text + ": " + e.Fault()
}

// Fault returns the fault without its position, and the call stack if it has several entries.
func (e *SourceError) Fault() string {
	if len(e.Trace) > 1 {
		return e.Err.Error() + " (called: " + strings.Join(e.Trace, " > ") + ")"
	}
	return e.Err.Error()
}

// Unwrap returns the fault.
func (e *SourceError) Unwrap() error { return e.Err }
