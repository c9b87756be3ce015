package account

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// maxEvents bounds what is kept for a strategy that is not asked.
const maxEvents = 1_000

// events are what happened to one strategy since its last decision, where it watches that.
type events struct {
	watched bool
	list    []strategy.Event
	before  int64 // how many there were before those of the list
	seen    int64 // how many of all the strategy has seen
}

// Events returns what happened since the strategy's last decision, how many events are no longer
// kept of that, and how many there have been in all. The list must not be changed.
func (s *Strategy) Events() (list []strategy.Event, missed int, all int64) {
	e := &s.events
	return e.list, int(e.before - e.seen), e.before + int64(len(e.list))
}

// WatchesEvents reports whether what happens is kept for the strategy.
func (s *Strategy) WatchesEvents() bool { return s.events.watched }

// Declines reports whether the strategy has yet to see that a rule would not let an order go.
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

// take drops what the strategy has seen.
func (e *events) take(seen int64) {
	if seen <= e.seen {
		return
	}
	if n := min(seen-e.before, int64(len(e.list))); n > 0 {
		e.list, e.before = slices.Delete(e.list, 0, int(n)), e.before+n
	}
	e.seen = min(seen, e.before)
}

// eventOf is an event about an order.
func eventOf(p *Placement, kind strategy.EventKind, atMS int64) strategy.Event {
	event := strategy.Event{AtMS: atMS, Kind: kind, Side: p.order.Side, Reduces: !p.purpose.Opens()}
	if !p.purpose.Protects() {
		event.Key = p.key
	}
	return event
}

// noteFill adds what filled of a placement.
func (e *events) noteFill(p, before *Placement, grown exchange.Quantity, atMS int64) {
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

// noteEnd adds that a placement has ended without being filled in whole.
func (e *events) noteEnd(p *Placement, atMS int64) {
	if !e.watched {
		return
	}
	event := eventOf(p, strategy.EventCanceled, atMS)
	event.Quantity = max(0, p.order.Quantity-p.filled)
	switch {
	case p.state == placement.Filled:
		return
	case p.state == placement.Refused, p.state == placement.Rejected:
		event.Kind, event.Why = strategy.EventRefused, p.why
	case p.purpose.Protects(): // it ends with what it protects, and moves
		return
	default:
		event.Why = p.evidence
	}
	e.happened(event)
}

// noteDeclined adds that botd's rules would not let an order go.
func (e *events) noteDeclined(body *record.Declined, atMS int64) {
	e.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventRefused, Key: body.Key, Reduces: !body.Purpose.Opens(), Side: body.Side,
		Quantity: body.Quantity, Rule: body.Rule, Why: body.Why})
}

// noteLatch adds that the latch has changed.
func (s *Strategy) noteLatch(before int, atMS int64) {
	switch {
	case s.latch.side == before:
	case s.latch.side == 0:
		s.events.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventReleased, Side: exchange.SideOf(exchange.Quantity(before))})
	default:
		s.events.happened(strategy.Event{AtMS: atMS, Kind: strategy.EventLatched, Side: exchange.SideOf(exchange.Quantity(s.latch.side))})
	}
}

// addedPrice is the mean price of what an order filled beyond what it had filled before, given
// the mean price of all.
func addedPrice(before *Placement, grown exchange.Quantity, mean exchange.Amount) exchange.Amount {
	switch {
	case mean.IsZero() || before.filled > 0 && before.price.IsZero():
		return exchange.Amount{}
	case before.filled == 0:
		return mean
	}
	return mean.Add(mean.Sub(before.price).MulDiv(int64(before.filled), int64(grown)))
}
