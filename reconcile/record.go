// Package reconcile derives an account's state from what was requested and fetched, and the intents that lead from it to the plan.
//
// It holds the account's Book: every placement with its state, the position per
// symbol, and each strategy's plan in force. The Book changes in one way only,
// by applying records; the journal keeps the same records, so starting anew is
// applying them again. Nothing here asks for the time or does I/O.
package reconcile

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// RecordKind names what a journal record says.
type RecordKind uint8

// The kinds of record (exactly-once.md, Journal).
const (
	RecordBoot         RecordKind = iota + 1 // a start: epoch
	RecordSending                            // an approved order, durable before its first byte
	RecordAcknowledged                       // the exchange gave an order id
	RecordRefused                            // the exchange said no
	RecordUnknown                            // the answer was lost
	RecordFill                               // cumulative filled quantity
	RecordEnded                              // a final state, and by what evidence
	RecordQuarantined                        // a symbol is not understood: nothing opens there
	RecordAdopted                            // a difference between venue and book accepted as the book's
	RecordPlan                               // a strategy's plan in force
	RecordMemory                             // a strategy's memory
	RecordLatch                              // no entry in a direction until the target was zero or changed side
	RecordResolved                           // a target's size, priced once
	RecordConfig                             // the configuration's hash at a start; or a strategy's symbol, and what a removal does
	RecordDay                                // equity at the start of a UTC day, and its peak
	RecordHalt                               // trading halted, or armed again (level empty)
	RecordBaseline                           // spot: what the wallet held that is not the strategy's
	RecordFees                               // spot: quantity of the asset bought that fees took
	RecordBreaker                            // openings pause until a time
	RecordIgnored                            // a part of the position, or an order, is not botd's
	RecordFound                              // an order on the exchange becomes the book's
	RecordResult                             // what a strategy made, for its limits; without one, the wallet accounted for
	RecordBreach                             // a limit was crossed: entries wait; without a cause, no more
	RecordEntry                              // the ledger: what was read of the money, and what that means
	RecordAudit                              // a person asked for a change: who, from where, what
	RecordWithdrawn                          // a person takes one order out of the book: it is canceled until it has ended
	RecordLimit                              // a person set a limit tighter than the configuration; without a value, no more
	recordEnd
)

var recordNames = [recordEnd]string{"", "boot", "sending", "acknowledged", "refused", "unknown", "fill", "ended",
	"quarantined", "adopted", "plan", "memory", "latch", "resolved", "config", "day", "halt", "baseline", "fees", "breaker", "ignored", "found", "result", "breach", "entry", "audit", "withdrawn", "limit"}

// String returns the kind's name.
func (k RecordKind) String() string {
	if k < recordEnd {
		return recordNames[k]
	}
	return fmt.Sprintf("record(%d)", k)
}

// MarshalText writes the name.
func (k RecordKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name.
func (k *RecordKind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseRecordKind(string(text))
	return err
}

// ParseRecordKind reads a kind's name.
func ParseRecordKind(text string) (RecordKind, error) {
	for i, name := range recordNames {
		if i > 0 && name == text {
			return RecordKind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown journal record %q", text)
}

// Record is one entry of the journal. Only the fields its kind names are set.
type Record struct {
	Kind     RecordKind         `json:"kind"`
	AtMS     int64              `json:"at_ms"`              // server time
	Strategy string             `json:"strategy,omitempty"` // whose
	Symbol   exchange.SymbolKey `json:"symbol,omitzero"`

	ClientOrderID string             `json:"client_order_id,omitempty"`
	OrderID       int64              `json:"order_id,omitempty"`
	Order         *exchange.NewOrder `json:"order,omitempty"`       // sending
	Purpose       Purpose            `json:"purpose,omitempty"`     // sending
	Key           string             `json:"key,omitempty"`         // sending: the plan's key
	DeadlineMS    int64              `json:"deadline_ms,omitempty"` // sending: no first byte after this
	Before        exchange.Quantity  `json:"before,omitempty"`      // sending: position before
	Reserved      exchange.Amount    `json:"reserved,omitzero"`     // sending: notional at risk, USDT
	State         State              `json:"state,omitempty"`       // ended
	Filled        exchange.Quantity  `json:"filled,omitempty"`      // fill, ended: cumulative; adopted: signed difference; ignored: signed part; baseline, fees: the quantity
	Price         exchange.Amount    `json:"price,omitzero"`        // fill: mean price when known
	Evidence      string             `json:"evidence,omitempty"`    // ended, adopted: by what
	Why           string             `json:"why,omitempty"`         // refused, unknown, quarantined, halt
	Code          int                `json:"code,omitempty"`        // refused

	Surplus bool `json:"surplus,omitempty"` // found: to be taken out of the book

	Epoch    int64                  `json:"epoch,omitempty"`    // boot
	Account  string                 `json:"account,omitempty"`  // boot: what the journal belongs to
	Target   strategy.Target        `json:"target,omitzero"`    // resolved: which wish
	Resolved exchange.Quantity      `json:"resolved,omitempty"` // resolved: its quantity
	Latch    int                    `json:"latch,omitempty"`    // latch: the side latched, 0 released
	Plan     *strategy.Plan         `json:"plan,omitempty"`     // plan
	Memory   []strategy.MemoryEntry `json:"memory,omitempty"`   // memory: all of it
	Hash     string                 `json:"config,omitempty"`   // config
	Equity   exchange.Amount        `json:"equity,omitzero"`    // day: at its start
	Peak     exchange.Amount        `json:"peak,omitzero"`      // day: highest ever
	DayMS    int64                  `json:"day_ms,omitempty"`   // day: UTC midnight
	Markets  string                 `json:"markets,omitempty"`  // day, of the account: whose equity it is
	Spot     exchange.Amount        `json:"spot,omitzero"`      // day, of the account: the part of Equity that is on spot
	Level    HaltLevel              `json:"level,omitempty"`    // halt: LevelNone re-arms. Of Strategy or Symbol alone where given
	UntilMS  int64                  `json:"until_ms,omitempty"` // breaker, breach: openings pause until then; breach: 0 until armed again
	Rule     string                 `json:"rule,omitempty"`     // breach, limit: of which limit
	Limit    string                 `json:"limit,omitempty"`    // limit: its value, as the configuration writes it
	By       string                 `json:"by,omitempty"`       // limit: who
	Result   exchange.Amount        `json:"result,omitzero"`    // result: realised since the strategy began, in equity's terms
	Trip     exchange.Amount        `json:"trip,omitzero"`      // result: what it was when the position under way was opened
	Wallet   exchange.Amount        `json:"wallet,omitzero"`    // result of the account: the futures wallet accounted for
	Losses   int                    `json:"losses,omitempty"`   // result: losing positions in a row

	Entry *Posting `json:"entry,omitempty"` // entry
	Audit *Audit   `json:"audit,omitempty"` // audit
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
