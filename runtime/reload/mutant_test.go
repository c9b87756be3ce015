package reload

import (
	"testing"
	"time"

	"botd/internal/mutant"
)

// TestRulesOfTheReloadShowWhenTheyAreBroken removes what makes a removal wait.
func TestRulesOfTheReloadShowWhenTheyAreBroken(t *testing.T) {
	if !mutant.Built() {
		t.Skip("no rule can be broken in this build: .ci/run makes the one with the overlay of internal/mutant")
	}
	defer mutant.Break("")
	for rule, want := range map[string]int{"": TooYoung, "removal_at_once": Ripe} {
		mutant.Break(rule)
		var a Absences
		if have := a.Poll(time.Unix(1_800_000_000, 0), []string{"a"}, true); have != want {
			t.Errorf("%q: the first poll without the file: want %d, have %d", rule, want, have)
		}
	}
}
