package reconcile

import (
	"testing"

	"botd/exchange"
)

// TestASymbolShowsWhatWasReadOfIt reads a position, its order and its price, and asks for each figure.
func TestASymbolShowsWhatWasReadOfIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.Read() || symbol.Settled() || symbol.Position() != 0 || symbol.SinceMS() != 0 {
		t.Errorf("before the first read: want nothing, have %+v", symbol.observation)
	}
	symbol.SetPrice(d.price("50100"), d.price("50099"), 990_000)
	symbol.SetLeverage(7)
	if symbol.Last() != d.price("50100") || symbol.Mark() != d.price("50099") || symbol.LastMS() != 990_000 || symbol.Leverage() != 7 {
		t.Errorf("want the price, its time and the leverage, have %d, %d, %d, %d", symbol.Last(), symbol.Mark(), symbol.LastMS(), symbol.Leverage())
	}
	rules := symbol.Rules()
	if symbol.SetRules(nil); symbol.Rules() != nil {
		t.Error("want no rules, have some")
	}
	if symbol.SetRules(rules); symbol.Rules() != rules || rules == nil {
		t.Error("want the rules that were set")
	}
	if symbol.SetCollar(exchange.RateOne / 20); symbol.collar != exchange.RateOne/20 {
		t.Errorf("want the collar, have %v", symbol.collar)
	}
	foreign := d.order("", 71, exchange.StatusNew, 20, 0)
	foreign.Type = exchange.Limit
	rows := d.positions(-30)
	rows.Items()[0].LiqPrice = exchange.AmountOf(90_000)
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf([]exchange.Order{foreign}), Before: rows, Positions: rows,
		ClosedOf: []string{"BTC-USDT"}})
	if !symbol.Read() || symbol.Settled() || symbol.Position() != -30 || symbol.EntryPrice() != exchange.AmountOf(50_000) ||
		symbol.LiqPrice() != exchange.AmountOf(90_000) || symbol.SinceMS() != d.now {
		t.Errorf("want the position that the list shows, have %+v", symbol.observation)
	}
	listed := symbol.Foreign()
	if symbol.ForeignCount() != 1 || len(listed) != 1 || listed[0].ID != 71 {
		t.Fatalf("want the order that botd did not make, have %+v", listed)
	}
	if listed[0].ID = 72; symbol.Foreign()[0].ID != 71 {
		t.Error("want a copy of the orders")
	}
	flat := newDesk(t)
	if flat.observe(0, nil); !flat.tracker.Symbol(bitcoin).Settled() {
		t.Error("without a position: want it settled")
	}
}

// TestAContradictedListIsDeclaredOnce reads a list that shows a position twice as large as the margin in use allows.
func TestAContradictedListIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	d, _, _ := guarded(t)
	d.tracker.foreignPolicy = ForeignAdopt
	symbol, margin, beganMS := d.tracker.Symbol(bitcoin), exchange.MustAmount("100"), d.now
	if d.margined(20, margin); symbol.Contradicted() != "" || symbol.ContradictedSinceMS() != 0 || symbol.NoteContradicted() {
		t.Errorf("want the list trusted, have %q since %d", symbol.Contradicted(), symbol.ContradictedSinceMS())
	}
	for range testSettle.StalenessMS/1_000 + 5 {
		d.now += 1_000
		d.margined(40, margin)
	}
	if since := symbol.ContradictedSinceMS(); symbol.Contradicted() == "" || since <= beganMS || since > d.now {
		t.Fatalf("want it contradicted since a time after %d, have %q since %d", beganMS, symbol.Contradicted(), since)
	}
	if !symbol.NoteContradicted() || symbol.NoteContradicted() {
		t.Error("want the change reported once")
	}
	d.now += 1_000
	if d.margined(20, margin); symbol.Contradicted() != "" || !symbol.NoteContradicted() || symbol.NoteContradicted() {
		t.Errorf("want its end reported once, have %q", symbol.Contradicted())
	}
}

// TestTimesWithoutAStopAddUp counts two times without a stop, and one that a wrong clock would make negative.
func TestTimesWithoutAStopAddUp(t *testing.T) {
	t.Parallel()
	var d declarations
	if d.EndUnprotected(5_000); d.UnprotectedMS() != 0 {
		t.Errorf("none has begun: want 0, have %d", d.UnprotectedMS())
	}
	for _, c := range []struct{ begin, end, sum int64 }{{1_000, 1_400, 400}, {3_000, 3_001, 401}, {9_000, 8_000, 401}, {10_000, 12_000, 2_401}} {
		d.BeginUnprotected(c.begin)
		if d.UnprotectedSinceMS() != c.begin {
			t.Errorf("want it running since %d, have %d", c.begin, d.UnprotectedSinceMS())
		}
		d.EndUnprotected(c.end)
		if d.EndUnprotected(c.end + 500); d.UnprotectedSinceMS() != 0 || d.UnprotectedMS() != c.sum {
			t.Errorf("from %d to %d: want a sum of %d, have %d (since %d)", c.begin, c.end, c.sum, d.UnprotectedMS(), d.UnprotectedSinceMS())
		}
	}
	if d.NoteForeign(7_000); d.ForeignSinceMS() != 7_000 {
		t.Errorf("want the time of the foreign order, have %d", d.ForeignSinceMS())
	}
}
