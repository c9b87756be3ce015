package record

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/strategy"
)

// Body is the payload of a record: exactly one of the types below, by value.
type Body interface {
	Kind() Kind
	summarize(*summary) // only implemented in this package
}

// Boot records a start. Its epoch is above every journalled one.
type Boot struct {
	Epoch   int64  `json:"epoch"`
	Account string `json:"account,omitempty"` // owner of the journal
	Random  string `json:"random,omitempty"`  // the part of client order ids that distinguishes two starts in the same second
	Lane    string `json:"lane,omitempty"`    // the corresponding part for ids that the kill switch's lane may use in this start
}

// Sending records an approved order. It is durable before the order's first byte.
type Sending struct {
	Order      exchange.NewOrder `json:"order"`
	Purpose    placement.Purpose `json:"purpose"`
	Key        string            `json:"key,omitempty"`         // of the plan, or botd's own for a protective order
	DeadlineMS int64             `json:"deadline_ms,omitempty"` // no first byte after this time
	Before     exchange.Quantity `json:"before,omitempty"`      // signed position at derivation
	Reserved   exchange.Amount   `json:"reserved,omitzero"`     // value of the order when it was journalled, in the quote asset
	Funds      Funds             `json:"wallet,omitzero"`       // before it was sent
}

// Funds are what the account last showed before an order was sent; zero if it has not been read.
type Funds struct {
	Asset  exchange.Quantity `json:"asset,omitempty"` // spot: the base asset
	Amount exchange.Amount   `json:"money,omitzero"`  // spot: the quote asset; futures: before an opening, the margin in use that nothing known needs
	ReadMS int64             `json:"read_ms,omitempty"`
}

// Acknowledged records the exchange's answer that acknowledges an order and names its id.
type Acknowledged struct {
	OrderID int64 `json:"order_id"`
}

// Refused records the exchange's answer that it refused an order.
type Refused struct {
	Code   int    `json:"code,omitempty"`
	Reason string `json:"why,omitempty"`
}

// Uncertain records a lost answer: the order may or may not exist.
type Uncertain struct {
	Reason string `json:"why,omitempty"`
}

// Fill records an order's cumulative fill. It also proves that the order was seen.
type Fill struct {
	OrderID   int64             `json:"order_id,omitempty"`
	Filled    exchange.Quantity `json:"filled,omitempty"`     // cumulative
	Price     exchange.Amount   `json:"price,omitzero"`       // mean, if known
	CreatedMS int64             `json:"created_ms,omitempty"` // of an opening: the exchange's date if it precedes the send time by botd's clock
}

// Ended records the final state of an order and the evidence for it.
type Ended struct {
	OrderID   int64             `json:"order_id,omitempty"`
	State     placement.State   `json:"state"`
	Filled    exchange.Quantity `json:"filled,omitempty"` // cumulative
	Price     exchange.Amount   `json:"price,omitzero"`   // mean, if known
	Evidence  string            `json:"evidence,omitempty"`
	CreatedMS int64             `json:"created_ms,omitempty"` // as in Fill
}

// Quarantined records an unexplained symbol: nothing opens there until a person resolves it.
type Quarantined struct {
	Reason string          `json:"why"`
	Cause  QuarantineCause `json:"cause,omitempty"`
}

// Adopted assigns a difference between exchange and journal to the strategy.
type Adopted struct {
	Quantity exchange.Quantity `json:"quantity,omitempty"` // signed
	Decided  int64             `json:"decided,omitempty"`  // on spot: the newest order of another botd with this prefix whose effect this decides
	Evidence string            `json:"evidence,omitempty"`
}

// Plan records a strategy's whole plan in force. It replaces the previous one, unset fields included.
type Plan struct {
	Plan *strategy.Plan `json:"plan"`
}

// Memory records a strategy's complete memory and the number of events it has received.
type Memory struct {
	Entries []strategy.MemoryVariable `json:"memory"`
	Events  int64                     `json:"events,omitempty"` // 0: as many as before
}

// Latch forbids entries on a side; 0 releases.
type Latch struct {
	Side    int  `json:"side"`
	Idle    bool `json:"idle,omitempty"`    // the strategy desires no position: its next desired position is a new signal
	Renewed bool `json:"renewed,omitempty"` // released by a new signal: the target is priced again
}

// Priced records a target's size, which is priced once.
type Priced struct {
	Target   strategy.Target   `json:"target"`
	Quantity exchange.Quantity `json:"quantity"` // signed
}

// Config records the hash of the configuration at a start or a reload.
type Config struct {
	Hash string `json:"config"`
}

// Assigned records a strategy's symbol and the action at its removal.
type Assigned struct {
	OnRemove string `json:"on_remove,omitempty"` // flatten, leave
	Events   bool   `json:"events,omitempty"`    // the strategy receives events
}

// Day records the equity of the account, or of a strategy, at the start of a UTC day.
type Day struct {
	StartMS int64           `json:"day_ms"` // UTC midnight
	Equity  exchange.Amount `json:"equity"`
	Peak    exchange.Amount `json:"peak"`              // highest ever
	Markets string          `json:"markets,omitempty"` // of the account: the markets of the equity
	Spot    exchange.Amount `json:"spot,omitzero"`     // of the account: the part of Equity that is on spot
}

// Halt halts the account, a strategy or a symbol, or rearms it.
type Halt struct {
	Level  HaltLevel `json:"level,omitempty"` // LevelNone rearms
	Reason string    `json:"why,omitempty"`
}

// Baseline records the spot wallet's balance of a symbol's base asset while no strategy held any,
// and its foreign excess since then.
type Baseline struct {
	Quantity     exchange.Quantity `json:"quantity"`
	Unattributed exchange.Quantity `json:"beside,omitempty"`
}

// Fees records the fees taken from a spot purchase: expected at the fill, at the known rate, or
// corrected later by the wallet.
type Fees struct {
	Quantity exchange.Quantity `json:"quantity"`           // negative: the wallet has more than expected
	Expected bool              `json:"expected,omitempty"` // at the fill
	Evidence string            `json:"evidence,omitempty"`
}

// Breaker records a pause of the account's openings until a time.
type Breaker struct {
	UntilMS int64  `json:"until_ms"`
	Reason  string `json:"why,omitempty"`
}

// Ignored leaves a part of a position, or one order, to its owner.
type Ignored struct {
	Quantity exchange.Quantity `json:"quantity,omitempty"` // signed: the whole ignored part of the position from now on
	OrderID  int64             `json:"order_id,omitempty"` // of the ignored order
	Evidence string            `json:"evidence,omitempty"`
}

// Found takes an order that exists on the exchange into the journal.
type Found struct {
	OrderID   int64             `json:"order_id"`
	Order     exchange.NewOrder `json:"order"`
	Purpose   placement.Purpose `json:"purpose"`
	Key       string            `json:"key,omitempty"`
	Filled    exchange.Quantity `json:"filled,omitempty"`    // cumulative, already booked
	Duplicate bool              `json:"duplicate,omitempty"` // a second order under one id, which gets canceled
	Evidence  string            `json:"evidence,omitempty"`
}

// Result records a strategy's result, for its limits.
type Result struct {
	Base     exchange.Amount   `json:"base"`     // the account's equity when the strategy was first watched
	Result   exchange.Amount   `json:"result"`   // realized since then, net of fees and funding; on spot its cash flow
	Trip     exchange.Amount   `json:"trip"`     // result at the start of the current round trip
	Position exchange.Quantity `json:"position"` // signed: the position that Result belongs to
	Losses   int               `json:"losses,omitempty"`
}

// Accounted records the futures wallet that the strategies' results include, without external
// transfers that were in no posting yet.
type Accounted struct {
	Wallet exchange.Amount `json:"wallet"`
	Losses int             `json:"losses,omitempty"` // consecutive losing round trips of the account
	Keeps  bool            `json:"keeps,omitempty"`  // trades of strategies since the last reading are not yet included
}

// Breach records that a limit of the account, or of a strategy, was breached. Without a reason it
// records that the limit is no longer breached.
type Breach struct {
	Rule    string `json:"rule"`
	Reason  string `json:"why,omitempty"`
	UntilMS int64  `json:"until_ms,omitempty"` // 0: until it is rearmed
}

// Posting is an entry of the ledger.
type Posting struct {
	ledger.Posting
}

// Transfer records money moved into or out of a wallet, as declared by a person.
type Transfer struct {
	ledger.Transfer
}

// Audit records one change that a person requested.
type Audit struct {
	Actor     string `json:"actor"` // socket, token, session
	Role      string `json:"role"`
	From      string `json:"from"`   // address
	Action    string `json:"action"` // the route
	Object    string `json:"target,omitempty"`
	Detail    string `json:"detail,omitempty"` // the request and its reason
	RequestID string `json:"request_id"`
}

// Withdrawn records that a person cancels one order: botd cancels it until it has ended.
type Withdrawn struct {
	OrderID int64  `json:"order_id,omitempty"`
	Reason  string `json:"why,omitempty"`
}

// Limit records a limit that a person set tighter than the configuration.
type Limit struct {
	Rule   string `json:"rule"`
	Value  string `json:"value,omitempty"` // in configuration syntax; empty: as configured again
	By     string `json:"by,omitempty"`
	Reason string `json:"why,omitempty"`
}

// Liquidated records the liquidation of a position by the exchange.
type Liquidated struct {
	PositionID int64             `json:"position_id"`
	Quantity   exchange.Quantity `json:"quantity"` // signed: the liquidated position
	ClosePrice exchange.Amount   `json:"close_price,omitzero"`
	Realized   exchange.Amount   `json:"realised,omitzero"` // price difference only
	Evidence   string            `json:"evidence,omitempty"`
}

// Checkpoint is the whole state produced by the records before it. A start reads the newest
// checkpoint and the records after it. It contains nothing beyond those records: botd journal verify
// replays them and compares.
type Checkpoint struct {
	Layout  string `json:"layout"` // of State: a botd with another layout replays all records
	Epoch   int64  `json:"epoch"`
	Account string `json:"account,omitempty"` // owner of the journal
	State   []byte `json:"state"`
}

// Declined records an order that botd's rules refused, for a strategy that watches events. It is
// written once per rule, key and direction (opening or reducing) between two decisions.
type Declined struct {
	Purpose  placement.Purpose `json:"purpose"`
	Key      string            `json:"key,omitempty"`
	Side     exchange.Side     `json:"side"`
	Quantity exchange.Quantity `json:"quantity,omitempty"`
	Rule     string            `json:"rule"`
	Reason   string            `json:"why,omitempty"`
}

func (Boot) Kind() Kind         { return KindBoot }
func (Sending) Kind() Kind      { return KindSending }
func (Acknowledged) Kind() Kind { return KindAcknowledged }
func (Refused) Kind() Kind      { return KindRefused }
func (Uncertain) Kind() Kind    { return KindUncertain }
func (Fill) Kind() Kind         { return KindFill }
func (Ended) Kind() Kind        { return KindEnded }
func (Quarantined) Kind() Kind  { return KindQuarantined }
func (Adopted) Kind() Kind      { return KindAdopted }
func (Plan) Kind() Kind         { return KindPlan }
func (Memory) Kind() Kind       { return KindMemory }
func (Latch) Kind() Kind        { return KindLatch }
func (Priced) Kind() Kind       { return KindPriced }
func (Config) Kind() Kind       { return KindConfig }
func (Assigned) Kind() Kind     { return KindAssigned }
func (Day) Kind() Kind          { return KindDay }
func (Halt) Kind() Kind         { return KindHalt }
func (Baseline) Kind() Kind     { return KindBaseline }
func (Fees) Kind() Kind         { return KindFees }
func (Breaker) Kind() Kind      { return KindBreaker }
func (Ignored) Kind() Kind      { return KindIgnored }
func (Found) Kind() Kind        { return KindFound }
func (Result) Kind() Kind       { return KindResult }
func (Accounted) Kind() Kind    { return KindAccounted }
func (Breach) Kind() Kind       { return KindBreach }
func (Posting) Kind() Kind      { return KindPosting }
func (Audit) Kind() Kind        { return KindAudit }
func (Withdrawn) Kind() Kind    { return KindWithdrawn }
func (Limit) Kind() Kind        { return KindLimit }
func (Liquidated) Kind() Kind   { return KindLiquidated }
func (Checkpoint) Kind() Kind   { return KindCheckpoint }
func (Transfer) Kind() Kind     { return KindTransfer }
func (Declined) Kind() Kind     { return KindDeclined }
