// Package mutanttest plays the scenarios that show the rules of package mutant.
package mutanttest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"botd/internal/mutant"
)

// Shown plays, for each rule that mutant.Table says a package shows (its import path within botd), the scenario of
// that name: it has to hold as the rules are, and to fail while its own is broken. Every such rule needs a scenario, and every scenario such a rule.
func Shown(t testing.TB, place string, scenarios map[string]func(testing.TB)) {
	t.Helper()
	if !mutant.Built() {
		t.Skip("no rule can be broken in this build: .ci/run makes the one with the overlay of internal/mutant")
	}
	defer mutant.Break("")
	left := maps.Clone(scenarios)
	for _, row := range mutant.Table {
		play := scenarios[row.Name]
		delete(left, row.Name)
		if ours := strings.HasPrefix(row.Shown, place+" "); ours != (play != nil) {
			t.Errorf("%s: the table says it is shown by %q: want a scenario here exactly if that is %s", row.Name, row.Shown, place)
		}
		if play == nil {
			continue
		}
		if mutant.Break(""); Failure(t, play) != "" {
			t.Errorf("%s: want the scenario to hold as the rule is, have %s", row.Name, Failure(t, play))
		}
		mutant.Break(row.Name)
		if failure := Failure(t, play); failure != "" {
			t.Logf("%-25s %s", row.Name, failure)
		} else {
			t.Errorf("%s: want its scenario to fail: %s", row.Name, row.Does)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s: want a row of mutant.Table", name)
	}
}

// Holds is the scenario of a condition.
func Holds(holds func() bool) func(testing.TB) {
	return func(t testing.TB) {
		if !holds() {
			t.Errorf("it does not hold")
		}
	}
}

// Failure plays a scenario by itself and returns the first line of its first failure, or "" where it holds.
func Failure(t testing.TB, play func(testing.TB)) string {
	d, done := &doubt{TB: t}, make(chan struct{})
	go func() {
		defer close(done) // after runtime.Goexit too
		play(d)
	}()
	<-done
	return d.failure
}

// doubt is a test that may fail.
type doubt struct {
	testing.TB
	failure string
}

func (*doubt) Helper() {}

func (d *doubt) Errorf(format string, values ...any) {
	if d.failure == "" {
		d.failure, _, _ = strings.Cut(fmt.Sprintf(format, values...), "\n")
	}
}

func (d *doubt) Error(values ...any) { d.Errorf("%s", fmt.Sprint(values...)) }

func (d *doubt) Fatalf(format string, values ...any) {
	d.Errorf(format, values...)
	runtime.Goexit()
}

func (d *doubt) Fatal(values ...any) { d.Fatalf("%s", fmt.Sprint(values...)) }
