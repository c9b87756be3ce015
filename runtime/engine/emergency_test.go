package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// silenced blocks all reads of orders and positions: they are refused, or never answered.
func silenced(hang bool) func(*Call) fate {
	return func(call *Call) fate {
		switch call.Request.Operation {
		case exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.FuturesAccount, exchange.FuturesOrder:
			if hang {
				return fate{silent: true}
			}
			return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "status 503"}}
		}
		return fate{}
	}
}

func (w *world) open() []exchange.Order {
	w.t.Helper()
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesOpenOrders})
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.Orders.Items()
}

func TestHaltCancelsAndClosesWithoutReads(t *testing.T) {
	t.Parallel()
	for _, hang := range []bool{false, true} {
		t.Run(map[bool]string{false: "refused", true: "hanging"}[hang], func(t *testing.T) {
			t.Parallel()
			haltedUnread(t, hang)
		})
	}
}

// haltedUnread halts while reads are refused or hang.
func haltedUnread(t testing.TB, hang bool) {
	w := newWorld(t, haltable)
	w.pass(60_000)
	w.wantHeld(10)
	if n := len(w.open()); n != 2 {
		t.Fatalf("want a stop and an order at rest, have %d", n)
	}
	w.network = silenced(hang)
	w.pass(5_000)
	w.give(&EventHalt{Level: record.LevelCancel, Reason: "a test"})
	w.pass(5_000)
	if all := w.open(); len(all) != 1 || all[0].Type != exchange.StopMarket {
		t.Errorf("want the stop alone left, have %+v", all)
	}
	w.wantHeld(10)
	before := len(w.sent)
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	w.pass(5_000)
	w.wantHeld(0)
	if d := w.wantState("halted"); !strings.Contains(d.Remaining, "was sent; the next read shows its outcome") {
		t.Errorf("want a report of the exit in flight, have %q", d.Remaining)
	}
	w.pass(60_000)
	w.wantSent(before + 1)
	w.network = nil
	w.pass(60_000)
	w.wantSent(before + 1)
	w.wantNothingRefused()
	if left := w.open(); len(left) != 0 {
		t.Errorf("want nothing left, have %+v", left)
	}
}

// haltable has a position of 10 with a stop, and an order that would add to it.
func haltable(_ *strategy.View, plan *strategy.Plan) {
	plan.Orders, plan.OrdersSet = []strategy.DesiredOrder{
		{Key: "at once", Side: exchange.Buy, Price: 51_000e8, Quantity: 10},
		{Key: "low", Side: exchange.Buy, Price: 45_000e8, Quantity: 10},
	}, true
	plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 44_000e8}}
}

func TestLostHaltExitIsNotRepeatedWithoutRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, haltable)
	w.pass(60_000)
	quiet := silenced(false)
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() {
			return fate{lost: true}
		}
		return quiet(call)
	}
	before := len(w.sent)
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	w.pass(60_000)
	w.wantHeld(10)
	if n := len(w.sent); n != before {
		t.Errorf("want what is lost never to have arrived, have %d", n-before)
	}
	exits := 0
	for _, r := range w.records {
		if sending, ok := r.Body.(record.Sending); ok && sending.Purpose == placement.Exit {
			exits++
		}
	}
	if exits != 1 {
		t.Errorf("want one exit journalled while nothing is read, have %d\n%s", exits, w.story())
	}
	w.network = nil
	w.pass(40_000)
	w.wantHeld(0)
	w.wantNothingRefused()
}
