package hangup

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestSignalsAreHeldInADaemonAlone tries any flags before its command.
func TestSignalsAreHeldInADaemonAlone(t *testing.T) {
	for command, want := range map[string]bool{"botd run": true, "botd run --mode demo": true, "botd -v --config configs run": false, "botd -v run": true,
		"botd status": false, "botd status run": false, "botd": false, "": false, "run": false, "run run": true} {
		release()
		if have := hold(strings.Fields(command)); have != want {
			t.Errorf("%q: want them held %t", command, want)
		}
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1} {
			if signal.Ignored(s) != want {
				t.Errorf("%q: want %s ignored %t", command, s, want)
			}
		}
	}
	release()
	if Held {
		t.Error("want none held in a test")
	}
}

// release restores the effect of the signals.
func release() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGUSR1) // what is ignored is reset only then
	signal.Reset(syscall.SIGHUP, syscall.SIGUSR1)
}
