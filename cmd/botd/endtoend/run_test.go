package endtoend

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/internal/chaos"
	"botd/internal/failure"
	"botd/internal/startclock"
)

// TestTheDemoTradesAndCarriesOn starts the built binary as a newcomer does, in an empty directory. It trades,
// is killed without a warning, and the next start finds its positions and continues.
func TestTheDemoTradesAndCarriesOn(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := build(t)
	first := start(t, binary, directory)
	story := first.until(t, "order.settled")
	for _, event := range []string{"market.candle", "strategy.decision", "intent.derived", "risk.approved", "order.placed", "order.acknowledged",
		"order.fill", "daemon.listening"} {
		if !slices.Contains(story, event) {
			t.Errorf("before the first settlement: want %s logged, have %v", event, story)
		}
	}
	first.until(t, "position.changed")
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.wait()

	second := start(t, binary, directory)
	second.until(t, "daemon.unclean")
	second.until(t, "position.changed") // found again before the first decision
	if _, have := askDemo(t, directory, "/api/v1/status"); !strings.Contains(have, `"unclean_start":true`) {
		t.Errorf("status: want a report that the previous run was cut off, have %s", have)
	}
	if err := second.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	story = second.until(t, "daemon.stopped")
	if !slices.Contains(story, "daemon.left_open") {
		t.Errorf("at the end: want the log of what stays open, have %v", story)
	}
	if err := second.wait(); err != nil {
		t.Errorf("a clean stop: want exit code 0, have %v", err)
	}
	if _, err := os.Stat(filepath.Join(directory, "data", "demo", "running")); err == nil {
		t.Error("after a clean stop: want no mark of a run left")
	}
}

// TestASecondDaemonOnADataDirectoryIsRefused tests the lock of case 34.
func TestASecondDaemonOnADataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := build(t)
	first := start(t, binary, directory)
	first.until(t, "daemon.listening")
	second := exec.Command(binary, startclock.Arguments([]string{"run", "--listen", "off"})...)
	second.Dir = directory
	output, err := second.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != failure.Temporary || !strings.Contains(string(output), "in use by another botd") {
		t.Errorf("want exit code %d and the reason, have %v\n%s", failure.Temporary, err, output)
	}
	for _, c := range []struct {
		arguments []string
		want      string
	}{{[]string{"backup", "copy.db"}, "ok: backup copy.db"}, {[]string{"journal", "verify", "--file", "copy.db"}, "the chain is intact"},
		{[]string{"restore", "copy.db"}, "in use by another botd"}} {
		command := exec.Command(binary, c.arguments...)
		command.Dir = directory
		if output, err := command.CombinedOutput(); !strings.Contains(string(output), c.want) {
			t.Errorf("botd %s while it runs: want %q, have %v\n%s", strings.Join(c.arguments, " "), c.want, err, output)
		}
	}
	first.until(t, "market.candle") // the first one continues
}

// built is the binary as a user builds it, once for all tests.
var built = sync.OnceValues(func() (binary string, err error) {
	if err = os.MkdirAll(builds, 0o700); err != nil {
		return "", err
	}
	return chaos.Build(context.Background(), builds)
})

// builds is its directory, until the tests have ended.
var builds = filepath.Join(os.TempDir(), fmt.Sprintf("botd-command-%d", os.Getpid()))

// build returns the path of the binary.
func build(t *testing.T) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// demo is a running binary and the events that it logs.
type demo struct {
	process *os.Process
	events  chan string
	wait    func() error
}

// start runs the daemon with arguments in addition to those of every test.
func start(t *testing.T, binary, directory string, arguments ...string) *demo {
	t.Helper()
	return startAs(t, binary, directory, startclock.Arguments(append([]string{"run", "--listen", "127.0.0.1:0", "--log-format", "json"}, arguments...)))
}

// startAs starts a command that runs a daemon.
func startAs(t *testing.T, binary, directory string, arguments []string) *demo {
	t.Helper()
	command := exec.Command(binary, arguments...)
	command.Dir = directory
	pipe, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill() })
	d := &demo{process: command.Process, events: make(chan string, 4096), wait: command.Wait}
	go func() {
		defer close(d.events)
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			var line struct{ Event string }
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				line.Event = "text: " + strings.TrimSpace(lines.Text())
			}
			d.events <- line.Event
		}
	}()
	return d
}

// until returns the logged events up to the given one.
func (d *demo) until(t *testing.T, event string) (story []string) {
	t.Helper()
	late := time.After(60 * time.Second)
	for {
		select {
		case logged, open := <-d.events:
			if !open {
				t.Fatalf("the program ended before it logged %s: %v", event, story)
			}
			story = append(story, logged)
			if logged == event {
				return story
			}
		case <-late:
			t.Fatalf("60 s without %s: %v", event, story)
		}
	}
}
