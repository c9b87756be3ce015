package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
)

func TestMoreUrgentCallsAreSentFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Workers, r.venue.takes = 1, time.Second
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch event.(type) {
			case *engine.EventStart:
				out.Calls = append(out.Calls, call(1, engine.PriorityMarket, "busy"))
			case *engine.EventRound:
				out.Calls = append(out.Calls, call(2, engine.PriorityMarket, "market"), call(3, engine.PriorityOpening, "entry"),
					call(4, engine.PrioritySettle, "settle"), call(5, engine.PriorityExit, "exit"), call(6, engine.PriorityExit, "exit again"))
			}
		}
		r.start(t)
		synctest.Wait() // the only worker is busy
		if err := r.driver.Send(t.Context(), &engine.EventRound{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		want := []string{"sent busy", "sent exit", "sent exit again", "sent settle", "sent entry", "sent market"}
		if have := r.story.all(); !slices.Equal(want, have) {
			t.Errorf("order of requests: want %q, have %q", want, have)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnExitDoesNotWaitForAnExchangeSlowWithReads(t *testing.T) {
	t.Parallel()
	for _, reads := range []engine.Priority{engine.PriorityMarket, engine.PrioritySettle} {
		t.Run(fmt.Sprint("priority ", reads), func(t *testing.T) {
			t.Parallel()
			exitDuringRead(t, reads)
		})
	}
}

func exitDuringRead(t *testing.T, reads engine.Priority) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.venue.takes = 8 * time.Second
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch event.(type) {
			case *engine.EventStart:
				for i := range 100 {
					out.Calls = append(out.Calls, call(int64(i+1), reads, "read"))
				}
			case *engine.EventRound:
				out.Calls = append(out.Calls, call(200, engine.PriorityExit, "exit"))
			}
		}
		r.start(t)
		synctest.Wait()
		if err := r.driver.Send(t.Context(), &engine.EventRound{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // no time has passed
		if have := r.story.all(); !slices.Contains(have, "sent exit") {
			t.Errorf("want the exit sent at once beside the reads, have %d requests and no exit", len(have))
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestExpiredPlacementIsReportedUnsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Workers, r.venue.takes = 1, 3*time.Second
		deadline := time.Now().Add(2 * time.Second).UnixMilli()
		late, onTime := call(2, engine.PriorityExit, "late"), call(1, engine.PriorityExit, "on time")
		late.DeadlineMS, onTime.DeadlineMS = deadline, deadline
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			if is[*engine.EventStart](event) {
				out.Calls = append(out.Calls, onTime, late)
			}
		}
		r.start(t)
		time.Sleep(10 * time.Second)
		if want, have := []string{"sent on time"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("requests: want %q, have %q", want, have)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		answer := r.answerTo(t, 2)
		var unsent *exchange.Unavailable
		if !errors.As(answer.Err, &unsent) || !strings.Contains(unsent.Reason, "time to live had passed by 1000 ms") {
			t.Errorf("answer to the late one: want it unavailable, surely not sent, have %v", answer.Err)
		}
	})
}

// punctualVenue notes the deadlines of requests, and waits before it sends.
type punctualVenue struct {
	*scriptedVenue
	until map[string]int64
	waits time.Duration
}

func (v *punctualVenue) DoBefore(ctx context.Context, request exchange.Request, departure exchange.SendLimit) (exchange.Answer, error) {
	v.until[request.Symbol] = departure.NotAfterMS
	select {
	case <-time.After(v.waits):
	case <-departure.Recalled:
		return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "not sent"}
	}
	return v.Do(ctx, request)
}

func TestAnOpeningIsCalledBackWhereverItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Venue, r.config.Workers = &punctualVenue{r.venue, map[string]int64{}, 5 * time.Second}, 1
		answered := map[int64]time.Time{}
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch event := event.(type) {
			case *engine.EventStart:
				for id, name := range []string{"waits in the client", "waits for a worker", "goes"} {
					opening := call(int64(id), engine.PriorityOpening, name)
					opening.DeadlineMS = time.Now().Add(time.Minute).UnixMilli()
					out.Calls = append(out.Calls, opening)
				}
			case *engine.EventHalt:
				out.Recalls = append(out.Recalls, 0, 1, 7) // there is no call 7
			case *engine.EventAnswer:
				answered[event.CallID] = time.Now()
				out.Recalls = append(out.Recalls, event.CallID) // too late for it
			}
		}
		r.start(t)
		synctest.Wait()
		began := time.Now()
		if err := r.driver.Send(t.Context(), &engine.EventHalt{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want, have := []string{"sent goes"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("requests: want %q, have %q", want, have)
		}
		var unsent *exchange.Unavailable
		for id := range int64(2) {
			if err := r.answerTo(t, id).Err; !errors.As(err, &unsent) {
				t.Errorf("call %d: want it surely not sent, have %v", id, err)
			}
			if !answered[id].Equal(began) {
				t.Errorf("call %d: want an answer at once, have it after %s", id, answered[id].Sub(began))
			}
		}
	})
}

// Memory must not grow with each opening.
func TestAnsweredOpeningsAreNotStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Workers = 1
		answers := 0
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch event.(type) {
			case *engine.EventStart:
				for id := range int64(3) {
					out.Calls = append(out.Calls, call(id, engine.PriorityOpening, "an opening"))
				}
			case *engine.EventAnswer:
				answers++
			}
		}
		r.start(t)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		queue := r.driver.queue
		queue.mu.Lock()
		begun := len(queue.begun)
		queue.mu.Unlock()
		if answers != 3 || begun != 0 {
			t.Errorf("want three answers and nothing stored, have %d and %d", answers, begun)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestVenueReceivesDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		venue := &punctualVenue{r.venue, map[string]int64{}, 0}
		r.config.Venue, r.config.Workers = venue, 1
		deadline := time.Now().Add(time.Second).UnixMilli()
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			if is[*engine.EventStart](event) {
				placement := call(1, engine.PriorityExit, "placement")
				placement.DeadlineMS = deadline
				out.Calls = append(out.Calls, placement, call(2, engine.PriorityExit, "read"))
			}
		}
		r.start(t)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want := map[string]int64{"placement": deadline}; !maps.Equal(want, venue.until) {
			t.Errorf("deadlines: want %v, have %v", want, venue.until)
		}
		if want, have := []string{"sent placement", "sent read"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("requests: want %q, have %q", want, have)
		}
	})
}

func (r *rig) answerTo(t *testing.T, id int64) *engine.EventAnswer {
	t.Helper()
	for _, answer := range given[*engine.EventAnswer](r.machine) {
		if answer.CallID == id {
			return answer
		}
	}
	t.Fatalf("call %d has no answer; events %T", id, r.machine.seen)
	return nil
}

func TestACallIsCutOffAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.CallTimeout, r.venue.takes = 2*time.Second, time.Hour
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			if is[*engine.EventStart](event) {
				out.Calls = append(out.Calls, call(1, engine.PriorityOpening, "slow"))
			}
		}
		r.start(t)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if err := r.answerTo(t, 1).Err; exchange.ErrorKind(err) != "uncertain" {
			t.Errorf("answer: want uncertain, have %v", err)
		}
	})
}

func TestAFullQueueAnswersEveryCallAndNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.venue.takes = time.Millisecond
		const calls = maxQueued * 2
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			if is[*engine.EventStart](event) {
				for i := range calls {
					out.Calls = append(out.Calls, call(int64(i+1), engine.PriorityMarket, "x"))
				}
			}
		}
		r.start(t)
		time.Sleep(time.Minute)
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		answered := map[int64]int{}
		for _, answer := range given[*engine.EventAnswer](r.machine) {
			answered[answer.CallID]++
		}
		for id := int64(1); id <= calls; id++ {
			if answered[id] != 1 {
				t.Fatalf("call %d: want one answer, have %d", id, answered[id])
			}
		}
		if sent := len(r.story.all()); sent > maxQueued+defaultWorkers {
			t.Errorf("requests sent: want at most %d, have %d", maxQueued+defaultWorkers, sent)
		}
	})
}

func TestEngineIsWokenAtRequestedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		began := time.Now().UnixMilli()
		var woken []int64
		r.machine.nextMS = began + 1_500
		r.machine.on = func(nowMS int64, event engine.Event, _ *engine.Effects) {
			if is[*engine.EventWake](event) {
				woken = append(woken, nowMS-began)
				r.machine.nextMS = nowMS + 700
			}
		}
		r.start(t)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want := []int64{1_500, 2_200, 2_900}; !slices.Equal(want, woken) {
			t.Errorf("wakes: want %v ms, have %v", want, woken)
		}
	})
}

func TestIdleLoopBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		beats := 0
		r.config.Beat = func(int64) { beats++ }
		r.start(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if beats < 60 {
			t.Errorf("beats in a quiet minute: want at least 60, have %d", beats)
		}
	})
}

func TestImmediateWakesDoNotSpin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.machine.nextMS = 0
		r.start(t)
		time.Sleep(100 * time.Millisecond) // without a pause the bubble's time would stand still
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if wakes := len(r.machine.seen); wakes > 110 {
			t.Errorf("events in 100 ms: want at most 110, have %d", wakes)
		}
	})
}

func TestAPanicInTheEngineEndsTheRunWithItsStack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where  string
		breaks func(r *rig)
	}{
		{"the engine", func(r *rig) { r.machine.on = func(int64, engine.Event, *engine.Effects) { panic("invariant 7") } }},
		{"the venue", func(r *rig) {
			r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
				if is[*engine.EventStart](event) {
					out.Calls = append(out.Calls, call(1, engine.PriorityExit, "x"))
				}
			}
			r.venue.do = nil
			r.config.Venue = nil // a nil interface: the worker panics
		}},
		{"the journal", func(r *rig) {
			r.journal.fails = func(int) error { panic("invariant 7") }
			r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
				if is[*engine.EventStart](event) {
					out.Records = append(out.Records, sendingOf("a"))
				}
			}
		}},
	} {
		t.Run(c.where, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig()
				c.breaks(r)
				r.start(t)
				err := <-r.ended
				var internal *InternalError
				if !errors.As(err, &internal) || !strings.Contains(internal.Stack, "runtime") {
					t.Fatalf("want an internal error with a stack, have %v", err)
				}
				if err := r.driver.Send(t.Context(), &engine.EventHalt{}); !errors.Is(err, ErrStopped) {
					t.Errorf("an event afterwards: want %v, have %v", ErrStopped, err)
				}
				r.stop(nil)
			})
		})
	}
}

func TestNotesAreShownInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		var shown []string
		r.config.Notes = func(n *engine.Note) { shown = append(shown, fmt.Sprint(n.Fact)) }
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			out.Notes = append(out.Notes, engine.Note{Fact: engine.NoteReload{Text: fmt.Sprintf("%T", event)}}, engine.Note{Fact: engine.NoteRound{}})
		}
		r.start(t)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		want := []string{"{*engine.EventStart}", "{false 0 0 0}", "{*engine.EventStop}", "{false 0 0 0}"}
		if !slices.Equal(want, shown) {
			t.Errorf("want %q, have %q", want, shown)
		}
	})
}

// setClock is a clock that was set.
type setClock int64

func (c setClock) ServerNowMS() int64 { return int64(c) }

// The loop waits at most a second, so that a change of the clock is noticed, and a moment after a wake that changed
// nothing.
func TestTheLoopWaitsUntilTheEngineIsDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nextMS int64
		woken  bool
		want   time.Duration
	}{
		{10_001, false, time.Millisecond}, {10_001, true, time.Millisecond}, {10_700, true, 700 * time.Millisecond}, {10_999, false, 999 * time.Millisecond},
		{11_000, false, time.Second}, {11_001, false, time.Second}, {math.MaxInt64, false, time.Second}, {10_000, false, 0}, {10_000, true, time.Millisecond},
		{9_000, false, 0}, {9_000, true, time.Millisecond},
	} {
		d := New(Config{Machine: &machine{nextMS: c.nextMS}, Clock: setClock(10_000)})
		if have := d.wait(c.woken); have != c.want {
			t.Errorf("due at %d, woken %t: want %s, have %s", c.nextMS, c.woken, c.want, have)
		}
	}
}

// The rule needs three or more workers; fewer workers serve everything.
func TestWorkersAreReservedForExitsAndReads(t *testing.T) {
	t.Parallel()
	const exit, settle, all = engine.PriorityExit, engine.PrioritySettle, engine.PriorityMarket
	for workers, want := range map[int][]engine.Priority{1: {all}, 2: {all, all}, 3: {exit, settle, all}, 5: {exit, settle, all, all, all}} {
		for worker := range workers {
			if have := servedBy(worker, workers); have != want[worker] {
				t.Errorf("worker %d of %d: want priorities up to %d, have %d", worker+1, workers, want[worker], have)
			}
		}
	}
	if d := New(Config{}); d.config.Workers != 24 || d.config.CallTimeout != 10*time.Second || d.config.StopTimeout != 10*time.Second {
		t.Errorf("want 24 workers, and 10 s for a call and for stopping, have %+v", d.config)
	}
	set := Config{Workers: 3, CallTimeout: time.Second, StopTimeout: time.Minute}
	if d := New(set); d.config.Workers != 3 || d.config.CallTimeout != time.Second || d.config.StopTimeout != time.Minute {
		t.Errorf("want what is set left, have %+v", d.config)
	}
}

// The request is sent in its last millisecond, and not later.
func TestARequestIsSentUpToItsTimeToLive(t *testing.T) {
	t.Parallel()
	for deadlineMS, want := range map[int64]string{0: "", 10_000: "", 10_001: "", 9_999: "its time to live had passed by 1 ms", 9_000: "passed by 1000 ms"} {
		s := &story{}
		d := New(Config{Venue: &scriptedVenue{story: s}, Clock: setClock(10_000)})
		due := call(1, engine.PriorityOpening, "x")
		due.DeadlineMS = deadlineMS
		_, err := d.perform(t.Context(), &due, nil)
		if sent := len(s.all()) == 1; sent != (want == "") || (err == nil) != sent || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("by %d at 10000: want %q, have sent %t, %v", deadlineMS, want, sent, err)
		}
	}
}
