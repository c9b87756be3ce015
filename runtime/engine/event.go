package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/strategy"
)

// EventKind names what happened.
type EventKind uint8

// The events a driver gives to the engine.
const (
	EventStart     EventKind = iota + 1 // begin; after the journal was replayed
	EventWake                           // the time NextMS asked for has come
	EventCandles                        // closed candles of one series, in order (backtest; live they come as answers)
	EventPrice                          // a last trade price, and the mark when known
	EventAnswer                         // a call's answer, or its error
	EventJournaled                      // records up to Sequence are durable, or Err says why not
	EventHalt                           // the kill switch: Level and Why
	EventRound                          // something may have changed on the exchange: run a round now
	EventDisk                           // the journal's disk is nearly full: Why; empty when it has room again
	EventResolve                        // a person ends the quarantine of Scope.Symbol: Adopt, Why
	EventAudit                          // a person's change that is none of the engine: only Audit
	EventStretch                        // closed candles of one series in which nothing else happens: taken until anything comes of one (backtest)
	EventReload                         // the configuration changed: Reload, all of it or nothing
	EventSignal                         // a signal for Scope.Strategy: Signal
	EventTighten                        // a person sets limits tighter than the configuration, or as it has them again: Tighten
	EventWithdraw                       // a person takes one opening order out of the book: ClientOrderID, Why
	EventStop                           // stop: Shutdown says whether to leave, cancel_orders or flatten; calls under way may still answer
)

// Event is one thing that happened. Only the fields its kind names are read; the
// engine keeps no pointer into it after Handle.
type Event struct {
	Kind EventKind

	Series  exchange.SymbolKey // EventCandles, EventStretch, EventPrice
	Candles *exchange.Candles  // EventCandles, EventStretch: the columns; the engine may keep them
	From    int                // EventCandles, EventStretch: first new candle
	To      int                // EventCandles, EventStretch: one after the last
	Price   exchange.Price     // EventPrice
	Mark    exchange.Price     // EventPrice: 0 when not known

	CallID int64           // EventAnswer
	Answer exchange.Answer // EventAnswer
	Err    error           // EventAnswer, EventJournaled

	Sequence int64 // EventJournaled: the last record covered

	Level    reconcile.HaltLevel // EventHalt: LevelNone re-arms
	Shutdown string              // EventStop: leave, cancel_orders, flatten
	Scope    reconcile.Scope     // EventHalt: of what; zero is the account. EventResolve: the symbol
	Adopt    bool                // EventResolve: false ignores
	Why      string              // EventHalt, EventDisk, EventWithdraw

	ClientOrderID string // EventWithdraw

	Reload  *Reload  // EventReload
	Tighten *Tighten // EventTighten
	Signal  *Signal  // EventSignal

	Audit *reconcile.Audit // of an event a person asked for: journalled before what follows from it
}

// Signal is a wish from outside, and what became of it.
type Signal struct {
	strategy.Signal
	Err error // set by Handle: why it was not taken
}

// Effects are what the engine wants done, in this order: call Recalls back, append
// Records (all of them, durably, in order), perform Calls, show Notes. The caller owns the
// buffers and resets them.
type Effects struct {
	Records  []reconcile.Record // to be made durable; answered by one EventJournaled of Sequence
	Sequence int64              // of the last record in Records, counted from 1 at start
	Calls    []Call             // to be performed; each is answered by one EventAnswer
	Recalls  []int64            // earlier Calls not wanted any more: answered as never sent, unless they have left
	Notes    []Note             // facts for logs, metrics and screens
	Taken    int                // EventStretch: how many candles were taken; the effects are of the last one's close
}

// Reset empties the effects and keeps their buffers.
func (e *Effects) Reset() {
	e.Records, e.Calls, e.Recalls, e.Notes = e.Records[:0], e.Calls[:0], e.Recalls[:0], e.Notes[:0]
	e.Sequence, e.Taken = 0, 0
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

// Call is one request to perform. A placement's request can only be made from a
// risk.Approved: the engine has no other way to build one.
type Call struct {
	ID         int64
	Priority   Priority
	Request    exchange.Request
	DeadlineMS int64 // placements: no first byte after this server time; 0 for none
}

// NoteKind names a fact.
type NoteKind uint8

// The facts. Each is one line of the log and one metric.
const (
	NoteCandle         NoteKind = iota + 1 // a closed candle was taken
	NoteGap                                // candles are missing: Count
	NoteDecision                           // a strategy changed its plan
	NoteIntent                             // an intent was derived
	NoteApproved                           // risk approved it
	NoteRefusal                            // risk refused it
	NotePlaced                             // its request goes out: ClientOrderID
	NoteAcknowledged                       // the exchange gave an id
	NoteRefused                            // the exchange said no
	NoteUncertain                          // the answer was lost
	NoteFill                               // filled more: Quantity is the addition
	NoteSettled                            // a placement reached a final state
	NotePosition                           // a position changed
	NoteRound                              // a round ended: settled or not
	NoteFetchFailed                        // a read failed
	NoteLatch                              // a strategy is latched or released
	NoteQuarantine                         // a symbol is quarantined
	NoteAdopted                            // a difference was adopted
	NoteHalt                               // trading halted or armed again
	NoteMissed                             // scheduled ticks were missed: Count
	NoteStrategyFailed                     // a strategy panicked and is stopped
	NoteBlind                              // reads fail for too long, or work again
	NoteJournal                            // the journal can not be written, its disk is nearly full, or neither any more: OK
	NoteFound                              // an order under one of our ids that was not the book's
	NoteStale                              // answers older than what was known: Count
	NoteBreaker                            // openings pause for DurationMS, or go on
	NoteLimit                              // a limit of Rule is crossed and keeps entries back, or no more: OK
	NoteUnexplained                        // the wallet of Order.Market changed by Price of the asset Rule, and nothing explains it
	NoteReload                             // a new version of a strategy took its place
	NoteTightened                          // a person set the limit Rule, or it is as configured again: OK
	NoteSignal                             // a signal was taken, OK, or not
	NoteTick                               // a strategy was asked (live only; the backtest does not ask for it)
	NoteIgnored                            // how much of a position is left to others: Quantity, none when it is zero
	NoteFrozen                             // the exchange's candles stand still, or go on: OK
	NoteForeign                            // an order botd did not make keeps openings of a symbol back, or none any more: OK
	NoteCandles                            // closed candles of a series were polled, those of the warm-up too: for who keeps them
)

// Note is one fact. Only the fields its kind needs are set.
type Note struct {
	Kind          NoteKind
	AtMS          int64
	Strategy      string
	Symbol        *exchange.Symbol
	Purpose       reconcile.Purpose
	ClientOrderID string
	OrderID       int64
	Order         exchange.NewOrder // intent, approved, refusal, placed
	State         reconcile.State   // settled
	Quantity      exchange.Quantity // fill: added; position: signed
	Price         exchange.Amount   // fill, position: mean price when known
	Last          exchange.Price
	Candle        exchange.Candle
	Candles       *exchange.Candles // candles: a copy the receiver may keep
	Plan          *strategy.Plan    // decision: a copy the receiver may keep
	Refusal       *risk.Refusal
	Verdicts      []risk.Verdict // approved, refusal: what each rule said; live only
	Rule          string         // limit: of which; unexplained: the asset
	Err           error
	Text          string // reason, why, evidence
	Count         int
	OK            bool
	DurationMS    int64 // settled: since sent; acknowledged: since sent
}
