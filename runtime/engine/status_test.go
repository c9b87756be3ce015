package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// A status with a target of 10, while the plan requests no position, would suggest that an exit was lost.
func TestTheTargetReportedIsThatOfThePlanInForce(t *testing.T) {
	t.Parallel()
	planned := strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 10}
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) { plan.Hold(planned, "a test") })
	target := func() exchange.Quantity { return w.engine.Status().Strategies[0].Target }
	w.pass(20_000)
	held := w.held()
	if held == 0 || target() != held {
		t.Fatalf("a share of the equity: want a target of what is held, have %d of %d\n%s", target(), held, w.story())
	}
	planned = strategy.Flat()
	w.pass(70_000)
	w.wantHeld(0)
	if target() != 0 {
		t.Errorf("flat: want a target of 0, have %d", target())
	}
	planned = strategy.Target{Kind: strategy.ByQuantity, Quantity: 7}
	w.pass(70_000)
	w.wantHeld(7)
	if target() != 7 {
		t.Errorf("a quantity: want a target of 7, have %d", target())
	}
}

// A strategy's halt is listed next to the account's.
func TestTheStatusListsEveryHaltUntilItEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(10_000)
	if halts := w.engine.Status().Halts; len(halts) != 0 {
		t.Fatalf("want no halt, have %+v", halts)
	}
	w.halt(record.LevelPause, account.Scope{Strategy: "one"})
	w.halt(record.LevelCancel, account.Scope{})
	levels := map[account.Scope]record.HaltLevel{}
	for _, h := range w.engine.Status().Halts {
		levels[h.Scope] = h.Level
	}
	if len(levels) != 2 || levels[account.Scope{Strategy: "one"}] != record.LevelPause || levels[account.Scope{}] != record.LevelCancel {
		t.Errorf("want a pause of the strategy and a cancel of the account, have %v", levels)
	}
	w.halt(record.LevelNone, account.Scope{})
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	if halts := w.engine.Status().Halts; len(halts) != 0 {
		t.Errorf("want them ended, have %+v", halts)
	}
}

// The day of the account is in the journal, and its equity is not: after a start during an outage it is unknown, not zero.
func TestEquityIsUnknownAfterAStartDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		w := newWorld(t, hold(2_000), market, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(1_000)}}))
		w.pass(30_000)
		before := w.engine.Status()
		w.network = func(call *Call) fate {
			return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "a test"}}
		}
		w.start()
		w.pass(35_000)
		during := w.engine.Status()
		w.network = nil
		w.pass(30_000)
		after := w.engine.Status()
		if !before.TotalKnown || during.TotalKnown || !after.TotalKnown || after.Total != before.Total || during.Day != before.Day {
			t.Errorf("want the equity %s unknown during the outage, have %+v of %s, then %s", before.Total, during.Day, during.Total, after.Total)
		}
		if before.Strategies[0].Unpriced || !during.Strategies[0].Unpriced || after.Strategies[0].Unpriced {
			t.Errorf("want its strategy's equity unknown during the outage, have %+v", during.Strategies[0])
		}
	}
}
