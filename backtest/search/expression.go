package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/internal/spell"
)

// Expression is a formula over named numbers, in the language of scripts: sharpe - 0.1*max_drawdown_pct,
// trades >= 30 and profit_pct > 0.
type Expression struct {
	text    string
	written string // with names that are valid in the language
}

var dialect = &syntax.FileOptions{}

// maxSteps bounds the evaluation of an expression.
const maxSteps = 10_000

// ParseExpression parses an expression over the given names. Names may contain dots: protect.stop_loss.
func ParseExpression(text string, names []string) (*Expression, error) {
	written := text
	for _, name := range slices.SortedFunc(slices.Values(names), func(a, b string) int { return len(b) - len(a) }) {
		if strings.Contains(name, ".") {
			written = strings.ReplaceAll(written, name, plainName(name))
		}
	}
	tree, err := dialect.ParseExpr("expression", written, 0)
	if err != nil {
		return nil, fmt.Errorf("%q is not an expression: %w", text, err)
	}
	known := map[string]bool{"abs": true, "max": true, "min": true, "True": true, "False": true}
	for _, name := range names {
		known[plainName(name)] = true
	}
	unknown := ""
	syntax.Walk(tree, func(n syntax.Node) bool {
		if name, is := n.(*syntax.Ident); is && !known[name.Name] && unknown == "" {
			unknown = name.Name
		}
		return true
	})
	if unknown != "" {
		const most = 16
		hint := "there are " + strings.Join(names[:min(most, len(names))], ", ")
		if len(names) > most {
			hint += ", ..."
		}
		if near := spell.Nearest(unknown, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, fmt.Errorf("%q: %s is unknown\nhint: %s", text, unknown, hint)
	}
	return &Expression{text: text, written: written}, nil
}

func plainName(name string) string { return strings.ReplaceAll(name, ".", "__") }

// evaluate returns the value for the given numbers. It returns an error when the formula needs a missing one.
func (e *Expression) evaluate(numbers map[string]starlark.Value) (starlark.Value, error) {
	thread := &starlark.Thread{Name: "expression"}
	thread.SetMaxExecutionSteps(maxSteps)
	return starlark.EvalOptions(dialect, thread, "expression", e.written, starlark.StringDict(numbers))
}

// Number returns the expression's value over numbers by name. It is NaN where the expression needs a missing number
// or divides by zero.
func (e *Expression) Number(numbers map[string]*float64) float64 {
	value, err := e.evaluate(environment(numbers))
	if err != nil {
		return math.NaN()
	}
	switch v := value.(type) {
	case starlark.Float:
		return float64(v)
	case starlark.Int:
		return float64(v.Float())
	case starlark.Bool:
		if v {
			return 1
		}
		return 0
	}
	return math.NaN()
}

// Holds reports whether the condition holds over numbers by name. It returns false if a needed number is missing.
func (e *Expression) Holds(numbers map[string]*float64) bool {
	value, err := e.evaluate(environment(numbers))
	return err == nil && bool(value.Truth())
}

// Allows reports whether the condition holds for a choice. Values that parse as numbers are numbers: 5% is 5.
func (e *Expression) Allows(c Choice) (bool, error) {
	values := map[string]starlark.Value{}
	for name, text := range c {
		if n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64); err == nil {
			values[plainName(name)] = starlark.Float(n)
		} else {
			values[plainName(name)] = starlark.String(text)
		}
	}
	value, err := e.evaluate(values)
	if err != nil {
		return false, fmt.Errorf("%q with %s: %w", e.text, c.Text(), err)
	}
	return bool(value.Truth()), nil
}

func environment(numbers map[string]*float64) map[string]starlark.Value {
	values := make(map[string]starlark.Value, len(numbers))
	for name, n := range numbers {
		if n != nil {
			values[plainName(name)] = starlark.Float(*n)
		}
	}
	return values
}
