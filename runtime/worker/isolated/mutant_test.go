package isolated

import (
	"testing"
	"testing/synctest"
	"time"

	"botd/internal/mutant/mutanttest"
	"botd/strategy"
)

// TestRulesOfTheStartShowWhenTheyAreBroken starts with a process that hangs.
func TestRulesOfTheStartShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/worker/isolated", map[string]func(testing.TB){"start_waits": mutanttest.Holds(func() (holds bool) {
		synctest.Test(t, func(*testing.T) {
			began := time.Now()
			_, _ = NewLoading().Definition("hangs", describes(30*time.Second, &strategy.LostError{Cause: "it has not loaded"}))
			holds = time.Since(began) == 2*time.Second
			time.Sleep(time.Minute)
		})
		return holds
	})})
}
