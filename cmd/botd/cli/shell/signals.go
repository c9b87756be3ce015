package shell

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"botd/internal/failure"
)

// signalTwice is the time in which a second signal still counts as the first. A sender that signals a process
// and its group (timeout, some supervisors) sends two at once; a person is slower.
const signalTwice = 250 * time.Millisecond

// SignalContext returns a context that ends with its parent or at the first SIGINT or SIGTERM, with the signal
// as its cause; a second signal exits the process at once.
func SignalContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go interrupted(signals, done, cancel, os.Exit)
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// interrupted cancels at the first signal and exits at the second, until done is closed.
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
