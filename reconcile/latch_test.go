package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// An adoption latches the symbol's strategy. The latch record names no symbol, and every symbol is still observed in the same round, the last one
// too.
func TestAnAdoptionThatLatchesHidesNoSymbol(t *testing.T) {
	t.Parallel()
	latchesAndObserves(t)
}

func latchesAndObserves(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignAdopt
	d.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{}})
	d.tracker.Apply(&record.Record{AtMS: d.now, Strategy: "one", Symbol: bitcoin,
		Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}}}})
	spot := d.tracker.Track(coin)
	spot.rules = newWallet(t).tracker.Track(coin).rules
	d.tracker.Apply(&record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000}})
	d.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 2}}) // the journal is not new
	latched := false
	for range 60 {
		d.now += 1_000
		spot.position = 5 // of a round before: nothing is held
		for _, r := range d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			Before: d.positions(10), Positions: d.positions(10), ClosedOf: []string{"BTC-USDT"}, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1")}})}) {
			_, is := r.Body.(record.Latch)
			latched = latched || is
		}
		if spot.position != 0 {
			t.Fatalf("want the spot symbol observed in each round, have %d at %d", spot.position, d.now)
		}
	}
	if !latched || len(slices.Collect(d.tracker.Symbols())) != 2 {
		t.Errorf("want a latch and two symbols, have %t and %d", latched, len(slices.Collect(d.tracker.Symbols())))
	}
}
