package engine

import (
	"errors"
	"slices"

	"botd/exchange"
)

// base is what every part of the engine works on: the configuration, the book, the
// strategies, when something is due, and the outbox of the event under way.
type base struct {
	*outbox
	agenda
	config  Config // Limits are those in force
	runs    []*run // sorted by name
	started bool
	measure func(what Measured, strategy string) (done func()) // nil: nobody looks at the clock
}

// agenda is when something is due; never when it is not.
type agenda struct {
	roundMS int64 // the next round
	pressMS int64 // a halt beside a round that hangs
	rulesMS int64 // the next read of the symbols' rules
}

// soon asks for a round while something is in flight.
func (e *base) soon() { e.roundMS = min(e.roundMS, e.nowMS+e.config.BusyRoundMS) }

func (e *base) trades(market exchange.Market) bool {
	return slices.ContainsFunc(e.runs, func(r *run) bool { return r.truth.Key().Market == market })
}

func (e *base) runNamed(name string) *run {
	for _, r := range e.runs {
		if r.config.Name == name {
			return r
		}
	}
	return nil
}

// configured is the run of a strategy that the configuration has.
func (e *base) configured(name string) *run {
	if r := e.runNamed(name); r != nil && !r.config.Removed {
		return r
	}
	return nil
}

// runOn is the strategy that trades a symbol.
func (e *base) runOn(key exchange.SymbolKey) *run {
	for _, r := range e.runs {
		if r.truth.Key() == key {
			return r
		}
	}
	return nil
}

func (e *base) symbolOf(key exchange.SymbolKey) *exchange.Symbol {
	if (key == exchange.SymbolKey{}) {
		return nil
	}
	return e.book.Symbol(key).Rules
}

// errorText is an error for a note: short, and never with a secret in it.
func errorText(err error) string {
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return err.Error()
}
