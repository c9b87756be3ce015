package library_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/strategy/library"
)

// TestParameterBoundsAreInclusive checks each parameter of each strategy at its bounds, which are
// included, and at the smallest step of its kind beyond them.
func TestParameterBoundsAreInclusive(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, definition := range library.All() {
		for _, p := range definition.Parameters {
			for bound, side := range map[string]int64{p.Min: -1, p.Max: 1} {
				if bound == "" {
					continue
				}
				checked++
				if err := p.Check(bound); err != nil {
					t.Errorf("%s.%s: want its bound %s accepted, have %v", definition.Name, p.Name, bound, err)
				}
				if value := beyond(t, p.Kind, bound, side); p.Check(value) == nil {
					t.Errorf("%s.%s: want %s refused, %s is its bound", definition.Name, p.Name, value, bound)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("want at least 100 bounds, have %d", checked)
	}
}

func beyond(t *testing.T, kind, bound string, side int64) string {
	t.Helper()
	switch kind {
	case "duration":
		d, err := time.ParseDuration(bound)
		if err != nil {
			t.Fatal(err)
		}
		return (d + time.Duration(side)).String()
	case "int":
		return decimal.RequireFromString(bound).Add(decimal.NewFromInt(side)).String()
	}
	return decimal.RequireFromString(bound).Add(decimal.New(side, -12)).String()
}
