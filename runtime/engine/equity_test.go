package engine

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The account is not read again while the price moves; the position's change in value must be included.
func TestAStrategySeesItsEquityAtTheLastPrice(t *testing.T) {
	t.Parallel()
	var seen exchange.Amount
	var last exchange.Price
	var held exchange.Quantity
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) {
		seen, last, held = v.Equity, v.Last, v.Position.Quantity
		hold(10*v.Symbol.QuantityTick)(v, plan)
	})
	w.pass(60_000)
	w.wantHeld(10)
	before, priced := seen, last
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesAccount {
			return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "a test"}}
		}
		return fate{}
	}
	w.price("61000")
	w.pass(20_000)
	want := before.Add(w.venue.Symbol(bitcoin).Notional(last-priced, held))
	if seen != want || last == priced {
		t.Errorf("after %d to %d with %d held: want %s, before %s, have %s", priced, last, held, want, before, seen)
	}
	if account := w.engine.Tracker().Account(); account.Equity() == seen {
		t.Errorf("want an account that was not read since, have %s", seen)
	}
}
