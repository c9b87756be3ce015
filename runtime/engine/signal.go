package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"botd/reconcile/record"
	"botd/strategy"
)

// Signal is an external request and its outcome.
type Signal struct {
	strategy.Signal
	Err error // set by Handle: why it was not accepted

	// Reception is set by EventPrepareSignal if strategies run outside the engine; EventSignal
	// applies it once it has been answered.
	Reception *Reception
}

// Reception is a strategy that is to receive a signal outside the engine.
type Reception struct {
	Name     string
	Strategy strategy.Strategy
	WithinMS int64 // deadline of an answer
	Late     bool  // there was no answer in time

	view    strategy.View
	signal  strategy.Signal
	plan    strategy.Plan
	refused error
	failure string
}

// Answer has the strategy store the signal in its memory. It shares no mutable data with the
// engine.
func (r *Reception) Answer() {
	defer func() {
		if cause := recover(); cause != nil {
			r.failure = fmt.Sprint(cause)
		}
	}()
	receiver, _ := strategy.ReceiverOf(r.Strategy)
	r.refused = receiver.Receive(&r.view, &r.signal, &r.plan)
}

// Reasons why a signal is not delivered.
var (
	ErrNoStrategy    = errors.New("no such strategy")
	ErrNoSignals     = errors.New("the strategy does not accept signals")
	ErrFailed        = errors.New("the strategy has failed and is stopped")
	ErrNotReady      = errors.New("the strategy is not ready: it is warming up, has no price yet, or was just replaced")
	ErrStopping      = errors.New("botd is stopping")
	ErrLate          = errors.New("the strategy has not answered in time")
	ErrMemoryChanged = errors.New("the strategy's memory has changed meanwhile")
)

// prepareSignal prepares the state for delivering a signal outside the engine.
func (t *tick) prepareSignal(name string, s *Signal) {
	i := slices.IndexFunc(t.legs, func(leg *leg) bool { return leg.config.Name == name && !leg.config.Removed })
	if i < 0 || !t.config.Offload {
		return
	}
	leg := t.legs[i]
	if s.Err = t.signalObstacle(leg); s.Err != nil {
		return
	}
	t.refreshView(leg, t.nowMS)
	s.Reception = &Reception{Name: name, Strategy: leg.config.Strategy, WithinMS: leg.deadlineMS(), view: leg.view.Snapshot(), signal: s.Signal}
}

// received applies the result of a signal delivered outside the engine.
func (t *tick) received(leg *leg, r *Reception) error {
	switch {
	case r == nil || r.Strategy != leg.config.Strategy:
		return ErrNotReady // it was replaced after the signal had been prepared
	case r.Late:
		t.declareHung(leg, fmt.Sprintf("it did not answer a signal within %s", time.Duration(r.WithinMS)*time.Millisecond))
		return ErrLate
	case r.failure != "":
		t.fail(leg, r.failure)
		return ErrFailed
	case !slices.Equal(leg.state.Memory().Entries(), r.view.Memory.Entries()):
		return ErrMemoryChanged
	}
	leg.plan = r.plan
	return r.refused
}

// signal delivers an external request to a strategy. Its memory is a record, and it decides at
// once.
func (t *tick) signal(name string, s *Signal) {
	i := slices.IndexFunc(t.legs, func(leg *leg) bool { return leg.config.Name == name && !leg.config.Removed })
	if i < 0 {
		s.Err = fmt.Errorf("%w: %q", ErrNoStrategy, name)
		return
	}
	if s.Err = ErrStopping; t.stopped || t.closing != record.LevelNone {
		return
	}
	leg := t.legs[i]
	if s.Err = t.receive(leg, s); s.Err != nil {
		t.note(name, leg.config.Symbol, NoteSignal{s.ID, s.Err})
		return
	}
	memory, _ := leg.state.Memory().With(leg.plan.Remembered())
	if why := memory.OutOfBounds(); why != "" {
		t.fail(leg, why)
		s.Err = ErrFailed
		return
	}
	t.record(record.Record{Strategy: name, Body: record.Memory{Entries: memory.Entries()}})
	side := [...]string{"short", "flat", "long"}[s.Side+1]
	t.note(name, leg.config.Symbol, NoteSignal{Text: fmt.Sprintf("%s, %s of its size, as %s", side, s.Share, s.ID)})
	t.run(leg, t.nowMS)
}
