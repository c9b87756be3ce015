package endtoend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/backtest/runner"
	"botd/cmd/botd/cli/connect"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/api"
)

// newRunner is a backtest runner over a configuration with one strategy and some files of candles, one of
// them linked from outside.
func newRunner(t *testing.T) (*runner.Runner, string) {
	t.Helper()
	directory := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("configs/botd.yaml", "data_dir: "+filepath.Join(directory, "data")+"\n")
	write("configs/strategies/cross.yaml", "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: "+
		"2\nsize: {equity: 50%}\nparams: {fast: 5, slow: 40}\n")
	write("secret.csv", "open_time_ms,open,high,low,close,volume\n")
	write("data/candles/notes.txt", "no candles")
	if err := os.Symlink(filepath.Join(directory, "secret.csv"), filepath.Join(directory, "data/candles/linked.csv")); err != nil {
		t.Fatal(err)
	}
	if code := execute(
		[]string{
			"data",
			"generate",
			"--symbol",
			"BTC-USDT",
			"--interval",
			"1h",
			"--candles",
			"3000",
			"--seed",
			"7",
			"--out",
			filepath.Join(directory, "data/candles/futures/BTC-USDT/1h.csv"),
		},
		os.Stderr,
		os.Stderr,
	); code != 0 {
		t.Fatalf("data generate: exit code %d", code)
	}
	config, problems := configs.LoadDirectory(filepath.Join(directory, "configs"), connect.Options(t.Context(), ""))
	if err := problems.Err(); err != nil {
		t.Fatal(problems.String())
	}
	return &runner.Runner{
		Current:  func() *configs.Config { return config },
		Symbols:  func() []*exchange.Symbol { return sim.DefaultSymbols() },
		Recorded: filepath.Join(directory, "data/demo/recorded"),
	}, directory
}

const stored = "candles/futures/BTC-USDT/1h.csv"

func TestBacktestRunnerListsStrategiesAndRecordings(t *testing.T) {
	t.Parallel()
	l, _ := newRunner(t)
	c := l.Choices()
	if len(c.Files) != 1 || c.Files[0].File != stored || c.Files[0].Symbol != "BTC-USDT" || c.Files[0].Interval != "1h" || c.Files[0].Bytes == 0 {
		t.Errorf("want the recorded file alone: no link, no other file; have %+v", c.Files)
	}
	if len(c.Strategies) != 1 || c.Strategies[0].Name != "cross" ||
		!slices.ContainsFunc(c.Strategies[0].Params, func(p api.StrategyParameter) bool {
			return p.Name == "fast" && p.Value == "5" &&
				p.Help != ""
		}) {
		t.Errorf("want the strategy with its parameters, have %+v", c.Strategies)
	}
}

func TestBacktestRunnerRefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	l, directory := newRunner(t)
	for _, c := range []struct {
		name  string
		asked api.BacktestRequest
		part  string
	}{
		{"an unknown strategy", api.BacktestRequest{Strategy: "nobody"}, "no strategy"},
		{"an unknown parameter", api.BacktestRequest{Strategy: "cross", Params: map[string]string{"color": "red"}}, "no parameter"},
		{"a parameter out of bounds", api.BacktestRequest{Strategy: "cross", Params: map[string]string{"fast": "-1"}}, "fast"},
		{"a file that leads out", api.BacktestRequest{Strategy: "cross", File: "candles/../../secret.csv"}, "is not in the list of files"},
		{"out and back", api.BacktestRequest{Strategy: "cross", File: "candles/futures/../futures/BTC-USDT/1h.csv"}, "is not in the list of files"},
		{"an absolute file", api.BacktestRequest{Strategy: "cross", File: filepath.Join(directory, "secret.csv")}, "is not in the list of files"},
		{"a link", api.BacktestRequest{Strategy: "cross", File: "candles/linked.csv"}, "is not in the list of files"},
		{"a device", api.BacktestRequest{Strategy: "cross", File: "/dev/zero"}, "is not in the list of files"},
		{"another kind of file", api.BacktestRequest{Strategy: "cross", File: "candles/notes.txt"}, "is not in the list of files"},
		{"a time that is none", api.BacktestRequest{Strategy: "cross", File: stored, From: "yesterday"}, "yesterday"},
		{"an end before the beginning", api.BacktestRequest{Strategy: "cross", File: stored, From: "2024-02-01", To: "2024-01-01"}, "not after"},
		{"too many candles", api.BacktestRequest{Strategy: "cross", Candles: runner.MaxCandles + 1}, "from 1 to"},
		{"fewer than none", api.BacktestRequest{Strategy: "cross", Candles: -1}, "from 1 to"},
		{"an end of a made-up market", api.BacktestRequest{Strategy: "cross", To: "2024-02-01"}, "generated market"},
	} {
		if does, err := l.Plan(&c.asked); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: want an error with %q, have %q, %v", c.name, c.part, does, err)
		}
		if err := l.Run(t.Context(), &c.asked, t.TempDir(), func(string, float64) {}); err == nil {
			t.Errorf("%s: want it not run either", c.name)
		}
	}
}

// reported is the part of a report that the tests check.
type reported struct {
	Candles  int
	From, To string
	Funding  string `json:"total_funding"`
	Study    *struct{}
	Columns  []struct{} `json:"cost_columns"`
	Result   string     `json:"result_sha256"`
	Data     string     `json:"data_sha256"`
	Inputs   struct{ Strategies []struct{ YAML string } }
}

// readReport reads a run's report.
func readReport(t *testing.T, directory string) (report reported) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if page, err := os.Stat(filepath.Join(directory, "report.html")); err != nil || page.Size() == 0 {
		t.Errorf("want a page: %v", err)
	}
	return report
}

func TestBacktestRunnerEqualsCommandLine(t *testing.T) {
	t.Parallel()
	l, directory := newRunner(t)
	if code := execute(
		[]string{
			"backtest",
			"run",
			"-c",
			filepath.Join(directory, "configs"),
			"--data",
			filepath.Join(directory, "data", stored),
			"--quick",
			"--out",
			filepath.Join(directory, "line"),
		},
		os.Stderr,
		os.Stderr,
	); code != 0 {
		t.Fatalf("backtest run: exit code %d", code)
	}
	var phases []string
	share := 0.0
	run := func(asked api.BacktestRequest) string {
		t.Helper()
		out := t.TempDir()
		phases, share = nil, 0
		err := l.Run(t.Context(), &asked, out, func(phase string, s float64) {
			if len(phases) == 0 || phases[len(phases)-1] != phase {
				phases = append(phases, phase)
			}
			if s < share || s > 1 {
				t.Errorf("progress went from %v to %v", share, s)
			}
			share = s
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	line, mine := readReport(t, filepath.Join(directory, "line")), readReport(t, run(api.BacktestRequest{Strategy: "cross", File: stored}))
	if mine.Result != line.Result || mine.Data != line.Data || len(mine.Columns) != 3 || mine.Study != nil {
		t.Errorf("want the result of the command line:\n  %+v\nhave\n  %+v", line, mine)
	}
	if !slices.Equal(phases, []string{"reading", "running", "writing"}) {
		t.Errorf("phases: have %q", phases)
	}
	made := readReport(t, run(api.BacktestRequest{Strategy: "cross", Seed: 7, Candles: 3000, Study: true}))
	if made.Result != line.Result || made.Data != line.Data || made.Study == nil {
		t.Errorf("a made-up market: want what the command line generates and runs:\n  %+v\nhave\n  %+v", line, made)
	}
	if !slices.Equal(phases, []string{"reading", "running", "study", "writing"}) {
		t.Errorf("phases with a study: have %q", phases)
	}
	part := readReport(t, run(api.BacktestRequest{Strategy: "cross", File: stored, From: "2024-02-01", To: "2024-02-11",
		Params: map[string]string{"fast": "8"}}))
	if part.Candles != 240 || !strings.HasPrefix(part.From, "2024-02-01") || !strings.Contains(part.Inputs.Strategies[0].YAML, "fast: 8") {
		t.Errorf("want ten days with another parameter, have %+v", part)
	}
	if l.Current().Strategies[0].Params["fast"] != "5" {
		t.Error("the strategy that trades was changed")
	}
}

// TestBacktestRunnerRunsRecordedCandles has the daemon in the middle of a line, and funding rates
// next to the candles.
func TestBacktestRunnerRunsRecordedCandles(t *testing.T) {
	t.Parallel()
	l, directory := newRunner(t)
	text, err := os.ReadFile(l.Path(stored))
	if err != nil {
		t.Fatal(err)
	}
	const file = "recorded/futures/BTC-USDT/1h.csv"
	rates := "symbol,funding_time_ms,funding_rate\n"
	for ms := int64(1_704_067_200_000); ms < 1_704_067_200_000+3000*3_600_000; ms += 8 * 3_600_000 {
		rates += fmt.Sprintf("BTC-USDT,%d,0.001\n", ms)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(l.Path(file)), 0o755), os.WriteFile(l.Path(file), append(text, "17148"...), 0o600),
		os.WriteFile(filepath.Join(filepath.Dir(l.Path(file)), runner.FundingName), []byte(rates), 0o600)); err != nil {
		t.Fatal(err)
	}
	if files := l.Choices().Files; len(files) != 2 || files[0].File != file || files[0].Symbol != "BTC-USDT" {
		t.Errorf("want the recorded candles first and no rates among them, have %+v", files)
	}
	out := t.TempDir()
	if err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "cross", File: file}, out, func(string, float64) {}); err != nil {
		t.Fatal(err)
	}
	if have := readReport(t, out); have.Candles != 3000 || have.Funding == "0" || have.Funding == "" {
		t.Errorf("want every whole candle and the rates paid, have %+v", have)
	}
	if code := execute([]string{"backtest", "verify", filepath.Join(out, "report.json")}, os.Stderr, os.Stderr); code != 0 {
		t.Errorf("want the report verified by the command line, have exit code %d in %s", code, directory)
	}
}

func TestTheBacktestRunnerStopsOnRequest(t *testing.T) {
	t.Parallel()
	l, _ := newRunner(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	err := l.Run(ctx, &api.BacktestRequest{Strategy: "cross", Candles: 500_000}, t.TempDir(), func(phase string, share float64) {
		if phase == "running" {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) {
		t.Errorf("want it ended by its cause, have %v", err)
	}
	if err := l.Run(t.Context(), &api.BacktestRequest{Strategy: "cross", File: stored, From: "2030-01-01"}, t.TempDir(),
		func(string, float64) {}); err == nil ||
		!strings.Contains(err.Error(), "it holds") {
		t.Errorf("a period without candles: want its contents reported, have %v", err)
	}
}
