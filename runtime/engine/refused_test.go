package engine

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The exchange executes an order that it answers with 400. It must not be bought from twice.
func TestExecutedRefusedSpotOrderIsFoundInHistory(t *testing.T) {
	t.Parallel()
	refusedAndExecuted(t)
}

// Where lists leave ids out, an unclaimed row could be the order that the exchange refused and executed.
func TestRefusedPurchaseInHistoryWithoutIDsIsNotRepeated(t *testing.T) {
	t.Parallel()
	refusedWithoutIDs(t)
}

func refusedWithoutIDs(t testing.TB) {
	target := exchange.Quantity(2_000)
	w := newWorld(t, swing(&target), onEther, patient)
	w.mirror = withoutIDs(spotLists...)
	w.pass(20_000) // the first purchase settles by its order id: the lists omit other ids
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Side == exchange.Buy {
			// a withdrawal in the same moment: the wallet alone does not show what was paid
			if err := w.venue.Transfer("one", exchange.Spot, "USDT", exchange.AmountOf(-100)); err != nil {
				t.Fatal(err)
			}
			return w.executedAndRefused(call)
		}
		return fate{}
	}
	target = 4_000
	w.pass(120_000)
	if held := w.inEther(); held < 3_980 || held > 4_000 {
		t.Errorf("want 4000 held, and nothing bought again, have %d\n%s", held, w.story())
	}
	w.wantState("quarantined")
}

func refusedAndExecuted(t testing.TB) {
	w := newWorld(t, hold(2_000), onEther, protected, patient)
	refusals := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Side == exchange.Buy && refusals == 0 {
			refusals++
			return w.executedAndRefused(call)
		}
		return fate{}
	}
	w.pass(8_000)
	if held := w.inEther(); held < 1_990 || held > 2_000 {
		t.Errorf("want 2000 bought once, have %d\n%s", held, w.story())
	}
	if covered := w.coveredEther(); covered < w.inEther()-2 {
		t.Errorf("want it covered, have %d of %d\n%s", covered, w.inEther(), w.story())
	}
	w.pass(60_000)
	if held := w.inEther(); held > 2_000 {
		t.Errorf("want nothing bought again, have %d\n%s", held, w.story())
	}
}

// executedAndRefused executes an order, and refuses its placement.
func (w *world) executedAndRefused(call *Call) fate {
	w.t.Helper()
	executed := *call
	executed.ID = 0
	if _, err := w.do(&executed); err != nil {
		w.t.Fatal(err)
	}
	return fate{err: &exchange.Refusal{Status: 400, Code: 9, Message: "not now"}}
}

// The exchange executes the order that it refuses while its list of orders is empty. Another order, read by id, shows that the list is
// incomplete.
func TestIncompleteListConfirmsNoRefusal(t *testing.T) {
	t.Parallel()
	refusedWithATornList(t)
}

func refusedWithATornList(t testing.TB) {
	orders := []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: 49_000e8, Quantity: 10}}
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) { plan.OrdersSet, plan.Orders = true, orders })
	w.pass(20_000)
	w.wantOpen(1)
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() {
			return w.executedAndRefused(call)
		}
		return fate{}
	}
	w.mirror = func(answer *exchange.Answer) {
		switch answer.Operation {
		case exchange.FuturesOpenOrders:
			answer.Orders = exchange.FetchedOf([]exchange.Order{})
		case exchange.FuturesAccount:
			answer.Account.OrderMargin = exchange.Amount{} // nor does the account show it
		}
	}
	orders = append(orders, strategy.DesiredOrder{Key: "b", Side: exchange.Buy, Price: 48_000e8, Quantity: 10})
	w.pass(60_000)
	w.wantOpen(2) // once
	w.mirror, w.network = nil, nil
	w.pass(60_000)
	w.wantOpen(2)
	w.wantSound()
}
