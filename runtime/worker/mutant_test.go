package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"botd/internal/mutant/mutanttest"
	"botd/runtime/engine"
)

// TestRulesOfTheWorkersShowWhenTheyAreBroken waits for a strategy that takes no signal.
func TestRulesOfTheWorkersShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/worker", map[string]func(testing.TB){"signal_without_deadline": mutanttest.Holds(func() (holds bool) {
		synctest.Test(t, func(*testing.T) {
			var p Pool
			release, began := make(chan struct{}), time.Now()
			p.Receive(&engine.Reception{Name: "one", Strategy: &receiver{take: func() { <-release }}, WithinMS: 2_000})
			holds = time.Since(began) == 2*time.Second
			close(release)
		})
		return holds
	})})
}
