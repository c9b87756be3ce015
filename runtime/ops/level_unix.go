//go:build unix

package ops

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ToggleDebug turns debug lines on and off at each SIGUSR1, until the context ends.
func ToggleDebug(ctx context.Context, logs *Logs, console *Console) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				level := "debug"
				if logs.Level() == level {
					level = "info"
				}
				if err := logs.SetLevel(level); err == nil { // both are known levels
					console.Warn("log.level", "log       level %s, by SIGUSR1", level)
				}
			}
		}
	}()
}
