package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The quarantine shows neither known placements nor those of another symbol.
func TestQuarantineListsUncertainPlacementsOfItsSymbol(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(10_000)
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	send := func(id string, key exchange.SymbolKey, uncertain bool) {
		order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.Limit, Price: 1_000e8, Quantity: 1,
			ClientOrderID: id}
		w.engine.record(record.Record{Strategy: "one", Symbol: key, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: placement.Order}})
		if uncertain {
			w.engine.record(record.Record{ClientOrderID: id, Body: record.Uncertain{Reason: "a test"}})
		} else {
			w.engine.record(record.Record{ClientOrderID: id, Body: record.Acknowledged{OrderID: 77}})
		}
	}
	send("lost", bitcoin, true)
	send("known", bitcoin, false)
	send("elsewhere", ether, true)
	w.engine.record(record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: "a test"}})
	all := w.engine.Quarantines()
	if len(all) != 1 || len(all[0].Uncertain) != 1 || all[0].Uncertain[0].ClientOrderID() != "lost" {
		t.Errorf("want one quarantine with the placement lost, have %+v", all)
	}
}
