package auth

import (
	"testing"
	"time"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfSessionsShowWhenTheyAreBroken opens more sessions than a role may have.
func TestRulesOfSessionsShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/api/auth", map[string]func(testing.TB){"no_quota": mutanttest.Holds(func() bool {
		var s sessions
		for range maxViewers + 1 {
			s.begin(session{role: Viewer}, time.Unix(1_800_000_000, 0))
		}
		return len(s.open) <= maxViewers
	})})
}
