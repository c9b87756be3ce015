package sweepprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"botd/backtest/runner"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/api"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

func TestMain(m *testing.M) {
	if os.Args[0] == "botd" { // the process of a sweep, which is this binary again
		process()
		return
	}
	os.Exit(m.Run())
}

// report is what the process of a sweep observes.
type report struct {
	Arguments   []string
	Environment []string
	Nice        int
	Disk        uintptr
	OOM         string
	Data, Core  uint64
	Leads       bool // its process group
}

// process acts as the name of its sweep selects.
func process() {
	name, directory := os.Args[len(os.Args)-1], ""
	for i, argument := range os.Args {
		switch argument {
		case "--name":
			name = os.Args[i+1]
		case "--sweeps":
			directory = os.Args[i+1]
		}
	}
	switch name {
	case "fails":
		fmt.Fprintln(os.Stderr, "a warning\n  the candles have a gap\nhint: look at them")
		os.Exit(1)
	case "silent":
		os.Exit(3)
	case "warns":
		fmt.Fprintln(os.Stderr, "a warning")
	case "large":
		fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory\nmore text")
		os.Exit(2)
	case "killed":
		fmt.Fprintln(os.Stderr, "half a line of its work")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "waits", "stubborn":
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		_ = os.WriteFile(filepath.Join(directory, name), nil, 0o600)
		if <-ended; name == "stubborn" {
			_ = syscall.Pause() // until it is killed
		}
		_ = os.WriteFile(filepath.Join(directory, "ended"), nil, 0o600)
		os.Exit(1)
	}
	r := report{Arguments: os.Args[1:], Environment: os.Environ(), Leads: syscall.Getpgrp() == os.Getpid()}
	priority, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
	r.Nice = 20 - priority
	r.Disk, _, _ = unix.Syscall(unix.SYS_IOPRIO_GET, ofThread, 0, 0)
	// The daemon sets these once the process has started.
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && (r.OOM != "1000" || r.Data != MemoryMB<<20 || r.Core != 0); {
		adjusted, _ := os.ReadFile("/proc/self/oom_score_adj")
		r.OOM = strings.TrimSpace(string(adjusted))
		for resource, into := range map[int]*uint64{unix.RLIMIT_DATA: &r.Data, unix.RLIMIT_CORE: &r.Core} {
			var limit unix.Rlimit
			_ = unix.Getrlimit(resource, &limit)
			*into = limit.Max
		}
	}
	text, _ := json.Marshal(r)
	if err := os.WriteFile(filepath.Join(directory, "report.json"), text, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const cross = "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: 2\nsize: {equity: 50%}\n" +
	"params: {fast: 5, slow: 40}\n"

// across reads the candles of another symbol.
var across = map[string]string{"configs/strategies/across.yaml": "name: across\nstrategy: script\nfile: across.star\nmarket: futures\nsymbol: SOL-USDT\n" +
	"interval: 1h\nsize: {equity: 50%}\nparams: {depth: 3}\n",
	"configs/strategies/across.star": "depth = param(\"depth\", 3)\nother = candles(\"1h\", symbol = \"ETH-USDT\")\n\n" +
		"def decide(view):\n    return hold(\"long\" if known(other.close) else \"flat\", reason = \"always\")\n"}

// prepared runs sweeps over a configuration with a strategy and a file of candles in each folder.
func prepared(t *testing.T) (s *Sweeps, directory string) {
	t.Helper()
	return preparedWith(t, nil)
}

// preparedWith is prepared with further files.
func preparedWith(t *testing.T, more map[string]string) (s *Sweeps, directory string) {
	t.Helper()
	directory = t.TempDir()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	candles := tape.Generate(3, symbol, exchange.Hour1, 1_704_067_200_000, 60)
	files := map[string]string{"configs/botd.yaml": "data_dir: " + directory + "/data\n", "configs/strategies/cross.yaml": cross}
	maps.Copy(files, more)
	for name, text := range files {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data/candles/futures/BTC-USDT/1h.csv", "data/demo/recorded/futures/BTC-USDT/1h.csv"} {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), tape.WriteFile(path, candles, symbol, nil)); err != nil {
			t.Fatal(err)
		}
	}
	config, problems := configs.LoadDirectory(filepath.Join(directory, "configs"),
		configs.Options{Registry: strategy.NewRegistry(append(library.All(), script.Files())...), Symbols: sim.DefaultSymbols(),
			Script: func(source *strategy.Source) (strategy.Definition, error) {
				made, err := script.Compile(source.File, source.Text, source.Libraries...)
				if err != nil {
					return strategy.Definition{}, err
				}
				return made.Definition(), nil
			}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s = &Sweeps{Directory: filepath.Join(directory, "data/sweeps"), Runner: &runner.Runner{Current: func() *configs.Config { return config },
		Symbols: sim.DefaultSymbols, Recorded: filepath.Join(directory, "data/demo/recorded")}}
	if err := os.MkdirAll(s.Directory, 0o700); err != nil {
		t.Fatal(err)
	}
	return s, directory
}

// stored and recorded are the files of candles, as they are listed.
const stored, recorded = "candles/futures/BTC-USDT/1h.csv", "recorded/futures/BTC-USDT/1h.csv"

// request is a sweep of 3 x 2 trials.
func request(change func(r *api.SweepRequest)) *api.SweepRequest {
	r := &api.SweepRequest{Strategy: "cross", Vary: []string{"fast=2,3,4", "slow=20,30"}, Search: "grid", Sort: "sharpe", Seed: 75, File: stored, Name: "mine"}
	if change != nil {
		change(r)
	}
	return r
}

// ran returns what the process of a sweep observed.
func ran(t *testing.T, s *Sweeps) (r report) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Directory, "report.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAProcessHasTheLowestPriorityAndNoSecret puts secrets into the environment of this process.
func TestAProcessHasTheLowestPriorityAndNoSecret(t *testing.T) {
	t.Setenv("BOTD_NATS_TOKEN", "secret")
	t.Setenv("LANG", "C.UTF-8")
	s, _ := prepared(t)
	other := exec.Command("cat") // of the same process group
	input, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close(); _ = other.Wait() })
	priority := func() uintptr {
		of, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, ofThread, uintptr(other.Process.Pid), 0)
		return of
	}
	before := priority()
	if err := s.Resume(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	r := ran(t, s)
	if want := []string{"sweep", "resume", "--sweeps", s.Directory, "--rest", "--", "mine"}; !slices.Equal(r.Arguments, want) {
		t.Errorf("want %q, have %q", want, r.Arguments)
	}
	if r.Nice != 19 || r.Disk != idleDisk || r.OOM != "1000" || r.Data != MemoryMB<<20 || r.Core != 0 || !r.Leads {
		t.Errorf("want the lowest priorities and bounds, have %+v", r)
	}
	if have := priority(); have != before {
		t.Errorf("want other processes' priority as it was, %x, have %x", before, have)
	}
	withoutLowestThreads(t)
	for _, want := range []string{"TZ=UTC", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "GOMEMLIMIT=384MiB"} {
		if !slices.Contains(r.Environment, want) {
			t.Errorf("want %s, have %q", want, r.Environment)
		}
	}
	if strings.Contains(strings.Join(r.Environment, " "), "secret") || !slices.ContainsFunc(r.Environment, func(one string) bool {
		return strings.HasPrefix(one, "GOMAXPROCS=")
	}) {
		t.Errorf("want no secret, and a bound on its processors, have %q", r.Environment)
	}
	if err := s.Report(t.Context(), "mine", "0a1b", "/reports"); err != nil {
		t.Fatal(err)
	}
	if have := ran(t, s).Arguments; !slices.Equal(have, []string{"sweep", "trial", "--sweeps", s.Directory, "--rest", "--out", "/reports", "--",
		"mine", "0a1b"}) {
		t.Errorf("have %q", have)
	}
}

// withoutLowestThreads waits until no thread of this process has the lowest priority any more. It ignores the
// first thread, which never ends.
func withoutLowestThreads(t *testing.T) {
	t.Helper()
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid()); err != nil || 20-own == lowestPriority {
		t.Logf("the tests themselves have the lowest priority: the priority of threads shows nothing, %v", err)
		return
	}
	for began := time.Now(); ; <-time.After(time.Millisecond) {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil || id == os.Getpid() {
				continue
			}
			if priority, err := unix.Getpriority(unix.PRIO_PROCESS, id); err == nil && 20-priority == lowestPriority {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("want the priority of this process's threads as it was, have %d others", left)
		}
	}
}

// TestAProcessThatWarnsHasSucceeded also runs a process that fails to start its sweep.
func TestAProcessThatWarnsHasSucceeded(t *testing.T) {
	t.Parallel()
	s, _ := prepared(t)
	if err := s.Resume(t.Context(), "warns"); err != nil {
		t.Errorf("want it done, have %v", err)
	}
	if err := s.Resume(t.Context(), strings.Repeat("x", 1<<18)); err == nil || !strings.Contains(err.Error(), "argument list too long") {
		t.Errorf("want what is wrong, have %v", err)
	}
}

// TestFailedProcessReportsItsError runs a process with several errors, one without output, one without
// memory, and one that is killed.
func TestFailedProcessReportsItsError(t *testing.T) {
	t.Parallel()
	s, _ := prepared(t)
	for name, want := range map[string]string{"fails": "the candles have a gap", "silent": "its process ended: exit status 3",
		"large":  "it needs more than 512 MB: use fewer candles, or botd sweep run on the command line",
		"killed": "its process ended: signal: killed"} {
		if err := s.Resume(t.Context(), name); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, have %v", name, want, err)
		}
	}
}

// TestAProcessMayEndItsTrialsWhenBotdStops runs a process that ends in time, and one that takes too long and
// is killed.
func TestAProcessMayEndItsTrialsWhenBotdStops(t *testing.T) {
	t.Parallel()
	for name, clean := range map[string]bool{"waits": true, "stubborn": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := prepared(t)
			exists := func(name string) bool { _, err := os.Stat(filepath.Join(s.Directory, name)); return err == nil }
			stopped := errors.New("botd stops")
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Resume(ctx, name) }()
			for !exists(name) {
				<-time.After(time.Millisecond)
			}
			cancel(stopped)
			if err := <-ended; !errors.Is(err, stopped) {
				t.Errorf("want the cause of its end, have %v", err)
			}
			if exists("ended") != clean {
				t.Errorf("want it to end by itself %t", clean)
			}
		})
	}
}

// TestAProcessHasHalfOfTheProcessors also expects at least one processor.
func TestAProcessHasHalfOfTheProcessors(t *testing.T) {
	all := goruntime.GOMAXPROCS(0)
	t.Cleanup(func() { goruntime.GOMAXPROCS(all) })
	for processors, want := range map[int]string{1: "1", 2: "1", 6: "3"} {
		goruntime.GOMAXPROCS(processors)
		if have := environment(); !slices.Contains(have, "GOMAXPROCS="+want) {
			t.Errorf("%d: want %s, have %q", processors, want, have)
		}
	}
}

func TestOnlyTheLastLinesOfAProcessAreStored(t *testing.T) {
	t.Parallel()
	one := &tail{}
	for n := range 3_000 {
		fmt.Fprintf(one, "line %d\n", n)
	}
	if len(one.text) != tailBytes || one.failure(errors.New("x")).Error() != "line 2999" {
		t.Errorf("want the last of them, have %d bytes, %v", len(one.text), one.failure(errors.New("x")))
	}
	full := &tail{}
	for n, part := range []string{strings.Repeat("x", tailBytes), "y"} {
		if written, err := full.Write([]byte(part)); written != len(part) || err != nil || len(full.text) != tailBytes {
			t.Errorf("%d: want all taken and %d bytes stored, have %d and %d, %v", n, tailBytes, written, len(full.text), err)
		}
	}
	if full.text[tailBytes-1] != 'y' {
		t.Error("want the last byte stored")
	}
	if have := (&tail{text: []byte("\nhint: look\n")}).failure(errors.New("x")).Error(); have != "its process ended: x" {
		t.Errorf("a hint alone: have %s", have)
	}
	for _, text := range []string{"fork: cannot allocate memory", "runtime: out of memory"} {
		if have := (&tail{text: []byte(text)}).failure(errors.New("x")).Error(); !strings.HasPrefix(have, "it needs more than 512 MB") {
			t.Errorf("%s: have %s", text, have)
		}
	}
}

// TestASweepIsRunWithItsArguments covers each part of a request, recorded candles, funding rates, and a
// symbol with the exchange's rules.
func TestASweepIsRunWithItsArguments(t *testing.T) {
	t.Parallel()
	s, directory := prepared(t)
	file, candles := filepath.Join(directory, "configs/strategies/cross.yaml"), filepath.Join(directory, "data", stored)
	begin := []string{"sweep", "run", "--strategy", file, "--data", candles, "--name", "mine", "--sweeps", s.Directory, "--rest", "--search", "grid",
		"--seed", "75",
		"--sort", "sharpe", "--vary", "fast=2,3,4", "--vary", "slow=20,30"}
	run := func(r *api.SweepRequest) []string {
		t.Helper()
		if err := s.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return ran(t, s).Arguments
	}
	if have := run(request(nil)); !slices.Equal(have, begin) {
		t.Errorf("want\n%q\nhave\n%q", begin, have)
	}
	rest := run(request(func(r *api.SweepRequest) {
		r.Where, r.Require, r.Split, r.From, r.To, r.Trials = "fast < slow", "trades >= 3", "70%", "2024-01-01", "2024-01-03", 5
	}))[len(begin):]
	slices.Sort(rest)
	want := []string{"--from=2024-01-01", "--require=trades >= 3", "--split=70%", "--to=2024-01-03", "--trials", "--where=fast < slow", "5"}
	if !slices.Equal(rest, want) {
		t.Errorf("want %q, have %q", want, rest)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(filepath.Join(directory, "data/demo", recorded)), runner.FundingName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	have := run(request(func(r *api.SweepRequest) { r.File = recorded }))
	if !slices.Equal(have[len(begin):], []string{"--repair", "--funding", filepath.Join(directory, "data/demo/recorded/futures/BTC-USDT",
		runner.FundingName)}) ||
		have[5] != filepath.Join(directory, "data/demo", recorded) {
		t.Errorf("recorded candles: have %q", have)
	}
	s.Runner.Symbols = func() []*exchange.Symbol {
		own, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
		other := *own
		other.MinNotional = exchange.AmountOf(77)
		return []*exchange.Symbol{&other}
	}
	path := filepath.Join(s.Directory, ".started", "mine.symbols.yaml")
	if have := run(request(nil))[len(begin):]; !slices.Equal(have, []string{"--symbols", path}) {
		t.Errorf("a symbol of the exchange's own rules: have %q", have)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"BTC-USDT"`) || !strings.Contains(string(text), "77") {
		t.Errorf("want its rules, have %s, %v", text, err)
	}
}

// TestCandlesOfOtherSymbolsAreReadFromTheSameFolder runs a strategy that reads candles of another symbol:
// from folders of recorded and of imported candles, and from outside such folders.
func TestCandlesOfOtherSymbolsAreReadFromTheSameFolder(t *testing.T) {
	t.Parallel()
	s, directory := preparedWith(t, across)
	sweep := func(file string) *api.SweepRequest {
		return request(func(r *api.SweepRequest) { r.Strategy, r.Vary, r.File = "across", []string{"depth=2,3"}, file })
	}
	own := filepath.Join(directory, "data", stored)
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for file, folder := range map[string]string{stored: "data/candles", recorded: "data/demo/recorded"} {
		other := filepath.Join(directory, folder, "futures/ETH-USDT/1h.csv")
		_, planned := s.Plan(sweep(file))
		for _, err := range []error{planned, s.Run(t.Context(), sweep(file))} {
			if err == nil || err.Error() != "it reads candles of futures ETH-USDT, and there is no file "+other {
				t.Errorf("%s: want the missing file named, have %v", file, err)
			}
		}
		write(other)
		if err := s.Run(t.Context(), sweep(file)); err != nil {
			t.Fatal(err)
		}
		have := ran(t, s).Arguments
		if i := slices.Index(have, "futures ETH-USDT="+other); i < 1 || have[i-1] != "--data" || slices.Contains(have, "--symbols") {
			t.Errorf("%s: want them given, have %q", file, have)
		}
	}
	write(filepath.Join(directory, "data/candles/own.csv"))
	write(filepath.Join(directory, "futures/ETH-USDT/1h.csv")) // outside the folders that are listed
	if _, err := s.Plan(sweep("candles/own.csv")); err == nil || !strings.Contains(err.Error(),
		"candles/own.csv is in no folder MARKET/SYMBOL next to which they could be") {
		t.Errorf("candles in no folder of a symbol: have %v", err)
	}
	s.Runner.Symbols = func() []*exchange.Symbol {
		one, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "SOL-USDT")
		return []*exchange.Symbol{one}
	}
	if _, err := s.Plan(sweep(stored)); err == nil || err.Error() != "the exchange has no symbol futures ETH-USDT now, whose candles it reads" {
		t.Errorf("an exchange without the symbol: have %v", err)
	}
}

// TestABuiltInStrategyIsRunFromACopy covers a strategy whose file is not on this machine, and one whose
// script is missing too.
func TestABuiltInStrategyIsRunFromACopy(t *testing.T) {
	t.Parallel()
	s, directory := prepared(t)
	c := s.Runner.Current().Strategy("cross")
	c.File = filepath.Join(directory, "none.yaml")
	if err := s.Run(t.Context(), request(nil)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Directory, ".started", "mine.yaml")
	if have := ran(t, s).Arguments; have[3] != path {
		t.Errorf("want %s, have %q", path, have)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != c.Effective() {
		t.Errorf("want what is in force, have %s, %v", text, err)
	}
	if about, err := os.Stat(filepath.Dir(path)); err != nil || about.Mode() != fs.ModeDir|0o700 {
		t.Errorf("want a folder of this user's own, have %v, %v", about.Mode(), err)
	}
	for name, change := range map[string]func(){"a script": func() { c.Script.Text = "x" }, "columns": func() {
		c.Script.Text, c.ColumnFiles = "",
			[]string{"x.csv"}
	},
		"a program": func() { c.ColumnFiles, c.Command = nil, []string{"x"} }} {
		before := *c
		change()
		err := s.Run(t.Context(), request(nil))
		if name == "a script" && (err == nil || err.Error() != "cross: the file "+c.File+" is not on this machine") {
			t.Errorf("%s: have %v", name, err)
		}
		if err == nil {
			t.Errorf("%s: want it refused", name)
		}
		*c = before
	}
}

// TestAFolderThatCannotBeWrittenEndsASweepsStart puts a file where the folder should be, for the copy of a
// strategy and for the exchange's symbols.
func TestAFolderThatCannotBeWrittenEndsASweepsStart(t *testing.T) {
	t.Parallel()
	s, directory := prepared(t)
	if err := os.WriteFile(filepath.Join(s.Directory, ".started"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.Runner.Current().Strategy("cross")
	file := c.File
	c.File = filepath.Join(directory, "none.yaml")
	copied := s.Run(t.Context(), request(nil))
	c.File = file
	s.Runner.Symbols = func() []*exchange.Symbol {
		own, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
		other := *own
		other.MinNotional = exchange.AmountOf(77)
		return []*exchange.Symbol{&other}
	}
	for name, err := range map[string]error{"a copy": copied, "symbols": s.Run(t.Context(), request(nil))} {
		if err == nil || !strings.Contains(err.Error(), ".started: not a directory") {
			t.Errorf("%s: have %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Directory, "report.json")); !os.IsNotExist(err) {
		t.Errorf("want no process started, have %v", err)
	}
}

// TestARequestThatCannotBeRunIsRefused covers each reason, as the page words it.
func TestARequestThatCannotBeRunIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := prepared(t)
	for _, c := range []struct {
		change func(r *api.SweepRequest)
		words  string
	}{
		{func(r *api.SweepRequest) { r.Strategy = "none" }, `there is no strategy "none"`}, {func(r *api.SweepRequest) { r.Split = "x" }, "split"},
		{func(r *api.SweepRequest) { r.Vary = []string{"nothing=1"} }, "nothing"}, {func(r *api.SweepRequest) { r.Vary = nil }, "vary"},
		{func(r *api.SweepRequest) { r.Vary = []string{"fast=2..10"} }, "fast: a grid needs values or a step; random and tpe draw from a range"},
		{func(r *api.SweepRequest) { r.Vary = []string{"fast=1..1000..1", "slow=1..1000..1"} }, fmt.Sprintf("more than %d trials", api.MaxSweepTries)},
		{func(r *api.SweepRequest) {
			r.Vary = []string{fmt.Sprintf("fast=1..%d..1", api.MaxSweepTries), "slow=20,30"}
		},
			fmt.Sprintf("more than %d trials", api.MaxSweepTries)},
		{func(r *api.SweepRequest) { r.Search, r.Trials = "random", api.MaxSweepTries+1 }, fmt.Sprintf("more than %d trials", api.MaxSweepTries)},
		{func(r *api.SweepRequest) { r.From = "x" }, "from"}, {func(r *api.SweepRequest) { r.To = "x" }, "to"},
		{func(r *api.SweepRequest) { r.File = "candles/none.csv" }, `file "candles/none.csv" is not in the list of files`},
	} {
		_, err := s.Plan(request(c.change))
		if err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "--") || strings.Contains(err.Error(), "hint:") {
			t.Errorf("want %q without flags, have %v", c.words, err)
		}
		if run := s.Run(t.Context(), request(c.change)); run == nil || run.Error() != err.Error() {
			t.Errorf("want it refused likewise, have %v", run)
		}
	}
	s.Runner.Symbols = func() []*exchange.Symbol { return nil }
	if _, err := s.Plan(request(nil)); err == nil || err.Error() != "the exchange has no futures symbol BTC-USDT now" {
		t.Errorf("have %v", err)
	}
}

// TestPlanDescribesTheSweep checks the number of trials in the plan.
func TestPlanDescribesTheSweep(t *testing.T) {
	t.Parallel()
	s, _ := prepared(t)
	const splits = "the ranking uses all candles: with a split, the candles after it would show whether the ranking persists"
	for _, c := range []struct {
		change func(r *api.SweepRequest)
		trials string
		split  bool
	}{
		{nil, "grid search, ranked by sharpe, at most 6 trials", false}, {func(r *api.SweepRequest) { r.Trials = 4 }, "at most 4 trials", false},
		{func(r *api.SweepRequest) { r.Trials = 1 }, "at most 1 trials", false},
		{func(r *api.SweepRequest) { r.Trials = 40 }, "at most 6 trials", false}, {func(r *api.SweepRequest) { r.Split = "70%" }, "at most 6 trials", true},
		{func(r *api.SweepRequest) { r.Search, r.Trials = "random", 40 }, "random search, ranked by sharpe, at most 40 trials", false},
		{func(r *api.SweepRequest) { r.Search, r.Vary = "tpe", []string{"fast=2..10"} }, "tpe search, ranked by sharpe, at most 100 trials", false},
		{func(r *api.SweepRequest) { r.Search, r.Trials = "random", api.MaxSweepTries }, fmt.Sprintf("at most %d trials", api.MaxSweepTries), false},
	} {
		r := request(c.change)
		does, err := s.Plan(r)
		if err != nil || does[0] != "tries settings of cross (sma_cross) on futures BTC-USDT over "+stored+": "+strings.Join(r.Vary, ", ") ||
			!strings.HasSuffix(does[1], c.trials) || slices.Contains(does, splits) == c.split ||
			does[len(does)-1] != "its trials are saved as mine, each as it ends" ||
			!strings.HasSuffix(does[len(does)-2], "with at most 512 MB") {
			t.Errorf("want %s, have %q, %v", c.trials, does, err)
		}
	}
	if s.Running("mine") {
		t.Error("want none running")
	}
	if _, err := s.Cancel("mine"); err == nil {
		t.Error("want no sweep of that name")
	}
}
