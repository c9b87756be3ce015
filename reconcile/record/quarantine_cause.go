package record

import (
	"fmt"
	"slices"
	"strings"
)

// QuarantineCause is the cause of a quarantine, if it determines what may be protected and sold
// meanwhile.
type QuarantineCause uint8

// The causes of a quarantine.
const (
	OtherCause     QuarantineCause = iota // an unexplained difference, an unclaimed order, and so on
	SoldByOthers                          // spot: the order history shows that others sold botd's purchases
	ExecutedBeyond                        // the exchange executed an order that it refused, or executed one twice
	JournalLost                           // the journal is new and lacks the open positions and orders
	causeEnd
)

var causeNames = [causeEnd]string{"", "sold_by_others", "executed_beyond", "journal_lost"}

// String returns the cause's name; OtherCause has none.
func (c QuarantineCause) String() string {
	if c < causeEnd {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", c)
}

// MarshalText writes the name.
func (c QuarantineCause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name.
func (c *QuarantineCause) UnmarshalText(text []byte) error {
	i := slices.Index(causeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown cause of a quarantine %q", text)
	}
	*c = QuarantineCause(i)
	return nil
}

// causeTexts are the prefixes of quarantine texts from before records had a cause. They never
// change.
var causeTexts = [causeEnd]string{SoldByOthers: "the wallet holds less than the fills explain", ExecutedBeyond: "the exchange executed ",
	JournalLost: "the journal is new and knows nothing of what is open here"}

// FormerCause returns the cause of a quarantine that was journalled before records had a cause, derived
// from the beginning of its reason.
func (q *Quarantined) FormerCause() QuarantineCause {
	for cause, text := range causeTexts {
		if text != "" && strings.HasPrefix(q.Reason, text) {
			return QuarantineCause(cause)
		}
	}
	return OtherCause
}
