package mutation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wantSample is what the tests of testdata/sample notice, typed from reading both.
const wantSample = `
killed      Largest: return largest, nil -> return zero
killed      Largest: without largest = all[0]
killed      Largest: len(all) == 0 -> len(all) != 0
killed      Largest: 0 -> 1
killed      Largest: return 0, errNone -> return zero
survived    Largest: 0 -> 1 #2
killed      Largest: 0 -> 1 #3
killed      Largest: 1 -> 2
survived    Largest: n > largest -> n >= largest
killed      Largest: n > largest -> n <= largest
killed      Largest: without largest = n
killed      Both: a && b -> a || b
killed      Both: a -> !a
killed      Both: b -> !b
killed      Half: return n / 2 -> return zero
killed      Half: n / 2 -> n * 2
killed      Half: 2 -> 3
killed      Forever: return steps -> return zero
killed      Forever: n > 0 -> n >= 0
killed      Forever: n > 0 -> n <= 0
killed      Forever: 0 -> 1
timed out   Forever: without n--
killed      Forever: without steps++
not reached Forgotten: return n + 1 -> return zero
not reached Forgotten: n + 1 -> n - 1
not reached Forgotten: 1 -> 2
`

func TestRunFindsKilledAndSurvivingMutants(t *testing.T) {
	t.Parallel()
	scores, err := Run(context.Background(), moduleRoot(t), []string{"./internal/mutation/testdata/sample"}, &Options{Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	want, have := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(wantSample)) {
		want[strings.TrimSpace(line)] = true
	}
	for _, m := range scores[0].All {
		have[fmt.Sprintf("%-11s %s: %s", m.Outcome, strings.TrimPrefix(m.Function, "internal/mutation/testdata/sample."), m.Change)] = true
	}
	for line := range want {
		if !have[line] {
			t.Errorf("want %s", line)
		}
	}
	for line := range have {
		if !want[line] {
			t.Errorf("have %s", line)
		}
	}
	if s := scores[0]; s.Mutants != 26 || s.Killed != 21 || s.Survived != 2 || s.Unreached != 3 || fmt.Sprintf("%.1f", s.WithoutEquivalent()) != "80.8" {
		t.Errorf("want 21 of 26 killed, 2 survivors, 3 not reached, 80.8 %%, have %+v, %f", s, s.WithoutEquivalent())
	}
}

// Another seed gives another sample.
func TestASampleIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	chosen := func(seed uint64) (names string) {
		packages, err := load(moduleRoot(t), []string{"./internal/mutation/testdata/sample"})
		if err != nil {
			t.Fatal(err)
		}
		packages[0].find()
		sample(packages, &Options{Sample: 5, Seed: seed})
		for _, m := range packages[0].mutants {
			names += m.Name() + "\n"
		}
		return names
	}
	if first := chosen(1); first != chosen(1) || strings.Count(first, "\n") != 5 || first == chosen(2) {
		t.Errorf("want five mutants, the same for the same seed, have\n%s\n%s\n%s", first, chosen(1), chosen(2))
	}
}

// Mutants beyond the budget are omitted, and the others have an outcome.
func TestABudgetEndsARun(t *testing.T) {
	t.Parallel()
	scores, err := Run(context.Background(), moduleRoot(t), []string{"./internal/mutation/testdata/sample"}, &Options{Jobs: 1, Budget: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != 1 || scores[0].Mutants != 0 {
		t.Errorf("want the package without a mutant run, have %+v", scores)
	}
	for _, budget := range []time.Duration{time.Hour, 0} {
		scores, err = Run(context.Background(), moduleRoot(t), []string{"./internal/mutation/testdata/sample", "./internal/mutation/testdata/second"},
			&Options{Jobs: 4, Budget: budget, Match: "Half"})
		if err != nil {
			t.Fatal(err)
		}
		if len(scores) != 2 || scores[0].Mutants != 3 || scores[0].Killed != 3 || scores[1].Mutants == 0 || scores[1].Killed != scores[1].Mutants {
			t.Errorf("a budget of %s: want all of both packages killed, have %+v", budget, scores)
		}
	}
}

// TestATestWhoseProgramIsTooSlowIsLeftOut limits the processor time of a test and of a program that it starts: it passes with the usual limit, so it is one
// that takes too long, not one that is broken.
func TestATestWhoseProgramIsTooSlowIsLeftOut(t *testing.T) {
	t.Parallel()
	for longest, want := range map[time.Duration]string{2 * time.Second: "TestHalf", DefaultLongest: "TestHalf or TestOfAProgram"} {
		scores, err := Run(context.Background(), moduleRoot(t), []string{"./internal/mutation/testdata/second"}, &Options{Jobs: 1, Longest: longest})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scores[0].All {
			if m.Outcome != Killed || !strings.Contains(want, m.By) {
				t.Errorf("at most %s: want %s killed by %s, have %s by %s", longest, m.Name(), want, m.Outcome, m.By)
			}
		}
	}
}

// The counts are from the binomial distribution, computed elsewhere.
func TestASampleIsBelowAShareBeyondChance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		killed, mutants int
		sampled, below  bool
	}{
		{25, 40, true, true}, {26, 40, true, false}, {107, 150, true, true}, {108, 150, true, false}, {4, 10, true, true}, {5, 10, true, false},
		{0, 1, true, false}, {0, 0, true, false}, {0, 0, false, false}, {40, 40, true, false}, {79, 100, false, true}, {80, 100, false, false},
	} {
		if have := Below(c.killed, c.mutants, 80, c.sampled); have != c.below {
			t.Errorf("%d of %d, sampled %t: want below %t, have %t", c.killed, c.mutants, c.sampled, c.below, have)
		}
	}
}

// A row whose code changed must be judged again.
func TestEveryEquivalentMutantIsStillThere(t *testing.T) {
	t.Parallel()
	reasons, err := equivalents()
	if err != nil {
		t.Fatal(err)
	}
	patterns, names := []string{}, map[string]bool{}
	for name := range reasons {
		function, _, _ := strings.Cut(name, ": ")
		in := strings.LastIndexByte(function, '/') + 1
		if p := "./" + function[:in+strings.IndexByte(function[in:], '.')]; !names[p] {
			patterns, names[p] = append(patterns, p), true
		}
	}
	if len(patterns) == 0 {
		return
	}
	packages, err := load(moduleRoot(t), patterns)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		p.find()
		for _, m := range p.mutants {
			names[m.Name()] = true
		}
	}
	for name, reason := range reasons {
		if !names[name] {
			t.Errorf("there is no mutant %q: name it as its code is now, or delete it", name)
		}
		if len(reason) < 20 {
			t.Errorf("%q has no reason", name)
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(directory))
}
