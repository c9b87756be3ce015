package configs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/configs"
)

// TestBoundsAreInclusive reads each key at its bounds, which are included, and one step of its kind
// beyond them, which is refused. The bounds are those of the reference.
func TestBoundsAreInclusive(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, one := range examples() {
		for _, bound := range []struct {
			value string
			side  int64
		}{{one.Low, -1}, {one.High, 1}} {
			beyond := stepped(t, one.Kind, bound.value, bound.side)
			if bound.value == "" || beyond == "" {
				continue
			}
			checked++
			if problems := one.with(t, bound.value).outOfBounds(bound.value); problems != "" {
				t.Errorf("%s in mode %s: want %s read, have\n%s", one.Path, one.mode, bound.value, problems)
			}
			if problems := one.with(t, beyond).outOfBounds(beyond); problems == "" {
				t.Errorf("%s in mode %s: want %s refused, %s is its bound", one.Path, one.mode, beyond, bound.value)
			}
		}
	}
	if checked < 150 {
		t.Errorf("want the bounds of at least 150 examples, have %d", checked)
	}
}

// stepped returns the value one smallest step of its kind beyond a bound; empty for kinds that are no number.
func stepped(t *testing.T, kind, bound string, side int64) string {
	t.Helper()
	step := decimal.NewFromInt(side)
	switch kind {
	case configs.KindDuration:
		days, rest, found := strings.Cut(bound, "d")
		if !found {
			days, rest = "0", bound
		}
		duration, err := time.ParseDuration(rest + "0s")
		if err != nil {
			t.Fatal(err)
		}
		milliseconds := decimal.RequireFromString(days).Mul(decimal.NewFromInt(86_400_000)).Add(decimal.NewFromInt(duration.Milliseconds()))
		return milliseconds.Add(step).String() + "ms"
	case configs.KindWhole:
	case configs.KindNumber:
		step = step.Shift(-8)
	case configs.KindShare, configs.KindLoss, configs.KindDistance:
		percent, found := strings.CutSuffix(bound, "%")
		if !found {
			return ""
		}
		return decimal.RequireFromString(percent).Add(step.Shift(-6)).String() + "%"
	default:
		return ""
	}
	if bound == "" {
		return ""
	}
	return decimal.RequireFromString(bound).Add(step).String()
}

// with returns the example with another value.
func (e example) with(t *testing.T, value string) example {
	t.Helper()
	parts := strings.Split(e.Path, ".")
	name := parts[len(parts)-1]
	if name == strings.ToUpper(name) { // any name: the example's
		name = `[A-Za-z0-9]+`
	}
	found := false
	old := regexp.MustCompile(`\b(` + name + `: )([^,{}\n]+)`)
	for _, text := range []*string{&e.root, &e.file} {
		if !strings.Contains(*text, nested(e.Key)) {
			continue
		}
		block := nested(e.Key)
		matches := old.FindAllStringSubmatchIndex(block, -1)
		if len(matches) == 0 {
			continue
		}
		last := matches[len(matches)-1]
		if name == `[A-Za-z0-9]+` { // the first of several
			last = matches[0]
		}
		*text, found = strings.Replace(*text, block, block[:last[4]]+value+block[last[5]:], 1), true
	}
	if !found {
		t.Fatalf("%s: its value is not found in %q and %q", e.Path, e.root, e.file)
	}
	return e
}

var outside = regexp.MustCompile(`is not between|is (below|above) -?[0-9.]+%?$|is not above zero|is negative|is not a duration|is longer than ten years`)

// outOfBounds returns the problems that concern the value's bounds.
func (e example) outOfBounds(value string) string {
	var found []string
	for _, problem := range e.read() {
		if strings.Contains(problem.What, value) && outside.MatchString(problem.What) {
			found = append(found, fmt.Sprint(problem))
		}
	}
	return strings.Join(found, "\n")
}
