package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/backtest/parity"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/runtime/view"
)

// traded is a daemon that answers with a strategy's trades.
type traded struct {
	fills []view.Fill
	trips []view.ClosedPosition
}

func (d *traded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := any(map[string]any{"items": []any{}})
	switch r.URL.Path {
	case "/api/v1/status":
		answer = map[string]any{"mode": "demo"}
	case "/api/v1/fills":
		answer = map[string]any{"items": d.fills}
	case "/api/v1/equity":
		answer = view.EquitySeries{TimeMS: []int64{monday}, Equity: []string{"9000"}, Wallet: []string{"5010"}, Unrealized: []string{"-10"}} // 4000 on spot
	case "/api/v1/trades":
		answer = map[string]any{"items": d.trips}
	}
	_ = json.NewEncoder(w).Encode(answer) // a test without an answer fails
}

// monday is the start of the comparison.
const monday = 1_704_672_000_000

// TestLiveTradingIsComparedWithBacktest serves the trades of a backtest over recorded candles as live fills, three seconds later and
// a tenth of a percent worse, one of them on the other side.
func TestLiveTradingIsComparedWithBacktest(t *testing.T) {
	t.Parallel()
	directory, daemon := t.TempDir(), &traded{}
	put := func(file, text string) {
		t.Helper()
		file = filepath.Join(directory, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("configs/botd.yaml", "mode: demo\nlisten: off\ndata_dir: "+directory+"/d\n")
	put("configs/strategies/turn.yaml", "name: turn\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: 2\nsize: {equity: 20%}\n"+
		"params: {fast: 3, slow: 9, mode: long_short}\nbacktest:\n  cash: 700\n  fees: {maker: 0.0002, taker: 0.0005}\n")
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	put("d/demo/recorded/futures/BTC-USDT/1h.csv", "")
	candles := tape.Generate(3, symbol, exchange.Hour1, monday-100*3_600_000, 400)
	if err := tape.WriteFile(filepath.Join(directory, "d/demo/recorded/futures/BTC-USDT/1h.csv"), candles, symbol, nil); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(directory, "d/demo/botd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: daemon}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()

	type answered struct {
		parity.Comparison
		FromMS int64   `json:"from_ms"`
		Later  int     `json:"later"`
		Live   float64 `json:"live_pnl"`

		LiveFees float64 `json:"live_fees"`
	}
	ask := func(more ...string) (out answered) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		arguments := append([]string{"parity", "turn", "-c", filepath.Join(directory, "configs"), "--from", "2024-01-08", "-o", "json"}, more...)
		if code := execute(arguments, &stdout, &stderr); code != failure.OK {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	live := func(n int, f *parity.Execution) view.Fill {
		fill := view.Fill{AtMS: f.AtMS + 3_000, ClientOrderID: fmt.Sprint("id", n), Side: "SELL", Purpose: f.Purpose, Quantity: fmt.Sprint(f.Quantity),
			Price: fmt.Sprint(f.Price * 0.999)}
		if f.Buy {
			fill.Side, fill.Price = "BUY", fmt.Sprint(f.Price*1.001)
		}
		return fill
	}
	daemon.fills = []view.Fill{live(0, &parity.Execution{AtMS: monday, Buy: true, Quantity: 1, Price: 1, Purpose: "take_profit"})}
	first := ask()
	if first.LiveOnly != 1 || first.Matched != 0 || first.BacktestOnly < 5 {
		t.Fatalf("want what the backtest trades, and one live order, have %+v", first)
	}
	daemon.fills = nil
	for i := range first.Pairs {
		if f := first.Pairs[i].Backtest; f != nil {
			daemon.fills = append(daemon.fills, live(i, f))
		}
	}
	n := len(daemon.fills)
	entry, side := &daemon.fills[0], map[string]string{"BUY": "LONG", "SELL": "SHORT"}
	daemon.trips = []view.ClosedPosition{{OpenedMS: entry.AtMS + 2_000, ClosedMS: entry.AtMS + 5_000, Side: side[entry.Side], Quantity: entry.Quantity,
		EntryPrice: entry.Price, PNL: "12.5", Fees: "2.5"}}
	entry.Price = "0" // the round trip has the price
	daemon.fills[2].Side = map[string]string{"BUY": "SELL", "SELL": "BUY"}[daemon.fills[2].Side]
	daemon.fills = append(daemon.fills, live(n+1, &parity.Execution{AtMS: monday + 400*3_600_000, Quantity: 1, Price: 1, Purpose: "exit"})) // after the candles
	report := filepath.Join(directory, "report")
	second := ask("--out", report)
	if second.Matched != n-1 || second.LiveOnly != 1 || second.BacktestOnly != 1 || second.Later != 1 || second.FromMS != monday || second.Live != 12.5 {
		t.Errorf("want %d of %d matched, one on each side alone, one later, live profit 12.5; have %+v", n-1, n, second)
	}
	if second.Slippage == nil || math.Abs(*second.Slippage-0.1) > 1e-6 || second.Pairs[0].LaterMS != 3_000 || second.LiveFees != 2.5 {
		t.Errorf("want prices 0.1 %% worse, three seconds later, fees 2.5; have %v, %+v, %v", second.Slippage, second.Pairs[0], second.LiveFees)
	}
	// The equity is that of the live futures wallet: a fifth of it at leverage 1 is the value of the first
	// order.
	if p := second.Pairs[0].Backtest; math.Abs(p.Quantity*p.Price-1_000) > 60 {
		t.Errorf("want 20 %% of 5000 USDT traded, have %v", p.Quantity*p.Price)
	}
	page, err := os.ReadFile(filepath.Join(report, "report.html"))
	same := fmt.Sprintf("%d of %d orders match", n-1, n+1)
	if err != nil || !strings.Contains(string(page), "Live vs. this backtest") || !strings.Contains(string(page), same) {
		t.Errorf("want the report with both, have %d bytes, %v", len(page), err)
	}
}
