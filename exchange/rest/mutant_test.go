package rest

import (
	"testing"
	"time"

	"botd/internal/mutant"
)

// TestRulesOfTheBudgetShowWhenTheyAreBroken spends all of it on what does not reduce.
func TestRulesOfTheBudgetShowWhenTheyAreBroken(t *testing.T) {
	mutant.Shown(t, map[string]func() bool{"no_reserve": func() bool {
		b, now := newBudget(1, 10), time.Now()
		for b.take(now, priorityExit+1) {
		}
		return b.take(now, priorityExit)
	}})
}
