package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// Event is one thing that happened, passed in by a driver: a pointer to one of the structs below.
// The engine retains no pointer into it after Handle, so a driver may reuse it.
type Event interface{ event() }

// EventStart starts the engine, after the journal was replayed.
type EventStart struct{}

// EventWake reports that the time returned by NextMS has come.
type EventWake struct{}

// EventRound reports that something may have changed on the exchange: run a round now.
type EventRound struct{}

// EventCandles delivers closed candles of one series, in order (backtest; live they arrive as
// answers).
type EventCandles struct {
	Series   exchange.SymbolKey
	Candles  *exchange.Candles // the columns; the engine may retain them
	From, To int               // index of the first new candle, and the index after the last
}

// EventStretch delivers closed candles of one series during which nothing else happens; the engine takes
// them up to the first that has an effect (backtest).
type EventStretch EventCandles

// EventPrice delivers a last trade price, and the mark price if known.
type EventPrice struct {
	Series exchange.SymbolKey
	Last   exchange.Price
	Mark   exchange.Price // 0 if unknown
}

// EventAnswer delivers a call's answer or its error.
type EventAnswer struct {
	CallID int64
	Answer exchange.Answer
	Err    error
}

// EventJournaled reports that the newest Records are durable, or why they are not.
type EventJournaled struct{ Err error }

// EventDisk reports why the journal's disk is nearly full, or that the journal's files are lost; the
// reason is empty once there is room again.
type EventDisk struct {
	Reason string
	Lost   bool // its files were unlinked, replaced or truncated; this lasts until the next start
}

// EventHalt is the kill switch.
type EventHalt struct {
	Scope  account.Scope    // zero means the account
	Level  record.HaltLevel // LevelNone rearms
	Reason string
}

// EventResolve ends the quarantine of a symbol according to a person's decision.
type EventResolve struct {
	Symbol exchange.SymbolKey
	Adopt  bool // false: ignore
	Reason string
}

// EventWithdraw cancels one opening order.
type EventWithdraw struct {
	ClientOrderID string
	Reason        string
}

// EventReload changes the configuration, completely or not at all.
type EventReload struct{ Reload *Reload }

// EventSetLimits sets limits tighter than the configuration, or resets them.
type EventSetLimits struct{ Change *LimitChange }

// EventSignal delivers an external signal to a strategy.
type EventSignal struct {
	Strategy string
	Signal   *Signal
}

// EventPrepareSignal requests the state with which a strategy outside the engine is to receive a
// signal: Signal.Reception. It changes nothing.
type EventPrepareSignal struct {
	Strategy string
	Signal   *Signal
}

// EventLane delivers the orders that the kill switch's lane has sent independently of the engine: all of
// them each time.
type EventLane struct{ Orders []LaneOrder }

// EventStop stops: leave, cancel_orders or flatten. Calls in progress may still answer.
type EventStop struct{ Shutdown string }

// EventAudited wraps a person's request: the audit is journalled before anything that follows from the
// event, and not at all if the event is refused.
type EventAudited struct {
	Audit *record.Audit
	Event Event // nil for a change outside the engine
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
