package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/backtest"
	"botd/backtest/replay"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/api"
	"botd/runtime/view"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

const (
	firstMS = int64(1_704_067_200_000) // 2024-01-01
	hour    = int64(exchange.Hour1)
)

// write creates a file and its directories.
func write(t *testing.T, path, text string) {
	t.Helper()
	if !filepath.IsAbs(path) {
		t.Fatal(path)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// cross is a strategy on futures with a parameter of the two that it takes first; hold one on spot.
const (
	cross = "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: 2\nsize: {equity: 50%}\nparams: {fast: 5}\n" +
		"backtest: {cash: 777}\n"
	hold  = "name: hold\nstrategy: buy_and_hold\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1h\n"
	never = "name: never\nstrategy: buy_and_hold\nmarket: futures\nsymbol: DOGE-USDT\ninterval: 1h\n"
	pair  = "name: pair\nstrategy: script\nfile: pair.star\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nsize: {equity: 50%}\n"
	star  = "ether = candles(\"1h\", symbol = \"ETH-USDT\")\n\ndef decide(view):\n    return hold(\"long\") if ether.close > 0 else hold(\"flat\")\n"
)

// runner returns a runner over strategies, without candles.
func runner(t *testing.T, strategies ...string) *Runner {
	t.Helper()
	directory := t.TempDir()
	write(t, filepath.Join(directory, "configs/botd.yaml"), "data_dir: "+filepath.Join(directory, "data")+"\n")
	write(t, filepath.Join(directory, "configs/strategies/pair.star"), star)
	for i, text := range strategies {
		write(t, filepath.Join(directory, fmt.Sprintf("configs/strategies/s%d.yaml", i)), text)
	}
	config, problems := configs.LoadDirectory(filepath.Join(directory, "configs"), configs.Options{
		Registry: strategy.NewRegistry(append(library.All(), script.Files())...),
		Script: func(source *strategy.Source) (strategy.Definition, error) {
			s, err := script.Compile(source.File, source.Text, source.Libraries...)
			if err != nil {
				return strategy.Definition{}, err
			}
			return s.Definition(), nil
		}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return &Runner{Current: func() *configs.Config { return config }, Symbols: sim.DefaultSymbols, Recorded: filepath.Join(directory, "data/demo/recorded"),
		Traded: func(string) replay.Traded { return replay.Traded{} }}
}

// record writes candles of an hour into a listed file and returns the file's hash. The prices are those of the closes, in
// USDT; a price of 0 is a missing candle.
func record(t *testing.T, l *Runner, file, name string, closes ...int64) string {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, name)
	if !found {
		t.Fatal(name)
	}
	candles := &exchange.Candles{Interval: exchange.Hour1}
	for i, price := range closes {
		if p := exchange.Price(price) * exchange.Price(math.Pow10(symbol.PriceScale)); p != 0 {
			candles.Append(exchange.Candle{OpenMS: firstMS + int64(i)*hour, Open: p, High: p, Low: p, Close: p, Volume: 1_000})
		}
	}
	path := l.Path(file)
	if !filepath.IsAbs(path) {
		t.Fatal(path)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), tape.WriteFile(path, candles, symbol, nil)); err != nil {
		t.Fatal(err)
	}
	return sumOf(t, path)
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func TestChoicesListParametersAndFiles(t *testing.T) {
	t.Parallel()
	l := runner(t, cross, hold)
	stored, recorded := l.folders()["candles"], l.folders()["recorded"]
	for _, name := range []string{"a.csv", "b.csv.gz", "c.csv.zip", "d.zip", "e.parquet", "f.txt", ".hidden.csv", "funding.csv", "g.csv/",
		"futures/BTC-USDT/1h.csv", "futures/BTC-USDT/5m.csv.gz", "options/BTC-USDT/1h.csv", "futures/BTC-USDT/weekly.csv", "futures/1h.csv",
		"1/2/3/4/deep.csv", "1/2/3/4/5/deeper.csv", "set/spot/ETH-USDT/1h.csv"} {
		if strings.HasSuffix(name, "/") {
			write(t, filepath.Join(stored, name, "x.txt"), "")
			continue
		}
		write(t, filepath.Join(stored, name), "12345")
	}
	write(t, filepath.Join(recorded, "spot/ETH-USDT/1m.csv"), "1")
	write(t, filepath.Join(recorded, "spot/ETH-USDT/funding.csv"), "1")
	if err := os.Symlink(filepath.Join(stored, "a.csv"), filepath.Join(stored, "link.csv")); err != nil {
		t.Fatal(err)
	}
	want := []api.CandleFile{{File: "recorded/spot/ETH-USDT/1m.csv", Market: "spot", Symbol: "ETH-USDT", Interval: "1m", Bytes: 1}}
	for _, name := range []string{"1/2/3/4/deep.csv", "a.csv", "b.csv.gz", "c.csv.zip", "d.zip", "e.parquet", "futures/1h.csv", "futures/BTC-USDT/1h.csv",
		"futures/BTC-USDT/5m.csv.gz", "futures/BTC-USDT/weekly.csv", "options/BTC-USDT/1h.csv", "set/spot/ETH-USDT/1h.csv"} {
		one := api.CandleFile{File: "candles/" + name, Bytes: 5}
		switch name {
		case "futures/BTC-USDT/1h.csv":
			one.Market, one.Symbol, one.Interval = "futures", "BTC-USDT", "1h"
		case "futures/BTC-USDT/5m.csv.gz":
			one.Market, one.Symbol, one.Interval = "futures", "BTC-USDT", "5m"
		}
		want = append(want, one)
	}
	have := l.Choices()
	if have.MaxCandles != 1_000_000 || !slices.Equal(want, have.Files) {
		t.Errorf("want at most 1000000 candles of %+v\nhave %d of %+v", want, have.MaxCandles, have.Files)
	}
	for _, file := range have.Files {
		if about, err := os.Stat(l.Path(file.File)); err != nil || about.Size() != file.Bytes {
			t.Errorf("%s: want its file, have %s (%v)", file.File, l.Path(file.File), err)
		}
	}
	if len(have.Strategies) != 2 {
		t.Fatalf("want two strategies, have %+v", have.Strategies)
	}
	one, other := have.Strategies[0], have.Strategies[1]
	if one.Name != "cross" || one.Strategy != "sma_cross" || one.Market != "futures" || one.Symbol != "BTC-USDT" || one.Interval != "1h" {
		t.Errorf("have %+v", one)
	}
	values := map[string]string{}
	for _, p := range one.Params {
		if values[p.Name] = p.Value; p.Help == "" {
			t.Errorf("want each parameter explained, have %+v", p)
		}
	}
	if values["fast"] != "5" || values["slow"] != "50" { // the file's, and the default (docs/strategies.md)
		t.Errorf("want the given value and the default, have %v", values)
	}
	if other.Name != "hold" || other.Market != "spot" || other.Params == nil {
		t.Errorf("want a list of parameters even if it is empty, have %+v", other)
	}
}

func TestOnlySoManyFilesAreListed(t *testing.T) {
	t.Parallel()
	l := runner(t, cross)
	if files := l.Choices().Files; files == nil || len(files) != 0 {
		t.Errorf("no folder: want an empty list, have %v", files)
	}
	for i := range 1_002 {
		write(t, filepath.Join(l.folders()["candles"], fmt.Sprintf("%04d.csv", i)), "")
	}
	write(t, filepath.Join(l.Recorded, "a.csv"), "")
	files := l.Choices().Files
	if len(files) != 1_000 || files[0].File != "recorded/a.csv" || files[999].File != "candles/0998.csv" {
		t.Errorf("want 1000 files, the recorded one first; have %d to %+v", len(files), files[len(files)-1])
	}
}

func TestPlanDescribesTheRun(t *testing.T) {
	t.Parallel()
	l := runner(t, cross)
	record(t, l, "candles/futures/BTC-USDT/1h.csv", "BTC-USDT", 100, 101)
	const runs = "runs cross (sma_cross) on futures BTC-USDT, 1h candles, over "
	rest := []string{"with 777 USDT, the account's limits, and the costs of the strategy's backtest block",
		"in botd's own process, alongside trading, limited to half a core, one hour, 1000000 candles and 200000 fills"}
	for _, c := range []struct {
		name    string
		request api.BacktestRequest
		want    []string
	}{
		{"nothing given", api.BacktestRequest{Name: "x"}, append([]string{
			runs + "10000 candles of a made-up market (seed 0) from 2024-01-01 00:00"}, append(rest, "its report is saved as x")...)},
		{"a made-up market", api.BacktestRequest{Candles: 1, Seed: 9, From: "2025-02-03T04:05:06Z", Study: true}, append([]string{
			runs + "1 candles of a made-up market (seed 9) from 2025-02-03 04:05"}, append(rest,
			"and again under worse conditions: a study of how reliable it is", "its report is saved as ")...)},
		{"a file", api.BacktestRequest{File: "candles/futures/BTC-USDT/1h.csv", Params: map[string]string{"slow": "9", "fast": "3"}}, append([]string{
			runs + "candles/futures/BTC-USDT/1h.csv", "with fast = 3", "with slow = 9"}, append(rest, "its report is saved as ")...)},
		{"a part of a file", api.BacktestRequest{File: "candles/futures/BTC-USDT/1h.csv", From: "2024-01-01", To: "2024-01-02"}, append([]string{
			runs + "candles/futures/BTC-USDT/1h.csv from 2024-01-01 00:00 to 2024-01-02 00:00"}, append(rest, "its report is saved as ")...)},
		{"the most candles", api.BacktestRequest{Candles: 1_000_000}, append([]string{
			runs + "1000000 candles of a made-up market (seed 0) from 2024-01-01 00:00"}, append(rest, "its report is saved as ")...)},
	} {
		c.request.Strategy = "cross"
		if have, err := l.Plan(&c.request); err != nil || !slices.Equal(c.want, have) {
			t.Errorf("%s: want %q\nhave %q (%v)", c.name, c.want, have, err)
		}
	}
}

// TestInvalidRequestIsNeitherPlannedNorRun needs no candles: a wrong request is refused before any is read.
func TestInvalidRequestIsNeitherPlannedNorRun(t *testing.T) {
	t.Parallel()
	l := runner(t, cross, never)
	record(t, l, "candles/a.csv", "BTC-USDT", 100, 101)
	for _, c := range []struct {
		request api.BacktestRequest
		want    string
	}{
		{api.BacktestRequest{Strategy: "nobody"}, `there is no strategy "nobody"`},
		{api.BacktestRequest{Strategy: "cross", Params: map[string]string{"color": "red"}}, `sma_cross takes no parameter "color"`},
		{api.BacktestRequest{Strategy: "cross", Params: map[string]string{"fast": "-1"}}, "fast"},
		{api.BacktestRequest{Strategy: "never"}, "the exchange has no futures symbol DOGE-USDT now"},
		{api.BacktestRequest{Strategy: "cross", From: "yesterday"}, `from "yesterday": want 2024-01-31`},
		{api.BacktestRequest{Strategy: "cross", File: "candles/a.csv", To: "tomorrow"}, `to "tomorrow": want 2024-01-31`},
		{api.BacktestRequest{Strategy: "cross", File: "candles/a.csv", From: "2024-02-01", To: "2024-02-01"}, "to 2024-02-01 is not after from 2024-02-01"},
		{api.BacktestRequest{Strategy: "cross", File: "candles/b.csv"}, `file "candles/b.csv" is not in the list of files`},
		{api.BacktestRequest{Strategy: "cross", File: "candles/../candles/a.csv"}, "is not in the list of files"},
		{api.BacktestRequest{Strategy: "cross", Candles: -1}, "candles -1: from 1 to 1000000"},
		{api.BacktestRequest{Strategy: "cross", Candles: 1_000_001}, "candles 1000001: from 1 to 1000000"},
		{api.BacktestRequest{Strategy: "cross", To: "2024-02-01"}, "to applies to a file: a generated market has the requested number of candles"},
	} {
		if does, err := l.Plan(&c.request); err == nil || does != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: want an error with %q, have %q, %v", c.request, c.want, does, err)
		}
		out := filepath.Join(t.TempDir(), "report")
		err := l.Run(t.Context(), &c.request, out, func(phase string, _ float64) { t.Errorf("%+v: want no phase, have %s", c.request, phase) })
		if _, made := os.Stat(out); err == nil || !strings.Contains(err.Error(), c.want) || made == nil {
			t.Errorf("%+v: want it not run, have %v (%v)", c.request, err, made)
		}
	}
}

// run runs a request and returns its report and its progress: each phase with its last share. A share never falls.
func run(t *testing.T, l *Runner, request *api.BacktestRequest) (report *backtest.Result, phases []string) {
	t.Helper()
	out, last := t.TempDir(), 0.0
	names := []string{}
	if err := l.Run(t.Context(), request, out, func(phase string, share float64) {
		if !slices.Contains(names, phase) {
			if len(names) == 0 && share != 0 {
				t.Errorf("want the first share 0, have %v", share)
			}
			names, phases = append(names, phase), append(phases, "")
		}
		phases[len(phases)-1] = fmt.Sprintf("%s to %.4f", phase, share)
		if share < last || share > 0.99 {
			t.Errorf("%s: want a share from %v to 0.99, have %v", phase, last, share)
		}
		last = share
	}); err != nil {
		t.Fatal(err)
	}
	if last != 0.99 {
		t.Errorf("want 0.99 before the report is written, have %v", last)
	}
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	report = &backtest.Result{}
	if err := json.Unmarshal(text, report); err != nil {
		t.Fatal(err)
	}
	return report, phases
}

// TestMadeUpMarketIsThatOfTheCommandLine compares the candles of a run with the file that the named command writes.
func TestMadeUpMarketIsThatOfTheCommandLine(t *testing.T) {
	t.Parallel()
	l := runner(t, cross)
	report, phases := run(t, l, &api.BacktestRequest{Strategy: "cross", Seed: 4, Candles: 300, From: "2024-03-01",
		Params: map[string]string{"slow": "9"}, Study: true})
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	const march = 1_709_251_200_000
	file := filepath.Join(t.TempDir(), "made.csv")
	if err := tape.WriteFile(file, tape.Generate(4, symbol, exchange.Hour1, march, 300), symbol, nil); err != nil {
		t.Fatal(err)
	}
	input := report.Inputs.Strategies[0]
	if want := (backtest.File{Path: "made up: botd data generate --market futures --symbol BTC-USDT --interval 1h --candles 300 --seed 4 --from 1709251200000",
		SHA256: sumOf(t, file)}); input.Data != want || report.DataSHA256 != want.SHA256 {
		t.Errorf("want %+v, have %+v and %s", want, input.Data, report.DataSHA256)
	}
	if report.Candles != 300 || report.From.UnixMilli() != march || report.InitialEquity != "777" || len(report.Columns) != 3 || report.Study == nil {
		t.Errorf("have %d candles from %s with %s, %d columns, study %v", report.Candles, report.From, report.InitialEquity, len(report.Columns), report.Study)
	}
	if input.Name != "cross" || !strings.Contains(input.YAML, "slow: 9") || !strings.Contains(input.YAML, "fast: 5") || !report.Inputs.AllColumns ||
		report.Inputs.Repair || !strings.HasSuffix(input.File, "configs/strategies/s0.yaml") {
		t.Errorf("have %+v", report.Inputs)
	}
	if !slices.Equal(phases, []string{"reading to 0.0000", "running to 0.1964", "study to 0.9018", "writing to 0.9900"}) {
		t.Errorf("want the 3rd and the 11th of 11 runs, which begin at 2 and 10 elevenths of 97 %% after 2 %%; have %q", phases)
	}
	if _, changed := l.Current().Strategies[0].Params["slow"]; changed {
		t.Error("want the strategy that trades unchanged")
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	t.Parallel()
	l := runner(t, cross)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	out := filepath.Join(t.TempDir(), "report")
	err := l.Run(ctx, &api.BacktestRequest{Strategy: "cross", Candles: 100_000}, out, func(phase string, _ float64) {
		if phase == "running" {
			cancel(enough)
		}
	})
	if _, made := os.Stat(out); !errors.Is(err, enough) || made == nil {
		t.Errorf("want it ended by its cause without a report, have %v (%v)", err, made)
	}
}

// TestPaceReportsTheShareOfAllRuns steps through two runs of a total of four. Reading takes 2 % and writing 1 %.
func TestPaceReportsTheShareOfAllRuns(t *testing.T) {
	t.Parallel()
	rests := 0
	var have []float64
	p := &pace{rest: func() { rests++ }, phase: "running", runs: 4, progress: func(phase string, share float64) {
		if have = append(have, share); phase != "running" {
			t.Errorf("have phase %s", phase)
		}
	}}
	for _, step := range [][2]int{{0, 100}, {50, 100}, {100, 100}, {0, 0}, {100, 200}, {0, 10}, {0, 10}, {10, 10}} {
		p.step(step[0], step[1])
	}
	want := []float64{0.02, 0.14125, 0.2625, 0.2625, 0.38375, 0.505, 0.7475, 0.99}
	if rests != len(want) || !slices.EqualFunc(want, have, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
		t.Errorf("want %v, have %v after %d rests", want, have, rests)
	}
}

// TestParityComparesWithRecordedCandles trades as the backtest does: a long position from the first crossing on.
func TestParityComparesWithRecordedCandles(t *testing.T) {
	t.Parallel()
	l := runner(t, strings.Replace(cross, "params: {fast: 5}", "params: {fast: 1, slow: 2, mode: long_only}", 1))
	if _, err := l.Parity(t.Context(), "nobody", 0, 0); err == nil || !strings.Contains(err.Error(), `there is no strategy "nobody"`) {
		t.Errorf("want the name in the error, have %v", err)
	}
	if _, err := l.Parity(t.Context(), "cross", 0, 0); err == nil || !strings.Contains(err.Error(), "traded nothing") {
		t.Errorf("no fills: want that in the error, have %v", err)
	}
	record(t, l, "recorded/futures/BTC-USDT/1h.csv", "BTC-USDT", 100, 99, 98, 105, 106, 107, 108, 109)
	whole, err := os.ReadFile(l.Path("recorded/futures/BTC-USDT/1h.csv"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.Path("recorded/futures/BTC-USDT/1h.csv"), string(whole)+"17040") // the daemon is writing
	request := ""
	l.Traded = func(name string) replay.Traded {
		request = name
		return replay.Traded{Fills: []view.Fill{{AtMS: firstMS + 4*hour, ClientOrderID: "a", Side: "BUY", Quantity: "1", Price: "105", Purpose: "entry"}},
			Equity: func(int64) (view.EquitySeries, error) {
				return view.EquitySeries{TimeMS: []int64{firstMS},
					Equity: []view.Decimal{"1000"}, Wallet: []view.Decimal{"1000"}, Unrealized: []view.Decimal{"0"}}, nil
			}}
	}
	p, err := l.Parity(t.Context(), "cross", firstMS+2*hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	if request != "cross" || p.Strategy != "cross" || p.FromMS != firstMS+2*hour || p.ToMS != firstMS+8*hour || p.Matched != 1 || p.Cash != 1_000 {
		t.Errorf("want the one buy matched until %s, have %+v", time.UnixMilli(firstMS+8*hour).UTC(), p)
	}
	if err := os.Remove(l.Path("recorded/futures/BTC-USDT/1h.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Parity(t.Context(), "cross", 0, 0); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("no recorded candles: want an error, have %v", err)
	}
}
