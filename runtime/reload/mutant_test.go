package reload

import (
	"testing"
	"time"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfTheReloadShowWhenTheyAreBroken removes the condition for which a removal waits, and leaves a substitute.
func TestRulesOfTheReloadShowWhenTheyAreBroken(t *testing.T) {
	signalsBegin()
	mutanttest.Shown(t, "runtime/reload", map[string]func(testing.TB){"removal_at_once": mutanttest.Holds(func() bool {
		var a Absences
		return a.Poll(time.Unix(1_800_000_000, 0), []string{"a"}, true) == TooYoung
	}), "missing_stays": mutanttest.Holds(func() bool { return listedAgain(t) == "" }),
		"substitute_stays": mutanttest.Holds(func() bool { return loadsLate(t, false) == "" })})
}
