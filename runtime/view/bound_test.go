package view

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/strategy"
)

// TestListsOfRecordsAreBounded adds one record more than each list holds.
func TestListsOfRecordsAreBounded(t *testing.T) {
	t.Parallel()
	h, b := NewHistory(), NewBoard("demo", "main")
	for n := range 5_001 {
		takes(h, fmt.Sprint("x", n), 1_000, bought(30), record.Ended{State: placement.Filled, Filled: 30}, record.Quarantined{})
		if n < 2_001 {
			noted(b, 1, engine.NoteRejection{Intent: intent(placement.Entry, 30), Rejection: &risk.Rejection{Rule: "margin"}})
		}
	}
	for name, have := range map[string][2]int{"orders": {len(h.byTime), 4_501}, "fills": {len(h.fills.all), 2_251}, "differences": {len(h.differences.all),
		4_501},
		"audits": {len(h.audits.all), 4_501}, "refusals": {len(b.refusals.all), 1_801}} {
		if have[0] != have[1] {
			t.Errorf("%s: want %d, have %d", name, have[1], have[0])
		}
	}
	if _, _, found := h.Order("x499"); found {
		t.Error("want the oldest tenth dropped")
	}
	if _, _, found := h.Order("x500"); !found {
		t.Error("want the rest left")
	}
}

// TestAStatusReachesTheHistory uses an order that no record shows.
func TestAStatusReachesTheHistory(t *testing.T) {
	t.Parallel()
	b, h := NewBoard("demo", "main"), NewHistory()
	b.Follow(func(string, any) {}, h)
	b.Show(trading(t))
	if one, _, found := h.Order("bx-1-1"); !found || one.State != "working" {
		t.Errorf("want the live order, have %+v", one)
	}
}

// TestSpotFillsHaveTheFeesOfTheirExecutions covers an order of two executions, one of another order, and one of a fee in another asset.
func TestSpotFillsHaveTheFeesOfTheirExecutions(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	spot := record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy, Quantity: 30}}
	for id, orderID := range map[string]int64{"a": 7, "b": 8} {
		h.Apply(&record.Record{AtMS: 1, Strategy: "hold", Symbol: ether.Key(), ClientOrderID: id, Body: spot})
		h.Apply(&record.Record{AtMS: 2, ClientOrderID: id, Body: record.Fill{OrderID: orderID, Filled: 30, Price: exchange.AmountOf(3_000)}})
	}
	trade := func(orderID int64, fee, asset string) ledger.Trade {
		return ledger.Trade{OrderID: orderID, Fee: exchange.MustAmount(fee), FeeAsset: asset}
	}
	h.Apply(&record.Record{AtMS: 3, Body: record.Posting{Posting: ledger.Posting{Reading: ledger.Reading{Market: exchange.Spot,
		Trades: []ledger.Trade{trade(7, "0.001", "ETH"), trade(7, "0.002", "ETH"), trade(7, "5", "BNB"), trade(9, "1", "ETH"), trade(8, "0.5", "USDT")}}}}})
	for id, want := range map[string]string{"a": "0.003 ETH", "b": "0.5 USDT"} {
		fills, _ := h.Fills(Page{Limit: 9}, func(f *Fill) bool { return f.ClientOrderID == id })
		if have := fills[0].Fee + " " + fills[0].FeeAsset; have != want || fills[0].Derived {
			t.Errorf("%s: want %s as reported, have %s", id, want, have)
		}
	}
}

// TestPlotsOfATime uses a mean of two closes, which needs candles before the first that is shown.
func TestPlotsOfATime(t *testing.T) {
	t.Parallel()
	minute := int64(exchange.Minute1)
	m := NewMarketReader(&venue{}, func() int64 { return 10_000 * minute })
	sma := strategy.Plot{Indicator: "sma", Parameters: map[string]float64{"period": 2}, OwnScale: true}
	have, err := m.Plots(t.Context(), coarse, exchange.Minute1, []strategy.Plot{sma}, 600*minute, 603*minute)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "three candles", have, `{"schema":1,"interval":"1m","open_ms":[36000000,36060000,36120000],"lines":[{"name":"sma 2","own":true,
		"values":[510,510,510]}]}`)
	have, err = m.Plots(t.Context(), coarse, exchange.Minute1, nil, 0, minute)
	if shows(t, "no indicators", have, `{"schema":1,"open_ms":[],"lines":[]}`); err != nil {
		t.Error(err)
	}
	_, err = m.Plots(t.Context(), coarse, exchange.Minute1, []strategy.Plot{{Indicator: "nothing"}}, 0, minute)
	if wrong, is := err.(*WrongPlot); !is || !strings.Contains(wrong.Error(), "nothing") {
		t.Errorf("want the indicator named, have %v", err)
	}
	for longest, want := range map[float64]int64{0: 10, 2: 18, 497: 1_998, 498: 2_000, 5_000: 2_000} {
		if have := before([]strategy.Plot{{Parameters: map[string]float64{"a": 1, "b": longest}}}); have != max(want, 14) {
			t.Errorf("a period of %g: want %d candles before, have %d", longest, max(want, 14), have)
		}
	}
}

// TestAChangedCauseIsSavedEveryTenSeconds covers causes that change before and after ten seconds.
func TestAChangedCauseIsSavedEveryTenSeconds(t *testing.T) {
	t.Parallel()
	for after, want := range map[int64]string{9_999: "first", 10_000: "second"} {
		directory := t.TempDir()
		board, _, stop := tracked(t, directory)
		board.Show(engine.Status{NowMS: 1_000, Degraded: []engine.Degraded{{State: "hung", Cause: "first", SinceMS: 1}}})
		board.Show(engine.Status{NowMS: 1_000 + after, Degraded: []engine.Degraded{{State: "hung", Cause: "second", SinceMS: 1}}})
		stop()
		text, err := os.ReadFile(filepath.Join(directory, IncidentsFile))
		if err != nil {
			t.Fatal(err)
		}
		all, err := ParseIncidents(text)
		if err != nil || len(all) != 1 || all[0].Cause != want {
			t.Errorf("%d ms later: want %s saved, have %+v, %v", after, want, all, err)
		}
	}
}

// TestNoPriceIsNoDanger covers a position near its liquidation whose price is not known, and one on the other side.
func TestNoPriceIsNoDanger(t *testing.T) {
	t.Parallel()
	long := engine.SymbolStatus{Key: bitcoin.Key(), Rules: bitcoin, Position: 1_000, LiqPrice: enginetest.Amount(t, "48000")}
	short := engine.SymbolStatus{Key: bitcoin.Key(), Rules: bitcoin, Position: -1_000, LiqPrice: enginetest.Amount(t, "51000"), Last: enginetest.Price(t,
		bitcoin, "50000")}
	flat, unknown, none := short, short, short
	flat.Position, unknown.Rules, none.LiqPrice = 0, nil, exchange.Amount{}
	for name, c := range map[string]struct {
		symbol engine.SymbolStatus
		want   string
	}{"no price": {long, ""}, "flat": {flat, ""}, "no rules": {unknown, ""}, "no liquidation": {none, ""},
		"short": {short, "the price, 50000, is 2.0 % from the liquidation at 51000"}} {
		b := NewBoard("demo", "main")
		b.status.Symbols = []engine.SymbolStatus{c.symbol}
		have := ""
		for _, d := range b.dangers(5) {
			have += d.Cause
			if d.SinceMS != 5 || d.Scope != (account.Scope{Symbol: bitcoin.Key()}) || d.Remedy != "add margin on the exchange, or botd halt --level flatten "+
				"--symbol BTC-USDT" {
				t.Errorf("%s: have %+v", name, d)
			}
		}
		if have != c.want {
			t.Errorf("%s: want %q, have %q", name, c.want, have)
		}
	}
}

// TestWhatAnIncidentShows covers an open and a closed incident.
func TestWhatAnIncidentShows(t *testing.T) {
	t.Parallel()
	one := incident.Incident{ID: 3, Kind: "blind", Severity: incident.Critical, Scope: account.Scope{Symbol: exchange.SymbolKey{Market: future}},
		Cause:  "timeout",
		Remedy: "wait", SinceMS: 1_000, OpenedMS: 2_000, UpdatedMS: 3_000, Times: 2, Reminders: 1}
	shows(t, "open", incidentOf(&one), `{"id":"3","state":"open","kind":"blind","severity":"critical","scope":"market","market":"futures","cause":"timeout",
		"remedy":"wait",
		"since":"1970-01-01T00:00:01Z","opened":"1970-01-01T00:00:02Z","updated":"1970-01-01T00:00:03Z","times":2,"reminders":1,"closed":null,
		"escalated":null}`)
	one.ClosedMS, one.EscalatedMS = 5_000, 4_000
	shows(t, "closed", incidentOf(&one), `{"state":"closed","closed":"1970-01-01T00:00:05Z","escalated":"1970-01-01T00:00:04Z"}`)
	for _, text := range []string{"{", `[{"market":"moon"}]`} {
		if all, err := ParseIncidents([]byte(text)); err == nil {
			t.Errorf("%s: want an error, have %+v", text, all)
		}
	}
}
