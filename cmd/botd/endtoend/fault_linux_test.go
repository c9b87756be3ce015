package endtoend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"botd/internal/disk/disktest"
	"botd/internal/failure"
)

// faulted is a command with one failing file call.
type faulted struct {
	name      string
	prepare   func(p *place, directory string)            // creates what the command needs, in a place that is copied to the directory
	arguments []string                                    // DIR is replaced by the directory
	exit      int                                         // without a failure
	again     [][]string                                  // what a person may run after a failure, one of them; nil for the same command
	sound     func(t *testing.T, directory string)        // checks the state after a failure
	result    func(t *testing.T, directory string) string // of a successful run: the same after every failure
}

// command runs botd in a directory.
func command(t *testing.T, directory string, arguments []string) *exec.Cmd {
	command := exec.Command(self(t), arguments...)
	command.Dir = directory
	return command
}

// TestEachFileCallOfACommandFailsOnce has the disk full for each call of a real command in turn. The command reports it, the earlier
// data are complete, and the same command, or the one that a person would try next, then gives the result of a run without a fault.
func TestEachFileCallOfACommandFailsOnce(t *testing.T) {
	t.Parallel()
	disktest.NeedStrace(t)
	for _, f := range faultedCommands {
		t.Run(f.name, func(t *testing.T) { t.Parallel(); f.run(t) })
	}
}

func (f *faulted) run(t *testing.T) {
	p := newPlace(t)
	directory := filepath.Join(t.TempDir(), "here")
	f.prepare(p, directory)
	arguments := replaced(f.arguments, directory)
	fresh := func() {
		if err := errors.Join(os.RemoveAll(directory), os.CopyFS(directory, os.DirFS(p.directory)), owner(directory)); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	run := func() *exec.Cmd { return command(t, directory, arguments) }
	trace, printed, code := disktest.Traced(t, nil, run())
	if code != f.exit {
		t.Fatalf("without a fault: exit %d: %s", code, printed)
	}
	want, failed, every := f.result(t, directory), 0, disktest.Every(t, 4)
	for i, c := range disktest.Calls(trace, directory) {
		if i%every != 0 {
			continue
		}
		printed, code, now := c.Fail(t, fresh, run)
		if !now {
			t.Logf("%s: it did not fail once", c)
			continue
		}
		failed++
		f.check(t, c, printed, code)
		if code != f.exit {
			f.repeat(t, c, directory)
		}
		if have := f.result(t, directory); have != want {
			t.Errorf("%s, exit %d: the result differs:\nwant %s\nhave %s\nprinted: %s", c, code, want, have, printed)
		}
	}
	if t.Logf("%d calls failed, once each", failed); failed == 0 {
		t.Error("want calls that fail, have none")
	}
}

// check expects the exit code of an unwritable file, with the cause, or that of success.
func (f *faulted) check(t *testing.T, c disktest.Call, printed string, code int) {
	t.Helper()
	cause := slices.ContainsFunc([]string{"no space left on device", "disk I/O error", "disk is full"}, // the others are SQLite's
		func(words string) bool { return strings.Contains(printed, words) })
	if strings.Contains(printed, "goroutine ") || code != f.exit && (code != failure.IO || !cause) {
		t.Errorf("%s: want exit %d or %d with the cause, have %d: %s", c, f.exit, failure.IO, code, printed)
	}
}

// repeat runs what a person would run next; one of the ways must succeed.
func (f *faulted) repeat(t *testing.T, c disktest.Call, directory string) {
	t.Helper()
	f.sound(t, directory)
	ways, story := f.again, ""
	if ways == nil {
		ways = [][]string{f.arguments}
	}
	for _, way := range ways {
		_, printed, code := disktest.Traced(t, nil, command(t, directory, replaced(way, directory)))
		if code == f.exit {
			return
		}
		story += fmt.Sprintf("%s: exit %d: %s", strings.Join(way, " "), code, printed)
	}
	t.Errorf("after %s: %s", c, story)
}

// owner leaves only the owner's permissions, as botd creates files.
func owner(directory string) error {
	return filepath.WalkDir(directory, func(path string, item fs.DirEntry, err error) error {
		if err != nil || item.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
}

func replaced(arguments []string, directory string) (all []string) {
	for _, a := range arguments {
		all = append(all, strings.ReplaceAll(a, "DIR", directory))
	}
	return all
}

// contents returns a directory's files that match a pattern, with their contents.
func contents(t *testing.T, directory string, patterns ...string) string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(directory, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s\n%s\n", strings.TrimPrefix(path, directory), content)
		}
	}
	return text.String()
}

// series creates candles, and a strategy that trades on them.
func series(p *place, directory string) {
	p.file("configs/botd.yaml", "mode: demo\nlisten: off\ndata_dir: "+directory+"/data\n", 0o600)
	p.file("cross.yaml", "name: cross\nstrategy: ema_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nsize: {equity: 20%}\n"+
		"params: {fast: 3, slow: 8}\n", 0o600)
	p.run(failure.OK, "data", "generate", "--symbol", "BTC-USDT", "--interval", "1m", "--candles", "300", "--out", "candles.csv")
}

// journaled has a demo trade, and end.
func journaled(p *place, directory string) {
	p.file("configs/botd.yaml", "mode: demo\nlisten: off\ndata_dir: "+p.directory+"/data\n", 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	daemon := start(p.t, self(p.t), p.directory)
	daemon.until(p.t, "order.fill")
	if err := daemon.process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	daemon.wait()
	p.file("configs/botd.yaml", "mode: demo\nlisten: off\ndata_dir: "+directory+"/data\n", 0o600)
}

func nothing(*testing.T, string) {}

var figures = []string{"fills.*", "trades.*", "equity.*"}

var faultedCommands = []*faulted{
	{
		name: "report",
		prepare: func(p *place, directory string) {
			series(p, directory)
			p.run(failure.OK, "backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "--out", "report", "--quick", "--to", "2024-01-01T04:00:00Z")
		},
		arguments: []string{"backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "--out", "DIR/report", "--quick"},
		sound: func(t *testing.T, directory string) { // the earlier one, complete
			if have := in(t, directory, failure.OK, "backtest", "verify", "report"); strings.Contains(have, "differs") {
				t.Error(have)
			}
			if left, err := filepath.Glob(filepath.Join(directory, "report", "*.partial")); err != nil || len(left) > 0 {
				t.Errorf("want nothing half written left, have %v, %v", left, err)
			}
		},
		result: func(t *testing.T, directory string) string {
			return in(t, directory, failure.OK, "backtest", "verify", "report") + contents(t, filepath.Join(directory, "report"), figures...)
		},
	},
	{
		name:    "sweep",
		prepare: series,
		arguments: []string{"sweep", "run", "--sweeps", "DIR/sweeps", "-s", "cross.yaml", "--data", "candles.csv", "--vary", "fast=2,3,4", "--name",
			"first"},
		again: [][]string{{"sweep", "resume", "first", "--sweeps", "DIR/sweeps"}, {"sweep", "run", "--sweeps", "DIR/sweeps", "-s", "cross.yaml", "--data",
			"candles.csv", "--vary", "fast=2,3,4", "--name", "first"}},
		sound: nothing,
		result: func(t *testing.T, directory string) string {
			return in(t, directory, failure.OK, "sweep", "show", "first", "--sweeps", "sweeps", "-o", "csv")
		},
	},
	{
		name:      "import",
		prepare:   series,
		arguments: []string{"data", "import", "candles.csv", "--symbol", "BTC-USDT", "-c", "DIR/configs"},
		sound:     nothing,
		result: func(t *testing.T, directory string) string {
			return contents(t, filepath.Join(directory, "data"), "candles/*/*/*")
		},
	},
	{
		name:      "init",
		prepare:   func(p *place, _ string) { p.file("empty", "", 0o600) },
		arguments: []string{"init", "DIR/new", "--no-input"},
		sound:     nothing,
		result: func(t *testing.T, directory string) string {
			in(t, directory, failure.OK, "check", "-c", "new")
			return contents(t, filepath.Join(directory, "new"), "*.yaml", "strategies/*")
		},
	},
	{
		name:      "backup",
		prepare:   journaled,
		arguments: []string{"backup", "DIR/copy.db", "-c", "DIR/configs"},
		sound: func(t *testing.T, directory string) {
			in(t, directory, failure.OK, "journal", "verify", "-c", "configs")
			if _, err := os.Lstat(filepath.Join(directory, "copy.db")); err == nil {
				in(t, directory, failure.OK, "restore", "--verify", "copy.db", "-c", "configs")
				if err := os.Remove(filepath.Join(directory, "copy.db")); err != nil {
					t.Fatal(err)
				}
			}
		},
		result: func(t *testing.T, directory string) string {
			in(t, directory, failure.OK, "restore", "--verify", "copy.db", "-c", "configs")
			return in(t, directory, failure.OK, "journal", "head", "--file", "copy.db")
		},
	},
	{
		name: "restore",
		prepare: func(p *place, directory string) {
			journaled(p, directory)
			p.file("configs/botd.yaml", "mode: demo\nlisten: off\ndata_dir: "+p.directory+"/data\n", 0o600)
			p.run(failure.OK, "backup", "copy.db", "-c", "configs")
			journaled(p, directory) // and continues
		},
		arguments: []string{"restore", "DIR/copy.db", "-c", "DIR/configs"},
		sound: func(t *testing.T, directory string) {
			in(t, directory, failure.OK, "journal", "verify", "-c", "configs")
			for _, name := range []string{"journal.db", "exchange.json"} { // under the same name each: a start refuses a second one
				found, err := os.Stat(filepath.Join(directory, "data/demo", name))
				if err != nil || found.Sys().(*syscall.Stat_t).Nlink != 1 {
					t.Errorf("%s: want one name, have %+v, %v", name, found, err)
				}
			}
		},
		result: func(t *testing.T, directory string) string {
			in(t, directory, failure.OK, "journal", "verify", "-c", "configs")
			return in(t, directory, failure.OK, "journal", "head", "-c", "configs") + contents(t, filepath.Join(directory, "data/demo"), "exchange.json")
		},
	},
	{
		name:      "halt",
		prepare:   journaled,
		arguments: []string{"halt", "-c", "DIR/configs", "--level", "flatten", "--reason", "it must end"},
		exit:      failure.Unavailable,
		sound:     nothing,
		result: func(t *testing.T, directory string) string {
			left, err := filepath.Glob(filepath.Join(directory, "data/demo/.halt-*"))
			return fmt.Sprint(strings.Count(contents(t, filepath.Join(directory, "data/demo"), "halt-*.json"), "it must end"), left, err)
		},
	},
}
