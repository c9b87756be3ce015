package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// halts is the kill switch and the shutdown.
type halts struct {
	*base
	limits      *limits
	tick        *tick
	requestedMS int64 // time of the last request
}

// halt applies a request to the kill switch: a halt can be escalated but not made milder; LevelNone
// rearms its scope, and releases the latch of a strategy that is rearmed by name.
func (h *halts) halt(event *EventHalt) {
	scope := event.Scope
	before := h.tracker.HaltOf(scope)
	h.requestedMS, h.roundMS = h.nowMS, h.nowMS
	if event.Level != record.LevelNone && event.Level <= before.Level {
		return // this level, or a more severe one, is already in force
	}
	h.record(record.Record{Strategy: scope.Strategy, Symbol: scope.Symbol, Body: record.Halt{Level: event.Level, Reason: event.Reason}})
	h.note(scope.Strategy, h.symbolOf(scope.Symbol), NoteHalt{event.Reason, event.Level == record.LevelNone})
	if event.Level == record.LevelNone && scope.Symbol == (exchange.SymbolKey{}) {
		h.limits.rearmed(scope.Strategy)
	}
	if leg := h.legNamed(scope.Strategy); leg != nil && event.Level == record.LevelNone && leg.state.Latch() != 0 {
		h.record(record.Record{Strategy: scope.Strategy, Body: record.Latch{}})
		h.note(scope.Strategy, leg.config.Symbol, NoteLatch{Reason: event.Reason, Ended: true})
	}
	if event.Level == record.LevelNone {
		h.decideAgain(scope)
	}
	h.roundMS = h.nowMS
	h.emergencyMS = min(h.emergencyMS, h.nowMS+haltRetryMS) // the current round may hang
}

// decideAgain makes the strategies of a rearmed scope decide again, because their old plans rely on
// positions that were closed.
func (h *halts) decideAgain(scope account.Scope) {
	for _, leg := range h.legs {
		if scope.Covers(leg.config.Name, leg.symbol.Key()) {
			h.tick.decideAgain(leg)
		}
	}
}

// levelOn returns the severest level for a strategy: of the kill switch, of stopping, of its
// removal from the configuration, of a crossed limit, and the given one.
func (b *base) levelOn(leg *leg, level record.HaltLevel) record.HaltLevel {
	if b.breached(leg.config.Name) {
		level = max(level, record.LevelCancel) // a resting order might still open
	}
	return max(level, b.tracker.HaltOn(leg.config.Name, leg.symbol.Key()).Level, b.closing, leg.removal())
}

// stop ends all new activity. With leave, nothing more is sent. With cancel or flatten, rounds continue
// without ticks until nothing remains, or until the driver stops waiting.
func (h *halts) stop(shutdown string) {
	switch shutdown {
	case ShutdownCancel:
		h.closing = record.LevelCancel
	case ShutdownFlatten:
		h.closing = record.LevelFlatten
	default:
		h.stopped, h.roundMS = true, never
		return
	}
	h.roundMS = h.nowMS
}

// finishShutdown completes the shutdown once a round has found nothing left to do.
func (h *halts) finishShutdown(acted, queued int) {
	if h.closing == record.LevelNone || h.stopped || acted > 0 || queued > 0 {
		return
	}
	for _, leg := range h.legs {
		if h.unfinished(leg, h.closing) {
			return
		}
	}
	h.stopped, h.roundMS = true, never
}

// unfinished reports whether anything remains that a halt of this level closes.
func (b *base) unfinished(leg *leg, level record.HaltLevel) bool {
	if position := b.tracker.ToClose(leg.symbol); level == record.LevelFlatten && position != 0 && !dust(leg, position) {
		return true
	}
	for p := range b.tracker.Live() {
		if p.Symbol() == leg.symbol.Key() && level.Ends(p.Purpose()) {
			return true
		}
	}
	return false
}

// dust reports whether a spot position is worth less than the smallest possible order, both by the rules
// at the start and by the current ones: none of it can be sold, and its value is small. One read of rules makes no position dust.
func dust(leg *leg, position exchange.Quantity) bool {
	return !leg.firstRules && unsellable(leg, position) && worth(leg, position).Less(leg.config.Symbol.MinNotional)
}

// unsellable reports whether a spot position is below the exchange's current minimum.
func unsellable(leg *leg, position exchange.Quantity) bool {
	rules := leg.symbol.Rules()
	return leg.symbol.Key().Market == exchange.Spot && rules != nil && leg.symbol.Last() > 0 && rules.BelowMinimum(leg.symbol.Last(), position.Abs())
}

func worth(leg *leg, position exchange.Quantity) exchange.Amount {
	return leg.symbol.Rules().Notional(leg.symbol.Last(), position.Abs())
}

// minimumText explains that a position is too small for an order, although it is more than dust;
// empty if an order is possible.
func minimumText(leg *leg, position exchange.Quantity) string {
	if position == 0 || !unsellable(leg, position) || dust(leg, position) {
		return ""
	}
	return fmt.Sprintf("%s is worth %s USDT: the exchange currently accepts no order below %s USDT", leg.symbol.Key(), worth(leg, position),
		leg.symbol.Rules().MinNotional)
}

// unread reports whether a closing halt is newer than the newest read of a symbol in its scope: until
// that symbol is read, it is unknown what remains.
func (h *halts) unread() bool {
	for _, leg := range h.legs {
		halt := h.tracker.HaltOn(leg.config.Name, leg.symbol.Key())
		if halt.Level.EndsOrders() && leg.rounds.readMS < max(halt.AtMS, h.requestedMS) {
			return true
		}
	}
	return false
}

// pending reports whether a halt still has something to close, or a withdrawn order has not ended: a
// failed round is then retried soon.
func (h *halts) pending() bool {
	for _, leg := range h.legs {
		if level := h.levelOn(leg, record.LevelNone); level.EndsOrders() && h.unfinished(leg, level) {
			return true
		}
	}
	return h.tracker.AnyLive(func(p *account.Placement) bool { return p.Withdrawn() != "" })
}
