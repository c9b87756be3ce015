package record

import (
	"fmt"
	"slices"
	"strings"
)

// QuarantineCause says what a quarantine comes from, where something depends on it: what may be protected and sold meanwhile.
type QuarantineCause uint8

// The causes of a quarantine.
const (
	OtherCause     QuarantineCause = iota // a difference that nothing explains, an order that nothing claims, and so on
	SoldByOthers                          // spot: others have sold what botd bought, as the order history shows
	ExecutedBeyond                        // the exchange executed more than it answered
	JournalLost                           // the journal is new, and knows nothing of what is open
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

// causeTexts is what the text of such a quarantine began with before records had a cause. It is never changed.
var causeTexts = [causeEnd]string{SoldByOthers: "the wallet holds less than the fills explain", ExecutedBeyond: "the exchange executed ",
	JournalLost: "the journal is new and knows nothing of what is open here"}

// FormerCause returns the cause of a quarantine that was journalled before records had one.
func (q *Quarantined) FormerCause() QuarantineCause {
	for cause, text := range causeTexts {
		if text != "" && strings.HasPrefix(q.Why, text) {
			return QuarantineCause(cause)
		}
	}
	return OtherCause
}
