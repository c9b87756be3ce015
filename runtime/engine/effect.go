package engine

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// Effects are the engine's outputs, in this order: Recalls to cancel, Records to append (all of them,
// durably, in order), Calls to perform, Asks to pass to strategies, Notes to show. The caller owns the
// buffers and resets them.
type Effects struct {
	Records   []record.Record // to be made durable; answered by one EventJournaled
	Calls     []Call          // to perform; each is answered by one EventAnswer
	Asks      []Ask           // calls to strategies; each is answered by one EventDecision, however late
	Abandoned []int64         // Asks that took too long: the worker that runs the strategy is stopped if possible
	Ended     []EndedStrategy // strategies that are no longer called
	Recalls   []int64         // earlier Calls that are no longer desired: each is answered as never sent, unless it has already left
	Notes     []Note          // facts for logs, metrics and screens
	Consumed  int             // EventStretch: number of candles taken; the effects belong to the last one's close
}

// Reset empties the effects and keeps their buffers.
func (e *Effects) Reset() {
	e.Records, e.Calls, e.Recalls, e.Notes = e.Records[:0], e.Calls[:0], e.Recalls[:0], e.Notes[:0]
	e.Asks, e.Abandoned, e.Ended = e.Asks[:0], e.Abandoned[:0], e.Ended[:0]
	e.Consumed = 0
}

// Call is one request to perform. A placement's request can only be built from a risk.Approved: the
// engine has no other way to create one.
type Call struct {
	ID         int64
	Priority   Priority
	Request    exchange.Request
	DeadlineMS int64 // placements: no first byte after this server time; 0 for none
}

// Priority orders calls that wait for the request budget.
type Priority uint8

// Reads for settling come before market data, exits before entries.
const (
	PriorityExit Priority = iota + 1
	PrioritySettle
	PriorityOpening
	PriorityMarket
)
