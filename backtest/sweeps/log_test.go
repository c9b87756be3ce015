package sweeps_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/backtest"
	"botd/backtest/sweeps"
)

func trial(n int) *backtest.Trial {
	return &backtest.Trial{Params: map[string]string{"fast": fmt.Sprint(n)}, Job: fmt.Sprintf("%064d", n), Seen: &backtest.Column{Fills: n}}
}

func created(t *testing.T) (directory string, log *sweeps.Log) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "sweeps", "first")
	spec := &sweeps.Spec{Schema: 1, Name: "first", Search: sweeps.Grid, Sort: "sharpe", Vary: []string{"fast=1..9"}}
	log, err := sweeps.Create(directory, spec, map[string][]byte{sweeps.StrategyFile: []byte("name: trend\n"), "trend.star": []byte("pass\n")})
	if err != nil {
		t.Fatal(err)
	}
	return directory, log
}

func TestWhatASweepHasSurvivesACut(t *testing.T) {
	t.Parallel()
	directory, log := created(t)
	for n := range 3 {
		if err := log.Append(trial(n)); err != nil {
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
	}
	if err := os.WriteFile(rows, []byte("no row\n"+lines[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sweeps.Open(directory); err == nil || !strings.Contains(err.Error(), "line 1 is no trial") {
		t.Errorf("a row that was altered: have %v", err)
	}
}

func TestOneProcessRunsASweep(t *testing.T) {
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
		"":                     func(*sweeps.Spec) {},
		"needs --vary":         func(s *sweeps.Spec) { s.Vary = nil },
		"fast is varied twice": func(s *sweeps.Spec) { s.Vary = []string{"fast=1", "fast=2"} },
		"--search none":        func(s *sweeps.Spec) { s.Search = "none" },
		"--trials -1":          func(s *sweeps.Spec) { s.Trials = -1 },
		"slow is unknown":      func(s *sweeps.Spec) { s.Where = "fast < slow" },
		"--require":            func(s *sweeps.Spec) { s.Require = "trips >= 3" },
		"--sort":               func(s *sweeps.Spec) { s.Sort = "luck" },
	} {
		spec := sound
		change(&spec)
		_, err := sweeps.NewPlan(&spec, 0)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func TestASweepThatCannotBeginLeavesItsNameFree(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "sweeps", "first")
	spec := &sweeps.Spec{Schema: 1, Name: "first"}
	for _, name := range []string{"../outside", strings.Repeat("x", 300)} { // refused before it is written, and by the file system
		if _, err := sweeps.Create(directory, spec, map[string][]byte{sweeps.StrategyFile: nil, name: nil}); err == nil {
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
