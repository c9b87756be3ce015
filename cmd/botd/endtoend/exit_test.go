package endtoend

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/cmd/botd/cli"
	"botd/cmd/botd/cli/offline"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime"
	"botd/runtime/daemon"
)

func TestExitCodesAreTheContracts(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good := "name: one\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\n"
	write("good/botd.yaml", "mode: demo\ndata_dir: ./work\n")
	write("good/strategies/one.yaml", good)
	write("bad/botd.yaml", "mode: nowhere\n")
	write("file/botd.yaml", "mode: demo\ndata_dir: ./occupied\n")
	write("file/strategies/one.yaml", good)
	write("occupied", "")
	write("live/botd.yaml", "mode: live\nexchange: {base_url: http://127.0.0.1:1, key_file: ./key, secret_file: ./secret}\n")
	write("live/strategies/one.yaml", good)
	write("used/botd.yaml", "mode: demo\ndata_dir: ./taken\n")
	write("used/strategies/one.yaml", good)
	if err := os.MkdirAll("taken/demo", 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := journal.Lock("taken/demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { release() })
	write("cut.csv", "open_time_ms,open,high,low,close,volume\n1,2\n")
	for _, c := range []struct {
		name      string
		arguments []string
		want      int
	}{
		{"no arguments", nil, failure.OK},
		{"a good configuration", []string{"check", "-c", "good"}, failure.OK},
		{"a bad configuration is a negative answer", []string{"check", "-c", "bad"}, failure.Negative},
		{"an unknown command", []string{"rnu"}, failure.Usage},
		{"an unknown flag", []string{"run", "--nonsense"}, failure.Usage},
		{"flags that exclude each other", []string{"resolve", "BTC-USDT", "--adopt", "--ignore", "--reason", "both"}, failure.Usage},
		{"a time that excludes another", []string{"timeline", "-c", "good", "--at", "12:18", "--since", "12:00"}, failure.Usage},
		{"an end before the beginning", []string{"timeline", "-c", "good", "--since", "2026-11-27T13:00", "--until", "2026-11-27T12:00"}, failure.Usage},
		{"no level of the log", []string{"logs", "-c", "good", "--level", "nonsense"}, failure.Usage},
		{"a reason for no decision", []string{"resolve", "BTC-USDT", "--reason", "none"}, failure.Usage},
		{"bad data", []string{"backtest", "run", "-s", "good/strategies/one.yaml", "--data", "cut.csv"}, failure.Data},
		{"missing data", []string{"backtest", "run", "-s", "good/strategies/one.yaml", "--data", "none.csv"}, failure.NoInput},
		{"a missing configuration", []string{"check", "-c", "nowhere"}, failure.NoInput},
		{"a missing backup", []string{"restore", "nowhere.db", "-c", "good"}, failure.NoInput},
		{"a shell there is not", []string{"completion", "tcsh"}, failure.Usage},
		{"no daemon to be healthy", []string{"healthcheck", "-c", "good", "--listen", "127.0.0.1:1"}, failure.Unavailable},
		{"no daemon", []string{"status", "-c", "good", "--listen", "127.0.0.1:1"}, failure.Unavailable},
		{"a data directory that cannot be created", []string{"run", "-c", "file"}, failure.IO},
		{"no credentials", []string{"run", "-c", "live", "--mode", "live"}, failure.Credentials},
		{"running a bad configuration", []string{"run", "-c", "bad"}, failure.Config},
		{"no journal yet", []string{"journal", "verify", "-c", "good"}, failure.NoInput},
		{"an address that others can reach, without TLS", []string{"run", "-c", "good", "--listen", "0.0.0.0:0"}, failure.Config},
		{"a data directory in use by another botd", []string{"run", "-c", "used"}, failure.Temporary},
	} {
		var stdout, stderr bytes.Buffer
		if have := execute(c.arguments, &stdout, &stderr); have != c.want {
			t.Errorf("%s (%v): want exit code %d, have %d\n%s%s", c.name, c.arguments, c.want, have, stdout.String(), stderr.String())
		}
	}
}

// TestEveryErrorHasItsExitCode covers the part of the table that no command line can trigger at will.
func TestEveryErrorHasItsExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"a bug of the engine", daemon.Failure(&runtime.InternalError{Cause: "a rule broken"}), failure.Internal},
		{"an error of no kind", errors.New("odd"), failure.Internal},
		{"a broken journal", daemon.Failure(fmt.Errorf("append: %w", journal.ErrBroken)), failure.IO},
		{"records not written at the end", daemon.Failure(runtime.ErrNotDurable), failure.IO},
		{"a file that is not there", fmt.Errorf("open: %w", fs.ErrNotExist), failure.NoInput},
		{"a file that may not be read", fmt.Errorf("open: %w", fs.ErrPermission), failure.IO},
		{"a full disk", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, failure.IO},
		{"interrupted", &failure.Signal{Signal: os.Interrupt}, 130},
		{"terminated", fmt.Errorf("wait: %w", &failure.Signal{Signal: syscall.SIGTERM}), 143},
		{"a code of its own, however deep", fmt.Errorf("outer: %w", failure.Wrap(failure.Temporary, errors.New("inner"))), failure.Temporary},
	} {
		if have := failure.CodeOf(c.err); have != c.want {
			t.Errorf("%s: want exit code %d, have %d", c.name, c.want, have)
		}
	}
}

// panicking is an output that panics where a command writes to it.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("a rule broken") }

// TestAPanicIsCode70WithItsStack expects that Go's own exit code 2 is not used.
func TestAPanicIsCode70WithItsStack(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if have := cli.Execute(t.Context(), []string{"version"}, panicking{}, &stderr); have != failure.Internal {
		t.Errorf("a panic: want exit code %d, have %d", failure.Internal, have)
	}
	for _, want := range []string{"internal error: a rule broken", "exit_test.go", "hint: "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the output of a panic: want %q, have %s", want, stderr.String())
		}
	}
}

// TestASignalEndsACommandWithItsCode interrupts a real process. A command that serves until it is stopped
// ends with 0.
func TestASignalEndsACommandWithItsCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal    os.Signal
		arguments []string
		until     string // the output at which it is interrupted; its stderr
		want      int
	}{
		{os.Interrupt, []string{"exchange", "--listen", "127.0.0.1:0"}, "listens", 0},
		{syscall.SIGTERM, []string{"exchange", "--listen", "127.0.0.1:0"}, "listens", 0},
		{os.Interrupt, []string{"bench", "--candles", "200000"}, "measuring a hand-written", 130},
		{syscall.SIGTERM, []string{"bench", "--candles", "200000"}, "measuring a hand-written", 143},
	} {
		t.Run(fmt.Sprint(c.arguments[0], " ", c.signal), func(t *testing.T) {
			t.Parallel()
			output := &overheard{more: make(chan struct{})}
			command := exec.Command(self(t), c.arguments...)
			command.Dir, command.Stderr = t.TempDir(), output
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			defer command.Process.Kill()
			late := time.After(60 * time.Second)
			for text, more := output.soFar(); !strings.Contains(text, c.until); text, more = output.soFar() {
				select {
				case <-more:
				case <-late:
					t.Fatalf("want %q in the output, have %s", c.until, text)
				}
			}
			if err := command.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // the test checks its code
			if have := command.ProcessState.ExitCode(); have != c.want {
				text, _ := output.soFar()
				t.Errorf("want exit code %d, have %d\n%s", c.want, have, text)
			}
		})
	}
}

// TestEveryExitCodeIsTested expects that each code in the table of the manual and docs/cli.md occurs.
func TestEveryExitCodeIsTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("exit_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{
		failure.OK:          "failure.OK}",
		failure.Negative:    "failure.Negative}",
		failure.Usage:       "failure.Usage}",
		failure.Data:        "failure.Data}",
		failure.NoInput:     "failure.NoInput}",
		failure.Unavailable: "failure.Unavailable}",
		failure.Internal:    "failure.Internal}",
		failure.IO:          "failure.IO}",
		failure.Temporary:   "failure.Temporary}",
		failure.Credentials: "failure.Credentials}",
		failure.Config:      "failure.Config}",
		130:                 " 130}",
		143:                 " 143}",
	}
	for _, e := range offline.ExitCodes {
		if name := names[e.Code]; name == "" || strings.Count(string(text), name+",\n") == 0 {
			t.Errorf("exit code %d (%s) has no case", e.Code, e.What)
		}
	}
}
