package api

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// booked is an entry of the ledger: a reading of futures in which positions ended, with the payments.
func booked(t testing.TB, atMS int64, fees string, closed ...ledger.Position) record.Record {
	instrument := ledger.InstrumentOf(bitcoin)
	lines := []ledger.Line{{Account: ledger.Fees, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", Amount: enginetest.Amount(t, fees), Derived: true}}
	return record.Record{AtMS: atMS, Body: record.Posting{Posting: ledger.Posting{Lines: lines,
		Reading: ledger.Reading{AtMS: atMS, Market: exchange.Futures, Closed: closed, Instruments: []ledger.Instrument{instrument}}}}}
}

// closed is a closed long position of 0.03 that made 10 a unit.
func closed(t testing.TB, id int64) ledger.Position {
	a := func(text string) exchange.Amount { return enginetest.Amount(t, text) }
	return ledger.Position{ID: id, Symbol: "BTC-USDT", Opened: a("0.03"), EntryPrice: a("50000"), Close: a("51000"), Realized: a("30"), FromMS: 1_000,
		UntilMS: 2_000}
}

// accounted returns the records of two closed positions, one of a strategy, and of each kind of difference.
func accounted(t testing.TB) []record.Record {
	sold := sending(1, "sold")
	sold.Body = record.Sending{Purpose: placement.StopLoss, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.StopMarket, Quantity: 30}}
	found := sending(7, "found")
	found.Body = record.Found{OrderID: 12, Order: found.Body.(record.Sending).Order, Purpose: found.Body.(record.Sending).Purpose, Evidence: "it is open"}
	ended := func(id string) record.Record {
		return record.Record{AtMS: 3, ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: 30}}
	}
	liquidated := closed(t, 3)
	liquidated.Liquidated, liquidated.Short = true, true
	rest := booked(t, 6, "1", liquidated)
	unexplained := rest.Body.(record.Posting)
	unexplained.Lines = append(unexplained.Lines, ledger.Line{Account: ledger.Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Futures},
		Asset: "USDT", Amount: enginetest.Amount(t, "-5")})
	rest.Body = unexplained
	return []record.Record{booked(t, 0, "0"), sending(1, "bought"), ended("bought"), sold, ended("sold"), booked(t, 5, "1.5", closed(t, 2)), rest, found,
		{AtMS: 8, Symbol: bitcoin.Key(), Body: record.Quarantined{Reason: "differs"}},
		{AtMS: 9, Symbol: bitcoin.Key(), Body: record.Adopted{Quantity: -5, Evidence: "closed manually"}},
		{AtMS: 10, Symbol: bitcoin.Key(), Body: record.Ignored{Quantity: 7, Evidence: "somebody's"}},
		{AtMS: 11, Symbol: ether.Key(), Body: record.Quarantined{Reason: "not read"}}}
}

func TestRoundTripsAreNetAndExcludeForeignPositions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(accounted(t)...)
	trades := decoded[List[view.ClosedPosition]](t, d.want(200, "/api/v1/trades")).Items
	if len(trades) != 1 {
		t.Fatalf("want one round trip, have %+v", trades)
	}
	want := view.ClosedPosition{ID: "1", Strategy: "trend", Market: "futures", Symbol: "BTC-USDT", Side: "LONG", Quantity: "0.03", EntryPrice: "50000",
		ExitPrice: "51000",
		OpenedMS:  1_000, ClosedMS: 2_000, Asset: "USDT",
		Realized: "30", Fees: "1.5", Funding: "0", PNL: "28.5", Derived: true, Complete: true, Purpose: "stop_loss", PositionID: 2}
	if trades[0] != want {
		t.Errorf("want %+v\nhave %+v", want, trades[0])
	}
	var all []string
	for _, p := range decoded[List[view.ClosedPosition]](t, d.want(200, "/api/v1/positions/history")).Items {
		all = append(all, fmt.Sprint(p.PositionID, p.Strategy, p.Side, p.Purpose))
	}
	if want := []string{"3SHORTliquidation", "2trendLONGstop_loss"}; !slices.Equal(want, all) {
		t.Errorf("closed positions: want %v, have %v", want, all)
	}
	if items := decoded[List[view.ClosedPosition]](t, d.want(200, "/api/v1/trades?strategy=hold")).Items; len(items) != 0 {
		t.Errorf("of another strategy: want none, have %+v", items)
	}
}

func TestDifferencesAreListedWithOpenQuarantines(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(accounted(t)...)
	reported := func(query string) (all []string) {
		for _, one := range decoded[List[view.Difference]](t, d.want(200, "/api/v1/reconcile/differences"+query)).Items {
			all = append(all, fmt.Sprint(one.Kind, " ", one.Symbol, one.Quantity, one.Amount, " ", one.Open, one.EndedMS))
		}
		return all
	}
	want := []string{"quarantine ETH-USDT true 0", "ignored BTC-USDT0.007 false 0", "adopted BTC-USDT-0.005 false 0", "quarantine BTC-USDT false 9",
		"found BTC-USDT false 0", "unexplained 5 false 0"}
	if have := reported(""); !slices.Equal(want, have) {
		t.Errorf("want %q\nhave %q", want, have)
	}
	if have := reported("?open=true"); !slices.Equal(want[:1], have) {
		t.Errorf("open: want %q, have %q", want[:1], have)
	}
	if have := reported("?kind=unexplained"); !slices.Equal(want[5:], have) {
		t.Errorf("unexplained: want %q, have %q", want[5:], have)
	}
}

func TestRefusedIntentsAreListedNewestFirstByRule(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, rule := range []string{"margin", "price", "margin"} {
		for _, n := range enginetest.Notes(t, "trend", bitcoin, fmt.Sprint("bx-", i), rule) {
			switch n.Fact.(type) {
			case engine.NoteIntent, engine.NoteRejection:
				d.board.Note(&n)
			}
		}
	}
	reported := func(query string) (all []string) {
		for _, one := range decoded[List[view.Refusal]](t, d.want(200, "/api/v1/risk/rejections"+query)).Items {
			all = append(all, one.ID+" "+one.Rule+" "+one.Strategy)
		}
		return all
	}
	if want, have := []string{"3 margin trend", "2 price trend", "1 margin trend"}, reported(""); !slices.Equal(want, have) {
		t.Errorf("want %q, have %q", want, have)
	}
	if want, have := []string{"3 margin trend", "1 margin trend"}, reported("?rule=margin"); !slices.Equal(want, have) {
		t.Errorf("of one rule: want %q, have %q", want, have)
	}
	one := decoded[List[view.Refusal]](t, d.want(200, "/api/v1/risk/rejections?limit=1")).Items[0]
	if in := decoded[view.OneIntent](t, d.want(200, "/api/v1/intents/"+one.Intent)); in.Rule != "margin" || one.Value == "" || one.Limit == "" {
		t.Errorf("want the intent it is of, with value and limit; have %+v of %+v", one, in.Intent)
	}
}
