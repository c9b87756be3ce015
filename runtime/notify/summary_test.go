package notify

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

func TestASummaryIsSentOnceADayAtItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // begins at midnight UTC
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var sent []string
		go Daily(ctx, 6*60+30, func() { sent = append(sent, time.Now().UTC().Format("02 15:04")) })
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if want, have := "01 06:30, 02 06:30, 03 06:30", strings.Join(sent, ", "); want != have {
			t.Errorf("want %s, have %s", want, have)
		}
	})
}

func TestTheTimeOfDayIsOfTheNextDayOnceItHasPassed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now    string
		minute int
		want   string
	}{
		{"2026-12-31T05:59:59Z", 360, "2026-12-31T06:00:00Z"},
		{"2026-12-31T06:00:00Z", 360, "2027-01-01T06:00:00Z"},
		{"2026-12-31T23:59:59Z", 0, "2027-01-01T00:00:00Z"},
		{"2027-01-01T01:30:00+02:00", 1439, "2026-12-31T23:59:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if have := following(now, c.minute).Format(time.RFC3339); have != c.want {
			t.Errorf("%s, minute %d: want %s, have %s", c.now, c.minute, c.want, have)
		}
	}
}

func TestSummaryReportsStateAndRecentEvents(t *testing.T) {
	t.Parallel()
	symbol := &exchange.Symbol{Market: exchange.Futures, Name: "BTC-USDT", QuantityScale: 3}
	sent := record.Record{ClientOrderID: "bx-1-1", Body: record.Sending{}}
	status := &engine.Status{
		Total: exchange.AmountOf(9_950), TotalKnown: true, Day: account.Day{Equity: exchange.AmountOf(10_000)},
		Live: []account.Placement{enginetest.Placement(sent, placement.Working, 1), enginetest.Placement(sent, placement.Uncertain, 0),
			enginetest.Placement(sent, placement.Working, 2)},
		Degraded:   []engine.Degraded{{State: "halted", Cause: "operator: news"}},
		Strategies: []engine.StrategyStatus{{Name: "trend", State: "halted", Symbol: symbol, Position: 120}},
		Ledger:     []ledger.Balance{{Account: ledger.Realized, Strategy: "trend", Asset: "USDT", Amount: exchange.AmountOf(7)}},
	}
	var tally Tally
	for _, e := range []Event{{Name: "order.fill"}, {Name: "order.fill"}, {Name: "risk.refused", Severity: Warning}, {Name: "order.refused", Severity: Warning},
		{Name: "trading.halted", Severity: Error}} {
		tally.Count(&e)
	}
	want := `daily summary: equity 9950 USDT, -50 since midnight UTC
since the last one: 2 fills, 2 orders refused, 2 warnings, 1 errors
3 orders open, 1 of them not settled
HALTED: operator: news
trend halted: 0.12 BTC-USDT, net -7.00 USDT so far, unrealized 0.00`
	if have := tally.Summary(status); have != want {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	if have := tally.Summary(status); !strings.Contains(have, "since the last one: 0 fills, 0 orders refused, 0 warnings, 0 errors") {
		t.Errorf("want the count to start over, have\n%s", have)
	}
}

func TestTheEquityOfASummary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, midnight, want string }{
		{"", "10000", "the equity is unknown"},
		{"0", "10000", "equity 0 USDT, -10000 since midnight UTC"},
		{"10000.126", "0", "equity 10000.13 USDT"},
		{"10000.126", "9990", "equity 10000.13 USDT, +10.13 since midnight UTC"},
		{"9990.126", "10000", "equity 9990.13 USDT, -9.87 since midnight UTC"},
		{"10000", "10000", "equity 10000 USDT, +0 since midnight UTC"},
	} {
		total, err := exchange.ParseAmount(c.total)
		s := &engine.Status{Total: total, TotalKnown: err == nil, Day: account.Day{Equity: exchange.MustAmount(c.midnight)}}
		if have := equity(s); have != c.want {
			t.Errorf("%s of %s: want %q, have %q", c.total, c.midnight, c.want, have)
		}
	}
}
