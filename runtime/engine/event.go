package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// Event is one thing that happened, given by a driver: a pointer to one of the structs
// below. The engine keeps no pointer into it after Handle, so a driver may reuse it.
type Event interface{ event() }

// EventStart begins, after the journal was replayed.
type EventStart struct{}

// EventWake says that the time NextMS asked for has come.
type EventWake struct{}

// EventRound says that something may have changed on the exchange: run a round now.
type EventRound struct{}

// EventCandles brings closed candles of one series, in order (backtest; live they come
// as answers).
type EventCandles struct {
	Series   exchange.SymbolKey
	Candles  *exchange.Candles // the columns; the engine may keep them
	From, To int               // the first new candle, and one after the last
}

// EventStretch brings closed candles of one series in which nothing else happens: they
// are taken until anything comes of one (backtest).
type EventStretch EventCandles

// EventPrice brings a last trade price, and the mark when known.
type EventPrice struct {
	Series exchange.SymbolKey
	Last   exchange.Price
	Mark   exchange.Price // 0 when not known
}

// EventAnswer brings a call's answer, or its error.
type EventAnswer struct {
	CallID int64
	Answer exchange.Answer
	Err    error
}

// EventJournaled says that the records up to Sequence are durable, or why they are not.
type EventJournaled struct {
	Sequence int64
	Err      error
}

// EventDisk says why the journal's disk is nearly full, or that the journal's files are
// lost; empty when there is room again.
type EventDisk struct {
	Why  string
	Lost bool // its files were unlinked, replaced or cut: until the next start
}

// EventHalt is the kill switch.
type EventHalt struct {
	Scope account.Scope    // zero is the account
	Level record.HaltLevel // LevelNone re-arms
	Why   string
}

// EventResolve ends the quarantine of a symbol as a person decided.
type EventResolve struct {
	Symbol exchange.SymbolKey
	Adopt  bool // false ignores
	Why    string
}

// EventWithdraw takes one opening order out of the book.
type EventWithdraw struct {
	ClientOrderID string
	Why           string
}

// EventReload changes the configuration: all of it, or nothing.
type EventReload struct{ Reload *Reload }

// EventSetLimits sets limits tighter than the configuration, or as it has them again.
type EventSetLimits struct{ Change *LimitChange }

// EventSignal brings a strategy a signal from outside.
type EventSignal struct {
	Strategy string
	Signal   *Signal
}

// EventPrepareSignal asks what a strategy that answers off the engine is to take a signal with:
// Signal.Reception. It changes nothing.
type EventPrepareSignal struct {
	Strategy string
	Signal   *Signal
}

// EventLane brings what the kill switch's lane sent beside the engine, each time all of it.
type EventLane struct{ Orders []LaneOrder }

// EventStop stops: leave, cancel_orders or flatten. Calls under way may still answer.
type EventStop struct{ Shutdown string }

// EventAudited is what a person asked for: the audit is journalled before anything that
// follows from the event, and not at all when the event is refused.
type EventAudited struct {
	Audit *record.Audit
	Event Event // nil for a change that is none of the engine's
}

func (*EventStart) event() {}

func (*EventWake) event() {}

func (*EventRound) event() {}

func (*EventCandles) event() {}

func (*EventStretch) event() {}

func (*EventPrice) event() {}

func (*EventAnswer) event() {}

func (*EventJournaled) event() {}

func (*EventDisk) event() {}

func (*EventHalt) event() {}

func (*EventResolve) event() {}

func (*EventWithdraw) event() {}

func (*EventReload) event() {}

func (*EventSetLimits) event() {}

func (*EventPrepareSignal) event() {}

func (*EventSignal) event() {}

func (*EventLane) event() {}

func (*EventStop) event() {}

func (*EventAudited) event() {}
