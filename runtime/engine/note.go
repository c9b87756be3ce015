package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/strategy"
)

// Note is a fact for logs, metrics and screens: when it became one, of which
// strategy and symbol where it belongs to one, and what it is.
type Note struct {
	AtMS     int64
	Strategy string           // empty for none
	Symbol   *exchange.Symbol // nil for none
	Fact     Fact
}

// Fact is what a note reports: one of the structs below, by value. Each is one line
// of the log and one metric. What has a beginning and an end is one kind, Over at
// its end.
type Fact interface{ fact() }

// NoteCandle reports a closed candle that was taken.
type NoteCandle struct{ Candle exchange.Candle }

// NoteCandles reports the closed candles of one answer, those of the warm-up too, for
// recording them. The receiver may keep the columns.
type NoteCandles struct{ Candles *exchange.Candles }

// NoteGap reports candles that the exchange left out.
type NoteGap struct{ Missing int }

// NoteTick reports that a strategy was asked (never in a backtest).
type NoteTick struct{ Reason string }

// NoteMissed reports scheduled ticks that were skipped, or candles that came late.
type NoteMissed struct {
	Count int
	Why   string
}

// NoteDecision reports that a strategy changed its plan. The receiver may keep the plan.
type NoteDecision struct {
	Plan     *strategy.Plan
	Reason   string
	Last     exchange.Price
	Position exchange.Quantity
}

// NoteStrategyFailed reports that a strategy panicked, or asked for what nobody can do,
// and is stopped.
type NoteStrategyFailed struct{ Why string }

// NoteHung reports that a strategy does not answer, or answers again.
type NoteHung struct {
	Why  string
	Over bool
}

// NoteNotice reports a text of a strategy's own to people, or that it was withheld since there were
// too many.
type NoteNotice struct {
	Text     string
	Withheld bool
	Before   int // how many were withheld since the last that was not
}

// NoteReload reports what a reload of the configuration made of a strategy.
type NoteReload struct{ Text string }

// NoteSignal reports a signal that was taken, or, with an error, was not.
type NoteSignal struct {
	Text string
	Err  error
}

// NoteLatch reports that a strategy is latched on a side, or released.
type NoteLatch struct {
	Side   int // 0 when it is released
	Why    string
	Over   bool
	Signal bool // it stands, and a signal did not enter for it
}

// NoteIntent reports an intent that was derived. Its verdict follows.
type NoteIntent struct{ Intent *reconcile.Intent }

// IDs names the order that is canceled.
func (n NoteIntent) IDs() (clientOrderID string, orderID int64) {
	return n.Intent.ClientID, n.Intent.OrderID
}

// NoteApproved reports that every rule let an intent pass. Verdicts are made live only.
type NoteApproved struct {
	Intent   *reconcile.Intent
	Verdicts []risk.Verdict
}

// IDs names the order that is canceled.
func (n NoteApproved) IDs() (clientOrderID string, orderID int64) { return NoteIntent{n.Intent}.IDs() }

// NoteRefusal reports that a rule refused an intent. Verdicts are made live only.
type NoteRefusal struct {
	Intent   *reconcile.Intent
	Refusal  *risk.Refusal
	Verdicts []risk.Verdict
}

// IDs names the order that is canceled.
func (n NoteRefusal) IDs() (clientOrderID string, orderID int64) { return NoteIntent{n.Intent}.IDs() }

// NoteOrder is what the facts of one placement's life share.
type NoteOrder struct {
	Purpose       placement.Purpose
	ClientOrderID string
	OrderID       int64 // 0 while the exchange gave none
	Order         exchange.NewOrder
}

// IDs names the order.
func (o NoteOrder) IDs() (clientOrderID string, orderID int64) { return o.ClientOrderID, o.OrderID }

func noteOrder(p *account.Placement) NoteOrder {
	return NoteOrder{p.Purpose(), p.ClientOrderID(), p.OrderID(), p.Order()}
}

// NotePlaced reports that a placement's request goes out.
type NotePlaced struct {
	NoteOrder
	Reason string
}

// NoteAcknowledged reports that the exchange gave the order an id.
type NoteAcknowledged struct {
	NoteOrder
	DurationMS int64 // since it was sent
}

// NoteRefused reports that the exchange refused the order.
type NoteRefused struct {
	NoteOrder
	Why string
	Err error
}

// NoteLiquidated reports that the exchange liquidated a position.
type NoteLiquidated struct {
	Quantity   exchange.Quantity // signed: what was held
	ClosePrice exchange.Amount   // where the exchange reports one
	Realised   exchange.Amount   // the price difference alone
	Text       string
}

// NoteTransfer reports money that came into a wallet from outside, or, negative, went out.
type NoteTransfer struct {
	Market exchange.Market
	Asset  string
	Amount exchange.Amount
	Text   string
}

// NoteIntentRefused reports that the exchange refuses an intent again and again, or
// that this is over.
type NoteIntentRefused struct {
	Purpose placement.Purpose
	Why     string
	Over    bool
}

// NoteUnprotected reports that a position lacks its stop and why, or that it has one
// again or has ended.
type NoteUnprotected struct {
	Why   string
	ForMS int64 // at the end: how long it lacked it
	Over  bool
}

// NoteUncertain reports that the answer to the placement was lost.
type NoteUncertain struct {
	NoteOrder
	Why string
	Err error
}

// NoteFill reports that more of an order was filled.
type NoteFill struct {
	NoteOrder
	Quantity exchange.Quantity // more than was known before
	Price    exchange.Amount   // mean of all that was filled, where the exchange reports one
	Last     exchange.Price
}

// NoteSettled reports that a placement reached a final state.
type NoteSettled struct {
	NoteOrder
	State      placement.State
	Filled     exchange.Quantity
	Price      exchange.Amount // mean, where the exchange reports one
	Evidence   string
	DurationMS int64 // since it was sent
}

// NoteFound reports an order under one of our ids that the journal did not know.
type NoteFound struct {
	NoteOrder
	Evidence string
}

// NotePosition reports that a strategy's position changed.
type NotePosition struct {
	Quantity   exchange.Quantity // signed
	EntryPrice exchange.Amount   // where the exchange reports one
	Last       exchange.Price
}

// NoteAdopted reports a difference between position and fills that was adopted.
type NoteAdopted struct {
	Quantity exchange.Quantity
	Evidence string
}

// NoteIgnored reports how much of a position is left to others, none when it is zero.
type NoteIgnored struct {
	Quantity exchange.Quantity
	Evidence string
}

// NoteRound reports the end of a round: complete, or a read failed.
type NoteRound struct {
	Complete   bool
	Late       int // domains of which a read was not waited for: nothing was concluded there
	Acted      int // intents that went out
	DurationMS int64
}

// NoteFetchFailed reports a read that failed.
type NoteFetchFailed struct {
	What  string
	Err   error
	Count int // rounds in a row
}

// NoteStale reports answers older than what was known.
type NoteStale struct {
	Count int
	Text  string
}

// NoteBlind reports that reads of something have failed for too long, or work again.
type NoteBlind struct {
	Of   string // the account, a market's orders and positions, or a symbol
	Why  string
	Over bool
}

// NoteFrozen reports that the exchange's candles stand still, or go on.
type NoteFrozen struct {
	Text string
	Over bool
}

// NoteQuarantine reports that a symbol is quarantined, or trades again.
type NoteQuarantine struct {
	Why  string
	Over bool
}

// NoteContradicted reports that the newest list of positions, or the wallet, is not
// believed, or that it is again.
type NoteContradicted struct {
	Why  string
	Over bool
}

// NoteForeign reports that an order botd did not make keeps openings of a symbol back,
// or none does any more.
type NoteForeign struct {
	OrderID int64
	Why     string
	Over    bool
}

// IDs names the order.
func (n NoteForeign) IDs() (clientOrderID string, orderID int64) { return "", n.OrderID }

// NoteHalt reports that trading is halted, or armed again.
type NoteHalt struct {
	Why  string
	Over bool
}

// NoteBreaker reports that openings pause by themselves, or go on.
type NoteBreaker struct {
	Why     string
	PauseMS int64
	Over    bool
}

// NoteLimit reports that a limit is crossed and keeps entries back, or does no more.
type NoteLimit struct {
	Rule  string
	Why   string
	ForMS int64 // 0: until a person ends it
	Over  bool
}

// NoteLimitSet reports that a person set a limit, or that it is as configured again.
type NoteLimitSet struct {
	Rule string
	Text string
	Over bool
}

// NoteJournal reports that the journal cannot be written or its disk is nearly full, or
// that this is over.
type NoteJournal struct {
	Err     error  // of the append; nil when it is about the disk
	Why     string // at the end: what keeps openings back still
	Records int    // that wait
	Lost    bool   // its files were unlinked, replaced or cut
	Over    bool
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
func (NoteRefusal) fact()        {}
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
func (NoteFrozen) fact()         {}
func (NoteQuarantine) fact()     {}
func (NoteContradicted) fact()   {}
func (NoteForeign) fact()        {}
func (NoteHalt) fact()           {}
func (NoteBreaker) fact()        {}
func (NoteLimit) fact()          {}
func (NoteLimitSet) fact()       {}
func (NoteJournal) fact()        {}
func (NoteUnexplained) fact()    {}
