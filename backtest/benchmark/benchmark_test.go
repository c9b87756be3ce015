package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/strategy"
)

// children is the environment variable that makes this program a child of process: it appends its cache and its arguments to a
// file, and writes what --out names.
const children = "BOTD_BENCH_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(children); path != "" {
		if os.Args[1] == "fail" || slices.Contains(os.Args, os.Getenv(children+"_FAILS")) {
			fmt.Fprintln(os.Stderr, "no candles")
			os.Exit(3)
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(file, os.Getenv("BOTD_CACHE"), os.Args[1:])
		}
		if at := slices.Index(os.Args, "--out"); err == nil && at > 0 && os.Getenv(children+"_WITHOUT") != os.Args[1] {
			err = write(os.Args[at+1])
		}
		if err != nil {
			os.Exit(4)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// write writes a file of candles of 5 bytes, of 3 in Parquet, or a directory with a page of 6.
func write(out string) error {
	if ext := filepath.Ext(out); ext != "" {
		return os.WriteFile(out, []byte("12345")[:map[string]int{".csv": 5, ".parquet": 3}[ext]], 0o600)
	}
	return errors.Join(os.MkdirAll(out, 0o700), os.WriteFile(filepath.Join(out, "report.html"), []byte("<html>"), 0o600))
}

// benchmarkOf returns a benchmark over so many candles, with its candles in memory.
func benchmarkOf(t *testing.T, candles, runs int) *Benchmark {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	if !found {
		t.Fatal("no symbol")
	}
	return &Benchmark{Ctx: t.Context(), Candles: candles, Runs: runs, Progress: io.Discard, directory: t.TempDir(),
		recorded: &tape.Tape{Symbol: symbol, Candles: tape.Generate(benchSeed, symbol, exchange.Minute1, benchStartMS, candles)}}
}

// TestFiguresOfPlainLoop crosses averages of one and two closes. The last close crosses too late for a next open.
func TestFiguresOfPlainLoop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		opens, closes []float64
		fills         int
		deepest       float64
	}{
		{"never", []float64{10, 10, 10}, []float64{10, 10, 10}, 0, 0},
		{"in at 12, out at 9, in at 8", []float64{10, 10, 11, 12, 9, 8}, []float64{10, 10, 12, 8, 9, 9}, 3, 1 - 8./12},
		{"in at the end", []float64{10, 10, 10}, []float64{10, 10, 12}, 0, 0},
		{"in, and no way out", []float64{10, 10, 10, 10, 10}, []float64{10, 10, 12, 20, 30}, 1, 0},
		{"a fall from a peak", []float64{10, 10, 10, 10, 10, 10}, []float64{10, 10, 12, 20, 25, 20}, 1, 1 - 20./25},
		{"equal averages", []float64{10, 10, 10, 10}, []float64{10, 10, 10, 9}, 0, 0},
	} {
		if fills, deepest := plainBacktest(c.opens, c.closes, 1, 2); fills != c.fills || math.Abs(deepest-c.deepest) > 1e-12 {
			t.Errorf("%s: want %d fills and a drawdown of %v, have %d and %v", c.name, c.fills, c.deepest, fills, deepest)
		}
	}
}

func TestHandWrittenProgramReadsItsFile(t *testing.T) {
	t.Parallel()
	b := benchmarkOf(t, 30_000, 1)
	path := filepath.Join(b.directory, "candles.csv")
	if err := tape.WriteFile(path, b.recorded.Candles, b.recorded.Symbol, nil); err != nil {
		t.Fatal(err)
	}
	opens, closes := make([]float64, 30_000), make([]float64, 30_000)
	for i := range closes {
		opens[i], closes[i] = b.recorded.Symbol.PriceFloat(b.recorded.Candles.Open[i]), b.recorded.Symbol.PriceFloat(b.recorded.Candles.Close[i])
	}
	want, _ := plainBacktest(opens, closes, 500, 2000)
	if have, err := Plain(path); err != nil || have != want || want == 0 {
		t.Errorf("want %d fills, have %d (%v)", want, have, err)
	}
	if have, err := Read(path); err != nil || have != 30_000 {
		t.Errorf("want 30000 candles, have %d (%v)", have, err)
	}
	for name, text := range map[string]string{"a time": "h\nx,1,1,1,1,1\n", "a price": "h\n1,1,1,x,1,1\n"} {
		wrong := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := Plain(wrong); n != 0 || err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: have %v", name, err)
		}
		if n, err := Read(wrong); n != 0 || err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: have %v", name, err)
		}
	}
	hexadecimal := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(hexadecimal, []byte("h\n1a,1,1,1,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Plain(hexadecimal); err == nil {
		t.Error("a time in another base: want an error")
	}
	for _, read := range []func(string) (int, error){Plain, Read} {
		if n, err := read(filepath.Join(b.directory, "absent.csv")); n != 0 || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no file: have %v", err)
		}
	}
}

// TestTurnsAreOf37Candles passes candles by column in parts of any length.
func TestTurnsAreOf37Candles(t *testing.T) {
	t.Parallel()
	size := strategy.Size{Quote: exchange.AmountOf(100)}
	s := &turning{size: size}
	at, ends := 0, []int{}
	for at < 120 {
		end := s.Pass(nil, at, min(at+50, 120))
		if at = end; !s.Stays() {
			ends = append(ends, end)
		}
	}
	if !slices.Equal(ends, []int{37, 74, 111}) || s.seen != 120 {
		t.Errorf("want decisions after 37, 74 and 111 candles, have %v of %d", ends, s.seen)
	}
	for seen, want := range map[int]strategy.Target{36: {}, 37: size.Target(1), 73: size.Target(1), 74: strategy.Flat(), 111: size.Target(1)} {
		var plan strategy.Plan
		if (&turning{size: size, seen: seen}).Decide(nil, &plan); plan.Target != want {
			t.Errorf("after %d candles: want %+v, have %+v", seen, want, plan.Target)
		}
	}
}

func TestTheBestOfSeveralRunsCounts(t *testing.T) {
	t.Parallel()
	b, runs := benchmarkOf(t, 10, 3), 0
	var shown bytes.Buffer
	b.Progress = &shown
	m, err := b.best("one", 2_000_000, func() (int, error) { runs++; return runs, nil })
	if err != nil || runs != 3 || m.Fills != 3 || m.What != "one" || m.Seconds <= 0 || m.Seconds > 60 || m.Processor <= 0 ||
		math.Abs(m.Speed*m.Processor-2) > 1e-9 {
		t.Errorf("want three runs, have %d, %+v (%v)", runs, m, err)
	}
	if shown.String() != "measuring one\n" {
		t.Errorf("have %q", shown.String())
	}
	wrong := errors.New("no money")
	if _, err := b.best("two", 1, func() (int, error) { return 0, wrong }); !errors.Is(err, wrong) || err.Error() != "two: no money" {
		t.Errorf("want what was measured in the error, have %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(wrong)
	b.Ctx = ctx
	if _, err := b.best("three", 1, func() (int, error) { t.Error("want no run"); return 0, nil }); !errors.Is(err, wrong) {
		t.Errorf("want the cause of the end, have %v", err)
	}
}

// TestProcessesAreMeasured runs this program as its own child. With a cache, the first run only fills it.
func TestProcessesAreMeasured(t *testing.T) {
	b := benchmarkOf(t, 1_000_000/1_000, 2)
	log := filepath.Join(b.directory, "log")
	t.Setenv(children, log)
	progress := &bytes.Buffer{}
	b.Progress = progress
	for _, c := range []struct {
		cached    bool
		arguments []string
		want      string
	}{
		{false, []string{"bench", "--read", "x"}, strings.Repeat("off [bench --read x]\n", 2)},
		{true, []string{"backtest"}, strings.Repeat(filepath.Join(b.directory, "cache")+" [backtest]\n", 3)},
		{false, []string{"data"}, "off [data]\n"},
	} {
		m, err := b.process("it", c.cached, c.arguments)
		text, readErr := os.ReadFile(log)
		if err != nil || readErr != nil || string(text) != c.want || m.Seconds <= 0 || m.Seconds > 60 || m.Processor <= 0 || m.Processor > 60 || m.Memory < 1 ||
			m.Memory > 100_000 || math.Abs(m.Speed*m.Processor-0.001) > 1e-9 {
			t.Errorf("%v: want %q, have %q, %+v (%v, %v)", c.arguments, c.want, text, m, err, readErr)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
	if progress.String() != strings.Repeat("measuring it\n", 3) {
		t.Errorf("want each named while it is measured, have %q", progress)
	}
	if _, err := b.process("it", false, []string{"fail"}); err == nil || err.Error() != "it: exit status 3\nno candles\n" {
		t.Errorf("want the child's words, have %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	b.Ctx = ctx
	if _, err := b.process("it", false, []string{"bench"}); !errors.Is(err, enough) {
		t.Errorf("want the cause of the end, have %v", err)
	}
}

// TestEverythingIsMeasured runs every measurement once, over few candles. The commands are children that do nothing.
func TestEverythingIsMeasured(t *testing.T) {
	log, shown := filepath.Join(t.TempDir(), "log"), &bytes.Buffer{}
	t.Setenv(children, log)
	b := &Benchmark{Ctx: t.Context(), Candles: 11_000, Runs: 1, Progress: shown, strategies: []int{1, 30}}
	if err := b.Run(); err != nil {
		t.Fatal(err)
	}
	wantCommands(t, b, log)
	wantEngine(t, b)
	if b.Result.Candles != 11_000 || !strings.HasPrefix(b.Result.Machine, goruntime.GOOS+"/"+goruntime.GOARCH+", ") ||
		!strings.HasSuffix(b.Result.Machine, " cores, "+goruntime.Version()) {
		t.Errorf("have %q, %d candles", b.Result.Machine, b.Result.Candles)
	}
	var strategies []int
	for _, o := range b.Result.Opening {
		if strategies = append(strategies, o.Strategies); o.Microseconds <= 0 {
			t.Errorf("have %+v", o)
		}
	}
	if !slices.Equal(strategies, []int{1, 30}) || !strings.HasSuffix(shown.String(), "measuring the openings of 30 strategies in one round\n") ||
		!slices.Equal(openings, []int{1, 500, 2_000}) {
		t.Errorf("want openings of 1 and 30 strategies, have %v: %s", strategies, shown)
	}
}

// TestEachCommandRunsAsOftenAsAsked requests three runs; the command that takes seconds runs once. The first
// command with a cache runs once more, to fill it.
func TestEachCommandRunsAsOftenAsAsked(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(children, log)
	b := benchmarkOf(t, 10, 3)
	if err := b.command(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]int{"data generate": 2, "bench --hand": 3, "bench --read": 6, "bench.yaml": 16, "often.yaml": 1} {
		if have := strings.Count(string(text), words); have != want {
			t.Errorf("%s: want %d runs, have %d of\n%s", words, want, have, text)
		}
	}
}

// TestASweepIsMeasuredByOneCoreAndByAll reads how many cores are in use at each measurement.
func TestASweepIsMeasuredByOneCoreAndByAll(t *testing.T) {
	b := benchmarkOf(t, 1_000, 1)
	cores := goruntime.GOMAXPROCS(4)
	defer goruntime.GOMAXPROCS(cores)
	var used []int
	b.read = func() usage { used = append(used, goruntime.GOMAXPROCS(0)); return ownUsage() }
	if err := b.sweep(&measured{Speed: 1}); err != nil || !slices.Equal(used, []int{1, 1, 4, 4}) || goruntime.GOMAXPROCS(0) != 4 {
		t.Errorf("want one core, then four, have %v, %v", used, err)
	}
}

// wantCommands compares the commands that were run, and their figures. The first one with a cache runs once more.
func wantCommands(t *testing.T, b *Benchmark, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	const generated = "off [data generate --symbol BTC-USDT --interval 1m --seed 7 --from 1704067200000 --candles 11000 --out DIR/candles."
	const run = " [backtest run -s DIR/bench.yaml --data DIR/candles.csv"
	want := []string{generated + "csv]", generated + "parquet]", "off [bench --hand DIR/candles.csv]", "off [bench --read DIR/candles.csv]",
		"off [bench --read DIR/candles.parquet]", "off" + run + " --one-column]", "DIR/cache" + run + " --one-column]", "DIR/cache" + run + " --one-column]",
		"off" + run + "]", "DIR/cache" + run + "]", "DIR/cache" + run + " --out DIR/report]",
		"DIR/cache" + strings.Replace(run, "bench.yaml", "often.yaml", 1) + " --out DIR/often]", ""}
	if have := strings.Split(strings.ReplaceAll(string(text), b.directory, "DIR"), "\n"); !slices.Equal(want, have) {
		t.Errorf("want %q\nhave %q", want, have)
	}
	if _, err := os.Stat(b.directory); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want the directory removed, have %v", err)
	}
	if b.Result.CSV != 5 || b.Result.Report != 6 || b.Result.Often != 6 || len(b.Result.Command) != 9 {
		t.Fatalf("want 9 commands, 5 bytes of CSV and 6 of the report, have %+v", b.Result)
	}
	if m := b.Result.Command; m[0].File != 5 || m[2].File != 3 || m[8].File != 5 {
		t.Errorf("want the size of the file that each command reads, have %+v", m)
	}
	for i, m := range b.Result.Command {
		if m.Times != m.Seconds/b.Result.Command[0].Seconds || i == 0 && !strings.HasPrefix(m.What, "a hand-written program") {
			t.Errorf("%s: want the time as a multiple of the hand-written program's, have %+v", m.What, m)
		}
	}
}

func wantEngine(t *testing.T, b *Benchmark) {
	t.Helper()
	machines := []string{"", "direct", "direct", "direct", "direct", "direct", "direct", "direct", "direct", "engine: journal and notes", "direct", "direct",
		"engine: several strategies", ""}
	if len(b.Result.Engine) != len(machines) {
		t.Fatalf("want %d lines, have %+v", len(machines), b.Result.Engine)
	}
	plain := b.Result.Engine[0]
	var opens, closes []float64
	for i, price := range b.recorded.Candles.Close {
		opens, closes = append(opens, float64(b.recorded.Candles.Open[i])), append(closes, float64(price))
	}
	if want, _ := plainBacktest(opens, closes, 200, 1_000); plain.Fills != want || want == 0 {
		t.Errorf("want the plain loop's %d fills, have %+v", want, plain)
	}
	for i, m := range b.Result.Engine {
		if m.Machine != machines[i] || m.Times <= 0 || math.Abs(m.Times*m.Speed/plain.Speed-1) > 1e-9 {
			t.Errorf("%s: want %q and its time as a multiple of the plain loop's, have %+v", m.What, machines[i], m)
		}
		candles := 11_000.
		if i == 13 { // the last line is the sweep's
			candles = 2_200 * float64(max(4, 2*goruntime.GOMAXPROCS(0)))
		}
		if math.Abs(m.Speed*m.Processor*1e6/candles-1) > 1e-9 {
			t.Errorf("%s: want the speed over %v candles, have %+v", m.What, candles, m)
		}
		if counted := m.Machine != "" && m.Fills*50 > 11_000; counted != (m.PerFill != nil) {
			t.Errorf("%s: want the cost of a fill if one comes every 50 candles at least, have %+v", m.What, m)
		}
	}
	// 297 turns of 37 candles end before the last of 11,000 candles.
	for _, i := range []int{7, 8, 9} {
		if m := b.Result.Engine[i]; m.Fills != 297 || m.PerFill == nil || (m.PerFill.Notes > 1) != (i == 9) || i != 9 && m.PerFill.Notes != 0 ||
			m.PerFill.Microseconds < 0 {
			t.Errorf("%s: want 297 fills and their cost, have %+v", m.What, m)
		}
	}
	for i, quiet := range []int{1, 2, 3} {
		if m := b.Result.Engine[quiet]; m.Fills != 0 {
			t.Errorf("quiet %d: want no fills, have %+v", i, m)
		}
	}
	cores := goruntime.GOMAXPROCS(0)
	trials := max(4, 2*cores)
	if b.Result.Engine[13].What != fmt.Sprintf("a sweep of %d trials over 2200 candles, sma_cross 10/50", trials) || b.Result.Engine[13].Fills == 0 {
		t.Errorf("have %+v", b.Result.Engine[13])
	}
	for i, s := range b.Result.Sweep {
		if s.Cores != []int{1, cores}[i] || s.Trials != trials || s.Candles != 2_200 || s.Milliseconds <= 0 || s.Processor <= 0 ||
			math.Abs(s.Times*s.Milliseconds/b.Result.Sweep[0].Milliseconds-1) > 1e-9 {
			t.Errorf("want the speed relative to one core, have %+v", b.Result.Sweep)
		}
	}
	if len(b.Result.Sweep) != min(cores, 2) {
		t.Errorf("want one core and all %d, have %+v", cores, b.Result.Sweep)
	}
}

// TestGridIsBelowTheFirstPrice expects 201 lines, each 1 % below the one above.
func TestGridIsBelowTheFirstPrice(t *testing.T) {
	t.Parallel()
	b := benchmarkOf(t, 100, 1)
	config := b.grid(0.01)
	made, err := config.Legs[0].Make(b.recorded)
	if err != nil {
		t.Fatal(err)
	}
	var plan strategy.Plan
	view := strategy.View{Symbol: b.recorded.Symbol, Interval: exchange.Minute1, Last: b.recorded.Candles.Open[0], Equity: exchange.AmountOf(10_000)}
	view.SetHistory(b.recorded.Candles, 1)
	made.Candle(&view)
	made.Decide(&view, &plan)
	if len(plan.Orders) != 200 {
		t.Fatalf("want 200 resting orders, have %d", len(plan.Orders))
	}
	first := b.recorded.Symbol.PriceFloat(b.recorded.Candles.Open[0])
	highest, lowest := exchange.Price(0), plan.Orders[0].Price
	for _, o := range plan.Orders {
		if highest, lowest = max(highest, o.Price), min(lowest, o.Price); o.Side != exchange.Buy {
			t.Fatalf("want purchases, have %+v", o)
		}
	}
	near := func(have exchange.Price, lines int) bool {
		for _, line := range []int{lines, lines + 1} {
			if want := first * math.Pow(0.99, float64(line)); math.Abs(b.recorded.Symbol.PriceFloat(have)/want-1) < 0.001 {
				return true
			}
		}
		return false
	}
	if !near(highest, 1) || !near(lowest, 200) {
		t.Errorf("want lines from 1 %% to 200 times 1 %% below %v, have %v to %v", first, b.recorded.Symbol.PriceFloat(highest),
			b.recorded.Symbol.PriceFloat(lowest))
	}
	if config.Cash != exchange.AmountOf(10_000) || config.Costs.Futures != (backtest.Fees{Maker: 20_000, Taker: 50_000}) {
		t.Errorf("have %+v", config)
	}
	all := b.several(4)
	for i, one := range all {
		if one.Symbol.Name != fmt.Sprintf("S%d-USDT", i) || one.Candles.Len() != 25 || i > 0 && one.Candles.Close[20] == all[i-1].Candles.Close[20] {
			t.Errorf("symbol %d: want 25 candles of its own, have %d of %s", i, one.Candles.Len(), one.Symbol.Name)
		}
	}
}

func TestOpeningsAreAcknowledged(t *testing.T) {
	t.Parallel()
	for _, strategies := range []int{1, 20} {
		o, err := measureOpening(strategies, spent)
		if err != nil || o.Strategies != strategies || o.Median < 0 || o.Last < o.Median || o.Last > 10_000 || o.Microseconds <= 0 {
			t.Errorf("want %d openings, have %+v (%v)", strategies, o, err)
		}
	}
	if _, err := measureOpening(0, spent); err == nil {
		t.Error("no strategy: want an error")
	}
}

// result is a typed result: the tables below follow from it.
func result() *Result {
	return &Result{Machine: "linux/amd64, 2 cores", Candles: 1_000, CSV: 1_250_000, Report: 2_340_000, Often: 3_450_000,
		Engine: []measured{{What: "plain", Seconds: 0.0204, Processor: 0.0206, Speed: 48.5444, Times: 1, Fills: 7},
			{What: "grid", Seconds: 1, Processor: 2, Speed: 0.5, Times: 97.06, Fills: 400, PerFill: &perFill{12.34, 0.06, 3}, Machine: "direct"},
			{What: "quiet", Seconds: 2, Processor: 2, Speed: 0.5, Times: 1, Machine: "direct"}},
		Command: []measured{{What: "a program", Seconds: 1.005, Times: 2, Processor: 0.5, Memory: 100},
			{What: "another file", Seconds: 1.005, Times: 2, Processor: 0.5, Memory: 100, File: 50_000_000}},
		Sweep: []Sweep{{1, 4, 2_000, 30.06, 31.04, 1}, {2, 4, 2_000, 16, 32, 1.875}}, Opening: []Opening{{500, 12, 34, 56.7}}}
}

func TestTablesShowEachFigure(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	result().Table(&out)
	for _, want := range []string{"linux/amd64, 2 cores; 1000 one-minute candles, 1.2 MB of CSV.\n\n",
		"│ plain                     │       48.54 │      1.0 x │     7 │  0.020 │       0.021 │",
		"│ quiet                     │        0.50 │      1.0 x │     0 │  2.000 │       2.000 │            │             │       │ direct  │",
		"│ grid                      │        0.50 │     97.1 x │   400 │  1.000 │       2.000 │       12.3 │         0.1 │   3.0 │ direct  │",
		"│   1.00 │       2.00 x │        0.50 │     100 │     80.00 x │", "│   1.00 │       2.00 x │        0.50 │     100 │      2.00 x │",
		"The report with a study is one page of 2.3 MB, with many fills of 3.5 MB.",
		"│                1 │      4 │         2000 │             30.1 │         31.0 │         1.00 x │",
		"│                2 │      4 │         2000 │             16.0 │         32.0 │         1.88 x │",
		"│                               500 │                              12 │      34 │            57 │"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
}

// TestPageTakesTheTablesBetweenItsMarks writes them twice.
func TestPageTakesTheTablesBetweenItsMarks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page")
	const begin, end = "<!-- botd bench: begin -->\n", "<!-- botd bench: end -->\n"
	for _, text := range []string{"words\n", "words\n" + begin, "words\n" + end} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := path + ` has no lines "<!-- botd bench: begin -->" and "<!-- botd bench: end -->"`
		if _, err := ReadPage(path); err == nil || err.Error() != want {
			t.Errorf("%q: want %q, have %v", text, want, err)
		}
	}
	if _, err := ReadPage(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: have %v", err)
	}
	if err := os.WriteFile(path, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		page, err := ReadPage(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := page.Insert(result()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		have := string(text)
		if !strings.HasPrefix(have, "before\n"+begin+"\nlinux/amd64") || !strings.HasSuffix(have, "\n"+end+"after\n") || strings.Contains(have, "old") ||
			strings.Count(have, "| grid | 0.50 | 97.1 x | 400 | 1.000 | 2.000 | 12.3 | 0.1 | 3.0 | direct |") != 1 || strings.Count(have, begin) != 1 {
			t.Errorf("have %s", have)
		}
	}
}

// TestProcessorTimeGrowsWithWork computes for a tenth of a second at most.
func TestProcessorTimeGrowsWithWork(t *testing.T) {
	t.Parallel()
	first := processorTime()
	if first == 0 && goruntime.GOOS != "linux" {
		t.Skip("this system does not report it")
	}
	sum := 0.0
	for i := range 50_000_000 {
		if sum += math.Sqrt(float64(i)); i%1_000_000 == 0 && processorTime()-first > 20*time.Millisecond {
			break
		}
	}
	if spent := processorTime() - first; spent <= 0 || spent > time.Hour || first < 0 || sum < 0 {
		t.Errorf("want some time used by the work, have %s", spent)
	}
}

func TestTurnsAreSmall(t *testing.T) {
	t.Parallel()
	b := benchmarkOf(t, 100, 1)
	for _, config := range []backtest.Config{b.turns(), b.turnsFigures(), b.turnsNoted()} {
		leg := &config.Legs[0]
		if leg.Strategy.Size != (strategy.Size{Quote: exchange.AmountOf(100)}) || leg.Strategy.Leverage != 3 || leg.Strategy.Interval != exchange.Minute1 {
			t.Errorf("want 100 USDT a turn with a leverage of 3, have %+v", leg.Strategy)
		}
		one, err := leg.Make(b.recorded)
		if err != nil || one.(*turning).size != leg.Strategy.Size || !isPasser(one) || isPasser(noTarget{}) {
			t.Errorf("want the same size, by column, have %+v (%v)", one, err)
		}
	}
	noted := b.turnsNoted()
	if figures := b.turnsFigures(); !figures.FiguresOnly || noted.FiguresOnly || noted.Note == nil {
		t.Errorf("want figures only, and every note, have %v and %v", figures.FiguresOnly, noted.Note != nil)
	}
}

// TestAveragesOfTwoAndFourClosesCross enters after the fifth close, at 12: the mean of 10 and 14 is above that of 10, 10, 10 and 14. It
// leaves after the seventh, at 3: the mean of 14 and 6 is 10, that of 10, 14, 14 and 6 is 11. Equity falls from 14/12 to 3/12.
func TestAveragesOfTwoAndFourClosesCross(t *testing.T) {
	t.Parallel()
	opens := []float64{10, 10, 10, 10, 10, 12, 10, 3, 9}
	closes := []float64{10, 10, 10, 10, 14, 14, 6, 10, 10}
	if fills, deepest := plainBacktest(opens, closes, 2, 4); fills != 2 || math.Abs(deepest-(1-3./14)) > 1e-12 {
		t.Errorf("want an entry and an exit, and a drawdown of %v, have %d and %v", 1-3./14, fills, deepest)
	}
}

// TestUsageIsTheDifferenceOfTwoReadings measures runs of 3 and 2 s, the second without a reading of processor
// time.
func TestUsageIsTheDifferenceOfTwoReadings(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_000, 0)
	b, readings := benchmarkOf(t, 10, 2), []usage{{began, time.Second, 100}, {began.Add(3 * time.Second), 5 * time.Second, 107},
		{began.Add(4 * time.Second), 6 * time.Second, 200}, {began.Add(6 * time.Second), 12 * time.Second, 203}}
	b.read = func() (next usage) { next, readings = readings[0], readings[1:]; return next }
	m, err := b.best("it", 8_000_000, func() (int, error) { return 5, nil })
	if err != nil || m.Seconds != 2 || m.Processor != 4 || m.Allocs != 3 || m.Speed != 2 || m.Fills != 5 || len(readings) != 0 {
		t.Errorf("want the shorter times, the last allocations, 2 million a second, have %+v (%v)", m, err)
	}
	silent := measured{Seconds: 9, Processor: 9}
	silent.add(usage{at: began}, usage{at: began.Add(3 * time.Second), allocs: 4})
	if silent.Seconds != 3 || silent.Processor != 3 || silent.Allocs != 4 {
		t.Errorf("without processor time: want the time on the wall, have %+v", silent)
	}
	before, block := ownUsage(), make([][]byte, 0)
	for range 1_000 {
		block = append(block, make([]byte, 100))
	}
	after := ownUsage()
	if after.at.Before(before.at) || after.processor < before.processor || after.allocs < before.allocs+1_000 || len(block) != 1_000 {
		t.Errorf("want this process's own, have %+v and %+v", before, after)
	}
}

// TestAFillCostsWhatIsBeyondTheQuietRun compares a run of 10 s and 100 allocations with quiet runs.
func TestAFillCostsWhatIsBeyondTheQuietRun(t *testing.T) {
	t.Parallel()
	m, quiet := measured{Processor: 10, Allocs: 100, Fills: 4}, measured{Processor: 2, Allocs: 60}
	if have := *m.beyond(&quiet, 6); have != (perFill{2e6, 10, 1.5}) {
		t.Errorf("want 2 s, 10 allocations and 1.5 notes a fill, have %+v", have)
	}
	if have := *quiet.with(1).beyond(&m, 0); have != (perFill{}) {
		t.Errorf("a quicker run: want nothing below zero, have %+v", have)
	}
	b := benchmarkOf(t, 10, 1)
	b.Result.Engine = make([]measured, 4)
	for machine, c := range map[string]struct{ plain, column, figures int }{"direct": {1, 2, 3}, "engine: journal and notes": {1, 1, 1}} {
		one := &measured{Machine: machine}
		if b.quietFor(one, noTarget{}, true) != &b.Result.Engine[c.plain] || b.quietFor(one, passing{}, false) != &b.Result.Engine[c.column] ||
			b.quietFor(one, passing{}, true) != &b.Result.Engine[c.figures] {
			t.Errorf("%s: want the quiet run that takes candles in the same way, with the same parts of the result", machine)
		}
	}
	if !(passing{}).Stays() || (passing{}).Pass(nil, 3, 9) != 9 {
		t.Error("want every candle taken by column")
	}
	(&turning{}).Candle(nil)
	turns := &turning{seen: 36}
	if turns.Candle(nil); turns.seen != 37 || turns.Stays() {
		t.Errorf("want the candle counted, have %d", turns.seen)
	}
}

// with returns a copy with that many fills.
func (m measured) with(fills int) *measured {
	m.Fills = fills
	return &m
}

func TestOpeningsAreSummarized(t *testing.T) {
	t.Parallel()
	if have := openingOf([]int64{9, 1, 5, 3}, 2*time.Millisecond); have != (Opening{4, 5, 9, 500}) {
		t.Errorf("want the third of four, the last and 500 us each, have %+v", have)
	}
	if have := openingOf([]int64{7}, time.Millisecond); have != (Opening{1, 7, 7, 1_000}) {
		t.Errorf("one: have %+v", have)
	}
	b := benchmarkOf(t, 10, 3)
	b.strategies = []int{0}
	if err := b.opening(); err == nil || len(b.Result.Opening) != 0 {
		t.Errorf("no strategy: have %v", err)
	}
	b.strategies = []int{2}
	if err := b.opening(); err != nil || len(b.Result.Opening) != 1 || b.Result.Opening[0].Strategies != 2 {
		t.Errorf("want the best of three, have %+v, %v", b.Result.Opening, err)
	}
}

// TestTheBestOpeningCounts uses a processor clock by which the second of three runs is the fastest.
func TestTheBestOpeningCounts(t *testing.T) {
	t.Parallel()
	b, progress := benchmarkOf(t, 10, 1), &bytes.Buffer{}
	b.strategies, b.Progress = []int{2}, progress
	now, each := time.Duration(0), time.Microsecond
	b.used = func() time.Duration { now += each; return now }
	var alone []float64
	for _, each = range []time.Duration{3 * time.Microsecond, time.Microsecond, 2 * time.Microsecond} {
		b.Result.Opening = nil
		if err := b.opening(); err != nil {
			t.Fatal(err)
		}
		alone = append(alone, b.Result.Opening[0].Microseconds)
	}
	if alone[0] != 3*alone[1] || alone[2] != 2*alone[1] || alone[1] <= 0 {
		t.Fatalf("want the figures of each processor, have %v", alone)
	}
	readings := 0
	b.used = func() time.Duration { readings++; now += time.Microsecond; return now }
	b.Result.Opening = nil
	if err := b.opening(); err != nil {
		t.Fatal(err)
	}
	ofRun, slow := readings, []time.Duration{3 * time.Microsecond, time.Microsecond, 2 * time.Microsecond}
	readings, b.Runs, b.Result.Opening = 0, 3, nil
	b.used = func() time.Duration { now += slow[min(2, readings/ofRun)]; readings++; return now }
	progress.Reset()
	if err := b.opening(); err != nil || b.Result.Opening[0].Microseconds != alone[1] {
		t.Errorf("want the second run's %v, have %+v, %v", alone[1], b.Result.Opening, err)
	}
	if want := strings.Repeat("measuring the openings of 2 strategies in one round\n", 3); progress.String() != want {
		t.Errorf("want %q, have %q", want, progress)
	}
}

// TestAFailureEndsTheBenchmark makes each command fail, and removes the report.
func TestAFailureEndsTheBenchmark(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(children, log)
	run := func() error {
		return (&Benchmark{Ctx: t.Context(), Candles: 10, Runs: 1, Progress: io.Discard, strategies: []int{1}}).Run()
	}
	for word, want := range map[string]string{"generate": "writing the candles: exit status 3", "--hand": "a hand-written program",
		"--one-column": "botd backtest run --one-column"} {
		t.Setenv(children+"_FAILS", word)
		if err := run(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "exit status 3\nno candles") {
			t.Errorf("%s fails: want %q, have %v", word, want, err)
		}
	}
	t.Setenv(children+"_FAILS", "")
	for _, command := range []string{"data", "backtest"} { // neither writes what it must
		t.Setenv(children+"_WITHOUT", command)
		if err := run(); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s writes nothing: have %v", command, err)
		}
	}
	t.Setenv("TMPDIR", log+"/none")
	if err := run(); err == nil {
		t.Error("no directory: want an error")
	}
}

// TestAnInterruptionEndsEachMeasurement passes a context that has ended.
func TestAnInterruptionEndsEachMeasurement(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	b := benchmarkOf(t, 100, 1)
	b.Ctx = ctx
	plain := measured{Speed: 1}
	for name, run := range map[string]func() error{"engine": b.engine, "sweep": func() error { return b.sweep(&plain) }, "command": b.command} {
		if err := run(); !errors.Is(err, enough) {
			t.Errorf("%s: want the cause, have %v", name, err)
		}
	}
	if _, err := b.counted(&measured{}, b.turns()); !errors.Is(err, enough) {
		t.Errorf("counted: want the cause, have %v", err)
	}
}

// TestConfigurationsAreThoseOfTheTable repeats the sizes, leverages and averages of the table.
func TestConfigurationsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	b := benchmarkOf(t, 1_000, 1)
	cross := b.cross("10", "50")
	if cross.Legs[0].Strategy.Size != (strategy.Size{Quote: exchange.AmountOf(5_000)}) || cross.Legs[0].Strategy.Leverage != 3 ||
		cross.Legs[0].Kind != "sma_cross" {
		t.Errorf("want 5000 USDT a position with a leverage of 3, have %+v", cross.Legs)
	}
	if !b.quietFigures().FiguresOnly {
		t.Error("want figures only")
	}
	quiet := b.quiet(noTarget{})
	if quiet.Legs[0].Strategy.Leverage != 3 || quiet.Legs[0].Strategy.Interval != exchange.Minute1 {
		t.Errorf("want a leverage of 3, have %+v", quiet.Legs)
	}
	several := b.several(10)
	all := b.together(several)
	if len(all.Legs) != 10 {
		t.Fatalf("want ten legs, have %d", len(all.Legs))
	}
	for i, leg := range all.Legs {
		if leg.Strategy.Size != (strategy.Size{Quote: exchange.AmountOf(500)}) || leg.Tape != several[i] || leg.Tape.Candles.OpenMS[0] != 1_704_067_200_000 {
			t.Errorf("leg %d: want 500 USDT from 2024 on, have %+v", i, leg.Strategy)
		}
	}
	if made := tape.Generate(1, several[0].Symbol, exchange.Minute1, 1_704_067_200_000, 100); !slices.Equal(made.Close, several[0].Candles.Close) {
		t.Error("want the symbols' markets seeded from 1 on")
	}
	if (noTarget{}).Warmup() != 0 || (&turning{}).Warmup() != 0 || (buyer{}).Warmup() != 1 {
		t.Error("want a decision from the first candle on")
	}
	var plan strategy.Plan
	if (buyer{}).Decide(nil, &plan); plan.Target != (strategy.Target{Kind: strategy.ByQuantity, Quantity: 1}) {
		t.Errorf("want the minimum quantity, have %+v", plan.Target)
	}
}

// TestTheClockOfOpeningsFollowsProcessorTime uses a processor clock that starts at an hour and advances by a
// millisecond with each reading.
func TestTheClockOfOpeningsFollowsProcessorTime(t *testing.T) {
	t.Parallel()
	readings := time.Duration(0)
	used := func() time.Duration { readings++; return time.Hour + readings*time.Millisecond }
	o, err := measureOpening(5, used)
	total := float64(readings * 1_000)
	if err != nil || o.Strategies != 5 || o.Microseconds <= 0 || 5*o.Microseconds >= total || o.Median <= 0 || o.Last < o.Median ||
		float64(o.Last)*1_000 >= total {
		t.Errorf("want times within the %v us that were used, have %+v, %v", total, o, err)
	}
	a := account{ahead: 5, from: 2 * time.Second, used: func() time.Duration { return 3 * time.Second }}
	if have := a.nowMS(); have != 1_704_067_201_005 {
		t.Errorf("want a second and 5 ms after the start of 2024, have %d", have)
	}
	before := processorTime()
	own := spent()
	if after := processorTime(); before != 0 && (own < before || own > after) {
		t.Errorf("want this process's time, from %s to %s, have %s", before, after, own)
	}
}

// TestOpeningsAreMeasuredAtTheLivePace repeats the pace, the bounds and the breaker.
func TestOpeningsAreMeasuredAtTheLivePace(t *testing.T) {
	t.Parallel()
	c := openingConfig()
	if c.BusyRoundMS != 1_000 || c.IdleRoundMS != 15_000 || c.CloseLagMS != 2_000 || c.TimeToLiveMS != 5_000 || c.Epoch != 1 {
		t.Errorf("want rounds every 1 and 15 s, candles 2 s after their close, orders valid for 5 s, have %+v", c)
	}
	if c.Breaker != (engine.BreakerConfig{Uncertain: 3, WithinMS: 600_000, PauseMS: 600_000}) ||
		c.Bounds != (placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}) {
		t.Errorf("want three unknown orders in ten minutes, and bounds of 5, 1 and 1 s, have %+v, %+v", c.Breaker, c.Bounds)
	}
	a, err := newAccount(3, spent)
	if err != nil {
		t.Fatal(err)
	}
	if money := a.venue.Money("one"); money.Wallet != exchange.AmountOf(10_000_000) {
		t.Errorf("want ten million USDT, have %s", money.Wallet)
	}
	symbol := a.venue.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "C0002-USDT"})
	if symbol == nil || !symbol.Tradable || symbol.MinNotional != exchange.AmountOf(5) || symbol.FundingIntervalHours != 8 ||
		symbol.PriceDecimal(symbol.PriceTick).String() != "0.1" || symbol.QuantityDecimal(symbol.QuantityTick).String() != "1" {
		t.Errorf("want three symbols with the usual rules, have %+v", symbol)
	}
}
