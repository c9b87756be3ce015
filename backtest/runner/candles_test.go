package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/api"
)

// TestPartOfAFileIsRun runs six hours, of which two candles are missing, in parts. An end is exclusive.
func TestPartOfAFileIsRun(t *testing.T) {
	t.Parallel()
	l := runner(t, cross)
	const file = "candles/futures/BTC-USDT/1h.csv"
	sum := record(t, l, file, "BTC-USDT", 100, 0, 101, 102, 0, 103, 104)
	for _, c := range []struct {
		from, to string
		want     []int64 // hours of the candles
		holes    []int64 // hours of the missing candles
	}{
		{"", "", []int64{0, 2, 3, 5, 6}, []int64{1, 4}},
		{"2024-01-01T01:00:00Z", "", []int64{2, 3, 5, 6}, []int64{4}},
		{"2024-01-01T02:00:00Z", "2024-01-01T05:00:00Z", []int64{2, 3}, nil},
		{"2024-01-01T02:00:00Z", "2024-01-01T05:00:01Z", []int64{2, 3, 5}, []int64{4}},
		{"", "2024-01-01T03:00:00Z", []int64{0, 2}, []int64{1}},
		{"2024-01-01T06:00:00Z", "2025-01-01", []int64{6}, nil},
	} {
		p, err := l.trial(&api.BacktestRequest{Strategy: "cross", File: file, From: c.from, To: c.to})
		if err != nil {
			t.Fatal(err)
		}
		have, source, err := p.load(nil)
		if err != nil || source != (backtest.File{Path: l.Path(file), SHA256: sum}) {
			t.Fatalf("%s to %s: want the file and its hash, have %+v (%v)", c.from, c.to, source, err)
		}
		var hours, holes []int64
		for _, ms := range have.Candles.OpenMS {
			hours = append(hours, (ms-firstMS)/hour)
		}
		for _, h := range have.Holes {
			holes = append(holes, (h.AfterMS-firstMS)/hour+1)
		}
		if !slices.Equal(c.want, hours) || !slices.Equal(c.holes, holes) {
			t.Errorf("%s to %s: want %v without %v, have %v without %v", c.from, c.to, c.want, c.holes, hours, holes)
		}
	}
	for _, c := range []struct{ from, to string }{{"2024-01-01T07:00:00Z", ""}, {"", "2024-01-01"}, {"2024-01-01T01:00:00Z", "2024-01-01T02:00:00Z"}} {
		err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "cross", File: file, From: c.from, To: c.to}, t.TempDir(), func(string, float64) {})
		want := fmt.Sprintf("%s has none from %s to %s: it holds 2024-01-01 00:00 to 2024-01-01 07:00", file, c.from, c.to)
		if err == nil || err.Error() != want {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// TestRecordedFileMayEndWithinALine also applies the rates next to the candles; an invalid file of rates is
// an error.
func TestRecordedFileMayEndWithinALine(t *testing.T) {
	t.Parallel()
	l := runner(t, cross, strings.Replace(hold, "ETH", "BTC", 1))
	closes := make([]int64, 120)
	for i := range closes {
		closes[i] = 100 + 2*max(60-int64(i), int64(i)-60) // it falls and rises: the strategy ends long
	}
	for _, file := range []string{"recorded/futures/BTC-USDT/1h.csv", "candles/futures/BTC-USDT/1h.csv", "recorded/spot/BTC-USDT/1h.csv"} {
		record(t, l, file, "BTC-USDT", closes...)
		write(t, filepath.Join(filepath.Dir(l.Path(file)), "funding.csv"),
			fmt.Sprintf("symbol,funding_time_ms,funding_rate\nBTC-USDT,%d,0.001\nETH-USDT,%d,0.5\n",
				firstMS+112*hour, firstMS+104*hour))
	}
	const file = "recorded/futures/BTC-USDT/1h.csv"
	whole, err := os.ReadFile(l.Path(file))
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.Path(file), string(whole)+"17044")
	write(t, l.Path("candles/torn.csv"), string(whole)+"17044")
	report, phases := run(t, l, &api.BacktestRequest{Strategy: "cross", File: file})
	if !slices.Equal(phases, []string{"reading to 0.0200", "running to 0.6667", "writing to 0.9900"}) {
		t.Errorf("want the last of 3 runs, which begins at two thirds of 97 %% after 2 %%; have %q", phases)
	}
	rates := filepath.Join(filepath.Dir(l.Path(file)), "funding.csv")
	if want := []backtest.File{{Path: rates, SHA256: sumOf(t, rates)}}; !slices.Equal(want, report.Inputs.Strategies[0].Funding) || !report.Inputs.Repair {
		t.Errorf("want the rates %+v and a repaired file, have %+v", want, report.Inputs)
	}
	if report.Candles != 120 || !strings.HasPrefix(report.TotalFunding, "0.") && !strings.HasPrefix(report.TotalFunding, "1.") {
		t.Errorf("want 120 candles, and 0.1 %% of a position of several hundred USDT paid; have %d, %s", report.Candles, report.TotalFunding)
	}
	if err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "cross", File: "candles/torn.csv"}, t.TempDir(), func(string, float64) {}); err == nil {
		t.Error("a file that nobody writes: want its last line an error")
	}
	spot, _ := run(t, l, &api.BacktestRequest{Strategy: "hold", File: "recorded/spot/BTC-USDT/1h.csv"})
	if len(spot.Inputs.Strategies[0].Funding) > 0 || spot.TotalFunding != "0" {
		t.Errorf("spot: want no rates, have %+v, %s", spot.Inputs.Strategies[0].Funding, spot.TotalFunding)
	}
	write(t, rates, "words\n")
	if err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "cross", File: file}, t.TempDir(), func(string, float64) {}); err == nil ||
		!strings.Contains(err.Error(), rates) {
		t.Errorf("rates that are none: want an error that names the file, have %v", err)
	}
	if err := errors.Join(os.Remove(rates), os.Symlink(filepath.Join(filepath.Dir(l.Path("candles/futures/BTC-USDT/1h.csv")), "funding.csv"),
		rates)); err != nil {
		t.Fatal(err)
	}
	if report, _ = run(t, l, &api.BacktestRequest{Strategy: "cross", File: file}); report.TotalFunding != "0" {
		t.Errorf("a link in place of the rates: want it not followed, have %s", report.TotalFunding)
	}
}

// TestOtherSymbolsAreRead runs a strategy that reads a second symbol.
func TestOtherSymbolsAreRead(t *testing.T) {
	t.Parallel()
	l := runner(t, pair)
	fails := func(file, want string) {
		t.Helper()
		if err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "pair", File: file}, t.TempDir(), func(string, float64) {}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, have %v", file, want, err)
		}
	}
	const file, other = "candles/futures/BTC-USDT/1h.csv", "candles/futures/ETH-USDT/1h.csv"
	record(t, l, file, "BTC-USDT", 100, 101, 102, 103)
	fails(file, "it reads candles of futures ETH-USDT, and there is no file "+l.Path(other))
	write(t, l.Path(other), "words\n")
	fails(file, "it reads candles of futures ETH-USDT: ")
	sum := record(t, l, other, "ETH-USDT", 10, 11, 12, 13)
	report, _ := run(t, l, &api.BacktestRequest{Strategy: "pair", File: file})
	if want := []backtest.OtherFile{{Symbol: "futures ETH-USDT", File: backtest.File{Path: l.Path(other), SHA256: sum}}}; report.Fills == 0 ||
		!slices.Equal(want, report.Inputs.Strategies[0].Others) {
		t.Errorf("want a run with %+v, have %d fills, %+v", want, report.Fills, report.Inputs.Strategies[0].Others)
	}
	if input := report.Inputs.Strategies[0]; input.Script == nil || !strings.Contains(fmt.Sprint(*input.Script), "ether") {
		t.Errorf("want the script in the report, have %+v", input.Script)
	}
	if made, _ := run(t, l, &api.BacktestRequest{Strategy: "pair", Candles: 50}); made.Fills == 0 || len(made.Inputs.Strategies[0].Others) > 0 {
		t.Errorf("a made-up market: want a second one, have %d fills, %+v", made.Fills, made.Inputs.Strategies[0].Others)
	}
	// The folders of a file outside of the layout lead out of data_dir/candles.
	record(t, l, "candles/BTC-USDT/1h.csv", "BTC-USDT", 100, 101)
	outside := filepath.Join(l.Current().DataDir, "futures/ETH-USDT/1h.csv")
	text, err := os.ReadFile(l.Path(other))
	if err != nil {
		t.Fatal(err)
	}
	write(t, outside, string(text))
	fails("candles/BTC-USDT/1h.csv", "it reads candles of futures ETH-USDT, and candles/BTC-USDT/1h.csv is in no folder MARKET/SYMBOL")
	l.Symbols = func() []*exchange.Symbol {
		return slices.DeleteFunc(slices.Clone(sim.DefaultSymbols()), func(s *exchange.Symbol) bool { return s.Name == "ETH-USDT" })
	}
	fails(file, "the exchange has no symbol futures ETH-USDT now, whose candles it reads")
}
