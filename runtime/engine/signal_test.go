package engine

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
	"botd/strategy/overlay"
)

// listening is a strategy that targets as many steps as the last signal's side specifies.
type listening struct{ scripted }

func (listening) Receive(view *strategy.View, signal *strategy.Signal, plan *strategy.Plan) error {
	if last, known := view.Memory.Get("at"); known && signal.AtMS <= last {
		return strategy.ErrRepeated
	}
	plan.Remember("at", signal.AtMS)
	plan.Remember("side", int64(signal.Side))
	return nil
}

func followSignals(view *strategy.View, plan *strategy.Plan) {
	if side, known := view.Memory.Get("side"); known {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(10 * side)}, "a signal")
	}
}

func listens(w *world) {
	w.config.Strategies[0].Strategy = overlay.Wrap(listening{scripted(followSignals)}, overlay.TradeSettings{Exit: overlay.Exit{TimeLimitMS: 3_600_000}})
	w.config.Strategies[0].Schedule = each(60_000)
}

func (w *world) signal(name string, side int, atMS int64) error {
	s := &Signal{Signal: strategy.Signal{ID: "s", Side: side, Share: exchange.RateOne, AtMS: atMS}}
	w.give(&EventAudited{Audit: &record.Audit{Actor: "signal"}, Event: &EventSignal{Strategy: name, Signal: s}})
	return s.Err
}

func TestSignalTakesEffectAtOnceAndSurvivesRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, followSignals, listens)
	w.pass(10_000)
	w.wantHeld(0)
	if err := w.signal("one", 1, 7); err != nil {
		t.Fatal(err)
	}
	w.pass(10_000) // less than the schedule's minute
	w.wantHeld(10)
	sent := len(w.sent)
	w.start()
	w.pass(10_000)
	if err := w.signal("one", -1, 7); !errors.Is(err, strategy.ErrRepeated) {
		t.Errorf("the same again after a restart: want %v, have %v", strategy.ErrRepeated, err)
	}
	w.pass(90_000)
	if w.wantHeld(10); len(w.sent) != sent {
		t.Errorf("want nothing sent after the restart, have %+v", w.sent[sent:])
	}
	if err := w.signal("one", -1, 8); err != nil {
		t.Fatal(err)
	}
	w.pass(20_000)
	w.wantHeld(-10)
	if taken := len(facts[NoteSignal](w.notes)); taken != 3 {
		t.Errorf("want a note of each of 3 signals, have %d", taken)
	}
	w.wantSound()
}

func TestUndeliverableSignalReturnsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(10_000)
	for name, want := range map[string]error{"one": ErrNoSignals, "two": ErrNoStrategy, "": ErrNoStrategy} {
		if err := w.signal(name, 1, 7); !errors.Is(err, want) {
			t.Errorf("to %q: want %v, have %v", name, want, err)
		}
	}
	early := newWorld(t, followSignals, listens)
	if err := early.signal("one", 1, 7); !errors.Is(err, ErrNotReady) {
		t.Errorf("before there is a price: want %v, have %v", ErrNotReady, err)
	}
	w = newWorld(t, followSignals, listens)
	w.pass(10_000)
	w.give(&EventStop{Shutdown: ShutdownLeave})
	if err := w.signal("one", 1, 7); !errors.Is(err, ErrStopping) {
		t.Errorf("while stopping: want %v, have %v", ErrStopping, err)
	}
}

func TestAStrategyThatPanicsOnASignalIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, followSignals, listens, func(w *world) { w.config.Strategies[0].Strategy = fragile{scripted(followSignals)} })
	w.pass(10_000)
	if err := w.signal("one", 1, 7); !errors.Is(err, ErrFailed) {
		t.Errorf("want %v, have %v", ErrFailed, err)
	}
	if have := w.engine.Status().Strategies[0].State; have != "failed" {
		t.Errorf("want it failed, have %s", have)
	}
}

type fragile struct{ scripted }

func (fragile) Receive(*strategy.View, *strategy.Signal, *strategy.Plan) error { panic("a fault") }

// heard makes the engine prepare a signal for a strategy that runs outside the engine.
func (w *world) heard(name string, side int, atMS int64) *Signal {
	s := &Signal{Signal: strategy.Signal{ID: "s", Side: side, Share: exchange.RateOne, AtMS: atMS}}
	w.give(&EventPrepareSignal{Strategy: name, Signal: s})
	return s
}

func (w *world) given(name string, s *Signal) error {
	w.give(&EventAudited{Audit: &record.Audit{Actor: "signal"}, Event: &EventSignal{Strategy: name, Signal: s}})
	return s.Err
}

func TestSignalIsAnsweredOutsideTheEngineLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, followSignals, listens, offload)
	w.pass(10_000)
	if err := w.signal("one", 1, 7); !errors.Is(err, ErrNotReady) {
		t.Errorf("a signal that nobody has answered: want %v, have %v", ErrNotReady, err)
	}
	first, second := w.heard("one", 1, 7), w.heard("one", -1, 8)
	if first.Err != nil || first.Reception == nil || first.Reception.WithinMS != DefaultDeadlineMS {
		t.Fatalf("want it to be answered within the deadline, have %+v", first)
	}
	first.Reception.Answer()
	second.Reception.Answer()
	if err := w.given("one", first); err != nil {
		t.Fatal(err)
	}
	if err := w.given("one", second); !errors.Is(err, ErrMemoryChanged) {
		t.Errorf("an answer from before the first was taken: want %v, have %v", ErrMemoryChanged, err)
	}
	w.pass(10_000)
	w.wantHeld(10)
	again := w.heard("one", 1, 7)
	again.Reception.Answer()
	if err := w.given("one", again); !errors.Is(err, strategy.ErrRepeated) {
		t.Errorf("the same again: want %v, have %v", strategy.ErrRepeated, err)
	}
	if s := w.heard("none", 1, 9); s.Reception != nil || !errors.Is(w.given("none", s), ErrNoStrategy) {
		t.Errorf("want %v, have %+v", ErrNoStrategy, s)
	}
}

func TestLateSignalHangsOnlyItsStrategy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, followSignals, listens, offload)
	w.pass(10_000)
	late := w.heard("one", 1, 7)
	late.Reception.Late = true
	if err := w.given("one", late); !errors.Is(err, ErrLate) {
		t.Fatalf("want %v, have %v", ErrLate, err)
	}
	if d := w.wantState("hung"); !strings.Contains(d.Cause, "did not answer a signal within 2s") {
		t.Errorf("want the signal named, have %+v", d)
	}
	broken := w.heard("one", 1, 7)
	broken.Reception.Strategy = nil
	if err := w.given("one", broken); !errors.Is(err, ErrNotReady) {
		t.Errorf("an answer of a strategy that was replaced: want %v, have %v", ErrNotReady, err)
	}
	w.pass(120_000) // it answers again
	w.wantAnswering()
	w.wantHeld(0)
}
