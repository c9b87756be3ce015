package main

import (
	"strings"
	"testing"

	"botd/internal/mutation"
)

// One is the share of all mutants, which --at-least is compared with, the other the share of those that are not
// equivalent.
func TestBothMutationSharesAreShown(t *testing.T) {
	t.Parallel()
	scores := []mutation.Score{{Package: "botd/risk", Mutants: 1_000, Killed: 876, Survived: 60, Unreached: 20, Equivalent: 44},
		{Package: "botd/configs", Mutants: 10, Killed: 4, Survived: 6}}
	var shown strings.Builder
	mutationTable(&shown, scores)
	for _, want := range []string{"OF ALL", "87.6%", "40.0%", "WITHOUT EQUIVALENT", "91.6%"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("want %q shown, have\n%s", want, shown.String())
		}
	}
	for _, c := range []struct {
		name    string
		scores  []mutation.Score
		atLeast float64
		sampled bool
		want    string
	}{
		{"as many of all", scores[:1], 87.6, false, ""},
		{"fewer of all, and more without equivalent ones", scores[:1], 90, false,
			"876 of 1000 mutants were killed, 87.6%: less than --at-least 90, which counts the 44 equivalent ones as survivors (without them 91.6%)"},
		{"of two packages", scores, 90, false,
			"880 of 1010 mutants were killed, 87.1%: less than --at-least 90, which counts the 44 equivalent ones as survivors (without them 91.1%)"},
		{"none is equivalent", scores[1:], 80, false, "4 of 10 mutants were killed, 40.0%: less than --at-least 80"},
		{"of a sample, by chance", scores[1:], 70, true, ""},
		{"of a sample, beyond chance", scores[1:], 80, true, "4 of 10 mutants were killed, 40.0%: less than --at-least 80, beyond chance"},
		{"nothing is asked for", scores, 0, false, ""},
		{"no package has changed", nil, 80, false, ""},
	} {
		if have := tooFew(c.scores, c.atLeast, c.sampled); have != c.want {
			t.Errorf("%s: want %q\nhave %q", c.name, c.want, have)
		}
	}
}
