package rest

import (
	"testing"
	"time"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfTheBudgetShowWhenTheyAreBroken spends the whole budget on requests that do not reduce.
func TestRulesOfTheBudgetShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "exchange/rest", map[string]func(testing.TB){"no_reserve": mutanttest.Holds(func() bool {
		b, now := newBudget(10), time.Now()
		for b.take(now, priorityExit+1) {
		}
		return b.take(now, priorityExit)
	})})
}
