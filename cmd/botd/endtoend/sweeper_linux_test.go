package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/backtest/sweepprocess"
	"botd/runtime/api"
)

// newSweeper runs sweeps over a configuration with one strategy and some files of candles.
func newSweeper(t *testing.T) (*sweepprocess.Sweeps, string) {
	t.Helper()
	l, directory := newRunner(t)
	return &sweepprocess.Sweeps{Runner: l, Directory: filepath.Join(directory, "data/sweeps")}, directory
}

// aSweep is a sweep of 5 x 4 trials.
func aSweep(name string) *api.SweepRequest {
	return &api.SweepRequest{Strategy: "cross", Vary: []string{"fast=2..10..2", "slow=20..50..10"}, Search: "grid", Sort: "sharpe", Seed: 1, Split: "70%",
		File: stored, Name: name}
}

// ofSweep reads a sweep's result.
func ofSweep(t *testing.T, s *sweepprocess.Sweeps, name string) (r sweepResult) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Directory, name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sweepProcess waits for this process's sweep process that has a word in its arguments.
func sweepProcess(t *testing.T, word string) (pid string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err == nil && bytes.HasPrefix(text, []byte("botd\x00sweep\x00")) && bytes.Contains(text, []byte("\x00"+word+"\x00")) {
				return filepath.Base(filepath.Dir(path))
			}
		}
	}
	t.Fatal("there is no process of the sweep")
	return ""
}

func TestASweepOfTheDashboardIsThatOfTheCommandLine(t *testing.T) {
	t.Parallel()
	s, directory := newSweeper(t)
	if err := s.Run(t.Context(), aSweep("mine")); err != nil {
		t.Fatal(err)
	}
	have := ofSweep(t, s, "mine")
	if len(have.Trials) != 20 {
		t.Errorf("want 20 trials, have %d", len(have.Trials))
	}
	var out, errs bytes.Buffer
	if code := execute([]string{"sweep", "run", "-s", filepath.Join(directory, "configs/strategies/cross.yaml"), "--data",
		filepath.Join(directory, "data", stored),
		"--vary", "fast=2..10..2", "--vary", "slow=20..50..10", "--split", "70%", "-o", "json"}, &out, &errs); code != 0 {
		t.Fatalf("sweep run: %d %s", code, &errs)
	}
	var want sweepResult
	if err := json.Unmarshal(out.Bytes(), &want); err != nil || want.SHA256 == "" || want.SHA256 != have.SHA256 {
		t.Errorf("want %s, have %s, %v", want.SHA256, have.SHA256, err)
	}
	report := filepath.Join(directory, "report")
	if err := s.Report(t.Context(), "mine", have.Trials[3].Job, report); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(report, "report.html")); err != nil {
		t.Error(err)
	}
	if page, err := os.ReadFile(filepath.Join(s.Directory, "mine", "report.html")); err != nil || !bytes.Contains(page, []byte(have.Trials[3].Job)) {
		t.Errorf("want its trials on its page: %v", err)
	}
	if err := s.Report(t.Context(), "mine", strings.Repeat("00", 32), report); err == nil || !strings.Contains(err.Error(), "no trial") {
		t.Errorf("want why there is no such report, have %v", err)
	}
}

// TestDashboardSweepHasLowestPriority checks the process itself: its priority, its limits, its environment, and that it continues
// after a cancellation.
func TestDashboardSweepHasLowestPriority(t *testing.T) {
	t.Parallel()
	s, _ := newSweeper(t)
	long := aSweep("long")
	long.Vary = []string{"fast=2..21..1", "slow=25..53..2"}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, long) }()
	pid := sweepProcess(t, "long")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("/proc", pid, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return string(text)
	}
	for deadline := time.Now().Add(time.Minute); !s.Running("long"); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has not begun")
		}
	}
	signal := func(with syscall.Signal) {
		id, err := strconv.Atoi(pid)
		if err == nil {
			err = syscall.Kill(id, with)
		}
		if err != nil {
			t.Errorf("%v: %v", with, err)
		}
	}
	signal(syscall.SIGSTOP) // it does not end while it is read about
	if fields := strings.Fields(read("stat")); len(fields) < 19 || fields[18] != "19" {
		t.Errorf("want the lowest priority, have %v", fields)
	}
	if have := strings.TrimSpace(read("oom_score_adj")); have != "1000" {
		t.Errorf("want it ended first where memory runs out, have %s", have)
	}
	bytesOf := strconv.Itoa(sweepprocess.MemoryMB << 20)
	if have := strings.Fields(read("limits")[strings.Index(read("limits"), "Max data size"):]); have[3] != bytesOf || have[4] != bytesOf {
		t.Errorf("want %s bytes of data, have %v", bytesOf, have[:5])
	}
	for _, variable := range strings.Split(strings.Trim(read("environ"), "\x00"), "\x00") {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.Contains(" TZ GOMAXPROCS GOMEMLIMIT PATH HOME LANG LC_ALL TMPDIR XDG_CACHE_HOME BOTD_CACHE ", " "+name+" ") {
			t.Errorf("it knows %s", name)
		}
	}
	cancel(errors.New("enough"))
	signal(syscall.SIGCONT)
	if err := <-ended; err == nil || err.Error() != "enough" {
		t.Errorf("want it canceled, have %v", err)
	}
	if _, err := os.Stat(filepath.Join("/proc", pid)); err == nil || s.Running("long") {
		t.Error("want its process ended")
	}
	if err := s.Resume(t.Context(), "long"); err != nil {
		t.Fatal(err)
	}
	if have := ofSweep(t, s, "long"); len(have.Trials) != 300 {
		t.Errorf("want all trials, have %d", len(have.Trials))
	}
	if err := s.Run(t.Context(), long); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("want why it does not begin twice, have %v", err)
	}
}

func TestSweeperRefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	s, directory := newSweeper(t)
	for _, c := range []struct {
		name   string
		change func(*api.SweepRequest)
		part   string
	}{
		{"an unknown strategy", func(r *api.SweepRequest) { r.Strategy = "nobody" }, "no strategy"},
		{"an unknown parameter", func(r *api.SweepRequest) { r.Vary[0] = "fst=1,2" }, `no parameter "fst"`},
		{"another symbol", func(r *api.SweepRequest) { r.Vary[0] = "symbol=ETH-USDT,SOL-USDT" }, "one strategy on one symbol"},
		{"no values", func(r *api.SweepRequest) { r.Vary[0] = "fast" }, "fast"},
		{"a range in a grid", func(r *api.SweepRequest) { r.Vary[0] = "fast=2..9" }, "values or a step"},
		{"one twice", func(r *api.SweepRequest) { r.Vary[0] = r.Vary[1] }, "varied twice"},
		{"too many", func(r *api.SweepRequest) { r.Vary = []string{"fast=1..200..1", "slow=1..200..1"} }, "more than 10000 trials"},
		{"another search", func(r *api.SweepRequest) { r.Search = "luck" }, "search luck"},
		{"another ranking", func(r *api.SweepRequest) { r.Sort = "luck" }, "sort luck"},
		{"a condition on nothing", func(r *api.SweepRequest) { r.Where = "fast < medium" }, "medium"},
		{"a flag as a split", func(r *api.SweepRequest) { r.Split = "--serve" }, "split"},
		{"a time that is none", func(r *api.SweepRequest) { r.From = "yesterday" }, "yesterday"},
		{"a file that leads out", func(r *api.SweepRequest) { r.File = "candles/../../secret.csv" }, "is not in the list of files"},
		{"an absolute file", func(r *api.SweepRequest) { r.File = filepath.Join(directory, "secret.csv") }, "is not in the list of files"},
	} {
		given := aSweep("refused")
		c.change(given)
		if does, err := s.Plan(given); err == nil || !strings.Contains(err.Error(), c.part) || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: want an error with %q and no flag, have %q, %v", c.name, c.part, does, err)
		}
		if err := s.Run(t.Context(), given); err == nil {
			t.Errorf("%s: want it not run either", c.name)
		}
	}
	if does, err := s.Plan(aSweep("mine")); err != nil || !strings.Contains(fmt.Sprint(does), "at most 20 trials") {
		t.Errorf("have %q, %v", does, err)
	}
	if have, err := os.ReadDir(s.Directory); err == nil {
		t.Errorf("want nothing begun, have %v", have)
	}
}
