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
	summarize(*summary) // of this package alone
}

// Boot is a start. Its epoch is above every journalled one.
type Boot struct {
	Epoch   int64  `json:"epoch"`
	Account string `json:"account,omitempty"` // what the journal belongs to
	Random  string `json:"random,omitempty"`  // the part of client order ids that distinguishes two starts of one second
	Lane    string `json:"lane,omitempty"`    // the same part of the ids that the kill switch's lane may use in this start
}

// Sending is an approved order. It is durable before the order's first byte.
type Sending struct {
	Order      exchange.NewOrder `json:"order"`
	Purpose    placement.Purpose `json:"purpose"`
	Key        string            `json:"key,omitempty"`         // of the plan
	DeadlineMS int64             `json:"deadline_ms,omitempty"` // no first byte after this
	Before     exchange.Quantity `json:"before,omitempty"`      // signed position when it was derived
	Reserved   exchange.Amount   `json:"reserved,omitzero"`     // notional at risk, USDT
}

// Acknowledged is the exchange's answer that it has an order.
type Acknowledged struct {
	OrderID int64 `json:"order_id"`
}

// Refused is the exchange's answer that it does not take an order.
type Refused struct {
	Code int    `json:"code,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Unknown is an answer that was lost: the order may be there or not.
type Unknown struct {
	Why string `json:"why,omitempty"`
}

// Fill is what an order has filled so far. It also says that the order was seen.
type Fill struct {
	OrderID   int64             `json:"order_id,omitempty"`
	Filled    exchange.Quantity `json:"filled,omitempty"`     // cumulative
	Price     exchange.Amount   `json:"price,omitzero"`       // mean, where it is known
	CreatedMS int64             `json:"created_ms,omitempty"` // of an opening: the exchange's date, where that is before it was sent by botd's clock
}

// Ended is the final state of an order, and the evidence for it.
type Ended struct {
	OrderID   int64             `json:"order_id,omitempty"`
	State     placement.State   `json:"state"`
	Filled    exchange.Quantity `json:"filled,omitempty"` // cumulative
	Price     exchange.Amount   `json:"price,omitzero"`   // mean, where it is known
	Evidence  string            `json:"evidence,omitempty"`
	CreatedMS int64             `json:"created_ms,omitempty"` // as in Fill
}

// Quarantined is a symbol that is not understood: nothing opens there until a
// person resolves it.
type Quarantined struct {
	Why   string          `json:"why"`
	Cause QuarantineCause `json:"cause,omitempty"`
}

// Adopted accepts a difference between exchange and journal as the strategy's.
type Adopted struct {
	Quantity exchange.Quantity `json:"quantity,omitempty"` // signed
	Evidence string            `json:"evidence,omitempty"`
}

// Plan is a strategy's plan in force. Fields that are not set leave what there was.
type Plan struct {
	Plan *strategy.Plan `json:"plan"`
}

// Memory is all of a strategy's memory, and how many of its events it has seen.
type Memory struct {
	Entries []strategy.MemoryEntry `json:"memory"`
	Events  int64                  `json:"events,omitempty"` // 0: as many as before
}

// Latch forbids entries on a side; 0 releases.
type Latch struct {
	Side    int  `json:"side"`
	Idle    bool `json:"idle,omitempty"`    // the strategy asks for no position: what it asks for next is a new signal
	Renewed bool `json:"renewed,omitempty"` // released by a new signal: the target is priced again
}

// Priced is a target's size, priced once.
type Priced struct {
	Target   strategy.Target   `json:"target"`
	Quantity exchange.Quantity `json:"quantity"` // signed
}

// Config is the hash of the configuration at a start or a reload.
type Config struct {
	Hash string `json:"config"`
}

// Assigned says that the strategy trades the symbol, and what its removal does.
type Assigned struct {
	OnRemove string `json:"on_remove,omitempty"` // flatten, leave
	Events   bool   `json:"events,omitempty"`    // the strategy is shown what happened
}

// Day is the equity of the account, or of a strategy, at the start of a UTC day.
type Day struct {
	StartMS int64           `json:"day_ms"` // UTC midnight
	Equity  exchange.Amount `json:"equity"`
	Peak    exchange.Amount `json:"peak"`              // highest ever
	Markets string          `json:"markets,omitempty"` // of the account: whose equity it is
	Spot    exchange.Amount `json:"spot,omitzero"`     // of the account: the part of Equity that is on spot
}

// Halt halts the account, a strategy or a symbol, or rearms it.
type Halt struct {
	Level HaltLevel `json:"level,omitempty"` // LevelNone rearms
	Why   string    `json:"why,omitempty"`
}

// Baseline is what the spot wallet held of a symbol's base asset while no strategy
// held any, and what it has held beside that and botd's own since then.
type Baseline struct {
	Quantity     exchange.Quantity `json:"quantity"`
	Unattributed exchange.Quantity `json:"beside,omitempty"`
}

// Fees is what fees took of a quantity bought on spot: expected at the fill, by the
// known rate, or, where it differs, squared with the wallet later.
type Fees struct {
	Quantity exchange.Quantity `json:"quantity"`           // negative: the wallet holds more than was expected
	Expected bool              `json:"expected,omitempty"` // at the fill
	Evidence string            `json:"evidence,omitempty"`
}

// Breaker pauses the account's openings until a time.
type Breaker struct {
	UntilMS int64  `json:"until_ms"`
	Why     string `json:"why,omitempty"`
}

// Ignored leaves a part of a position, or one order, to whoever made it.
type Ignored struct {
	Quantity exchange.Quantity `json:"quantity,omitempty"` // signed: all that is ignored of the position from now on
	OrderID  int64             `json:"order_id,omitempty"` // of the order that is ignored
	Evidence string            `json:"evidence,omitempty"`
}

// Found takes an order that is on the exchange into the journal.
type Found struct {
	OrderID   int64             `json:"order_id"`
	Order     exchange.NewOrder `json:"order"`
	Purpose   placement.Purpose `json:"purpose"`
	Key       string            `json:"key,omitempty"`
	Filled    exchange.Quantity `json:"filled,omitempty"`    // cumulative, and booked already
	Duplicate bool              `json:"duplicate,omitempty"` // a second order under one id: it is canceled
	Evidence  string            `json:"evidence,omitempty"`
}

// Result is what a strategy made, for its limits.
type Result struct {
	Base     exchange.Amount   `json:"base"`     // the account's equity when the strategy was first watched
	Result   exchange.Amount   `json:"result"`   // realised since, net of fees and funding; on spot its cash flow
	Trip     exchange.Amount   `json:"trip"`     // the result when the round trip under way began
	Position exchange.Quantity `json:"position"` // signed: the one that Result belongs to
	Losses   int               `json:"losses,omitempty"`
}

// Accounted is the futures wallet that the strategies' results account for, without what came from outside and was in no posting yet.
type Accounted struct {
	Wallet exchange.Amount `json:"wallet"`
	Losses int             `json:"losses,omitempty"` // round trips of the account that lost, in a row
	Keeps  bool            `json:"keeps,omitempty"`  // what strategies have traded since the last reading is still to be accounted for
}

// Breach says that a limit of the account, or of a strategy, was crossed. Without
// a cause the limit holds again.
type Breach struct {
	Rule    string `json:"rule"`
	Why     string `json:"why,omitempty"`
	UntilMS int64  `json:"until_ms,omitempty"` // 0: until it is rearmed
}

// Posting is an entry of the ledger.
type Posting struct {
	ledger.Posting
}

// Transfer is money from outside, or to it, that a person declares.
type Transfer struct {
	ledger.Transfer
}

// Audit is one change that a person asked for.
type Audit struct {
	Actor     string `json:"actor"` // socket, token, session
	Role      string `json:"role"`
	From      string `json:"from"`   // address
	Action    string `json:"action"` // the route
	Target    string `json:"target,omitempty"`
	Detail    string `json:"detail,omitempty"` // what was asked for, and why
	RequestID string `json:"request_id"`
}

// Withdrawn says that a person takes one order off the exchange: it is canceled
// until it has ended.
type Withdrawn struct {
	OrderID int64  `json:"order_id,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Limit is a limit that a person set tighter than the configuration.
type Limit struct {
	Rule  string `json:"rule"`
	Value string `json:"value,omitempty"` // as the configuration writes it; empty: as configured again
	By    string `json:"by,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Liquidated is the exchange's end of a position whose margin was used up.
type Liquidated struct {
	PositionID int64             `json:"position_id"`
	Quantity   exchange.Quantity `json:"quantity"` // signed: what was held
	ClosePrice exchange.Amount   `json:"close_price,omitzero"`
	Realised   exchange.Amount   `json:"realised,omitzero"` // the price difference alone
	Evidence   string            `json:"evidence,omitempty"`
}

// Checkpoint is the whole state that the records before it make: a start reads the newest
// one and the records after it. It is no more than what they say, and replay proves it.
type Checkpoint struct {
	Layout  string `json:"layout"` // of State: a botd of another layout replays all records
	Epoch   int64  `json:"epoch"`
	Account string `json:"account,omitempty"` // what the journal belongs to
	State   []byte `json:"state"`
}

// Declined is an order that botd's rules would not let go, of a strategy that watches events.
// It is written once between two decisions.
type Declined struct {
	Purpose  placement.Purpose `json:"purpose"`
	Key      string            `json:"key,omitempty"`
	Side     exchange.Side     `json:"side"`
	Quantity exchange.Quantity `json:"quantity,omitempty"`
	Rule     string            `json:"rule"`
	Why      string            `json:"why,omitempty"`
}

func (Boot) Kind() Kind         { return KindBoot }
func (Sending) Kind() Kind      { return KindSending }
func (Acknowledged) Kind() Kind { return KindAcknowledged }
func (Refused) Kind() Kind      { return KindRefused }
func (Unknown) Kind() Kind      { return KindUnknown }
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
