package strategy

import (
	"fmt"
	"slices"

	"botd/exchange"
)

// Event is one thing that happened to what a strategy desired. A strategy that asks for events
// (Watching.Events) sees each of them in one decision that counts: what the decision remembers and
// that it has seen them is one record of the journal, so a restart neither repeats nor loses one.
type Event struct {
	AtMS     int64 // when botd learnt it
	Kind     EventKind
	Key      string // the plan's key; "" for the target and for what protects it
	Reduces  bool   // it is about an order that makes the position smaller
	Side     exchange.Side
	Quantity exchange.Quantity // filled: by how much, before fees; else what the order had left
	Price    exchange.Amount   // filled: the mean price of Quantity; zero where it is not known
	Rule     string            // refused: botd's rule; "" where the exchange refused
	Why      string
}

// EventKind says what happened.
type EventKind uint8

// The kinds of event.
const (
	EventFilled     EventKind = iota + 1 // an order filled, in whole or in part
	EventStopped                         // the stop-loss filled
	EventTookProfit                      // the take-profit filled
	EventRefused                         // botd or the exchange would not take an order
	EventCanceled                        // an order ended before it was filled in whole
	EventLatched                         // the side of the target is closed to entries
	EventReleased                        // it is open again
	eventEnd
)

var eventNames = [eventEnd]string{"", "filled", "stopped", "took_profit", "refused", "canceled", "latched", "released"}

// String returns the kind's name.
func (k EventKind) String() string {
	if k < eventEnd {
		return eventNames[k]
	}
	return fmt.Sprintf("event(%d)", k)
}

// MarshalText writes the name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name.
func (k *EventKind) UnmarshalText(text []byte) error {
	i := slices.Index(eventNames[:], string(text))
	if i <= 0 {
		return fmt.Errorf("unknown event %q", text)
	}
	*k = EventKind(i)
	return nil
}
