package auth

import (
	"testing"
	"time"

	"botd/internal/mutant"
)

// TestRulesOfSessionsShowWhenTheyAreBroken opens more than one role may have.
func TestRulesOfSessionsShowWhenTheyAreBroken(t *testing.T) {
	mutant.Shown(t, map[string]func() bool{"no_quota": func() bool {
		var s sessions
		for range maxViewers + 1 {
			s.begin(session{role: Viewer}, time.Unix(1_800_000_000, 0))
		}
		return len(s.open) <= maxViewers
	}})
}
