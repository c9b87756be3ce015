package engine

import (
	"errors"
	"fmt"
	"slices"

	"botd/reconcile/record"
	"botd/strategy"
)

// Signal is a wish from outside, and what became of it.
type Signal struct {
	strategy.Signal
	Err error // set by Handle: why it was not taken
}

// Why a signal reaches nobody.
var (
	ErrNoStrategy = errors.New("no such strategy")
	ErrDeaf       = errors.New("the strategy takes no signals")
	ErrFailed     = errors.New("the strategy has failed and is stopped")
	ErrNotYet     = errors.New("the strategy has no price yet")
	ErrStopping   = errors.New("botd is stopping")
)

// signal gives a strategy a wish from outside. What it remembers of it is a record,
// and it is asked at once what it wishes now.
func (e *tick) signal(name string, s *Signal) {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.config.Name == name && !r.config.Removed })
	if i < 0 {
		s.Err = fmt.Errorf("%w: %q", ErrNoStrategy, name)
		return
	}
	if s.Err = ErrStopping; e.halts.stopped || e.halts.closing != record.LevelNone {
		return
	}
	r := e.runs[i]
	if s.Err = e.receive(r, &s.Signal); s.Err != nil {
		e.note(name, r.config.Symbol, NoteSignal{s.ID, s.Err})
		return
	}
	memory, _ := r.state.Memory().With(r.plan.Remembered())
	e.record(record.Record{Strategy: name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
	side := [...]string{"short", "flat", "long"}[s.Side+1]
	e.note(name, r.config.Symbol, NoteSignal{Text: fmt.Sprintf("%s, %s of its size, as %s", side, s.Share, s.ID)})
	e.tick(r, e.nowMS)
}

// receive asks the strategy to take the signal into its memory.
func (e *tick) receive(r *run, s *strategy.Signal) error {
	receiver, takes := strategy.ReceiverOf(r.config.Strategy)
	switch {
	case !takes:
		return ErrDeaf
	case r.failed != "":
		return ErrFailed
	case r.truth.Last == 0 || r.seen < r.config.Strategy.Warmup():
		return ErrNotYet
	}
	e.see(r, e.nowMS)
	var refused error
	e.guard(r, func(r *run) { refused = receiver.Receive(&r.view, s, &r.plan) })
	if r.failed != "" {
		return ErrFailed
	}
	return refused
}
