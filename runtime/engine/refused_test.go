package engine

import (
	"testing"

	"botd/exchange"
)

// An exchange that executes what it answers 400 to must not be bought from twice.
func TestARefusedSpotOrderThatWasExecutedIsFoundInTheHistory(t *testing.T) {
	t.Parallel()
	refusedAndExecuted(t)
}

func refusedAndExecuted(t testing.TB) {
	w := newWorld(t, hold(2_000), onEther, protected, patient)
	refusals := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Side == exchange.Buy && refusals == 0 {
			refusals++
			executed := *call
			executed.ID = 0
			if _, err := w.do(&executed); err != nil {
				t.Fatal(err)
			}
			return fate{err: &exchange.Refusal{Status: 400, Code: 9, Message: "not now"}}
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
