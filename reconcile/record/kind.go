package record

import "fmt"

// Kind names the content of a record.
type Kind uint8

// The kinds of record. Each is the kind of the payload type of the same name.
const (
	KindBoot         Kind = iota + 1
	KindSending           // an approved order, durable before its first byte
	KindAcknowledged      // the exchange assigned an order id
	KindRefused           // the exchange refused the order
	KindUncertain         // the answer was lost
	KindFill              // cumulative filled quantity
	KindEnded             // a final state, and the evidence for it
	KindQuarantined       // a symbol's state is unexplained: nothing opens there
	KindAdopted           // a difference between exchange and journal is accepted
	KindPlan              // a strategy's plan in force
	KindMemory            // a strategy's memory
	KindLatch             // no entry in a direction until the target was zero or changed side
	KindPriced            // a target's size, priced once
	KindConfig            // the configuration's hash at a start or reload
	KindAssigned          // a strategy's symbol and the action at its removal
	KindDay               // equity at the start of a UTC day, and its peak
	KindHalt              // trading halted, or rearmed
	KindBaseline          // spot: foreign part of the wallet
	KindFees              // spot: quantity of the purchased asset taken as fees
	KindBreaker           // openings pause until a time
	KindIgnored           // a part of the position, or an order, is left to others
	KindFound             // an order on the exchange is taken into the journal
	KindResult            // a strategy's result, for its limits
	KindAccounted         // the futures wallet that the results include
	KindBreach            // a limit was breached, or is no longer
	KindPosting           // the ledger: a reading of the money and its bookings
	KindAudit             // a person requested a change: who, from where, what
	KindWithdrawn         // a person cancels one order; it is canceled until it has ended
	KindLimit             // a person set a limit tighter than the configuration, or withdrew it
	KindLiquidated        // the exchange liquidated a position
	KindCheckpoint        // the whole state that the earlier records produce
	KindTransfer          // a person declares money that moved into or out of a wallet
	KindDeclined          // botd's rules refused an order of a strategy that watches events
	kindEnd
)

var kindNames = [kindEnd]string{
	"",
	"boot",
	"sending",
	"acknowledged",
	"refused",
	"unknown",
	"fill",
	"ended",
	"quarantined",
	"adopted",
	"plan",
	"memory",
	"latch",
	"priced",
	"config",
	"assigned",
	"day",
	"halt",
	"baseline",
	"fees",
	"breaker",
	"ignored",
	"found",
	"result",
	"accounted",
	"breach",
	"posting",
	"audit",
	"withdrawn",
	"limit",
	"liquidated",
	"checkpoint",
	"transfer",
	"declined",
}

// Kinds returns every kind, in order.
func Kinds() (kinds []Kind) {
	for kind := KindBoot; kind < kindEnd; kind++ {
		kinds = append(kinds, kind)
	}
	return kinds
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return fmt.Sprintf("record(%d)", k)
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKind(string(text))
	return err
}

// formerNames maps the names of kinds in older journals.
var formerNames = map[string]Kind{"resolved": KindPriced, "entry": KindPosting}

// ParseKind reads a kind's name, or its name in older journals.
func ParseKind(text string) (Kind, error) {
	for i, name := range kindNames {
		if i > 0 && name == text {
			return Kind(i), nil
		}
	}
	if kind, found := formerNames[text]; found {
		return kind, nil
	}
	return 0, fmt.Errorf("unknown journal record %q", text)
}
