package placement

import "fmt"

// State is the state of a placement. See the diagram in docs/ARCHITECTURE.md.
type State uint8

// The placement states. From Filled on they are final.
const (
	Sending      State = iota + 1 // journalled; the outcome is uncertain
	Acknowledged                  // has an order id; not yet fetched
	Working                       // fetched, not final
	Uncertain                     // the answer was lost: the order may or may not exist
	Filled                        // final
	Canceled                      // final, possibly partly filled
	Rejected                      // final: the exchange ended it by itself
	Refused                       // final: the exchange never accepted it
	Absent                        // final: proven to have had no effect
	Expired                       // final: never sent, because it came too late, was withdrawn or could not be sent
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

// Final reports whether the state can no longer change.
func (s State) Final() bool { return s >= Filled }

// OutcomeUncertain reports whether botd does not know if the exchange accepted the order: from its sending
// record until a parsed answer, and after a lost answer until evidence settles it.
func (s State) OutcomeUncertain() bool { return s == Sending || s == Uncertain }
