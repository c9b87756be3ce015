package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"botd/strategy"
)

// TestStrategyTextsAndMemoryAreBounded uses strategies whose plan is constant while their texts grow:
// the journal and the log store them.
func TestStrategyTextsAndMemoryAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		decide     func(plan *strategy.Plan, decision int)
	}{
		{"a reason of megabytes, of the plan in force", "a reason of", func(plan *strategy.Plan, decision int) {
			plan.Reason = strings.Repeat("because ", decision*40)
		}},
		{"ever more values", "remembered values exceed", func(plan *strategy.Plan, decision int) {
			for i := range 300 {
				plan.Remember(fmt.Sprintf("%d of %d", i, decision), 1)
			}
		}},
		{"a key of the plan in force", "a remembered value's key of", func(plan *strategy.Plan, decision int) {
			if decision > 1 {
				plan.Remember(strings.Repeat("k", 1<<20), 1)
			}
		}},
		{"a failure of megabytes", "a long story", func(_ *strategy.Plan, decision int) {
			if decision > 1 {
				panic(strings.Repeat("a long story ", 100_000))
			}
		}},
	} {
		for _, how := range []func(*world){offload, func(*world) {}} {
			decisions := 0
			w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
				decisions++
				plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}, "a test")
				c.decide(plan, decisions)
			}, protected, how)
			w.pass(10_000)
			if d := w.wantState("failed"); !strings.Contains(d.Cause, c.want) || len(d.Cause) > 5_000 {
				t.Errorf("%s: want it failed because of %q in few words, have %.200s (%d bytes)", c.name, c.want, d.Cause, len(d.Cause))
			}
			w.wantHeld(20) // and its position stays, with its stop
			if w.engine.Tracker().LiveCount() != 1 {
				t.Errorf("%s: want its stop on the exchange, have %d orders", c.name, w.engine.Tracker().LiveCount())
			}
			for _, r := range w.records {
				if text, err := json.Marshal(r); err != nil || len(text) > 250_000 {
					t.Errorf("%s: want no record of that length: %d bytes, %v", c.name, len(text), err)
				}
			}
		}
	}
}
