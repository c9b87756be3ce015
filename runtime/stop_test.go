package runtime

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
)

// placing makes the engine have one placement in flight from its start.
func (r *rig) placing() {
	r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
		switch event.(type) {
		case *engine.EventStart:
			out.Calls = append(out.Calls, call(1, engine.PriorityExit, "order"))
			r.machine.inFlight = true
		case *engine.EventAnswer:
			r.machine.inFlight = false
		}
	}
}

func TestStopWaitsForCallsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.placing()
		r.venue.takes = 7 * time.Second
		r.start(t)
		synctest.Wait()
		began := time.Now()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want, have := 7*time.Second, time.Since(began); want != have {
			t.Errorf("stopping: want %s, have %s", want, have)
		}
		if err := r.answerTo(t, 1).Err; err != nil {
			t.Errorf("the answer counts: want none, have %v", err)
		}
		if want, have := r.machine.OpenLeft(), r.driver.OpenLeft(); !slices.Equal(want, have) {
			t.Errorf("open left: want %q, have %q", want, have)
		}
		if len(given[*engine.EventStop](r.machine)) == 0 {
			t.Errorf("want a stop event, have %T", r.machine.seen)
		}
	})
}

func TestStoppingGivesUpAfterItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.placing()
		r.config.CallTimeout, r.venue.takes = time.Hour, time.Hour
		r.start(t)
		synctest.Wait()
		began := time.Now()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want, have := DefaultStopTimeout, time.Since(began); want != have {
			t.Errorf("stopping: want %s, have %s", want, have)
		}
		if len(r.driver.OpenLeft()) != 1 {
			t.Error("want what is left open listed, have nothing")
		}
	})
}

func TestStoppingTakesOpeningsOutOfTheQueueAndLetsExitsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Workers, r.venue.takes = 1, 2*time.Second
		answers := 0
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch event.(type) {
			case *engine.EventStart:
				r.machine.inFlight = true
				out.Calls = append(out.Calls, call(1, engine.PriorityExit, "first"), call(2, engine.PriorityOpening, "entry"),
					call(3, engine.PriorityExit, "exit"))
			case *engine.EventAnswer:
				answers++
				r.machine.inFlight = answers < 3
			}
		}
		r.start(t)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want, have := []string{"sent first", "sent exit"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("requests: want %q, have %q", want, have)
		}
		var unsent *exchange.Unavailable
		if err := r.answerTo(t, 2).Err; !errors.As(err, &unsent) {
			t.Errorf("the entry: want it surely not sent, have %v", err)
		}
	})
}

func TestAskingAStoppedDriverFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.start(t)
		if err := r.driver.Query(t.Context(), func() { r.story.add("read") }); err != nil {
			t.Error(err)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if err := r.driver.Query(t.Context(), func() { r.story.add("read late") }); !errors.Is(err, ErrStopped) {
			t.Errorf("query: want %v, have %v", ErrStopped, err)
		}
		if err := r.driver.Send(t.Context(), &engine.EventHalt{}); !errors.Is(err, ErrStopped) {
			t.Errorf("send: want %v, have %v", ErrStopped, err)
		}
		if want, have := []string{"read"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
}
