package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/strategy"
)

// Note is a fact for logs, metrics and screens: its time, its strategy and symbol if any, and its
// content.
type Note struct {
	AtMS     int64
	Strategy string           // empty for none
	Symbol   *exchange.Symbol // nil for none
	Fact     Fact
}

// Fact is what a note reports: one of the structs below, by value. Each is one line of the log and one
// metric. A condition with a beginning and an end is one kind; Ended is set at its end.
type Fact interface{ fact() }

// NoteCandle reports a new closed candle.
type NoteCandle struct{ Candle exchange.Candle }

// NoteCandles reports the closed candles of one answer, including those of the warm-up, for recording.
// The receiver may keep the columns.
type NoteCandles struct{ Candles *exchange.Candles }

// NoteGap reports candles missing on the exchange.
type NoteGap struct{ Missing int }

// NoteTick reports that a strategy was called (never in a backtest).
type NoteTick struct{ Reason string }

// NoteMissed reports scheduled ticks that were skipped, or candles that came late.
type NoteMissed struct {
	Count  int
	Reason string
}

// NoteDecision reports that a strategy changed its plan. The receiver may retain the plan.
type NoteDecision struct {
	Plan     *strategy.Plan
	Reason   string
	Last     exchange.Price
	Position exchange.Quantity
}

// NoteStrategyFailed reports that a strategy is stopped, because it panicked or its plan is invalid, or does
// not run, because the exchange no longer lists its symbol.
type NoteStrategyFailed struct{ Reason string }

// NoteHung reports that a strategy does not answer, or answers again.
type NoteHung struct {
	Reason string
	Ended  bool
}

// NoteNotice reports a strategy's notice to people, or that it was withheld because there were too
// many.
type NoteNotice struct {
	Text     string
	Withheld bool
	Before   int // number withheld since the last one sent
}

// NoteReload reports the effect of a configuration reload on a strategy.
type NoteReload struct{ Text string }

// NoteSignal reports an accepted signal, or, with an error, a refused one.
type NoteSignal struct {
	Text string
	Err  error
}

// NoteLatch reports that a strategy is latched on a side, or released.
type NoteLatch struct {
	Side   int // 0 if it is released
	Reason string
	Ended  bool
	Signal bool // the latch stays, and a signal was not entered because of it
}

// NoteIntent reports an intent that was derived. Its verdict follows.
type NoteIntent struct{ Intent *reconcile.Intent }

// IDs names the order that is canceled.
func (n NoteIntent) IDs() (clientOrderID string, orderID int64) {
	return n.Intent.ClientID, n.Intent.OrderID
}

// NoteApproved reports that every rule approved an intent. Verdicts exist only live.
type NoteApproved struct {
	Intent   *reconcile.Intent
	Verdicts []risk.Verdict
}

// IDs names the order that is canceled.
func (n NoteApproved) IDs() (clientOrderID string, orderID int64) { return NoteIntent{n.Intent}.IDs() }

// NoteRejection reports that a rule of botd refused an intent. Verdicts exist only live.
type NoteRejection struct {
	Intent    *reconcile.Intent
	Rejection *risk.Rejection
	Verdicts  []risk.Verdict
}

// IDs names the order that is canceled.
func (n NoteRejection) IDs() (clientOrderID string, orderID int64) { return NoteIntent{n.Intent}.IDs() }

// NoteOrder holds the fields common to the facts about one placement.
type NoteOrder struct {
	Purpose       placement.Purpose
	ClientOrderID string
	OrderID       int64 // 0 if the exchange has assigned none
	Order         exchange.NewOrder
}

// IDs names the order.
func (o NoteOrder) IDs() (clientOrderID string, orderID int64) { return o.ClientOrderID, o.OrderID }

func noteOrder(p *account.Placement) NoteOrder {
	return NoteOrder{p.Purpose(), p.ClientOrderID(), p.OrderID(), p.Order()}
}

// NotePlaced reports that a placement's request is being sent.
type NotePlaced struct {
	NoteOrder
	Reason string
}

// NoteAcknowledged reports that the exchange assigned the order an id.
type NoteAcknowledged struct {
	NoteOrder
	DurationMS int64 // since it was sent
}

// NoteRefused reports that the exchange refused the order.
type NoteRefused struct {
	NoteOrder
	Reason string
	Err    error
}

// NoteLiquidated reports that the exchange liquidated a position.
type NoteLiquidated struct {
	Realized exchange.Amount // price difference only
	Text     string
}

// NoteTransfer reports an external transfer into a wallet or, if negative, out of it.
type NoteTransfer struct {
	Market exchange.Market
	Asset  string
	Amount exchange.Amount
	Text   string
}

// NoteIntentRefused reports that the exchange keeps refusing an intent, or that this has ended.
type NoteIntentRefused struct {
	Purpose placement.Purpose
	Reason  string
	Ended   bool
}

// NoteUnprotected reports that a position lacks its stop and why, or that it is protected again or
// has ended.
type NoteUnprotected struct {
	Reason string
	ForMS  int64 // at the end: the unprotected time
	Ended  bool
}

// NoteUncertain reports that a placement's answer was lost.
type NoteUncertain struct {
	NoteOrder
	Reason string
	Err    error
}

// NoteFill reports a new fill of an order.
type NoteFill struct {
	NoteOrder
	Quantity exchange.Quantity // the new part
	Price    exchange.Amount   // mean of the whole fill, if the exchange reports one
	Last     exchange.Price
}

// NoteSettled reports that a placement reached a final state.
type NoteSettled struct {
	NoteOrder
	State      placement.State
	Filled     exchange.Quantity
	Price      exchange.Amount // mean, if the exchange reports one
	Evidence   string
	DurationMS int64 // since it was sent
}

// NoteFound reports an order with one of botd's ids that the journal did not know.
type NoteFound struct {
	NoteOrder
	Evidence string
}

// NotePosition reports that a strategy's position changed.
type NotePosition struct {
	Quantity   exchange.Quantity // signed
	EntryPrice exchange.Amount   // if the exchange reports one
	Last       exchange.Price
}

// NoteAdopted reports a difference between position and fills that was adopted.
type NoteAdopted struct {
	Quantity exchange.Quantity
	Evidence string
}

// NoteIgnored reports the part of a position that is left to others; zero for none.
type NoteIgnored struct {
	Quantity exchange.Quantity
	Evidence string
}

// NoteRound reports the end of a round, complete or with failed reads.
type NoteRound struct {
	Complete   bool
	Late       int // domains with a read that was not awaited: nothing was concluded there
	Acted      int // number of intents sent
	DurationMS int64
}

// NoteFetchFailed reports a read that failed.
type NoteFetchFailed struct {
	What  string
	Err   error
	Count int // consecutive rounds
}

// NoteStale reports answers older than the known state.
type NoteStale struct {
	Count int
	Text  string
}

// NoteBlind reports that the reads of a domain have failed for too long, or work again.
type NoteBlind struct {
	Of     string // the account, a market's orders and positions, or a symbol
	Reason string
	Ended  bool
}

// NoteStalled reports that the exchange's candles have stalled, or move again.
type NoteStalled struct {
	Text  string
	Ended bool
}

// NoteQuarantine reports that a symbol is quarantined, or trades again.
type NoteQuarantine struct {
	Reason string
	Ended  bool
}

// NoteContradicted reports that the newest list of positions, or the wallet, is not trusted, or is
// trusted again.
type NoteContradicted struct {
	Reason string
	Ended  bool
}

// NoteForeign reports that a foreign order blocks a symbol's openings, or that none does any longer.
type NoteForeign struct {
	OrderID int64
	Reason  string
	Ended   bool
}

// IDs names the order.
func (n NoteForeign) IDs() (clientOrderID string, orderID int64) { return "", n.OrderID }

// NoteHalt reports that trading is halted or rearmed.
type NoteHalt struct {
	Reason string
	Ended  bool
}

// NoteBreaker reports that the breaker pauses openings, or that the pause has ended.
type NoteBreaker struct {
	Reason  string
	PauseMS int64
	Ended   bool
}

// NoteLimit reports that a limit is crossed and blocks entries, or no longer does.
type NoteLimit struct {
	Rule   string
	Reason string
	ForMS  int64 // 0: until a person ends it
	Ended  bool
}

// NoteLimitSet reports that a person set a limit, or that it is as configured again.
type NoteLimitSet struct {
	Rule  string
	Text  string
	Ended bool
}

// NoteJournal reports that the journal cannot be written or its disk is nearly full, or that this
// has ended.
type NoteJournal struct {
	Err     error  // of the append; nil if it concerns the disk
	Reason  string // at the end: what still blocks openings
	Records int    // number of waiting records
	Lost    bool   // its files were unlinked, replaced or truncated
	Ended   bool
}

// NoteUnexplained reports a change of a wallet that no fill, fee or funding explains.
type NoteUnexplained struct {
	Market exchange.Market
	Asset  string
	Amount exchange.Amount
	Text   string
}

func (NoteCandle) fact()         {}
func (NoteCandles) fact()        {}
func (NoteGap) fact()            {}
func (NoteTick) fact()           {}
func (NoteMissed) fact()         {}
func (NoteDecision) fact()       {}
func (NoteStrategyFailed) fact() {}
func (NoteHung) fact()           {}
func (NoteNotice) fact()         {}
func (NoteReload) fact()         {}
func (NoteSignal) fact()         {}
func (NoteLatch) fact()          {}
func (NoteIntent) fact()         {}
func (NoteApproved) fact()       {}
func (NoteRejection) fact()      {}
func (NotePlaced) fact()         {}
func (NoteAcknowledged) fact()   {}
func (NoteRefused) fact()        {}
func (NoteIntentRefused) fact()  {}
func (NoteUnprotected) fact()    {}
func (NoteTransfer) fact()       {}
func (NoteLiquidated) fact()     {}
func (NoteUncertain) fact()      {}
func (NoteFill) fact()           {}
func (NoteSettled) fact()        {}
func (NoteFound) fact()          {}
func (NotePosition) fact()       {}
func (NoteAdopted) fact()        {}
func (NoteIgnored) fact()        {}
func (NoteRound) fact()          {}
func (NoteFetchFailed) fact()    {}
func (NoteStale) fact()          {}
func (NoteBlind) fact()          {}
func (NoteStalled) fact()        {}
func (NoteQuarantine) fact()     {}
func (NoteContradicted) fact()   {}
func (NoteForeign) fact()        {}
func (NoteHalt) fact()           {}
func (NoteBreaker) fact()        {}
func (NoteLimit) fact()          {}
func (NoteLimitSet) fact()       {}
func (NoteJournal) fact()        {}
func (NoteUnexplained) fact()    {}
