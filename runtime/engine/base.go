package engine

import (
	"botd/reconcile"
)

// base is what every part of the engine works on: the configuration, the book, the
// strategies, when something is due, and the outbox of the event under way.
type base struct {
	*outbox
	agenda
	config  Config // Limits are those in force
	book    *reconcile.Book
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
