package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
)

// onBitcoin are the figures of the examples that depend on the price of the asset.
var onBitcoin = strings.NewReplacer("ETH-USDT", "BTC-USDT", "lower: 1900, upper: 3100", "lower: 38000, upper: 110000",
	"quantity: 0.2", "quantity: 0.01", "max_position: 2", "max_position: 0.1", "quantity: 2.4", "quantity: 0.1")

// TestTheLibraryOnARecordedYear makes the table of docs/strategies.md: every
// example on the hours of Bitcoin's 2024, with fees and a constant funding rate.
//
//	BOTD_LIBRARY_YEAR=1 go test -v -run RecordedYear ./cmd/botd/cli
func TestTheLibraryOnARecordedYear(t *testing.T) {
	if os.Getenv("BOTD_LIBRARY_YEAR") == "" {
		t.Skip("takes a minute: set BOTD_LIBRARY_YEAR=1")
	}
	hours := filepath.Join("..", "..", "..", "..", "shared", "data", "candles", "binance-spot_BTCUSDT_1h_2024.csv")
	if _, err := os.Stat(hours); err != nil {
		t.Skip("no recorded year here:", hours)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "configs", "library", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no examples:", err)
	}
	directory := t.TempDir()
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "library", "trend.star"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "trend.star"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "funding_carry.yaml") {
			continue // it needs the year's funding rates, which are not recorded here
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		yaml := onBitcoin.Replace(string(text))
		if !strings.Contains(yaml, "\nbacktest:\n") {
			yaml += "\nbacktest:\n"
		}
		if strings.Contains(yaml, "market: futures") {
			yaml = strings.Replace(yaml, "\nbacktest:\n", "\nbacktest:\n  funding: 0.01%\n", 1)
		}
		made := filepath.Join(directory, filepath.Base(file))
		if err := os.WriteFile(made, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := execute([]string{"backtest", "run", "-s", made, "--data", hours, "-o", "json"}, &stdout, &stderr); code != failure.OK {
			t.Fatalf("%s: exit %d: %s", file, code, stderr.String())
		}
		rows.WriteString(yearRow(t, stdout.Bytes()))
	}
	t.Log("\n" + rows.String())
}

func yearRow(t *testing.T, report []byte) string {
	t.Helper()
	var r struct {
		Strategy string
		Market   string
		Fills    int
		Trips    int      `json:"round_trips"`
		Fall     float64  `json:"max_drawdown_pct"`
		Fees     string   `json:"total_fees"`
		Sharpe   *float64 `json:"sharpe"`
		Columns  []struct {
			Name   string
			Profit float64 `json:"profit_pct"`
		} `json:"cost_columns"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Columns) != 3 {
		t.Fatalf("%s: want three columns, have %d", r.Strategy, len(r.Columns))
	}
	sharpe := "–"
	if r.Sharpe != nil {
		sharpe = fmt.Sprintf("%.2f", *r.Sharpe)
	}
	fees, _, _ := strings.Cut(r.Fees, ".")
	return fmt.Sprintf("| `%s` | %s | %d | %+.1f | %+.1f | %+.1f | %.1f | %s | %s |\n", r.Strategy, r.Market, r.Fills,
		r.Columns[0].Profit, r.Columns[1].Profit, r.Columns[2].Profit, r.Fall, sharpe, fees)
}
