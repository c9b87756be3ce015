package strategy

import (
	"errors"

	"botd/exchange"
)

// Signal is a wish that somebody outside botd sends to a strategy.
type Signal struct {
	ID        string        // of this signal: it counts once, however often it comes
	Side      int           // +1 long, -1 short, 0 flat
	Share     exchange.Rate // of the configured size
	AtMS      int64         // when it was made
	ExpiresMS int64         // when it ends; 0 leaves that to the strategy
}

// Receiver is a strategy that takes signals.
type Receiver interface {
	// Receive takes a signal into the plan's memory (Plan.Remember); it wishes
	// nothing and has no other effect. An error says why it does not take it.
	Receive(view *View, signal *Signal, plan *Plan) error
}

// Why a signal is not taken.
var (
	ErrRepeated   = errors.New("it was taken before")
	ErrReused     = errors.New("its id was taken before, for another wish: every signal needs an id of its own")
	ErrSuperseded = errors.New("a newer signal was taken before it")
	ErrLate       = errors.New("it is too old")
	ErrEarly      = errors.New("its time lies in the future: a clock is wrong")
	ErrUnable     = errors.New("the strategy can not do it")
)

// ReceiverOf returns the strategy, or the one it wraps, that takes signals.
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
