package library

import (
	"strings"
	"testing"

	"botd/internal/mutant/mutanttest"
	"botd/strategy"
)

// TestRulesOfTheStrategiesShowWhenTheyAreBroken has twap immediately send what a pause delayed.
func TestRulesOfTheStrategiesShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "strategy/library", map[string]func(testing.TB){"catches_up_at_once": mutanttest.Holds(func() bool {
		held := pacing(t, "twap", strategy.Values{"quantity": "0.500", "slices": "50", "every": "1s"}, "++++++"+strings.Repeat(".", 20)+"++++")
		for i := 1; i < len(held); i++ {
			if held[i]-held[i-1] > 11 {
				return false
			}
		}
		return true
	})})
}
