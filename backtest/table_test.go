package backtest

import (
	"strings"
	"testing"
	"time"
)

func TestPaceUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candles float64
		want    string
	}{{0, "0/s"}, {999, "999/s"}, {27_111, "27 k/s"}, {100_000, "0.1 M/s"}, {15_226_793, "15.2 M/s"}} {
		if have := pace(c.candles); have != c.want {
			t.Errorf("pace of %v candles a second: want %s, have %s", c.candles, c.want, have)
		}
	}
}

func TestTableNamesRoundTripsOfSQN(t *testing.T) {
	t.Parallel()
	sqn := 1.5
	for _, c := range []struct {
		figures TripFigures
		trips   int
		want    string
	}{
		{TripFigures{}, 1, "–"},
		{TripFigures{SQN: &sqn, SQNTrips: 100}, 100, "1.50"},
		{TripFigures{SQN: &sqn, SQNTrips: 100}, 101, "1.50 (capped at 100 trips)"},
	} {
		if have := sqnText(&c.figures, c.trips); have != c.want {
			t.Errorf("%d round trips: want %q, have %q", c.trips, c.want, have)
		}
	}
}

// Each figure stands in its row, with its places and its unit.
func TestTheRowsOfATable(t *testing.T) {
	t.Parallel()
	at, expectancy := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "12.345"
	r := &Result{Name: "trend", Market: "FUTURES", Symbol: "BTC-USDT", Interval: "1h", Strategy: "sma", From: at, To: at.AddDate(0, 0, 9), Candles: 216,
		InitialEquity: "8000", FinalEquity: "8123.456", CAGR: number(3.14159), MaxDrawdown: 2.71828, Days: 9, YearDays: 365, Sharpe: number(1.23456),
		Sortino: number(2.34567), Calmar: number(-0.45678), Fills: 7, RoundTrips: 3, Wins: 2, Expectancy: &expectancy, ProfitFactor: number(1.98765),
		Exposure: 33.3333, TotalFees: "4.567", TotalFunding: "-1.234", BreakEven: number(0.12345),
		OpenPositions: []*OpenPosition{{Symbol: "BTC-USDT", Side: "LONG", Quantity: "0.5", EntryPrice: "50000.123456789"}},
		EndedBy:       &EndedBy{Limit: "max_drawdown", Time: at}, Notices: &Notices{Count: 5, Withheld: 2},
		NotTraded:   []NotTraded{{Reason: latched, Count: 4, Signals: 6}, {Reason: "below minNotional", Count: 1}},
		Assumptions: []string{"much"}, Warnings: []Warning{{Code: "x", Text: "beware"}}, Elapsed: 0.25, Speed: 864, DataSHA256: "0123456789",
		ConfigSHA256: "abcdefghij", ResultSHA256: "9876543210"}
	r.Figures.BuyAndHold, r.Figures.Trips = number(-7.891), TripFigures{SQN: number(0.98765), SQNTrips: 3}
	var text strings.Builder
	r.Table(&text, false)
	var rows, lines []string
	for line := range strings.Lines(text.String()) {
		if cells := strings.Split(line, "│"); len(cells) == 4 {
			rows = append(rows, strings.TrimSpace(cells[1])+": "+strings.TrimSpace(cells[2]))
		} else if !strings.ContainsAny(line, "─│") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{"strategy: sma", "from: 2026-03-04 05:06", "to: 2026-03-13 05:06", "candles: 216", "start equity: 8000.00 USDT",
		"final equity: 8123.46 USDT", "profit: +123.46 USDT", "profit %: +1.54 %", "holding instead: -7.89 %", "CAGR %: 3.14", "max drawdown: 2.72 %",
		"Sharpe (9 days, x365): 1.23", "Sortino: 2.35", "Calmar: -0.46", "fills: 7", "round trips: 3", "wins: 2 (66.7 %)",
		"expectancy: 12.35 USDT a trip", "SQN: 0.99", "profit factor: 1.99", "in the market: 33.3 %", "fees: 4.57 USDT", "funding paid: -1.23 USDT",
		"still open: BTC-USDT LONG 0.5 at 50000.12345679", "break-even slippage: 0.123 %", "orders: 0 derived, 0 placed, 0 filled",
		"ended by: max_drawdown on 2026-03-04 05:06", "latched: 4 of 6 signals", "not traded: 1, below minNotional", "notices: 5, not sent; live 3 would be"}
	if have := strings.Join(rows, "\n"); have != strings.Join(want, "\n") {
		t.Errorf("want\n%s\nhave\n%s", strings.Join(want, "\n"), have)
	}
	wantLines := []string{"assumes much", "warning: beware", "216 candles in 0.250 s, 864/s  data 01234567  config abcdefgh  result 98765432"}
	if have := strings.Join(lines, "\n"); have != strings.Join(wantLines, "\n") {
		t.Errorf("want\n%s\nhave\n%s", strings.Join(wantLines, "\n"), have)
	}
}
