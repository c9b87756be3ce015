package strategy

import (
	"errors"

	"botd/exchange"
)

// Signal is an external request for a position.
type Signal struct {
	ID        string        // unique: a signal takes effect once, however often it arrives
	Side      int           // +1 long, -1 short, 0 flat
	Share     exchange.Rate // of the configured size
	AtMS      int64         // time at which it was created
	ExpiresMS int64         // when it expires; 0 leaves that to the strategy
}

// Receiver is a strategy that accepts signals.
type Receiver interface {
	// Receive stores a signal in the plan's memory (Plan.Remember) and has no other effect. If it
	// refuses the signal, it returns the reason as an error.
	Receive(view *View, signal *Signal, plan *Plan) error
}

// Reasons for refusing a signal.
var (
	ErrRepeated   = errors.New("it was already accepted")
	ErrReused     = errors.New("its id was used before for another request: every signal needs a unique id")
	ErrSuperseded = errors.New("a newer signal was already accepted")
	ErrLate       = errors.New("it is too old")
	ErrEarly      = errors.New("its time is in the future: a clock is wrong")
	ErrUnable     = errors.New("the strategy cannot do it")
)

// ReceiverOf returns the strategy, or the one it wraps, that accepts signals.
func ReceiverOf(s Strategy) (Receiver, bool) {
	for {
		if receiver, takes := s.(Receiver); takes {
			return receiver, true
		}
		wrapper, wraps := s.(Wrapper)
		if !wraps {
			return nil, false
		}
		s = wrapper.Wrapped()
	}
}
