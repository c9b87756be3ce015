package endtoend

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAHangupDuringTheStartDoesNotEndIt sends SIGHUP and SIGUSR1 from the moment at which the process's own
// code runs until the daemon runs. Each once killed it until the files were watched.
func TestAHangupDuringTheStartDoesNotEndIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("botd.yaml", "mode: demo\n", 0o600)
	p.file("strategies/grow.yaml", grows, 0o600)
	command, log := p.start("run", "run", "-c", ".", "--listen", "off", "--log-format", "json")
	eventually(t, "signals held", func() bool {
		both := ignores(t, command.Process.Pid, syscall.SIGHUP) && ignores(t, command.Process.Pid, syscall.SIGUSR1)
		return both || strings.Contains(log.String(), "daemon.")
	})
	for range 50 {
		if err := errors.Join(command.Process.Signal(syscall.SIGHUP), command.Process.Signal(syscall.SIGUSR1)); err != nil {
			t.Fatalf("want the process to go on, have %v: %s", err, log)
		}
	}
	log.wait(t, `"daemon.started"`)
	log.wait(t, `"daemon.reconciled"`)
	if err := errors.Join(command.Process.Signal(os.Interrupt), command.Wait()); err != nil {
		t.Errorf("want a clean stop, have %v: %s", err, log)
	}
}

// ignores reports whether a process ignores a signal.
func ignores(t *testing.T, pid int, signal syscall.Signal) bool {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if mask, found := strings.CutPrefix(line, "SigIgn:"); found {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits&(1<<(signal-1)) != 0
		}
	}
	return false
}
