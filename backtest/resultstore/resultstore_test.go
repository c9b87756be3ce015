package resultstore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/resultstore"
)

// store writes a result as the report of a directory, with a time.
func store(t *testing.T, folder, name string, hour int, r *backtest.Result) string {
	t.Helper()
	directory := filepath.Join(folder, name)
	if err := r.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(directory, backtest.ReportFile), at, at); err != nil {
		t.Fatal(err)
	}
	return directory
}

func result(last string) *backtest.Result {
	sharpe, expectancy := 1.5, "1"
	return &backtest.Result{Schema: 1, Strategy: "sma_cross", Symbol: "BTC-USDT", Interval: "1h", From: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		To: time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC), InitialEquity: "8000", FinalEquity: last, MaxDrawdown: 5,
		Sharpe: &sharpe, Expectancy: &expectancy, RoundTrips: 7, TotalFees: "3", Wallet: last, TotalFunding: "0", TotalSlippage: "0",
		Warnings: make([]backtest.Warning, 2), Version: "v", DataSHA256: "d", ConfigSHA256: "c",
		Executions: []backtest.Execution{}, Trips: []backtest.TripRow{}}
}

// The newest comes first, other directories are skipped, and unreadable reports are named.
func TestReportsAreListed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store(t, folder, "old", 1, result("8000"))
	store(t, folder, "new", 3, result("8100"))
	store(t, folder, "middle", 2, result("7999.99"))
	if err := os.MkdirAll(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	var messages strings.Builder
	rows, err := resultstore.List(&messages, folder)
	if err != nil || messages.Len() != 0 || len(rows) != 3 {
		t.Fatalf("have %d rows, %v, %s", len(rows), err, messages.String())
	}
	profit, sharpe := 1.25, 1.5
	want := &resultstore.Run{Name: "new", Path: filepath.Join(folder, "new", backtest.ReportFile), At: time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC),
		Strategy: "sma_cross", Symbol: "BTC-USDT", Interval: "1h", From: rows[0].From, To: rows[0].To, FinalEquity: "8100",
		Profit: &profit, MaxDrawdown: 5, Sharpe: &sharpe,
		RoundTrips: 7, Fees: "3", Warnings: 2, Version: "v", DataSHA256: "d", ConfigSHA256: "c"}
	have := *rows[0]
	have.Result, have.ResultSHA256, have.Intact = nil, "", false
	if diff := cmp.Diff(want, &have); diff != "" {
		t.Error(diff)
	}
	if rows[1].Name != "middle" || *rows[1].Profit != -0.0001 || rows[2].Name != "old" || *rows[2].Profit != 0 || rows[0].Result == nil {
		t.Errorf("have %+v, %+v", rows[1], rows[2])
	}
	if err := os.WriteFile(filepath.Join(folder, "old", backtest.ReportFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err = resultstore.List(&messages, folder)
	if err != nil || len(rows) != 2 || !strings.Contains(messages.String(), filepath.Join("old", backtest.ReportFile)) {
		t.Errorf("one cannot be read: have %d rows, %v, %s", len(rows), err, messages.String())
	}
	if rows, err = resultstore.List(&messages, filepath.Join(folder, "none")); err != nil || rows == nil || len(rows) != 0 {
		t.Errorf("without a folder: have %v, %v", rows, err)
	}
	if _, err = resultstore.List(&messages, filepath.Join(folder, "new", backtest.ReportFile)); err == nil {
		t.Error("a file: want an error")
	}
	if _, err := resultstore.Read(filepath.Join(folder, "empty")); err == nil {
		t.Error("a folder without a report: want an error")
	}
	nothing := result("5")
	nothing.InitialEquity = "0"
	if run, err := resultstore.Read(store(t, folder, "nothing", 1, nothing)); err != nil || run.Profit != nil {
		t.Errorf("of nothing: have %+v, %v", run, err)
	}
}

func TestNoteIsStoredWithReport(t *testing.T) {
	t.Parallel()
	directory := store(t, t.TempDir(), "one", 1, result("1"))
	for note, want := range map[string]string{"worth a look": "worth a look", strings.Repeat("x", 5_000): strings.Repeat("x", 4_096)} {
		if err := resultstore.WriteNote(directory, note); err != nil {
			t.Fatal(err)
		}
		if run, err := resultstore.Read(directory); err != nil || run.Note != want {
			t.Errorf("want %.20s, have %.20s, %v", want, run.Note, err)
		}
	}
	if info, err := os.Stat(filepath.Join(directory, "note.txt")); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("want it open to its owner, have %v, %v", info.Mode(), err)
	}
	for range 2 { // deleting a missing one is no error
		if err := resultstore.WriteNote(directory, ""); err != nil {
			t.Error(err)
		}
		if run, err := resultstore.Read(filepath.Join(directory, backtest.ReportFile)); err != nil || run.Note != "" {
			t.Errorf("have %q, %v", run.Note, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(directory, "note.txt", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := resultstore.WriteNote(directory, ""); err == nil {
		t.Error("a note that cannot be taken away: want an error")
	}
	if err := resultstore.WriteNote(filepath.Join(directory, "none"), "x"); err == nil {
		t.Error("no directory: want an error")
	}
}

// The comparison shows differing keys, and the first differing fill.
func TestReportsAreCompared(t *testing.T) {
	t.Parallel()
	run := func(data, config, yaml string, assumed []string, prices ...string) *resultstore.Run {
		r := &backtest.Result{Assumptions: assumed}
		if yaml != "" {
			r.Inputs = &backtest.Inputs{Strategies: []backtest.Input{{YAML: yaml}}}
		}
		for i, price := range prices {
			r.Executions = append(r.Executions, backtest.Execution{TimeMS: int64(i) * 60_000, Symbol: "BTC-USDT", Side: "BUY", Quantity: "1", Price: price})
		}
		return &resultstore.Run{DataSHA256: data, ConfigSHA256: config, Result: r}
	}
	c := resultstore.Comparison{SameData: true, SameConfig: true, Runs: []*resultstore.Run{
		run("d", "c", "name: a\nfast: 5\n", []string{"fees", "path"}, "10", "11"), run("d", "x", "name: a\nfast: 9", []string{"fees"}, "10", "12")}}
	c.Compare()
	if !c.SameData || c.SameConfig || c.FirstFill != "fill 2: 1970-01-01 00:01 BTC-USDT BUY 1 at 11; 1970-01-01 00:01 BTC-USDT BUY 1 at 12" {
		t.Errorf("have %+v", c)
	}
	if diff := cmp.Diff([][]string{{"fast: 5"}, {"fast: 9"}}, c.Config); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"path"}, {}}, c.Assumed); diff != "" {
		t.Error(diff)
	}
	c = resultstore.Comparison{SameData: true, SameConfig: true, Runs: []*resultstore.Run{run("d", "c", "", nil, "10"), run("e", "c", "", nil, "10", "12")}}
	if c.Compare(); c.SameData || !c.SameConfig || c.FirstFill != "fill 2: none; 1970-01-01 00:01 BTC-USDT BUY 1 at 12" {
		t.Errorf("have %+v", c)
	}
	for k, want := range [][2]bool{{true, true}, {false, true}, {true, false}} { // of three, the last one differs
		third := []*resultstore.Run{run("d", "c", "", nil), run("e", "c", "", nil), run("d", "x", "", nil)}[k]
		c = resultstore.Comparison{SameData: true, SameConfig: true, Runs: []*resultstore.Run{run("d", "c", "", nil), run("d", "c", "", nil), third}}
		if c.Compare(); c.SameData != want[0] || c.SameConfig != want[1] {
			t.Errorf("want %v, have %v, %v", want, c.SameData, c.SameConfig)
		}
	}
	c.Runs = []*resultstore.Run{run("d", "c", "", nil, "10"), run("d", "c", "", nil, "10")}
	if c.Compare(); c.FirstFill != "" {
		t.Errorf("the same fills: have %s", c.FirstFill)
	}
}

func TestTheVerdictOfASweep(t *testing.T) {
	t.Parallel()
	number := func(f float64) *float64 { return &f }
	column := func(sharpe *float64) *backtest.Column { return &backtest.Column{Sharpe: sharpe} }
	const nothing = "no trial has a Sharpe ratio: there is nothing to judge"
	for _, c := range []struct {
		want  string
		lucky *float64
		trial []backtest.Trial
	}{
		{nothing, nil, nil},
		{nothing, nil, []backtest.Trial{{}}},
		{nothing, nil, []backtest.Trial{{Seen: column(nil)}}},
		{"best of 1 try by sharpe: Sharpe 1.50; one try proves nothing about luck, on the candles it was chosen by", nil,
			[]backtest.Trial{{Seen: column(number(1.5))}}},
		{"best of 2 tries by sharpe: Sharpe 1.50; the luckiest of 2 without skill would show 1.50: not better than luck; " +
			"on the unseen candles it has no Sharpe ratio",
			number(1.5), []backtest.Trial{{Seen: column(number(1.5)), Unseen: column(nil)}, {}}},
		{"best of 1 try by sharpe: Sharpe 1.51; the luckiest of 1 without skill would show 1.50: better than luck; " +
			"on the unseen candles it shows 0.00: it did not persist",
			number(1.5), []backtest.Trial{{Seen: column(number(1.51)), Unseen: column(number(0))}}},
		{"best of 1 try by sharpe: Sharpe 1.51; the luckiest of 1 without skill would show 1.50: better than luck; " +
			"on the unseen candles it shows 0.10", number(1.5),
			[]backtest.Trial{{Seen: column(number(1.51)), Unseen: column(number(0.1))}}},
	} {
		sweep := resultstore.Sweep{Sort: "sharpe", ExpectedMaxSharpe: c.lucky, Trials: c.trial}
		if have := sweep.Verdict(); have != c.want {
			t.Errorf("want %s\nhave %s", c.want, have)
		}
	}
}

// A trial that was stopped early covers other days than the others: it is never the best, and nothing is compared with its ratio.
func TestTheVerdictOfASweepWithoutWholeTrials(t *testing.T) {
	t.Parallel()
	trial := func(sharpe float64, stopped bool) backtest.Trial {
		c := &backtest.Column{Sharpe: &sharpe}
		if stopped {
			c.EndedBy = &backtest.EndedBy{Limit: backtest.Stopped, Text: "drawdown>0.01"}
		}
		return backtest.Trial{Params: map[string]string{"fast": "2"}, Seen: c}
	}
	unseen := trial(1, false)
	unseen.Unseen = trial(2, true).Seen
	lucky := 0.1
	for _, c := range []struct {
		want                     string
		trials                   []backtest.Trial
		unranked, short, stopped int
		best                     bool
	}{
		{want: "every trial was stopped early (drawdown>0.01): there is nothing to judge",
			trials: []backtest.Trial{trial(9, true), trial(8, true)}, stopped: 2},
		{want: "best of 2 tries by sharpe: Sharpe 1.00, on the candles it was chosen by; not compared with luck, since 1 of 2 were stopped early " +
			"(drawdown>0.01)", trials: []backtest.Trial{trial(1, false), trial(8, true)}, unranked: 1, stopped: 1, best: true},
		{want: "no trial meets trades >= 30: there is nothing to judge", trials: []backtest.Trial{trial(1, false), trial(8, false)}, unranked: 2, short: 2},
		{want: "none of 3 trials has a rank (1 were stopped early (drawdown>0.01), 1 do not meet trades >= 30, 1 have no value of sharpe): " +
			"there is nothing to judge", trials: []backtest.Trial{trial(1, false), trial(8, true), trial(2, false)}, unranked: 3, short: 1, stopped: 1},
		{want: "best of 2 tries by sharpe: Sharpe 1.00; the luckiest of 2 without skill would show 0.10: better than luck; " +
			"on the unseen candles it was stopped early (drawdown>0.01)", trials: []backtest.Trial{unseen, trial(1, false)}, best: true},
	} {
		sweep := resultstore.Sweep{Sort: "sharpe", Require: "trades >= 30", Trials: c.trials, Unranked: c.unranked, Short: c.short}
		if sweep.Conclude(); sweep.Stopped != c.stopped || (sweep.ExpectedMaxSharpe == nil) != (c.stopped > 0) {
			t.Errorf("%s: want %d stopped early, have %d, and %v by luck", c.want, c.stopped, sweep.Stopped, sweep.ExpectedMaxSharpe)
		}
		if c.stopped == 0 {
			sweep.ExpectedMaxSharpe = &lucky
		}
		if have := sweep.Verdict(); have != c.want || c.stopped > 0 && sweep.Conclusion != c.want {
			t.Errorf("want %s\nhave %s\nJSON %s", c.want, have, sweep.Conclusion)
		}
		directory := t.TempDir()
		if err := sweep.WriteSummary(directory); err != nil {
			t.Fatal(err)
		}
		var have resultstore.Summary
		read(t, filepath.Join(directory, resultstore.SweepSummary), &have)
		if have.Verdict != c.want || (len(have.Best) == 1) != c.best || (have.Seen != nil) != c.best {
			t.Errorf("%s: want a best in the list: %v, have %+v", c.want, c.best, have)
		}
	}
}

// A sweep counts its trials by machine. The engine ran a trial if it ran one of its parts.
func TestASweepCountsTheTrialsOfTheEngine(t *testing.T) {
	t.Parallel()
	trials := func(machines ...string) (trials []backtest.Trial) {
		for _, machine := range machines {
			seen, unseen, split := strings.Cut(machine, "|")
			one := backtest.Trial{Seen: &backtest.Column{Machine: seen}}
			if split {
				one.Unseen = &backtest.Column{Machine: unseen}
			}
			trials = append(trials, one)
		}
		return trials
	}
	const since = " by the engine, since the direct machine does not cover: "
	for _, c := range []struct {
		want     string
		trials   []backtest.Trial
		machines []resultstore.MachineCount
	}{
		{"", trials("", ""), nil},
		{"2 trials by the direct machine", trials("direct|direct", "direct"), []resultstore.MachineCount{{"direct", 2}}},
		{"3 of 4 trials" + since + "spot (2); limits (1)", trials("engine: spot", "direct", "direct|engine: spot", "engine: limits|direct"),
			[]resultstore.MachineCount{{"engine: spot", 2}, {"direct", 1}, {"engine: limits", 1}}},
		{"1 of 2 trials" + since + "spot (1)", trials("engine: spot", ""), []resultstore.MachineCount{{"", 1}, {"engine: spot", 1}}},
		{"5 of 5 trials" + since + "a (1); b (1); c (1); 2 other reasons", trials("engine: a", "engine: c", "engine: b", "engine: d", "engine: e"),
			[]resultstore.MachineCount{{"engine: a", 1}, {"engine: b", 1}, {"engine: c", 1}, {"engine: d", 1}, {"engine: e", 1}}},
	} {
		sweep := resultstore.Sweep{Trials: c.trials}
		sweep.Conclude()
		if have := sweep.ByEngine(); have != c.want || !slices.Equal(sweep.Machines, c.machines) {
			t.Errorf("want %q and %v, have %q and %v", c.want, c.machines, have, sweep.Machines)
		}
	}
}

// The files are the complete sweep, and its entry in a list.
func TestASweepsFiles(t *testing.T) {
	t.Parallel()
	seen, unseen, split := 1.5, 0.5, time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	sweep := &resultstore.Sweep{Schema: 1, Strategy: "cross", Symbol: "BTC-USDT", Interval: "1h", Candles: 60, Split: &split, Sort: "sharpe",
		Search: "grid", Refused: 2, DataSHA256: "d", Trials: []backtest.Trial{{Params: map[string]string{"fast": "2"}, Seen: &backtest.Column{Sharpe: &seen},
			Unseen: &backtest.Column{Sharpe: &unseen}}}}
	directory := t.TempDir()
	if err := sweep.WriteSummary(directory); err != nil {
		t.Fatal(err)
	}
	var have resultstore.Summary
	read(t, filepath.Join(directory, resultstore.SweepSummary), &have)
	want := resultstore.Summary{Strategy: "cross", Symbol: "BTC-USDT", Interval: "1h", Candles: 60, Split: &split, Sort: "sharpe", Search: "grid",
		Refused: 2, Data: "d", Verdict: sweep.Verdict(), Trials: 1, Best: map[string]string{"fast": "2"}, Seen: &seen, OutOfSampleSharpe: &unseen}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	path := filepath.Join(directory, "sweeps", "first.json")
	if err := resultstore.WriteSweep(path, sweep); err != nil {
		t.Fatal(err)
	}
	var whole resultstore.Sweep
	if read(t, path, &whole); whole.Trials[0].Params["fast"] != "2" || whole.Candles != 60 || len(sweep.Rows().([]backtest.Trial)) != 1 {
		t.Errorf("have %+v", whole)
	}
	for name, want := range map[string]os.FileMode{"sweeps": os.ModeDir | 0o700, "sweeps/first.json": 0o600, resultstore.SweepSummary: 0o600} {
		if info, err := os.Stat(filepath.Join(directory, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: want %v, have %v, %v", name, want, info.Mode(), err)
		}
	}
	sweep.Trials[0].Unseen = nil
	if err := sweep.WriteSummary(directory); err != nil {
		t.Fatal(err)
	}
	have = resultstore.Summary{}
	if read(t, filepath.Join(directory, resultstore.SweepSummary), &have); have.OutOfSampleSharpe != nil || have.Seen == nil {
		t.Errorf("without a split: have %+v", have)
	}
	sweep.Trials = nil
	if err := sweep.WriteSummary(filepath.Join(directory, "none")); err == nil {
		t.Error("no directory: want an error")
	}
	if err := resultstore.WriteSweep(filepath.Join(path, "x"), sweep); err == nil {
		t.Error("below a file: want an error")
	}
	if err := sweep.WriteTrials(filepath.Join(directory, "none")); err == nil {
		t.Error("no directory: want an error")
	}
	if err := sweep.WriteSummary(directory); err != nil {
		t.Errorf("without a trial: have %v", err)
	}
}

// A trial of a sweep is named by its place, or by the beginning of its job's hash.
func TestATrialIsFoundByItsPlaceOrItsHash(t *testing.T) {
	t.Parallel()
	sweep := &resultstore.Sweep{Trials: []backtest.Trial{{Job: "0123456789ab"}, {Job: "0123456789cd"}, {Job: "12345678"}}}
	for word, want := range map[string]string{"1": "0123456789ab", "3": "12345678", "0123456789c": "0123456789cd", "12345678": "12345678",
		"0": "first has 1 to 3", "4": "first has 1 to 3", "012345678": "matches two trials of first", "99999999": "first has no trial 99999999",
		"0123abc": "first has no trial 0123abc"} {
		trial, err := sweep.Trial("first", word)
		if err == nil && trial.Job != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %s, have %v, %v", word, want, trial, err)
		}
	}
}

// A sweep's file has trials with results.
func TestAFileWithoutResultsIsNoSweep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "first.json")
	for text, want := range map[string]string{`{"trials": [{"seen": {}}]}`: "", `{"trials": []}`: "it has no trials", `{"trials": [{}]}`: "it has no trials",
		`[`: "is not a sweep"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sweep, err := resultstore.ReadSweep(path)
		if want == "" && (err != nil || sweep.Conclusion == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: want %q, have %v, %v", text, want, sweep, err)
		}
	}
	if _, err := resultstore.ReadSweep(path + ".none"); err == nil || !strings.Contains(err.Error(), "read the sweep") {
		t.Errorf("no file: have %v", err)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || !strings.HasSuffix(string(text), "}\n") {
		t.Fatalf("have %v, %.40s", err, text)
	}
}
