package shell

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"botd/internal/failure"
)

// signalTwice is within which a second signal is the first one still: whoever signals
// a process and its group (timeout, some supervisors) sends two at once, and nobody's
// fingers are as fast.
const signalTwice = 250 * time.Millisecond

// SignalContext is canceled with its parent, and by the first SIGINT or SIGTERM, with the signal as
// its cause; a second one ends the process at once.
func SignalContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go interrupted(signals, done, cancel, os.Exit)
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// interrupted cancels by the first signal and exits by the second, until it is done.
func interrupted(signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, exit func(code int)) {
	var first time.Time
	for {
		select {
		case s := <-signals:
			switch {
			case first.IsZero():
				first = time.Now()
				cancel(&failure.Signal{Signal: s})
			case time.Since(first) >= signalTwice:
				exit(failure.SignalCode(s))
				return
			}
		case <-done:
			return
		}
	}
}
