package engine

import (
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// flattening is a state in which the kill switch may be used.
type flattening struct {
	name    string
	spot    bool
	options []option
	until   func(w *world) // brings the state about
}

// bought passes time until the position is on the exchange.
func bought(w *world) {
	w.t.Helper()
	for range 2_000 {
		if w.held() != 0 || w.inEther() > 0 {
			return
		}
		w.pass(10)
	}
	w.t.Fatalf("want a position, have none\n%s", w.story())
}

// loses loses the answers to orders of a kind, executed or not, until the network is healed.
func loses(carriedOut bool, side exchange.Side, stops bool) func(*Call) fate {
	return func(call *Call) fate {
		o := &call.Request.Order
		if !call.Request.Operation.Places() || o.Side != side || o.Type.Conditional() != stops {
			return fate{}
		}
		return fate{silent: carriedOut, lost: !carriedOut}
	}
}

// unanswered sends a placement whose answer is lost, and heals the network.
func unanswered(f func(*Call) fate, before, after int64) func(*world) {
	return func(w *world) {
		sent, broken := len(w.sent), false
		w.network = func(call *Call) fate {
			fate := f(call)
			broken = broken || fate.lost || fate.silent
			return fate
		}
		w.pass(before)
		for range 3_000 {
			if broken {
				break
			}
			w.pass(10)
		}
		if !broken {
			w.t.Fatalf("want a placement without an answer after %d\n%s", sent, w.story())
		}
		w.network = nil
		w.pass(after)
	}
}

func blinded(ms int64) func(*world) {
	return func(w *world) {
		bought(w)
		w.pass(3_000)
		w.network = func(call *Call) fate {
			if call.Request.Operation.Places() || call.Request.Operation == exchange.FuturesCancel || call.Request.Operation == exchange.SpotCancel {
				return fate{}
			}
			return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "status 503"}}
		}
		w.pass(ms)
		w.network = nil
	}
}

func flattenings() []flattening {
	steady := func(w *world) { bought(w); w.pass(40_000) }
	forgets := func(w *world) { bought(w); w.pass(20_000); w.records = nil; w.start(); w.pass(20_000) }
	manualToo := func(w *world) {
		bought(w)
		w.pass(20_000)
		w.manually(w.market(exchange.Buy, 70, false))
		w.pass(60_000)
		w.wantState("quarantined")
	}
	soldManually := func(w *world) {
		bought(w)
		w.pass(40_000)
		w.manually(exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Sell,
			Type: exchange.Limit, Price: 2_000e8, Quantity: 900}})
		w.pass(60_000)
		w.wantState("quarantined")
	}
	leaving := func(after int64) func(*world) {
		return func(w *world) {
			steady(w)
			w.network = loses(false, exchange.Sell, false)
			w.give(&EventHalt{Scope: account.Scope{Strategy: "one"}, Level: record.LevelFlatten, Reason: "before"})
			w.pass(1_500 + after)
			w.network = nil
		}
	}
	unansweredExits := func(w *world) {
		steady(w)
		w.network = func(call *Call) fate {
			if o := &call.Request.Order; !call.Request.Operation.Places() || o.Side != exchange.Sell || o.Type.Conditional() {
				return fate{}
			}
			return fate{err: &exchange.Uncertain{Reason: "status 502"}}
		}
		w.give(&EventHalt{Scope: account.Scope{Strategy: "one"}, Level: record.LevelFlatten, Reason: "before"})
		w.pass(840_000)
		if d := w.wantState("halted"); !strings.Contains(d.Remaining, "exits were not answered") {
			w.t.Errorf("want the halt to say why it is not done, have %q", d.Remaining)
		}
		w.network = nil
	}
	stop, fewOrders := []option{protected}, func(w *world) { w.config.Limits.MaxOpenOrders = 200 }
	return append(declaredFlattenings(), []flattening{
		{"futures, steady", false, stop, steady},
		{"futures, right after the fill", false, stop, bought},
		{"futures, with an order at rest", false, nil, func(w *world) { steady(w) }},
		{"futures, quarantined", false, nil, manualToo},
		{"futures, the journal was lost", false, nil, forgets},
		{"futures, an entry unanswered that was carried out", false, stop, unanswered(loses(true, exchange.Buy, false), 0, 500)},
		{"futures, an entry uncertain that was carried out", false, stop, unanswered(loses(true, exchange.Buy, false), 0, 12_000)},
		{"futures, a stop unanswered", false, stop, unanswered(loses(false, exchange.Sell, true), 0, 500)},
		{"futures, a stop uncertain that stands", false, stop, unanswered(loses(true, exchange.Sell, true), 0, 12_000)},
		{"futures, blind until now", false, stop, blinded(45_000)},
		{"futures, halted already", false, stop, func(w *world) {
			steady(w)
			w.give(&EventHalt{Level: record.LevelCancel, Reason: "before"})
			w.pass(5_000)
		}},
		{"futures, an exit unanswered", false, stop, leaving(500)},
		{"futures, an exit uncertain", false, stop, leaving(10_000)},
		{"futures, exits without an answer for 14 minutes", false, append([]option{fewOrders}, stop...), unansweredExits},
		{"spot, exits without an answer for 14 minutes", true, append([]option{fewOrders}, stop...), unansweredExits},
		{"spot, an exit unanswered", true, stop, leaving(500)},
		{"spot, an exit uncertain", true, stop, leaving(10_000)},
		{"spot, steady", true, stop, steady},
		{"spot, right after the fill", true, stop, bought},
		{"spot, without a stop", true, nil, steady},
		{"spot, quarantined", true, nil, soldManually},
		{"spot, an entry unanswered that was carried out", true, stop, unanswered(loses(true, exchange.Buy, false), 0, 500)},
		{"spot, a stop unanswered", true, stop, unanswered(loses(false, exchange.Sell, true), 0, 500)},
		{"spot, a stop uncertain that stands", true, stop, unanswered(loses(true, exchange.Sell, true), 0, 12_000)},
		{"spot, blind until now", true, stop, blinded(45_000)},
	}...)
}

// staysFlat expects that nothing opens afterwards, and that nothing is open in the end.
func (w *world) staysFlat(waited int64) {
	w.t.Helper()
	w.pass(60_000)
	if w.held() != 0 || w.inEther() >= 10 {
		w.t.Errorf("flat after %d ms, and then %d and %d are held again\n%s", waited, w.held(), w.inEther(), w.story())
	}
}
