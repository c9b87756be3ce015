package engine

import (
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The text has a line for each record, with quantities in the symbol's decimals, or in steps while its rules are unknown.
func TestResolutionText(t *testing.T) {
	t.Parallel()
	rules := sim.DefaultSymbols()[0] // BTC-USDT: steps of 0.001
	tracker := reconcile.NewTracker(placement.Bounds{})
	known, unknown := tracker.Track(rules.Key()), tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "NEW-USDT"})
	see(known, func(o *seen) { o.Rules = rules })
	tracker.Apply(&record.Record{Symbol: rules.Key(), Body: record.Adopted{Quantity: 20}})
	for _, c := range []struct {
		symbol *reconcile.SymbolState
		record record.Record
		want   string
	}{
		{known, record.Record{ClientOrderID: "c-1", Body: record.Ended{State: placement.Absent}}, "placement c-1 counts as having had no further effect"},
		{known, record.Record{ClientOrderID: "c-1", Body: record.Found{OrderID: 7, Purpose: placement.StopLoss}}, "order 7 (c-1) becomes botd's, as stop_loss"},
		{known, record.Record{ClientOrderID: "c-1", Body: record.Ignored{OrderID: 7}}, "order 7 (c-1) is left to its owner"},
		{known, record.Record{Body: record.Ignored{Quantity: -5}}, "-0.005 of the position is left to its owner"},
		{known, record.Record{Body: record.Baseline{Quantity: 5}}, "0.005 of the wallet counts as foreign"},
		{known, record.Record{Body: record.Adopted{Quantity: -5}}, "-0.005 is adopted: the position is botd's at 0.015"},
		{known, record.Record{Body: record.Adopted{}}, "nothing is to be adopted: position and fills agree at 0.02"},
		{unknown, record.Record{Body: record.Adopted{Quantity: 5}}, "5 steps is adopted: the position is botd's at 5 steps"},
		{unknown, record.Record{Body: record.Adopted{}}, "nothing is to be adopted: position and fills agree at 0 steps"},
	} {
		if have := resolutionLine(&c.record, c.symbol); have != c.want {
			t.Errorf("%T: want %q, have %q", c.record.Body, c.want, have)
		}
	}
}
