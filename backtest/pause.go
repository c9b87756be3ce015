package backtest

import (
	"context"
	"time"
)

// Limits of the pauses of a run that yields to other work.
const (
	workAtLeast = 5 * time.Millisecond
	restAtMost  = 250 * time.Millisecond
)

// Rest returns a function for one goroutine, to call between stretches of work. It waits as long as has passed since
// its last return, so the work takes half a core at most. The end of the context ends a wait.
func Rest(ctx context.Context) func() {
	last := time.Now()
	return func() {
		worked := time.Since(last)
		if worked < workAtLeast {
			return
		}
		rest := time.NewTimer(min(worked, restAtMost))
		defer rest.Stop()
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
		last = time.Now()
	}
}
