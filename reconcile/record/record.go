// Package record defines the records of the journal: one envelope, and one payload type for each
// kind of record.
//
// A record is a fact or a decision that must survive a restart. The kind of a record is the type of
// its payload, so each field exists only in the kinds that use it, with a single meaning. A new
// kind, field or enumeration value is a new line of formats (format.go): it raises the journal's
// format epoch, which an older botd refuses. The package neither reads the time nor does I/O.
package record

import (
	"strings"

	"botd/exchange"
)

// Record is one record of the journal: its time, its subject, and the payload of its kind.
type Record struct {
	AtMS          int64              // server time
	Strategy      string             // its strategy; empty for none
	Symbol        exchange.SymbolKey // its symbol; zero for none
	ClientOrderID string             // its order; empty for none
	Body          Body               // never nil in a journal
}

// Kind returns the kind of the record's payload.
func (r *Record) Kind() Kind {
	if r.Body == nil {
		return 0
	}
	return r.Body.Kind()
}

// Summary describes a record in one line, without its time, kind, strategy and symbol. Quantities
// and prices are in units of the symbol's scales, which a record does not contain.
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

// Filled returns the order's cumulative fill as of this record, and its mean price, which is zero if
// unknown. It returns false for a kind of record that states no fill.
func (r *Record) Filled() (filled exchange.Quantity, price exchange.Amount, ok bool) {
	switch body := r.Body.(type) {
	case Fill:
		return body.Filled, body.Price, true
	case Ended:
		return body.Filled, body.Price, true
	}
	return 0, exchange.Amount{}, false
}
