package engine

import (
	"errors"
	"fmt"
	"slices"

	"botd/reconcile/record"
	"botd/strategy"
)

// Signal is a request from outside, and what became of it.
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
	if s.Err = t.receive(leg, &s.Signal); s.Err != nil {
		t.note(name, leg.config.Symbol, NoteSignal{s.ID, s.Err})
		return
	}
	memory, _ := leg.state.Memory().With(leg.plan.Remembered())
	t.record(record.Record{Strategy: name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
	side := [...]string{"short", "flat", "long"}[s.Side+1]
	t.note(name, leg.config.Symbol, NoteSignal{Text: fmt.Sprintf("%s, %s of its size, as %s", side, s.Share, s.ID)})
	t.run(leg, t.nowMS)
}
