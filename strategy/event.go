package strategy

import (
	"fmt"
	"slices"

	"botd/exchange"
)

// Event is one change to a strategy's desired orders or target. A strategy that subscribes to
// events (Watching.Events) receives each of them in exactly one decision that takes effect. One
// journal record holds both the decision's memory and the fact that the events were delivered, so a
// restart neither repeats nor loses an event.
type Event struct {
	AtMS     int64 // when botd learned of it
	Kind     EventKind
	Key      string // the plan's key; "" for the target and its protection
	Reduces  bool   // the order makes the position smaller
	Side     exchange.Side
	Quantity exchange.Quantity // filled: the quantity of this fill, before fees; else the order's remaining quantity
	Price    exchange.Amount   // filled: the mean price of Quantity; zero if unknown
	Rule     string            // refused: botd's rule; "" if the exchange refused
	Reason   string
}

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of event.
const (
	EventFilled     EventKind = iota + 1 // an order filled, in whole or in part
	EventStopped                         // the stop-loss filled
	EventTookProfit                      // the take-profit filled
	EventRefused                         // botd or the exchange refused an order
	EventCanceled                        // an order ended before it filled completely
	EventLatched                         // the target's side is closed to entries
	EventReleased                        // the side is open to entries again
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
