package rest

import (
	"testing"
	"time"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfTheBudgetShowWhenTheyAreBroken spends all of it on what does not reduce.
func TestRulesOfTheBudgetShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "exchange/rest", map[string]func(testing.TB){"no_reserve": mutanttest.Holds(func() bool {
		b, now := newBudget(1, 10), time.Now()
		for b.take(now, priorityExit+1) {
		}
		return b.take(now, priorityExit)
	})})
}
