package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"botd/reconcile/record"
	"botd/strategy"
)

// Signal is a request from outside, and what became of it.
type Signal struct {
	strategy.Signal
	Err error // set by Handle: why it was not taken

	// Reception is set by EventPrepareSignal where strategies answer off the engine; EventSignal takes it
	// back when somebody has had it answered.
	Reception *Reception
}

// Reception is a strategy that is to take a signal, off the engine.
type Reception struct {
	Name     string
	Strategy strategy.Strategy
	WithinMS int64 // of an answer
	Late     bool  // there was none in time

	view    strategy.View
	signal  strategy.Signal
	plan    strategy.Plan
	refused error
	failure string
}

// Answer has the strategy take the signal into its memory. Whoever calls it shares nothing with
// the engine that changes.
func (r *Reception) Answer() {
	defer func() {
		if cause := recover(); cause != nil {
			r.failure = fmt.Sprint(cause)
		}
	}()
	receiver, _ := strategy.ReceiverOf(r.Strategy)
	r.refused = receiver.Receive(&r.view, &r.signal, &r.plan)
}

// Why a signal reaches nobody.
var (
	ErrNoStrategy = errors.New("no such strategy")
	ErrDeaf       = errors.New("the strategy takes no signals")
	ErrFailed     = errors.New("the strategy has failed and is stopped")
	ErrNotYet     = errors.New("the strategy has no price yet")
	ErrStopping   = errors.New("botd is stopping")
	ErrLate       = errors.New("the strategy has not answered in time")
	ErrMoved      = errors.New("the strategy has remembered something else meanwhile")
)

// prepareSignal prepares what a strategy is asked with that is to take a signal off the engine.
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

// received takes what a strategy made of a signal off the engine.
func (t *tick) received(leg *leg, r *Reception) error {
	switch {
	case r == nil || r.Strategy != leg.config.Strategy:
		return ErrNotYet // it was replaced meanwhile
	case r.Late:
		t.hang(leg, fmt.Sprintf("it has not taken a signal within %s", time.Duration(r.WithinMS)*time.Millisecond))
		return ErrLate
	case r.failure != "":
		t.fail(leg, r.failure)
		return ErrFailed
	case !slices.Equal(leg.state.Memory().Entries(), r.view.Memory.Entries()):
		return ErrMoved
	}
	leg.plan = r.plan
	return r.refused
}

// signal gives a strategy a request from outside. What it remembers of it is a record,
// and it decides at once.
func (t *tick) signal(name string, s *Signal) {
	i := slices.IndexFunc(t.legs, func(leg *leg) bool { return leg.config.Name == name && !leg.config.Removed })
	if i < 0 {
		s.Err = fmt.Errorf("%w: %q", ErrNoStrategy, name)
		return
	}
	if s.Err = ErrStopping; t.halts.stopped || t.halts.closing != record.LevelNone {
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
	t.record(record.Record{Strategy: name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
	side := [...]string{"short", "flat", "long"}[s.Side+1]
	t.note(name, leg.config.Symbol, NoteSignal{Text: fmt.Sprintf("%s, %s of its size, as %s", side, s.Share, s.ID)})
	t.run(leg, t.nowMS)
}
