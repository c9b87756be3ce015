package startclock

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheStartIsTheVariablesOrTheStandardOne(t *testing.T) {
	t.Setenv(Variable, "")
	if want, have := time.Date(2026, 3, 14, 10, 20, 10, 0, time.UTC), Time(); !have.Equal(want) {
		t.Errorf("without %s: want %s, have %s", Variable, want, have)
	}
	t.Setenv(Variable, "2028-02-29T23:59:40Z")
	if want, have := int64(1_835_481_580_000), MS(); have != want {
		t.Errorf("with %s: want %d, have %d", Variable, want, have)
	}
	t.Setenv(Variable, "noon")
	defer func() {
		if recover() == nil {
			t.Errorf("%s=noon: want a panic", Variable)
		}
	}()
	Time()
}

func TestArgumentsSetClockOfSimulatedExchange(t *testing.T) {
	t.Setenv(Variable, "2028-02-29T23:59:40Z")
	for _, c := range []struct{ given, want string }{
		{"", ""},
		{"run", "run --start 2028-02-29T23:59:40Z"},
		{"exchange --market still", "exchange --market still --start 2028-02-29T23:59:40Z"},
		{"exchange --clock manual", "exchange --clock manual"},
		{"exchange --start=2026-01-01T00:00:00Z", "exchange --start=2026-01-01T00:00:00Z"},
		{"run --start 2026-01-01T00:00:00Z", "run --start 2026-01-01T00:00:00Z"},
		{"run --help", "run --help"},
		{"status", "status"},
	} {
		given := strings.Fields(c.given)
		if have := Arguments(given); !slices.Equal(have, strings.Fields(c.want)) {
			t.Errorf("%q: want %q, have %q", c.given, c.want, have)
		}
	}
}
