package engine

import (
	"testing"

	"botd/exchange"
)

// ordersUnread makes the open orders of spot unreadable from now on, and passes everything else.
func ordersUnread(call *Call) fate {
	if call.Request.Operation == exchange.SpotOpenOrders {
		return fate{err: &exchange.Unavailable{Operation: exchange.SpotOpenOrders, Reason: "status 503"}}
	}
	return fate{}
}

// The history shows the purchase, and no fill is missing from the journal, unlike in other quarantines.
func TestExecutedRefusalIsProtectedWithoutOrderLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther, protected, patient)
	executed := false
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Side == exchange.Buy && !executed {
			executed = true
			return w.executedAndRefused(call)
		}
		if executed {
			return ordersUnread(call)
		}
		return fate{}
	}
	for !executed {
		w.pass(100)
	}
	w.pass(5_000)
	w.wantState("quarantined")
	if covered := w.coveredEther(); covered < w.inEther()-2 {
		t.Errorf("want it covered, have %d of %d\n%s", covered, w.inEther(), w.story())
	}
}

// The exit of the removal waits for the wallet and the orders. The stop, which another trader canceled, does not wait.
func TestRemovedStrategysUnitsStayProtectedWithoutLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther, protected, patient, func(w *world) { w.config.Strategies[0].OnRemove = "flatten" })
	w.pass(60_000)
	stop := int64(0)
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { stop = o.ID })
	if stop == 0 {
		t.Fatalf("want a stop\n%s", w.story())
	}
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotCancel, Symbol: "ETH-USDT", OrderID: stop}); err != nil {
		t.Fatal(err)
	}
	w.network = ordersUnread
	w.change(Reload{Removed: []string{"one"}})
	w.pass(6_000)
	if held := w.inEther(); held > 100 && w.coveredEther() < held-2 {
		t.Errorf("want it sold, or covered, have %d of %d\n%s", w.coveredEther(), held, w.story())
	}
	w.network = nil
	w.pass(60_000)
	if held := w.inEther(); held > 100 {
		t.Errorf("want it sold when the orders can be read again, have %d\n%s", held, w.story())
	}
	if w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { t.Errorf("want nothing resting, have %+v", o) }); t.Failed() {
		t.Log(w.story())
	}
}
