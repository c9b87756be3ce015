package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Only a start may have forgotten the answer to a stop's cancel: it is looked for within half a minute, for stops that the exchange accepted before the
// start, while the wallet shows all units and no other botd is there.
func TestStopWhoseCancelMayBeForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		purpose  placement.Purpose
		change   func(w *wallet)
		forgets  bool
		accepted int64
	}{
		{"all units are there", placement.StopLoss, func(*wallet) {}, true, 8},
		{"with what others hold", placement.StopLoss, func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: 1}})
		}, false, 8},
		{"one unit is gone", placement.StopLoss, func(w *wallet) { w.observe("0.009") }, false, 8},
		{"it was never accepted", placement.StopLoss, func(*wallet) {}, false, 0},
		{"it is an exit", placement.ExitOrder, func(*wallet) {}, false, 8},
		{"it is from after the start", placement.StopLoss, func(w *wallet) { w.tracker.bootMS = 0 }, false, 8},
		{"it is from the moment of the start", placement.StopLoss, func(w *wallet) { w.tracker.bootMS = w.now }, false, 8},
		{"half a minute after the start", placement.StopLoss, func(w *wallet) { w.tracker.readBeganMS = w.tracker.bootMS + forgottenCancelMS }, false, 8},
		{"a moment before", placement.StopLoss, func(w *wallet) { w.tracker.readBeganMS = w.tracker.bootMS + forgottenCancelMS - 1 }, true, 8},
		{"the rules are not known", placement.StopLoss, func(w *wallet) { w.tracker.Symbol(coin).rules = nil }, false, 8},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		stop := w.places(c.purpose, c.accepted, stopOf(10))
		w.tracker.bootMS, w.tracker.readBeganMS = w.now+1, w.now+2
		c.change(w)
		if have := forgetsCancel(w.tracker, w.tracker.Placement(stop.ClientOrderID)); have != c.forgets {
			t.Errorf("%s: want its cancel perhaps forgotten %t, have %t", c.name, c.forgets, have)
		}
	}
	w := holdingNextTo(t, ForeignHalt, "0")
	limit := stopOf(10)
	limit.Type, limit.StopPrice = exchange.Limit, 0
	sale := w.places(placement.StopLoss, 8, limit)
	w.tracker.bootMS, w.tracker.readBeganMS = w.now+1, w.now+2
	if forgetsCancel(w.tracker, w.tracker.Placement(sale.ClientOrderID)) {
		t.Error("want a sale at once left alone")
	}
}
