package sweeps_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/exchange"
)

func trial(n int) *backtest.Trial {
	return &backtest.Trial{Params: map[string]string{"fast": fmt.Sprint(n)}, Job: fmt.Sprintf("%064d", n), Seen: &backtest.Column{Fills: n}}
}

func created(t *testing.T) (directory string, log *sweeps.Log) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "sweeps", "first")
	spec := &sweeps.Spec{Schema: 1, Name: "first", Search: sweeps.Grid, Sort: "sharpe", Vary: []string{"fast=1..9"}}
	log, err := sweeps.Create(directory, spec, map[string][]byte{"strategy.yaml": []byte("name: trend\n"), "lib/trend.star": []byte("pass\n")})
	if err != nil {
		t.Fatal(err)
	}
	return directory, log
}

func TestTruncatedLogKeepsCompleteTrials(t *testing.T) {
	t.Parallel()
	directory, log := created(t)
	for n := range 3 {
		long := trial(n)
		long.Params["mode"] = strings.Repeat("long", n) // the last one is longer than its replacement
		if err := log.Append(long); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(directory, "trials.jsonl")
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for cut := range len(lines[2]) { // at every byte of the last row
		if err := os.WriteFile(rows, []byte(lines[0]+lines[1]+lines[2][:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := sweeps.Open(directory)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(log.Append(trial(7)), log.Close()); err != nil {
			t.Fatal(err)
		}
		_, trials, err := sweeps.Read(directory)
		if err != nil || len(trials) != 3 || trials[1].Seen.Fills != 1 || trials[2].Seen.Fills != 7 {
			t.Fatalf("cut at %d: have %d trials, %v", cut, len(trials), err)
		}
		if after, err := os.ReadFile(rows); err != nil || !strings.HasSuffix(string(after), "\n") {
			t.Fatalf("cut at %d: want nothing left behind the last row, have %s, %v", cut, after, err)
		}
	}
	for _, altered := range []string{"no row", `{"job_sha256":"1"}`, `{"seen":{}}`} {
		if err := os.WriteFile(rows, []byte(lines[0]+altered+"\n"+lines[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sweeps.Open(directory); err == nil || !strings.Contains(err.Error(), "line 2 is not a trial") {
			t.Errorf("%s: want it refused, have %v", altered, err)
		}
		if _, trials, err := sweeps.Read(directory); err == nil || trials != nil {
			t.Errorf("%s: want it refused, have %v, %v", altered, trials, err)
		}
	}
}

func TestStorageErrorsAreReturned(t *testing.T) {
	t.Parallel()
	directory, log := created(t)
	if err := log.Append(trial(1)); err != nil || !log.Has(trial(1).Job) || log.Has(trial(2).Job) {
		t.Errorf("have %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(trial(2)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("want an error, have %v", err)
	}
	if err := os.Mkdir(filepath.Join(directory, "progress.json.partial"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := log.Progress(9, 9); err == nil {
		t.Error("progress that cannot be stored: want an error")
	}
	const file, folder = 0o600, fs.ModeDir | 0o700
	for name, want := range map[string]fs.FileMode{"sweep.json": file, "trials.jsonl": file, "lib/trend.star": file, "lib": folder, ".": folder, "..": folder} {
		if info, err := os.Stat(filepath.Join(directory, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: want %v, have %v, %v", name, want, info.Mode(), err)
		}
	}
}

// Progress is also stored at the end.
func TestTheProgressIsStoredTwiceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		directory, log := created(t)
		defer log.Close()
		if p, known := sweeps.ProgressOf(directory); known {
			t.Errorf("before the first: have %+v", p)
		}
		for _, c := range []struct {
			after       time.Duration
			done, shown int
		}{{0, 1, 1}, {499 * time.Millisecond, 2, 1}, {time.Millisecond, 3, 3}, {499 * time.Millisecond, 4, 3}, {0, 9, 9}} {
			time.Sleep(c.after)
			if err := log.Progress(c.done, 9); err != nil {
				t.Fatal(err)
			}
			if p, known := sweeps.ProgressOf(directory); !known || p.Done != c.shown || p.Total != 9 {
				t.Errorf("%d of 9: want %d shown, have %+v, %v", c.done, c.shown, p, known)
			}
		}
		if info, err := os.Stat(filepath.Join(directory, "progress.json")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("want it private, have %v, %v", info.Mode(), err)
		}
		if err := log.Progress(1, 1); err != nil {
			t.Fatal(err)
		}
		if p, known := sweeps.ProgressOf(directory); !known || p.Total != 1 {
			t.Errorf("1 of 1: have %+v, %v", p, known)
		}
		for _, text := range []string{"", "{", `{"done": 0, "total": 0}`, `{"done": 1, "total": 2}` + strings.Repeat(" ", 1_024)} {
			if err := os.WriteFile(filepath.Join(directory, "progress.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if p, known := sweeps.ProgressOf(directory); known {
				t.Errorf("%.20q: want none known, have %+v", text, p)
			}
		}
	})
}

// The list skips other directories.
func TestTheListHasTheNewestSweepFirst(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if all, err := sweeps.List(filepath.Join(folder, "none")); err != nil || all == nil || len(all) != 0 {
		t.Errorf("without a folder: have %v, %v", all, err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, started := range map[string]time.Time{"a": at, "b": at.Add(time.Hour), "c": at.Add(time.Minute)} {
		spec := &sweeps.Spec{Schema: 1, Name: name, Started: started, Search: sweeps.TPE, Sort: "profit"}
		log, err := sweeps.Create(filepath.Join(folder, name), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name == "c" {
			err = errors.Join(log.Append(trial(1)), log.Progress(1, 3))
		}
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "b.json"), nil, 0o600), os.Mkdir(filepath.Join(folder, "other"), 0o700),
		os.Remove(filepath.Join(folder, "a", "trials.jsonl"))); err != nil {
		t.Fatal(err)
	}
	all, err := sweeps.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []sweeps.Status{{Name: "b", Started: at.Add(time.Hour), Search: "tpe", Sort: "profit", Done: true},
		{Name: "c", Started: at.Add(time.Minute), Search: "tpe", Sort: "profit", Ended: 1, Total: 3}, {Name: "a", Started: at, Search: "tpe", Sort: "profit"}}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"{", `{"schema": 2}`} {
		if err := os.WriteFile(filepath.Join(folder, "other", "sweep.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := sweeps.List(folder); err == nil || all != nil || !strings.Contains(err.Error(), "is not a sweep of this version of botd") {
			t.Errorf("%s: have %v, %v", text, all, err)
		}
		if running, err := sweeps.Cancel(filepath.Join(folder, "other")); err == nil || running {
			t.Errorf("%s: have %v, %v", text, running, err)
		}
	}
}

// A sweep reads its own copy, unless the strategy names a program.
func TestSweepStrategyPath(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]sweeps.Spec{"here/strategy.yaml": {Strategy: "/there/trend.yaml"},
		"/there/trend.yaml": {Strategy: "/there/trend.yaml", InPlace: true}} {
		files := inputs.Files{}
		if spec.RestoreFiles("here", &files); filepath.ToSlash(files.StrategyFiles[0]) != want {
			t.Errorf("want %s, have %q", want, files.StrategyFiles)
		}
	}
}

// A sweep is resumed from any working directory: it has its own copy of the strategy, and its other files by absolute paths.
func TestAStoredSweepRestoresItsFiles(t *testing.T) {
	t.Parallel()
	spec := &sweeps.Spec{Name: "first", Vary: []string{"fast=2,3"}, Search: sweeps.Grid, Sort: "sharpe"}
	_, trials := prepared(t, spec)
	named := "BTC-USDT=" + trials.Base.File
	directory := filepath.Join(t.TempDir(), "first")
	log, err := sweeps.Begin(directory, spec, &inputs.Files{Data: []string{"a.csv", named}, Detail: []string{"d.csv"},
		Trades: []string{"t.csv"}, Funding: []string{"f.csv"}, Signals: []string{"s.csv"}, Columns: []string{"c.csv"}, Recorded: "recorded",
		Symbols: "symbols.yaml", From: "2024-01-01", To: "2024-02-01", Repair: true}, trials)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	read, _, err := sweeps.Read(directory)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(here, name) }
	want := inputs.Files{StrategyFiles: []string{filepath.Join(directory, "strategy.yaml")}, Data: []string{at("a.csv"), named}, Detail: []string{at("d.csv")},
		Trades: []string{at("t.csv")}, Funding: []string{at("f.csv")}, Signals: []string{at("s.csv")}, Columns: []string{at("c.csv")},
		Recorded: at("recorded"), Symbols: at("symbols.yaml"), From: "2024-01-01", To: "2024-02-01", Repair: true}
	var have inputs.Files
	if read.RestoreFiles(directory, &have); !reflect.DeepEqual(want, have) {
		t.Errorf("want %+v, have %+v", want, have)
	}
	if text, err := os.ReadFile(have.StrategyFiles[0]); err != nil || string(text) != crossing || read.Title.Strategy != "cross" {
		t.Errorf("want a copy of the strategy, have %s, %v, of %s", text, err, read.Title.Strategy)
	}
}

func TestSweepIsLocked(t *testing.T) {
	t.Parallel()
	directory, log := created(t)
	if _, err := sweeps.Open(directory); err == nil || !strings.Contains(err.Error(), "another process runs this sweep") {
		t.Errorf("have %v", err)
	}
	all, err := sweeps.List(filepath.Dir(directory))
	if err != nil || len(all) != 1 || !all[0].Running || all[0].Done {
		t.Errorf("have %+v, %v", all, err)
	}
	running, err := sweeps.Cancel(directory)
	if err != nil || !running || !log.Canceled() {
		t.Errorf("have %v, %v", running, err)
	}
	if info, err := os.Stat(filepath.Join(directory, "canceled")); err != nil || info.Mode() != 0o600 {
		t.Errorf("want it private, have %v, %v", info.Mode(), err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if running, err = sweeps.Cancel(directory); err != nil || running {
		t.Errorf("have %v, %v", running, err)
	}
	again, err := sweeps.Open(directory)
	if err != nil || again.Canceled() {
		t.Errorf("what was canceled is resumed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sweeps.Cancel(directory + "x"); !errors.Is(err, sweeps.ErrNone) {
		t.Errorf("have %v", err)
	}
}

func TestAPlanIsChecked(t *testing.T) {
	t.Parallel()
	sound := sweeps.Spec{Vary: []string{"fast=1..9"}, Search: sweeps.Random, Sort: "sharpe"}
	for want, change := range map[string]func(*sweeps.Spec){
		"":                                  func(*sweeps.Spec) {},
		"needs --vary":                      func(s *sweeps.Spec) { s.Vary = nil },
		"fast is varied twice":              func(s *sweeps.Spec) { s.Vary = []string{"fast=1", "fast=2"} },
		"--search none":                     func(s *sweeps.Spec) { s.Search = "none" },
		"--trials -1":                       func(s *sweeps.Spec) { s.Trials = -1 },
		"slow is unknown":                   func(s *sweeps.Spec) { s.Where = "fast < slow" },
		"--require":                         func(s *sweeps.Spec) { s.Require = "trips >= 3" },
		"--sort":                            func(s *sweeps.Spec) { s.Sort = "luck" },
		"--trials 100001: from 1 to 100000": func(s *sweeps.Spec) { s.Trials = 100_001 },
		"--vary fast":                       func(s *sweeps.Spec) { s.Vary = []string{"fast"} },
		"--stop-when":                       func(s *sweeps.Spec) { s.Stop = "luck>30%" },
		"--pareto luck":                     func(s *sweeps.Spec) { s.Pareto = []string{"sharpe", "luck"} },
		"--pareto sharpe: one":              func(s *sweeps.Spec) { s.Pareto = []string{"sharpe"} },
	} {
		spec := sound
		change(&spec)
		_, err := sweeps.NewPlan(&spec, 0)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	most := sweeps.Spec{Vary: []string{"fast=1..9", "slow=1..9"}, Search: sweeps.Random, Sort: "sharpe - trades", Trials: 100_000, Stop: "loss>20%"}
	plan, err := sweeps.NewPlan(&most, 0)
	if err != nil || len(plan.Axes()) != 2 || plan.Axes()[1].Name != "slow" || plan.StopWhen().Loss != exchange.RateOne/5 {
		t.Errorf("have %+v, %v", plan, err)
	}
}

func TestASweepThatCannotBeginLeavesItsNameFree(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "sweeps", "first")
	spec := &sweeps.Spec{Schema: 1, Name: "first"}
	// The cases are a name refused before writing, one refused by the file system, and one that belongs to a
	// folder.
	for _, name := range []string{"../outside", strings.Repeat("x", 300), "sweep.json/x", "trials.jsonl/x"} {
		if _, err := sweeps.Create(directory, spec, map[string][]byte{"strategy.yaml": nil, name: nil}); err == nil {
			t.Errorf("%s: want an error", name)
		}
		if _, err := os.Lstat(directory); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want no folder, have %v", name, err)
		}
	}
	log, err := sweeps.Create(directory, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sweeps.Create(directory, spec, nil); err == nil {
		t.Error("a name that is taken: want an error")
	}
	if err := log.Append(trial(1)); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, trials, err := sweeps.Read(directory); err != nil || len(trials) != 1 {
		t.Errorf("want the other's trial kept, have %d, %v", len(trials), err)
	}
}
