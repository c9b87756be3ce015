package endtoend

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
)

// readsOthers is a strategy on Ether that reads the hours and the days of Bitcoin.
const readsOthers = `name: ratio
strategy: script
file: ratio.star
market: futures
symbol: ETH-USDT
interval: 1h
size: {equity: 50%}
`

const ratioScript = `long_only()
reentry("immediate")
btc = candles("1h", symbol = "BTC-USDT")
day = candles("1d", symbol = "BTC-USDT")
ratio = close / btc.close
mean = ema(ratio, 24)
days = ema(day.close, 10)

def decide(view):
    return hold("long" if day.close > days and ratio > mean else "flat")
`

// Every 50th candle of that symbol is missing. testdata/others.py computed the figures.
func TestMultiSymbolTradesEqualIndependentProgram(t *testing.T) {
	t.Parallel()
	const wantTrades, wantSum = 142, 472525
	directory := t.TempDir()
	in := func(name string) string { return filepath.Join(directory, name) }
	run := func(want int, arguments ...string) (string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(arguments, &stdout, &stderr); code != want {
			t.Fatalf("%v: want exit %d, have %d: %s", arguments, want, code, stderr.String())
		}
		return stdout.String(), stderr.String()
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ratio.yaml", readsOthers)
	write("ratio.star", ratioScript)
	run(failure.OK, "data", "generate", "--symbol", "ETH-USDT", "--interval", "1h", "--candles", "6000", "--seed", "5", "--out", in("eth.csv"))
	run(failure.OK, "data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "6000", "--seed", "6", "--out", in("all.csv"))
	all, err := os.ReadFile(in("all.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for i, line := range strings.SplitAfter(string(all), "\n") {
		if i == 0 || (i-1)%50 != 49 {
			left = append(left, line)
		}
	}
	write("btc.csv", strings.Join(left, ""))
	if _, why := run(failure.NoInput, "backtest", "run", "-s", in("ratio.yaml"), "--data", in("eth.csv")); !strings.Contains(why, "--data BTC-USDT=FILE") {
		t.Errorf("want it to say which candles are missing, have %s", why)
	}
	if _, why := run(failure.Usage, "backtest", "run", "-s", in("ratio.yaml"), "--data", in("eth.csv"), "--data", "BTC-USDT="+in("btc.csv"),
		"--data", "SOL-USDT="+in("btc.csv")); !strings.Contains(why, "SOL-USDT") {
		t.Errorf("want a file that nobody reads refused, have %s", why)
	}
	report := in("report")
	run(failure.OK, "backtest", "run", "-s", in("ratio.yaml"), "--data", in("eth.csv"), "--data", "BTC-USDT="+in("btc.csv"), "--out", report)
	text, err := os.ReadFile(filepath.Join(report, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Trades []struct {
			EnteredMS int64 `json:"entered_ms"`
		} `json:"trades"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	trades, sum := 0, 0
	for _, trade := range result.Trades {
		if decided := int((trade.EnteredMS-1704067200000)/3_600_000) - 1; decided >= 1000 {
			trades, sum = trades+1, sum+decided
		}
	}
	if trades != wantTrades || sum != wantSum {
		t.Errorf("want %d trades with the sum %d, have %d and %d", wantTrades, wantSum, trades, sum)
	}
	if !strings.Contains(string(text), "120 of 6000 candles have no candle of futures BTC-USDT at the same time") {
		t.Error("want a warning of the candles that are missing")
	}
	run(failure.OK, "backtest", "verify", filepath.Join(report, "report.json"))
	write("btc.csv", string(all))
	if output, _ := run(failure.Negative, "backtest", "verify", filepath.Join(report, "report.json")); !strings.Contains(output, "btc.csv") {
		t.Errorf("want the file named that is another now, have %s", output)
	}
	write("ratio.star", strings.Replace(ratioScript, `"1h"`, `"4h"`, 1)) // built from hours, or as the strategy's own
	if output, _ := run(failure.OK, "sweep", "run", "-s", in("ratio.yaml"), "--data", in("eth.csv"), "--data", "BTC-USDT="+in("btc.csv"),
		"--vary", "interval=1h,4h", "-o", "csv"); strings.Count(output, "\n") < 3 {
		t.Errorf("want both intervals swept, have %s", output)
	}
	if out, _ := run(failure.OK, "backtest", "lookahead", "-s", in("ratio.yaml"), "--data", in("eth.csv"), "--data", "BTC-USDT="+in("btc.csv")); out == "" {
		t.Error("want a verdict about the future")
	}
}
