package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// TestPlanFromBeforeStartOpensNothingWhileStrategyDecides starts a process with a plan of 20, of which nothing has been opened. The strategy, which is
// asked once the account has been read, now desires 5: the rules may have changed since the plan.
func TestPlanFromBeforeStartOpensNothingWhileStrategyDecides(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"by a schedule": {offload}, "by candles": {offload, byCandles}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startsWithFormerPlan(t, options...)
		})
	}
}

func startsWithFormerPlan(t testing.TB, options ...option) {
	t.Helper()
	target := exchange.Quantity(0)
	w := newWorld(t, swing(&target), options...)
	w.pass(250_000)
	w.records = append(w.records, record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin,
		Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}, Reason: "a test"}}})
	target = 5
	w.network = func(call *Call) fate { // until then a decision is due
		if call.Request.Operation == exchange.FuturesOpenPositions {
			return fate{longMS: 1_500}
		}
		return fate{}
	}
	before := len(w.records)
	w.start()
	w.pass(20_000)
	for i := before; i < len(w.records); i++ {
		if body, sends := w.records[i].Body.(record.Sending); sends && body.Order.Quantity > 5 {
			t.Errorf("want 5 opened at most, have %d", body.Order.Quantity)
		}
	}
	w.wantHeld(5)
}
