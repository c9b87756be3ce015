package backtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/strategy"
)

// Different plans have different texts.
func TestPlanText(t *testing.T) {
	t.Parallel()
	symbol := sound().Legs[0].Tape.Symbol
	unit := exchange.Price(1)
	for range symbol.PriceScale {
		unit *= 10
	}
	order := strategy.DesiredOrder{Key: "a", Side: exchange.Sell, Quantity: symbol.QuantityTick, Price: 70_000 * unit}
	stop := order
	stop.StopPrice, stop.PostOnly = 60_000*unit, true
	for want, plan := range map[string]strategy.Plan{
		"nothing":                      {},
		"hold -0.001":                  {Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -symbol.QuantityTick}},
		"hold 50 % of equity":          {Target: strategy.Size{Equity: exchange.RateOne / 2}.Target(1)},
		"hold 25 USDT leverage 3":      {Target: strategy.Size{Quote: exchange.AmountOf(25)}.Target(1), Leverage: 3},
		"orders a SELL 0.001 at 70000": {Orders: []strategy.DesiredOrder{order}, OrdersSet: true},
		"orders":                       {OrdersSet: true},
		"exits a SELL 0.001 at 70000 from 60000 post only": {Exits: []strategy.DesiredOrder{stop}, ExitsSet: true},
		"stop 50000 0 % target 0 5 %": {Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 50_000 * unit},
			TakeProfit: strategy.Distance{Share: exchange.RateOne / 20}}},
	} {
		if have := planText(symbol, &plan); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}

// The files are in a fixed order.
func TestReportListsInputFiles(t *testing.T) {
	t.Parallel()
	file := func(name string) File { return File{Path: name, SHA256: name} }
	one := func(name string) *File { f := file(name); return &f }
	r := &Result{}
	if r.files() != nil {
		t.Errorf("of nothing: have %v", r.files())
	}
	r.Inputs = &Inputs{Symbols: one("symbols"), Signals: []File{file("signals")}, Columns: []File{file("columns")}, Strategies: []Input{
		{Data: file("data"), Funding: []File{file("funding")}, Others: []OtherFile{{File: file("other")}}, Detail: one("detail"), Trades: one("trades")}, {}}}
	var have []string
	for _, f := range r.files() {
		have = append(have, f.Path)
	}
	if diff := cmp.Diff([]string{"symbols", "signals", "columns", "funding", "other", "detail", "trades"}, have); diff != "" {
		t.Error(diff)
	}
	fresh := *r
	fresh.Inputs = &Inputs{Symbols: one("symbols"), Signals: []File{{Path: "signals", SHA256: "another"}}}
	v := Verify(r, &fresh)
	want := []Check{{"data_sha256", "", "", true}, {"symbols", "symbols", "symbols", true}, {"signals", "signals", "another", false},
		{"config_sha256", "", "", true},
		{"final_equity", "", "", true}, {"result_sha256", "", "", true}}
	if diff := cmp.Diff(want, v.Checks); diff != "" || v.OK {
		t.Errorf("ok %v: %s", v.OK, diff)
	}
	r.Columns, fresh.Inputs = []Column{{Name: "ideal", ResultSHA256: "i"}}, nil
	if v := Verify(r, &fresh); v.OK || v.Checks[len(v.Checks)-1] != (Check{"column ideal", "i", "", false}) {
		t.Errorf("a column that is not there: have %+v", v)
	}
}

// The libraries that a script loads are next to it.
func TestScriptPathIsRelativeToStrategy(t *testing.T) {
	t.Parallel()
	if NewScript("", "text", nil) != nil || (*Text)(nil).Files() != nil {
		t.Error("no script has no files")
	}
	script := NewScript("scripts/a.star", "load", []strategy.Library{{Name: "lib/b.star", Text: []byte("pass")}})
	if diff := cmp.Diff(map[string]string{"scripts/a.star": "load", "scripts/lib/b.star": "pass"}, script.Files()); diff != "" {
		t.Error(diff)
	}
}

// Warnings of earlier reports are texts, and their columns a list.
func TestReportsOfEarlierVersionsAreRead(t *testing.T) {
	t.Parallel()
	var r Result
	if err := json.Unmarshal([]byte(`{"warnings": ["old", {"code": "no_trade", "text": "new"}], "columns": [{"name": "ideal"}]}`), &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{{Text: "old"}, {NoTrade, "new"}}, r.Warnings); diff != "" || *r.Finals != (Finals{}) || r.Warnings[1].String() != "new" {
		t.Errorf("have %+v: %s", r.Finals, diff)
	}
	err := json.Unmarshal([]byte(`{"columns": {"ideal": "1", "realistic": "2", "pessimistic": "3"}}`), &r)
	if err != nil || *r.Finals != (Finals{"1", "2", "3"}) {
		t.Errorf("have %+v, %v", r.Finals, err)
	}
}

// The test covers each amount that a table prints.
func TestUnprintableResultIsRefused(t *testing.T) {
	t.Parallel()
	few := "1"
	whole := func() *Result {
		return &Result{Schema: 1, Strategy: "x", InitialEquity: "1", FinalEquity: "1", TotalFees: "1", TotalFunding: "1", RoundTrips: 1, Expectancy: &few,
			OpenPosition: &OpenPosition{EntryPrice: "1"}, Columns: []Column{{FinalEquity: "1", TotalFees: "1", TotalFunding: "1", TotalSlippage: "1"}},
			BySymbol: []SymbolRow{{PNL: "1"}}, ByEntry: []ReasonRow{{PNL: "1"}}, ByExit: []ReasonRow{{PNL: "1"}}, Trips: []TripRow{{PNL: "1", Fees: "1"}}}
	}
	if err := whole().sound(); err != nil {
		t.Errorf("have %v", err)
	}
	bad := "much"
	for i, change := range []func(r *Result){
		func(r *Result) { r.Schema = 2 }, func(r *Result) { r.Strategy = "" }, func(r *Result) { r.Expectancy = nil }, func(r *Result) { r.Expectancy = &bad },
		func(r *Result) { r.InitialEquity = bad }, func(r *Result) { r.FinalEquity = bad }, func(r *Result) { r.TotalFees = bad },
		func(r *Result) { r.TotalFunding = bad }, func(r *Result) { r.OpenPosition.EntryPrice = bad }, func(r *Result) { r.Columns[0].FinalEquity = bad },
		func(r *Result) { r.Columns[0].TotalFees = bad }, func(r *Result) { r.Columns[0].TotalFunding = bad },
		func(r *Result) { r.Columns[0].TotalSlippage = bad }, func(r *Result) { r.BySymbol[0].PNL = bad }, func(r *Result) { r.ByEntry[0].PNL = bad },
		func(r *Result) { r.ByExit[0].PNL = bad }, func(r *Result) { r.Trips[0].PNL = bad }, func(r *Result) { r.Trips[0].Fees = bad },
	} {
		r := whole()
		if change(r); r.sound() == nil {
			t.Errorf("change %d: want it refused", i)
		}
	}
	none := whole()
	if none.RoundTrips, none.Expectancy = 0, nil; none.sound() != nil {
		t.Errorf("no round trip needs no expectancy: have %v", none.sound())
	}
}

// The table signs its profits.
func TestTableShowsLimitsOfRun(t *testing.T) {
	t.Parallel()
	few := "0.5"
	r := &Result{InitialEquity: "100", FinalEquity: "99.5", Wallet: "1", TotalFees: "1", TotalFunding: "-2", TotalSlippage: "0",
		RoundTrips: 8, Wins: 3, Expectancy: &few,
		EndedBy:   &EndedBy{Limit: "max_drawdown", Time: utc(notedMS)},
		NotTraded: []NotTraded{{Reason: latched, Count: 4, Signals: 9}, {Reason: belowMinimum, Count: 2}}, Notices: &Notices{Count: 5, Withheld: 2},
		OpenPositions: []*OpenPosition{{"BTC-USDT", "LONG", "0.5", "100.123456789"}}, BreakEven: finite(0.1234)}
	var table strings.Builder
	r.Table(&table, false)
	for _, want := range []string{"│ ended by ", " max_drawdown on 2024-01-01 00:00 │", "│ latched ", " 4 of 9 signals │", " 2, below minNotional │",
		" 5, not sent; live 3 would be │", " BTC-USDT LONG 0.5 at 100.12345679 │", " 3 (37.5 %) │",
		" 0.50 USDT a trip │", " -0.50 USDT │", " -0.50 % │", " 0.123 % │"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("want %q in\n%s", want, table.String())
		}
	}
}
