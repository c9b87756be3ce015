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

// Rest returns a function for one goroutine, to be called between stretches of work. It waits for as long as
// the goroutine has worked since the last call, so the work takes half a core at most. It returns early when
// the context ends.
func Rest(ctx context.Context) func() {
	last := time.Now()
	return func() {
		worked := time.Since(last)
		if worked < workAtLeast {
			return
		}
		select {
		case <-time.After(min(worked, restAtMost)):
		case <-ctx.Done():
		}
		last = time.Now()
	}
}
