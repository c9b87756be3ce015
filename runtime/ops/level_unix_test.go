//go:build unix

package ops

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestASignalTogglesDebugLines sends SIGUSR1 to the test itself, twice.
func TestASignalTogglesDebugLines(t *testing.T) {
	logs := NewLogs()
	lines := make(chan LogLine, 10)
	logs.Follow(func(l LogLine) { lines <- l })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ToggleDebug(ctx, logs, NewConsole(io.Discard, Format{JSON: true}, nil, logs))
	for _, level := range []string{"debug", "info"} {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if l := <-lines; l.Level != "warn" || l.Event != "log.level" || l.Message != "log       level "+level+", by SIGUSR1" || logs.Level() != level {
			t.Errorf("want level %s, have %s and %+v", level, logs.Level(), l)
		}
	}
}
