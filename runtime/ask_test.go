package runtime

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime/engine"
	"botd/strategy"
)

// asker writes its questions to the story, and answers when a test does.
type asker struct {
	story   *story
	answers map[int64]func(strategy.Result)
}

func (a *asker) Put(ask *engine.Ask, answer func(strategy.Result)) {
	a.story.add(fmt.Sprint("ask ", ask.ID, " of ", ask.Name))
	a.answers[ask.ID] = answer
}

func (a *asker) Abandon(id int64) { a.story.add(fmt.Sprint("abandon ", id)) }

func (a *asker) End(ended *engine.EndedStrategy) { a.story.add("end " + ended.Name) }

// Each is an event once, whenever it comes; nobody waits for one that comes after the run.
func TestStrategyAnswersAreEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		a := &asker{r.story, map[int64]func(strategy.Result){}}
		r.config.Strategies = a
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			switch e := event.(type) {
			case *engine.EventStart:
				out.Asks = append(out.Asks, engine.Ask{ID: 1, Name: "trend"}, engine.Ask{ID: 2, Name: "hold"})
			case *engine.EventDecision:
				r.story.add(fmt.Sprint("decision ", e.AskID))
				out.Abandoned, out.Ended = append(out.Abandoned, 1), append(out.Ended, engine.EndedStrategy{Name: "trend"})
				out.Asks = append(out.Asks, engine.Ask{ID: 3, Name: "hold"})
			}
		}
		r.start(t)
		synctest.Wait()
		a.answers[2](strategy.Result{})
		synctest.Wait()
		want := []string{"ask 1 of trend", "ask 2 of hold", "decision 2", "abandon 1", "end trend", "ask 3 of hold"}
		if have := r.story.all(); !slices.Equal(have, want) {
			t.Errorf("want %q, have %q", want, have)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		for range 2 * maxEvents { // more than the capacity
			a.answers[3](strategy.Result{})
		}
		if have := r.story.all(); !slices.Equal(have, want) {
			t.Errorf("afterwards: want nothing taken, have %q", have)
		}
	})
}

// The engine learns it before each answer, each event from outside and each wake, but not before a journal's answer.
func TestFirstEventPrecedesOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		var due atomic.Bool
		r.config.First = func() engine.Event {
			if !due.Load() {
				return nil
			}
			return &engine.EventDisk{Reason: "first"}
		}
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			r.story.add(strings.TrimPrefix(fmt.Sprintf("%T", event), "*engine.Event"))
			switch event.(type) {
			case *engine.EventStart:
				out.Calls = append(out.Calls, call(1, engine.PriorityExit, "x"))
			case *engine.EventHalt:
				out.Records = append(out.Records, sendingOf("a"))
				r.machine.nextMS = time.Now().UnixMilli()
			case *engine.EventWake:
				r.machine.nextMS = time.Now().UnixMilli() + 3_600_000
			}
		}
		r.venue.takes, r.journal.takes = time.Second, time.Minute
		r.start(t)
		synctest.Wait()
		due.Store(true)
		time.Sleep(2 * time.Second)
		if err := r.driver.Send(t.Context(), &engine.EventHalt{}); err != nil {
			t.Fatal(err)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		var have []string
		for _, line := range r.story.all() {
			if !strings.Contains(line, " ") {
				have = append(have, line)
			}
		}
		if want := []string{"Start", "Disk", "Answer", "Disk", "Halt", "Disk", "Wake", "Journaled", "Stop"}; !slices.Equal(have, want) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
}

// The beat has the event's time, and comes while the engine is at rest.
func TestTheBeatFollowsEachEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		began := time.Now().UnixMilli()
		r.machine.on = func(nowMS int64, _ engine.Event, _ *engine.Effects) {
			r.story.add(fmt.Sprint("event at ", nowMS-began))
		}
		r.config.Beat = func(nowMS int64) { r.story.add(fmt.Sprint("beat at ", nowMS-began)) }
		r.start(t)
		time.Sleep(100 * time.Millisecond)
		if err := r.driver.Send(t.Context(), &engine.EventHalt{}); err != nil {
			t.Fatal(err)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		have := r.story.all()
		if want := []string{"event at 0", "beat at 0", "event at 100", "beat at 100"}; len(have) < 4 || !slices.Equal(have[:4], want) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
	if have := (&InternalError{"invariant 7", "its stack"}).Error(); have != "internal error: invariant 7\nits stack" {
		t.Errorf("have %q", have)
	}
}
