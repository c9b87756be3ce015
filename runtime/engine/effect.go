package engine

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// Effects are what the engine wants done, in this order: call Recalls back, append
// Records (all of them, durably, in order), perform Calls, put Asks, show Notes. The caller owns the
// buffers and resets them.
type Effects struct {
	Records   []record.Record // to be made durable; answered by one EventJournaled of Sequence
	Sequence  int64           // of the last record in Records, counted from 1 at start
	Calls     []Call          // to be performed; each is answered by one EventAnswer
	Asks      []Ask           // of strategies; each is answered by one EventDecision, however late
	Abandoned []int64         // Asks that took too long: what runs the strategy is ended where that is possible
	Ended     []EndedStrategy // those that are not asked any more
	Recalls   []int64         // earlier Calls not wanted any more: answered as never sent, unless they have left
	Notes     []Note          // facts for logs, metrics and screens
	Taken     int             // EventStretch: how many candles were taken; the effects are of the last one's close
}

// Reset empties the effects and keeps their buffers.
func (e *Effects) Reset() {
	e.Records, e.Calls, e.Recalls, e.Notes = e.Records[:0], e.Calls[:0], e.Recalls[:0], e.Notes[:0]
	e.Asks, e.Abandoned, e.Ended = e.Asks[:0], e.Abandoned[:0], e.Ended[:0]
	e.Sequence, e.Taken = 0, 0
}

// Call is one request to perform. A placement's request can only be made from a
// risk.Approved: the engine has no other way to build one.
type Call struct {
	ID         int64
	Priority   Priority
	Request    exchange.Request
	DeadlineMS int64 // placements: no first byte after this server time; 0 for none
}

// Priority orders calls that wait for the request budget.
type Priority uint8

// Settling comes before market data, exits before entries.
const (
	PriorityExit Priority = iota + 1
	PrioritySettle
	PriorityEntry
	PriorityMarket
)
