package backtest

import (
	"context"
	"time"
)

// How a run rests that leaves the machine to others.
const (
	workAtLeast = 5 * time.Millisecond
	restAtMost  = 250 * time.Millisecond
)

// Rest returns a function that waits as long as has passed since its last return, for one goroutine that calls
// it between stretches of work: so it takes half a core at most. The end of the context ends a wait.
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
