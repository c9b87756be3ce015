// Package search chooses the trials of a sweep: every combination, random ones, or those that the results so
// far suggest.
//
// Names and values are text, and the objective of a trial is a number. The proposals depend
// only on the axes, the seed and the results, not on the order in which results arrive.
package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Axis is one varied setting: a list of values, or a range without steps.
type Axis struct {
	Name   string
	Values []string // the listed ones; nil for a range
	Range  *Range
}

// Range is all numbers between two ends. It has only whole numbers if both ends are whole.
type Range struct {
	From, To float64
	Log      bool   // equal ratios, not equal differences, are equally likely
	Places   int32  // decimal places of a value
	Unit     string // suffix of each number: "" or "%"
}

// MaxValues bounds the values of an axis, and the combinations of a grid.
const MaxValues = 100_000

// ParseAxis reads NAME=PART,PART with each part a VALUE, FROM..TO..STEP, or FROM..TO..xFACTOR; or
// NAME=FROM..TO and NAME=log:FROM..TO, a range. Numbers may have a unit, as 10%..50%..10%. A value in double quotes may have commas.
func ParseAxis(text string) (Axis, error) {
	name, list, found := strings.Cut(text, "=")
	a := Axis{Name: strings.TrimSpace(name)}
	if !found || a.Name == "" || list == "" {
		return a, errors.New("want NAME=5,10 or NAME=5..20..5 or NAME=5..20")
	}
	if !strings.ContainsAny(list, `,"`) && (strings.HasPrefix(list, "log:") || strings.Count(list, "..") == 1) {
		return a, a.parseRange(list)
	}
	parts, err := split(list)
	if err != nil {
		return a, err
	}
	for _, part := range parts {
		if part == "" {
			return a, errors.New("a value is missing: want NAME=5,10 or NAME=5..20..5")
		}
		if inside, quoted := strings.CutPrefix(part, `"`); quoted {
			a.Values = append(a.Values, strings.TrimSuffix(inside, `"`))
			continue
		}
		if !strings.Contains(part, "..") {
			a.Values = append(a.Values, part)
			continue
		}
		values, err := steps(part)
		if err != nil {
			return a, fmt.Errorf("%q: %w", part, err)
		}
		a.Values = append(a.Values, values...)
	}
	a.Values = once(a.Values)
	if len(a.Values) > MaxValues {
		return a, fmt.Errorf("more than %d values", MaxValues)
	}
	return a, nil
}

// split returns the parts between commas. Commas within double quotes do not separate.
func split(list string) (parts []string, err error) {
	begin, within := 0, false
	for i := range len(list) {
		switch {
		case list[i] == '"':
			within = !within
		case list[i] == ',' && !within:
			parts, begin = append(parts, strings.TrimSpace(list[begin:i])), i+1
		}
	}
	if within {
		return nil, errors.New("a quote is not closed")
	}
	return append(parts, strings.TrimSpace(list[begin:])), nil
}

// once removes repeated values.
func once(values []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(values, func(value string) bool {
		before := seen[value]
		seen[value] = true
		return before
	})
}

// number reads a number and its unit.
func number(text string) (decimal.Decimal, string, error) {
	digits, unit := text, ""
	if strings.HasSuffix(text, "%") {
		digits, unit = strings.TrimSuffix(text, "%"), "%"
	}
	d, err := decimal.NewFromString(digits)
	if err != nil || len(text) > 40 || d.Exponent() > 20 || d.Exponent() < -20 {
		return d, "", fmt.Errorf("%q is not a number", text)
	}
	return d, unit, nil
}

// ends parses FROM..TO and returns the rest.
func ends(part string) (from, to decimal.Decimal, unit, rest string, err error) {
	first, rest, _ := strings.Cut(part, "..")
	last, rest, _ := strings.Cut(rest, "..")
	if from, unit, err = number(first); err != nil {
		return from, to, unit, rest, err
	}
	to, other, err := number(last)
	switch {
	case err != nil:
	case unit != other:
		err = fmt.Errorf("%s and %s are of different units", first, last)
	case to.LessThan(from):
		err = errors.New("want a step above zero, and an end that is not below the beginning")
	}
	return from, to, unit, rest, err
}

func steps(part string) (values []string, err error) {
	from, to, unit, rest, err := ends(part)
	if err != nil {
		return nil, err
	}
	step := decimal.NewFromInt(1)
	rest, geometric := strings.CutPrefix(rest, "x")
	if rest != "" {
		if step, _, err = number(rest); err != nil {
			return nil, err
		}
	}
	if step.Sign() <= 0 || geometric && (step.LessThanOrEqual(decimal.NewFromInt(1)) || from.Sign() <= 0) {
		return nil, errors.New("want a step above zero, and an end that is not below the beginning")
	}
	for at := from; !at.GreaterThan(to); {
		if values = append(values, at.String()+unit); len(values) > MaxValues {
			return nil, fmt.Errorf("more than %d values", MaxValues)
		}
		if geometric {
			at = at.Mul(step).Truncate(12)
		} else {
			at = at.Add(step)
		}
	}
	return values, nil
}

// finePlaces is the number of extra decimal places of a range's values, compared with its ends.
const finePlaces = 3

func (a *Axis) parseRange(list string) error {
	list, log := strings.CutPrefix(list, "log:")
	from, to, unit, rest, err := ends(list)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", list, err)
	case rest != "":
		return fmt.Errorf("%q: want log:FROM..TO", list)
	case log && from.Sign() <= 0:
		return fmt.Errorf("%q: a logarithmic range begins above zero", list)
	}
	places := max(0, -from.Exponent(), -to.Exponent())
	if places > 0 || unit != "" {
		places += finePlaces
	}
	a.Range = &Range{From: from.InexactFloat64(), To: to.InexactFloat64(), Log: log, Places: places, Unit: unit}
	return nil
}

// at returns the value at a place of the axis, from 0 to below 1.
func (a *Axis) at(place float64) string {
	if a.Range == nil {
		return a.Values[int(place*float64(len(a.Values)))]
	}
	r := a.Range
	value := r.From + float64(place*(r.To-r.From))
	switch {
	case r.Log:
		value = math.Exp(math.Log(r.From) + float64(place*(math.Log(r.To)-math.Log(r.From))))
	case r.Places == 0: // each whole number is equally likely
		value = math.Floor(r.From + float64(place*(r.To-r.From+1)))
	}
	return decimal.NewFromFloat(min(value, r.To)).Round(r.Places).String() + r.Unit
}

// listed returns the values for a grid. A range of whole numbers lists all of them.
func (a *Axis) listed() ([]string, error) {
	if a.Range == nil {
		return a.Values, nil
	}
	r := a.Range
	if r.Log || r.Places > 0 {
		return nil, fmt.Errorf("%s: a grid needs steps, as FROM..TO..STEP; --search random or tpe takes a range", a.Name)
	}
	return steps(fmt.Sprintf("%.0f%s..%.0f%s", r.From, r.Unit, r.To, r.Unit))
}
