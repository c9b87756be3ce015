package reconcile

import (
	"fmt"
	"strconv"
	"strings"

	"botd/exchange"
)

// Purpose says what an intent is for.
type Purpose uint8

// The purposes. Entry and Order open risk; all others reduce or protect.
const (
	Entry      Purpose = iota + 1 // towards a target, opening
	Exit                          // towards a target, reducing
	Order                         // a plan's opening order under its key
	ExitOrder                     // a plan's exit order under its key
	StopLoss                      // protection
	TakeProfit                    // protection
	Cancel                        // take an order out of the book
	Leverage                      // set a symbol's leverage
	purposeEnd
)

var purposeNames = [purposeEnd]string{"", "entry", "exit", "order", "exit_order", "stop_loss", "take_profit", "cancel", "leverage"}

// String returns the purpose's name.
func (p Purpose) String() string {
	if p < purposeEnd {
		return purposeNames[p]
	}
	return fmt.Sprintf("purpose(%d)", p)
}

// MarshalText writes the name.
func (p Purpose) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name.
func (p *Purpose) UnmarshalText(text []byte) error {
	for i, name := range purposeNames {
		if i > 0 && name == string(text) {
			*p = Purpose(i)
			return nil
		}
	}
	return fmt.Errorf("unknown purpose %q", text)
}

// Opens reports whether the intent can make a position larger (class N).
func (p Purpose) Opens() bool { return p == Entry || p == Order }

// Protects reports whether the intent is a stop-loss or take-profit.
func (p Purpose) Protects() bool { return p == StopLoss || p == TakeProfit }

// Intent is one change derived from Plan minus Truth.
type Intent struct {
	Strategy string
	Purpose  Purpose
	Key      string            // the plan's key, for Order and ExitOrder
	Order    exchange.NewOrder // what to place; for Cancel and Leverage its Market and Symbol
	OrderID  int64             // Cancel: which order
	ClientID string            // Cancel: whose placement
	Leverage int               // Leverage: to what
	Last     exchange.Price    // last price when it was derived
	Before   exchange.Quantity // signed position when it was derived
	Reason   string            // why, in words
}

// State is the state of a placement. See the diagram in docs/ARCHITECTURE.md.
type State uint8

// The placement states. From Filled on they are final.
const (
	Sending      State = iota + 1 // journalled; the answer is not known
	Acknowledged                  // has an order id; not yet seen when fetched
	Working                       // seen on the exchange, not final
	Uncertain                     // the answer was lost: maybe there, maybe not
	Filled                        // final
	Canceled                      // final, maybe part filled
	Rejected                      // final: the exchange ended it itself
	Refused                       // final: the exchange never took it
	Absent                        // final: proven to have had no effect
	Expired                       // final: never sent, its time to live had passed
	stateEnd
)

var stateNames = [stateEnd]string{"", "sending", "acknowledged", "working", "uncertain", "filled", "canceled", "rejected", "refused", "absent", "expired"}

// String returns the state's name.
func (s State) String() string {
	if s < stateEnd {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if i > 0 && name == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("unknown placement state %q", text)
}

// Final reports whether nothing can follow.
func (s State) Final() bool { return s >= Filled }

// Unresolved reports whether the placement's acceptance is not known: from the
// first byte until a parsed answer.
func (s State) Unresolved() bool { return s == Sending || s == Uncertain }

// Placement is an intent in the journal, with its state.
type Placement struct {
	ClientOrderID string
	OrderID       int64 // 0 until acknowledged
	Strategy      string
	Purpose       Purpose
	Key           string
	Order         exchange.NewOrder
	State         State
	Filled        exchange.Quantity // cumulative
	Price         exchange.Amount   // mean price of the fills when known
	SentMS        int64             // journalled server time
	UnknownMS     int64             // when its answer was lost
	DeadlineMS    int64             // SentMS plus time to live
	EndedMS       int64
	Why           string // of Refused, Uncertain
	Evidence      string // of a final state
	Seen          bool   // fetched at least once
	Surplus       bool   // a second order under one id: it is canceled
	Withdrawn     string // why a person takes it out of the book: it is canceled
	CancelMS      int64  // when a cancel was last sent, 0 for never; not journalled
}

// Remaining is the quantity that may still fill, in base units; zero for a
// closePosition order, which has none.
func (p *Placement) Remaining() exchange.Quantity {
	if p.State.Final() {
		return 0
	}
	return max(0, p.Order.Quantity-p.Filled)
}

// SignedRemaining is what it may still do to the position.
func (p *Placement) SignedRemaining() exchange.Quantity {
	return p.Remaining() * exchange.Quantity(p.Order.Side.Sign())
}

// Fence returns the server time from which a snapshot counts as evidence of the
// placement's fate (exactly-once.md, Principle).
func (p *Placement) Fence(settle Settle) int64 {
	return p.DeadlineMS + settle.WindowMS + settle.VisibilityMS + settle.StalenessMS
}

// Settle are the venue's bounds: W, D and L of exactly-once.md.
type Settle struct {
	WindowMS     int64 // W: how long a signed request can still be admitted
	VisibilityMS int64 // D: until an order is visible, terminal, or never was
	StalenessMS  int64 // L: how old a read may be
}

// UnmeasuredSettle are the bounds for a venue that was not probed.
var UnmeasuredSettle = Settle{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}

// ClientOrderID builds b<instance>-<epoch>-<sequence>, the epoch in base 36.
func ClientOrderID(instance string, epoch, sequence int64) string {
	return "b" + instance + "-" + strconv.FormatInt(epoch, 36) + "-" + strconv.FormatInt(sequence, 10)
}

// serial is when a client order id was made: the order of ids is the order of
// making them.
type serial struct{ epoch, sequence int64 }

func (s serial) before(t serial) bool {
	return s.epoch < t.epoch || s.epoch == t.epoch && s.sequence < t.sequence
}

// made reads a client order id of ours, and reports whether it is one.
func made(clientOrderID string) (serial, bool) {
	id, _, _ := strings.Cut(clientOrderID, "#")
	last := strings.LastIndexByte(id, '-')
	if last < 0 {
		return serial{}, false
	}
	middle := strings.LastIndexByte(id[:last], '-')
	if middle < 0 {
		return serial{}, false
	}
	epoch, err := strconv.ParseInt(id[middle+1:last], 36, 64)
	sequence, failed := strconv.ParseInt(id[last+1:], 10, 64)
	return serial{epoch, sequence}, err == nil && failed == nil
}
