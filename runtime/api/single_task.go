package api

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

// single runs one task at a time, and lists the newest ones.
type single[Run any] struct {
	mu      sync.Mutex // guards the four below
	runs    []Run      // oldest first
	cancel  context.CancelCauseFunc
	busy    bool // a run is in progress, or about to begin
	stopped bool // nothing begins any more

	group sync.WaitGroup
}

// started returns the listed runs, newest first.
func (q *single[Run]) started(*request) ([]Run, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := slices.Clone(q.runs)
	slices.Reverse(items)
	return items, nil
}

// claim claims the single slot; release frees it.
func (q *single[Run]) claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := !q.busy && !q.stopped
	q.busy = q.busy || first
	return first
}

func (q *single[Run]) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy, q.cancel = false, nil
}

// begin starts a run that has claimed the slot. Its context ends after the timeout, with that cause.
func (q *single[Run]) begin(run *Run, timeout time.Duration, cause error, do func(context.Context)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.runs) == maxRuns {
		q.runs = q.runs[:copy(q.runs, q.runs[1:])]
	}
	q.runs, q.cancel = append(q.runs, *run), cancel
	q.group.Go(func() {
		defer cancel(nil)
		limited, stop := context.WithTimeoutCause(ctx, timeout, cause)
		defer stop()
		do(limited)
	})
}

// outcome returns the state of a run that has ended, and the text of its error.
func outcome(ctx context.Context, err error) (state, text string) {
	if err == nil {
		return "done", ""
	}
	if cause := context.Cause(ctx); cause != nil {
		return "canceled", cause.Error()
	}
	return "failed", err.Error()
}

// addReport writes a report to a directory of its own, and moves it to its place only when it is complete.
func addReport(partial, place string, write func() error) error {
	err := os.RemoveAll(partial) // one at a time: a partial report of an earlier start is in the way
	if err == nil {
		err = write()
	}
	if err == nil {
		err = os.Rename(partial, place)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(partial))
	}
	return err
}

// stop ends a run, and waits for that a short time.
func (q *single[Run]) stop() {
	q.mu.Lock()
	if q.cancel != nil {
		q.cancel(errStopping)
	}
	q.stopped = true
	q.mu.Unlock()
	ended := make(chan struct{})
	go func() { q.group.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
	}
}
