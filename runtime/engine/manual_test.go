package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// live returns the live placement of a key, or of a purpose.
func (w *world) live(purpose placement.Purpose, key string) *account.Placement {
	w.t.Helper()
	for p := range w.engine.Tracker().Live() {
		if p.Purpose() == purpose && p.Key() == key {
			return p
		}
	}
	w.t.Fatalf("want a live %s %s\n%s", purpose, key, w.story())
	return nil
}

func (w *world) withdraw(id string) {
	w.give(&EventWithdraw{ClientOrderID: id, Reason: "a test"})
}

// wantLine expects a line in an action's preview.
func (d *ManualAction) wantLine(t *testing.T, part string) {
	t.Helper()
	if !strings.Contains(strings.Join(d.Lines, "\n"), part) {
		t.Errorf("want %q reported, have\n  %s", part, strings.Join(d.Lines, "\n  "))
	}
}

// changes collects the changing requests of the network.
func (w *world) changes(have *[]string) {
	w.network = func(call *Call) fate {
		switch r := call.Request; {
		case r.Operation == exchange.FuturesCancel:
			for p := range w.engine.Tracker().Live() {
				if p.OrderID() == r.OrderID {
					*have = append(*have, "cancel "+p.ClientOrderID())
				}
			}
		case r.Operation.Places():
			*have = append(*have, "place "+r.Order.Side.String()+" "+r.Order.Type.String())
		}
		return fate{}
	}
}

func TestAnOrderCanceledByAPersonStaysOut(t *testing.T) {
	t.Parallel()
	w := standing(t)
	low := w.live(placement.Order, "low")
	action, err := w.engine.PreviewCancel(low.ClientOrderID())
	if err != nil {
		t.Fatal(err)
	}
	if len(action.Steps) != 1 || action.Steps[0].Intent.OrderID != low.OrderID() || action.Steps[0].Later || action.Level != record.LevelPause ||
		action.Scope.Strategy != "one" {
		t.Errorf("want one cancel and a pause of its strategy, have %+v", action)
	}
	action.wantLine(t, "so it places them at once then")
	var sent []string
	w.changes(&sent)
	w.withdraw(low.ClientOrderID())
	w.pass(60_000)
	if want := []string{"cancel " + low.ClientOrderID()}; !slices.Equal(sent, want) {
		t.Errorf("sent: want %q and nothing that undoes it, have %q\n%s", want, sent, w.story())
	}
	w.wantHeld(10)
	w.wantOpen(2) // the stop and the exit
	if d := w.wantState("halted"); d.Scope.Strategy != "one" || d.Remaining != "" {
		t.Errorf("want the strategy halted and nothing left to do, have %+v", d)
	}
	if _, err := w.engine.PreviewCancel(low.ClientOrderID()); err == nil || !strings.Contains(err.Error(), "no longer open") {
		t.Errorf("want an ended order refused, have %v", err)
	}
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	w.pass(20_000)
	w.wantOpen(3) // as previewed
}

func TestManualCancelIsRepeatedUntilOrderEnds(t *testing.T) {
	t.Parallel()
	w := standing(t)
	low := w.live(placement.Order, "low")
	tries := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesCancel {
			if tries++; tries < 3 {
				return fate{lost: true}
			}
		}
		return fate{}
	}
	w.withdraw(low.ClientOrderID())
	w.pass(200)
	if d := w.wantState("halted"); !strings.Contains(d.Remaining, "orders to end: 1") {
		t.Errorf("want what is left in it, have %+v", d)
	}
	if _, err := w.engine.PreviewCancel(low.ClientOrderID()); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("want a second cancel refused, have %v", err)
	}
	w.pass(2_000)
	w.start() // killed in between: the journal knows it
	w.pass(30_000)
	if tries < 3 {
		t.Errorf("want it sent again, have %d tries", tries)
	}
	w.wantOpen(2)
	sent := slices.IndexFunc(w.sent, func(o exchange.NewOrder) bool { return o.ClientOrderID == low.ClientOrderID() })
	if state, _ := w.ended(sent); state != placement.Canceled {
		t.Errorf("want it canceled, have %s", state)
	}
}

func TestUncertainOrderIsCanceledOnceItsIDIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: 40_000e8, Quantity: 10}), true
	})
	w.network = once(fate{lateMS: 15_000}) // its outcome is uncertain
	w.pass(12_000)
	low := w.live(placement.Order, "low")
	if low.State() != placement.Uncertain {
		t.Fatalf("want it uncertain, have %s", low.State())
	}
	action, err := w.engine.PreviewCancel(low.ClientOrderID())
	if err != nil || !action.Steps[0].Later {
		t.Fatalf("want it canceled later, have %+v, %v", action, err)
	}
	action.wantLine(t, "once it is known")
	w.network = func(*Call) fate { return fate{} }
	w.withdraw(low.ClientOrderID())
	w.pass(60_000)
	w.wantOpen(0)
	w.wantHeld(0)
}

func TestManualCancelOfProtectionIsRefused(t *testing.T) {
	t.Parallel()
	w := standing(t)
	for _, p := range []*account.Placement{w.live(placement.StopLoss, ""), w.live(placement.ExitOrder, "high")} {
		if _, err := w.engine.PreviewCancel(p.ClientOrderID()); err == nil || !strings.Contains(err.Error(), "protects") ||
			!strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: want it refused with a hint, have %v", p.Purpose(), err)
		}
		w.withdraw(p.ClientOrderID())
	}
	w.pass(20_000)
	w.wantOpen(3)
	w.wantSound()
}

func TestAPositionClosedByAPersonIsNotOpenedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected)
	w.pass(20_000)
	w.wantHeld(10)
	action, err := w.engine.PreviewClose(bitcoin)
	if err != nil || len(action.Steps) != 1 || action.Steps[0].Intent.Order.Quantity != 10 || !action.Steps[0].Intent.Order.ReduceOnly ||
		action.Level != record.LevelFlatten {
		t.Fatalf("want one reduceOnly exit of all, have %+v, %v", action, err)
	}
	action.wantLine(t, "its plan currently desires long")
	var sent []string
	w.changes(&sent)
	w.halt(action.Level, action.Scope)
	w.pass(30_000)
	w.start()
	w.pass(120_000) // the strategy requests 10 all the time
	w.wantHeld(0)
	if !slices.Equal(sent, []string{"place SELL MARKET"}) {
		t.Errorf("want one exit and nothing after it, have %q\n%s", sent, w.story())
	}
	if _, err := w.engine.PreviewClose(bitcoin); err == nil || !strings.Contains(err.Error(), "there is no position") {
		t.Errorf("want nothing left to close, have %v", err)
	}
	w.halt(record.LevelNone, action.Scope)
	w.pass(20_000)
	w.wantHeld(10) // as previewed
}

func TestAPositionIsClosedThoughAPlacementIsUncertain(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target))
	w.pass(5_000)
	w.wantHeld(10)
	target = 20
	w.network = once(fate{err: &exchange.Uncertain{Reason: "reset"}, lateMS: 9_000}) // it arrives nevertheless, later
	w.pass(3_000)
	action, err := w.engine.PreviewClose(bitcoin)
	if err != nil {
		t.Fatal(err)
	}
	action.wantLine(t, "is uncertain: the exit does not wait for it")
	var sent []string
	w.changes(&sent)
	w.halt(action.Level, action.Scope)
	w.pass(4_000)
	w.wantHeld(0) // the known position is closed immediately
	w.pass(120_000)
	w.wantHeld(0) // and so is the late one
	if !slices.Equal(sent, []string{"place SELL MARKET", "place SELL MARKET"}) {
		t.Errorf("want an exit of what was known and one of what came late, have %q\n%s", sent, w.story())
	}
}

func TestForeignPositionIsNotClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(5_000)
	if _, err := w.engine.PreviewClose(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}); err == nil ||
		!strings.Contains(err.Error(), "no strategy trades") {
		t.Errorf("want a symbol that nobody trades refused, have %v", err)
	}
	w.manually(w.market(exchange.Buy, 5, false))
	w.pass(20_000)
	if _, err := w.engine.PreviewClose(bitcoin); err == nil || !strings.Contains(err.Error(), "--adopt") {
		t.Errorf("want a foreign position refused with the remedy, have %v", err)
	}
	w.wantHeld(5)
}

func TestAPositionOnSpotIsClosedAfterItsStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(1_000), onSpot, protected)
	w.pass(20_000)
	before := w.symbol().Position()
	if before == 0 {
		t.Fatalf("want something held\n%s", w.story())
	}
	action, err := w.engine.PreviewClose(coin)
	if err != nil || len(action.Steps) != 2 || action.Steps[0].Intent.Purpose != placement.Cancel || !action.Steps[1].Later ||
		action.Steps[1].Intent.Order.Type != exchange.Limit {
		t.Fatalf("want the stop canceled, then an exit by limit, have %+v, %v", action, err)
	}
	w.halt(action.Level, action.Scope)
	w.pass(60_000)
	if have := w.symbol().Position(); have != 0 {
		t.Errorf("want it closed, have %d of %d\n%s", have, before, w.story())
	}
}
