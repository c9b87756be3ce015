package library

import (
	"strings"
	"testing"

	"botd/internal/mutant"
	"botd/strategy"
)

// TestRulesOfTheStrategiesShowWhenTheyAreBroken has twap send at once what a pause held back.
func TestRulesOfTheStrategiesShowWhenTheyAreBroken(t *testing.T) {
	if !mutant.Built() {
		t.Skip("no rule can be broken in this build: .ci/run makes the one with the overlay of internal/mutant")
	}
	defer mutant.Break("")
	for rule, want := range map[string]bool{"": false, "catches_up_at_once": true} {
		mutant.Break(rule)
		held := pacing(t, "twap", strategy.Values{"quantity": "0.500", "slices": "50", "every": "1s"}, "++++++"+strings.Repeat(".", 20)+"++++")
		leap := false
		for i := 1; i < len(held); i++ {
			leap = leap || held[i]-held[i-1] > 11
		}
		if leap != want {
			t.Errorf("%q: more than a slice at once: want %t, have %t, %v", rule, want, leap, held)
		}
	}
}
