package backtest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// someColumns are three runs of the same decisions with different costs.
func someColumns() []Column {
	return []Column{
		{Name: "ideal", FinalEquity: "11000.126", Profit: number(10.00126), MaxDrawdown: 1.234, Sharpe: number(1.556), CAGR: number(12),
			ProfitFactor: number(2.5),
			Fills:        10, RoundTrips: 5, Wins: 3, TotalFees: "0", TotalFunding: "0", TotalSlippage: "0"},
		{Name: "realistic", FinalEquity: "9500", Profit: number(-5), MaxDrawdown: 7.5, Sharpe: number(-0.25), ProfitFactor: nil, Fills: 12,
			RoundTrips: 6, Wins: 2,
			Liquidations: 1, TotalFees: "12.345", TotalFunding: "-1.5", TotalSlippage: "3",
			EndedBy: &EndedBy{Limit: "max_drawdown", Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}},
		{Name: "pessimistic", FinalEquity: "10000", MaxDrawdown: 0, Fills: 0, RoundTrips: 0, TotalFees: "0", TotalFunding: "0", TotalSlippage: "0"},
	}
}

// Each figure of each run is in its row and column.
func TestColumnsStandSideBySide(t *testing.T) {
	t.Parallel()
	r := &Result{Columns: someColumns()}
	rows := func() (all [][]string) {
		var text strings.Builder
		r.columnTable(&text, false)
		for line := range strings.Lines(text.String()) {
			if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "│"), "│"); len(cells) > 1 {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				all = append(all, cells)
			}
		}
		return all
	}
	want := []string{
		"COST MODEL: IDEAL | REALISTIC | PESSIMISTIC", "final equity: 11000.13 USDT | 9500.00 USDT | 10000.00 USDT", "profit %: +10.00 | -5.00 | –",
		"max drawdown %: 1.23 | 7.50 | 0.00", "Sharpe: 1.56 | -0.25 | –", "profit factor: 2.50 | – | –", "fees: 0.00 USDT | 12.35 USDT | 0.00 USDT",
		"slippage: 0.00 USDT | 3.00 USDT | 0.00 USDT", "funding paid: 0.00 USDT | -1.50 USDT | 0.00 USDT", "fills: 10 | 12 | 0", "round trips: 5 | 6 | 0",
		"ended by:  | max_drawdown 2026-03-04 | ",
	}
	have := rows()
	for i := range max(len(want), len(have)) {
		if i >= len(have) || i >= len(want) || have[i][0]+": "+strings.Join(have[i][1:], " | ") != want[i] {
			t.Errorf("row %d: want %v, have %v", i, want[min(i, len(want)-1):min(i+1, len(want))], have[min(i, len(have)):min(i+1, len(have))])
		}
	}
	for i := range r.Columns {
		r.Columns[i].EndedBy = nil
	}
	if have := rows(); len(have) != len(want)-1 {
		t.Errorf("nothing ended early: want no row of it, have %v", have)
	}
	if r.Columns = nil; len(rows()) != 0 {
		t.Error("without columns: want no table")
	}
}

// Symbols have a table from two on, reasons from one on.
func TestGroupsHaveATableWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	r := &Result{BySymbol: []SymbolRow{{Name: "trend", Symbol: "BTC-USDT", RoundTrips: 3, Wins: 2, PNL: "1.005"}},
		ByExit: []ReasonRow{{Reason: "stop_loss", RoundTrips: 2, Wins: 0, PNL: "-7"}}}
	shown := func() string {
		var text strings.Builder
		r.groupTables(&text, false)
		return strings.Join(strings.Fields(text.String()), " ")
	}
	if have := shown(); strings.Contains(have, "BTC-USDT") || !strings.Contains(have, "│ stop_loss │ 2 │ 0 │ -7.00 │") {
		t.Errorf("one symbol, one reason: have %s", have)
	}
	r.BySymbol, r.ByExit = append(r.BySymbol, SymbolRow{Name: "dip", Symbol: "ETH-USDT", RoundTrips: 1, Wins: 1, PNL: "0"}), nil
	if have := shown(); !strings.Contains(have, "│ trend BTC-USDT │ 3 │ 2 │ +1.01 │") ||
		!strings.Contains(have, "│ dip ETH-USDT │ 1 │ 1 │ +0.00 │") || strings.Contains(have, "EXIT ") {
		t.Errorf("two symbols, no reason: have %s", have)
	}
	r.BySymbol = nil
	if have := shown(); have != "" {
		t.Errorf("nothing: have %s", have)
	}
}

func TestTheOrderCountsInOneLine(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]OrderCounts{
		"0 derived, 0 placed, 0 filled": {},
		"9 derived, 7 placed, 5 filled": {Derived: 9, Placed: 7, Filled: 5, Unfinished: 2},
		"9 derived, 7 placed, 5 filled, 3 refused": {Derived: 9, Placed: 7, Filled: 5, Refused: []RuleCount{{"margin", 1}},
			Rejected: []RuleCount{{"x", 2}}},
		"9 derived, 7 placed, 5 filled, 3 canceled":            {Derived: 9, Placed: 7, Filled: 5, Part: 1, Canceled: 2},
		"9 derived, 7 placed, 5 filled, 1 refused, 1 canceled": {Derived: 9, Placed: 7, Filled: 5, Refused: []RuleCount{{"margin", 1}}, Canceled: 1},
	} {
		if have := f.line(); have != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
}

// The best comes first, equal trials keep their order, and those without a figure come last.
func TestTrialsAreRankedByEachObjective(t *testing.T) {
	t.Parallel()
	column := func(sharpe, profit, factor *float64, drawdown float64) *Column {
		return &Column{Sharpe: sharpe, Profit: profit, ProfitFactor: factor, MaxDrawdown: drawdown}
	}
	made := func() []Trial {
		return []Trial{
			{Job: "a", Seen: column(number(1), number(5), nil, 9)}, {Job: "b", Seen: column(nil, number(7), number(2), 3)},
			{Job: "c", Seen: column(number(2), number(5), number(3), 3)}, {Job: "d", Seen: column(number(1), nil, number(1), 1)},
		}
	}
	for name, want := range map[string]string{"sharpe": "cadb", "profit": "bacd", "profit_factor": "cbda", "drawdown": "dbca"} {
		objective, known := Ranking(name)
		if !known {
			t.Fatalf("want %s known", name)
		}
		trials, have := made(), ""
		Rank(trials, objective)
		for i := range trials {
			have += trials[i].Job
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", name, want, have)
		}
	}
	if _, known := Ranking("luck"); known {
		t.Error("want no ranking by luck")
	}
	if have := strings.Join(Rankings(), " "); have != "sharpe profit profit_factor drawdown" {
		t.Errorf("have %s", have)
	}
}

// The names are those of the metrics, and a metric of the same name does not count.
func TestEachFigureOfAColumnHasItsName(t *testing.T) {
	t.Parallel()
	c := &someColumns()[1]
	c.CAGR = number(-6)
	nothing := math.NaN()
	want := map[string]float64{"final_equity": 9_500, "profit_pct": -5, "max_drawdown_pct": 7.5, "sharpe": -0.25, "cagr_pct": -6, "profit_factor": nothing,
		"fills": 12, "trades": 6, "wins": 2, "liquidations": 1, "total_fees": 12.345, "total_funding": -1.5, "total_slippage": 3, "own": 8}
	metrics := map[string]*float64{"own": number(8), "sharpe": number(99)}
	have := c.figures(metrics)
	if len(have) != len(want) {
		t.Errorf("want %d figures, have %v", len(want), have)
	}
	for name, figure := range want {
		switch f := have[name]; {
		case math.IsNaN(figure) && f != nil:
			t.Errorf("%s: want nothing, have %v", name, *f)
		case !math.IsNaN(figure) && (f == nil || *f != figure):
			t.Errorf("%s: want %v, have %v", name, figure, Figure(f, 17))
		}
	}
	if *metrics["sharpe"] != 99 || len(metrics) != 2 {
		t.Errorf("want the metrics as they were, have %v", metrics)
	}
	if have := c.figures(nil); len(have) != len(want)-1 {
		t.Errorf("without metrics: want %d figures, have %v", len(want)-1, have)
	}
	var d decimals
	if d.number("1.5") != 1.5 || d.err != nil {
		t.Errorf("want 1.5, have an error %v", d.err)
	}
	d.number("x")
	first := d.err
	if d.number("y"); first == nil || d.err != first || !strings.Contains(first.Error(), "a figure of the result: ") {
		t.Errorf("want the first error kept, have %v", d.err)
	}
}

// TestColumnsReportTheirBounds covers the final equities of three columns, of their own runs, and the warnings that follow: a column whose
// figure differs from its own run's has one.
func TestColumnsReportTheirBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ends, own [3]string
		ordered   bool
		want      []string // codes
	}{
		{[3]string{"12", "11", "10"}, [3]string{"12", "11", "10"}, true, nil},
		{[3]string{"11", "11", "11"}, [3]string{"11", "11", "11"}, true, nil},
		{[3]string{"12", "11", "10"}, [3]string{"9", "11", "10"}, true, []string{IdealRepriced}},
		{[3]string{"12", "11", "10"}, [3]string{"12", "11", "10.5"}, true, []string{PessimisticRepriced}},
		{[3]string{"10.99", "11", "10"}, [3]string{"10.99", "11", "10"}, false, []string{BoundsNotOrdered}},
		{[3]string{"12", "11", "11.01"}, [3]string{"12", "11", "11.02"}, false, []string{BoundsNotOrdered, PessimisticRepriced}},
	} {
		r := &Result{Columns: someColumns()}
		for i := range r.Columns {
			r.Columns[i].FinalEquity, r.Columns[i].OwnEquity = c.ends[i], c.own[i]
		}
		r.bound()
		var have []string
		for _, w := range r.Warnings {
			have = append(have, w.Code)
		}
		if *r.Ordered != c.ordered || *r.Finals != (Finals{c.ends[0], c.ends[1], c.ends[2]}) || !slices.Equal(have, c.want) {
			t.Errorf("%v of %v: want ordered %v and %v, have %v, %+v and %v", c.ends, c.own, c.ordered, c.want, *r.Ordered, *r.Finals, have)
		}
	}
	r := &Result{Columns: someColumns()}
	for i, own := range []string{"9", "11", "10.5"} {
		r.Columns[i].FinalEquity, r.Columns[i].OwnEquity = []string{"10", "11", "12"}[i], own
	}
	r.bound()
	for i, want := range []string{"the columns end with 10, 11 and 12: ", "own run ends with 9, ", "own run ends with 10.5, "} {
		if !strings.Contains(r.Warnings[i].Text, want) {
			t.Errorf("want %q, have %q", want, r.Warnings[i].Text)
		}
	}
}
