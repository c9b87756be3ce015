package mutant

import (
	"maps"
	"slices"
)

// Test is the test that shows rules: a *testing.T.
type Test interface {
	Helper()
	Errorf(format string, values ...any)
	Skip(values ...any)
}

// Shown wants each scenario to hold as the rules are, and to fail while its own is broken. A
// scenario reports whether its rule held.
func Shown(t Test, scenarios map[string]func() (holds bool)) {
	t.Helper()
	if !Built() {
		t.Skip("no rule can be broken in this build: .ci/run makes the one with the overlay of internal/mutant")
	}
	defer Break("")
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		row, err := Find(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if Break(""); !scenarios[name]() {
			t.Errorf("%s: want the scenario to hold as the rule is", name)
		}
		if Break(name); scenarios[name]() {
			t.Errorf("%s: want its scenario to fail: %s", name, row.Does)
		}
	}
}
