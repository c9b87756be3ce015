package rest

import (
	"testing"
	"time"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfTheBudgetShowWhenTheyAreBroken spends the whole budget on requests that do not reduce.
func TestRulesOfTheBudgetShowWhenTheyAreBroken(t *testing.T) {
	limited := &outcome{limited: true, retryAfter: time.Minute}
	mutanttest.Shown(t, "exchange/rest", map[string]func(testing.TB){
		"no_reserve": mutanttest.Holds(func() bool {
			b, now := newBudget(10), time.Now()
			for b.take(now, priorityExit+1) {
			}
			return b.take(now, priorityExit)
		}),
		"exits_obey_retry_after": mutanttest.Holds(func() bool {
			b := newBudget(10)
			b.answered(prioritySettle, false, limited)
			return b.take(time.Now().Add(probeEvery), priorityExit)
		}),
		"data_stops_exits": mutanttest.Holds(func() bool {
			b := newBudget(10)
			b.answered(priorityWatch, false, limited)
			return b.take(time.Now(), priorityExit)
		}),
		"limited_bursts": mutanttest.Holds(func() bool {
			b := newBudget(10)
			b.answered(prioritySettle, false, limited)
			later := time.Now().Add(probeEvery)
			return b.take(later, prioritySettle) && !b.take(later, prioritySettle)
		}),
		"probe_places": mutanttest.Holds(func() bool {
			b := newBudget(10)
			b.answered(prioritySettle, false, limited)
			b.queued[priorityExit] = []*turn{{level: priorityExit, places: true}}
			b.queued[prioritySettle] = []*turn{{level: prioritySettle}}
			return b.next(time.Now().Add(firstProbe)).level == prioritySettle
		}),
	})
}
