package view

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// TestDangersAreIncidents shows a board states that the engine does not declare: each is one incident, with
// its end.
func TestDangersAreIncidents(t *testing.T) {
	t.Parallel()
	long := engine.SymbolStatus{Key: bitcoin.Key(), Rules: bitcoin, Position: 1_000, Last: enginetest.Price(t, bitcoin, "50000"),
		LiqPrice: enginetest.Amount(t, "48000")}
	far := long
	far.LiqPrice = enginetest.Amount(t, "47000")
	sent := func(atMS int64) []account.Placement {
		order := record.Record{AtMS: atMS, Strategy: "hold", Symbol: ether.Key(), ClientOrderID: "bx-1-3",
			Body: record.Sending{Order: exchange.NewOrder{ClientOrderID: "bx-1-3", Market: exchange.Spot, Symbol: "ETH-USDT"}}}
		return []account.Placement{enginetest.Placement(order, placement.Uncertain, 0)}
	}
	flatten := engine.Degraded{State: "halted", Scope: account.Scope{Symbol: bitcoin.Key()}, SinceMS: 1,
		Cause: "flatten", Remedy: "rearm", Remaining: "1 BTC-USDT to close"}
	refused := engine.Degraded{State: "refused", Scope: account.Scope{Strategy: "trend"}, SinceMS: 1, Cause: "2999", Remedy: "wait"}
	blind := engine.Degraded{State: "blind", SinceMS: 1, Cause: "no list", Remedy: "wait"}
	for _, c := range []struct {
		name   string
		status engine.Status // for three minutes
		want   string        // open afterwards
	}{
		{"near its liquidation", engine.Status{Symbols: []engine.SymbolStatus{long}}, "liquidation"},
		{"far from it", engine.Status{Symbols: []engine.SymbolStatus{far}}, ""},
		{"an uncertain order", engine.Status{Live: sent(100_000)}, "unsettled"},
		{"one that was just sent", engine.Status{Live: sent(230_000)}, ""},
		{"one that cannot be read", engine.Status{Live: sent(100_000), Degraded: []engine.Degraded{blind}}, "blind"},
		{"a halt that leaves something", engine.Status{Degraded: []engine.Degraded{flatten}}, "halted unfinished"},
		{"a refused order", engine.Status{Degraded: []engine.Degraded{flatten, refused}}, "halted refused"},
		{"two of one scope", engine.Status{Degraded: []engine.Degraded{flatten, flatten}}, "halted unfinished"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			board, heard, stop := tracked(t, t.TempDir())
			defer stop()
			for at := int64(100_000); at <= 280_000; at += 1_000 {
				c.status.NowMS = at
				board.Show(c.status)
			}
			var open []string
			for _, one := range board.OpenIncidents() {
				open = append(open, one.Kind)
				if one.Times != 1 || one.Cause == "" || one.Remedy == "" {
					t.Errorf("want one with a cause and a remedy, have %+v", one)
				}
			}
			if have := strings.Join(open, " "); have != c.want {
				t.Errorf("want %q open, have %q", c.want, have)
			}
			for at := int64(281_000); at <= 320_000; at += 1_000 {
				board.Show(engine.Status{NowMS: at})
			}
			if left := board.OpenIncidents(); len(left) > 0 || len(*heard) != 2*len(open) {
				t.Errorf("want each opened and closed once, have %+v, %v", left, *heard)
			}
		})
	}
}
