package account

import (
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// maxEvents limits the events stored for a strategy that does not decide.
const maxEvents = 1_000

// events are the events of one strategy since its last decision, if it watches them.
type events struct {
	watched bool
	list    []strategy.Event
	before  int64 // number of events before those in the list
	seen    int64 // number of events that the strategy has received
}

// Events returns the stored events since the strategy's last decision, oldest first, the number of
// events since then that were dropped, and the number of all events so far.
func (s *Strategy) Events() (stored iter.Seq[strategy.Event], missed int, all int64) {
	e := &s.events
	return slices.Values(e.list), int(e.before - e.seen), e.before + int64(len(e.list))
}

// PendingEvents returns the number of events since the strategy's last decision, dropped ones included.
func (s *Strategy) PendingEvents() int {
	return len(s.events.list) + int(s.events.before-s.events.seen)
}

// WatchesEvents reports whether events are stored for the strategy.
func (s *Strategy) WatchesEvents() bool { return s.events.watched }

// Declines reports whether the strategy has yet to receive an event that a rule refused such an order.
func (s *Strategy) Declines(reduces bool, key, rule string) bool {
	return slices.ContainsFunc(s.events.list, func(e strategy.Event) bool {
		return e.Kind == strategy.EventRefused && e.Reduces == reduces && e.Key == key && e.Rule == rule
	})
}

// happened adds an event.
func (e *events) happened(event strategy.Event) {
	if !e.watched {
		return
	}
	if len(e.list) == maxEvents {
		e.list = slices.Delete(e.list, 0, 1)
		e.before++
	}
	e.list = append(e.list, event)
}

// drop drops the events that the strategy has received.
func (e *events) drop(seen int64) {
	if seen <= e.seen {
		return
	}
	if n := min(seen-e.before, int64(len(e.list))); n > 0 {
		e.list, e.before = slices.Delete(e.list, 0, int(n)), e.before+n
	}
	e.seen = min(seen, e.before)
}

// eventOf returns an event about an order.
func eventOf(p *Placement, kind strategy.EventKind, atMS int64) strategy.Event {
	event := strategy.Event{AtMS: atMS, Kind: kind, Side: p.order.Side, Reduces: !p.purpose.Opens()}
	if !p.purpose.Protects() {
		event.Key = p.key
	}
	return event
}

// addFill adds an event for a fill of a placement.
func (e *events) addFill(p, before *Placement, grown exchange.Quantity, atMS int64) {
	if !e.watched {
		return
	}
	kind := strategy.EventFilled
	switch p.purpose {
	case placement.StopLoss:
		kind = strategy.EventStopped
	case placement.TakeProfit:
		kind = strategy.EventTookProfit
	}
	event := eventOf(p, kind, atMS)
	event.Quantity, event.Price = grown, addedPrice(before, grown, p.price)
	e.happened(event)
}

// addEnd adds an event for a placement that ended before it filled completely.
func (e *events) addEnd(p *Placement, atMS int64) {
	if !e.watched {
		return
	}
	event := eventOf(p, strategy.EventCanceled, atMS)
	event.Quantity = max(0, p.order.Quantity-p.filled)
	switch {
	case p.state == placement.Filled:
		return
	case p.state == placement.Refused, p.state == placement.Rejected:
		event.Kind, event.Reason = strategy.EventRefused, p.reason
	case p.purpose.Protects(): // a protective order is canceled with its position, and each time it moves
		return
	default:
		event.Reason = p.evidence
	}
	e.happened(event)
}

// addDeclined adds an event for an order that botd's rules refused.
func (e *events) addDeclined(body *record.Declined, atMS int64) {
	e.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventRefused, Key: body.Key, Reduces: !body.Purpose.Opens(), Side: body.Side,
		Quantity: body.Quantity, Rule: body.Rule, Reason: body.Reason})
}

// addLatch adds an event for a change of the latch.
func (s *Strategy) addLatch(before int, atMS int64) {
	switch {
	case s.latch.side == before:
	case s.latch.side == 0:
		s.events.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventReleased, Side: exchange.SideOf(exchange.Quantity(before))})
	default:
		s.events.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventLatched, Side: exchange.SideOf(exchange.Quantity(s.latch.side))})
	}
}

// addedPrice returns the mean price of an order's new fill, given the mean price of all its fills.
func addedPrice(before *Placement, grown exchange.Quantity, mean exchange.Amount) exchange.Amount {
	switch {
	case mean.IsZero() || before.filled > 0 && before.price.IsZero():
		return exchange.Amount{}
	case before.filled == 0:
		return mean
	}
	return mean.Add(mean.Sub(before.price).MulDiv(int64(before.filled), int64(grown)))
}
