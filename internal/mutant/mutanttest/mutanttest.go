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

// Shown plays the scenario of each rule that mutant.Table assigns to a package (its import path within botd): it must hold
// while no rule is broken, and fail while its own rule is broken. Rules and scenarios must match one to one.
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
			t.Errorf("%s: the table lists %q for it: want a scenario here exactly if that is %s", row.Name, row.Shown, place)
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

// Holds returns the scenario of a condition.
func Holds(holds func() bool) func(testing.TB) {
	return func(t testing.TB) {
		if !holds() {
			t.Errorf("it does not hold")
		}
	}
}

// Failure plays a scenario on its own and returns the first line of its first failure, or "" if it holds.
func Failure(t testing.TB, play func(testing.TB)) string {
	d, done := &doubt{TB: t}, make(chan struct{})
	go func() {
		defer close(done) // even after runtime.Goexit
		play(d)
	}()
	<-done
	return d.failure
}

// doubt is a test that is allowed to fail.
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
