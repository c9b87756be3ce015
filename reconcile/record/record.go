// Package record defines what the journal holds: one envelope, and one payload type for each kind of record.
//
// A record is a fact or a decision that must survive a restart. The kind of a
// record is the type of its payload, so a field exists only where it has a
// meaning, and it has one meaning. A new kind, field or enumeration value is a new
// line of formats (format.go): it raises the journal's format epoch, which an older
// botd refuses. Nothing here asks for the time or does I/O.
package record

import (
	"strings"

	"botd/exchange"
)

// Record is one entry of the journal: when, about what, and the payload of its kind.
type Record struct {
	AtMS          int64              // server time
	Strategy      string             // the strategy it is about; empty for none
	Symbol        exchange.SymbolKey // the symbol it is about; zero for none
	ClientOrderID string             // the order it is about; empty for none
	Body          Body               // never nil in a journal
}

// Kind returns the kind of the record's payload.
func (r *Record) Kind() Kind {
	if r.Body == nil {
		return 0
	}
	return r.Body.Kind()
}

// Summary says in a line what a record says, without its time, kind, strategy and
// symbol. Quantities and prices are in units of the symbol's scales, which a
// record does not carry.
func (r *Record) Summary() string {
	var s summary
	if r.ClientOrderID != "" {
		s.add("%s", r.ClientOrderID)
	}
	if r.Body != nil {
		r.Body.summarize(&s)
	}
	return strings.Join(s.parts, " ")
}

// Filled returns what the order has filled in all by this record, and the mean
// price where it is known; it reports false for a record that does not say.
func (r *Record) Filled() (filled exchange.Quantity, price exchange.Amount, ok bool) {
	switch body := r.Body.(type) {
	case Fill:
		return body.Filled, body.Price, true
	case Ended:
		return body.Filled, body.Price, true
	}
	return 0, exchange.Amount{}, false
}
