package shell

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"botd/internal/failure"
)

func TestASecondSignalEndsAtOnceUnlessItIsTheFirstStill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		gaps []time.Duration // from each signal to the next
		want int             // the exit code; 0 for none
	}{
		{"one", nil, 0},
		{"two at once, as timeout sends them", []time.Duration{0}, 0},
		{"two at once, and a third later", []time.Duration{0, time.Second}, 143},
		{"two from a person", []time.Duration{signalTwice}, 143},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			signals, done, code := make(chan os.Signal, 2), make(chan struct{}), 0
			go interrupted(signals, done, cancel, func(asked int) { code = asked })
			signals <- os.Interrupt
			for _, gap := range c.gaps {
				time.Sleep(gap) // virtual time
				signals <- syscall.SIGTERM
			}
			synctest.Wait()
			if s, ended := failure.SignalOf(context.Cause(ctx)); !ended || s != os.Interrupt {
				t.Errorf("%s: want the context ended by the first, have %v", c.name, context.Cause(ctx))
			}
			if code != c.want {
				t.Errorf("%s: want exit code %d, have %d", c.name, c.want, code)
			}
			close(done)
		})
	}
}

// TestASignalEndsTheContext sends one to this process; at the end of the function nothing is left of it.
func TestASignalEndsTheContext(t *testing.T) {
	ctx, end := SignalContext(t.Context())
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if s, ended := failure.SignalOf(context.Cause(ctx)); !ended || s != syscall.SIGTERM {
		t.Errorf("want SIGTERM, have %v", context.Cause(ctx))
	}
	end()
	synctest.Test(t, func(t *testing.T) { // a goroutine that is left would fail it
		ctx, end := SignalContext(t.Context())
		if ctx.Err() != nil {
			t.Error("want a context that has not ended")
		}
		end()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("want it ended, have %v", context.Cause(ctx))
		}
	})
}
