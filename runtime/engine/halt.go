package engine

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// halts is the kill switch, and shutting down.
type halts struct {
	*base
	limits  *limits
	tick    *tick
	askedMS int64            // when one was asked for last
	closing record.HaltLevel // the level at which botd shuts down; LevelNone while it trades
	stopped bool
}

// halt takes an order of the kill switch: a halt is escalated, never made milder;
// LevelNone arms its scope again, and releases the latch of a strategy
// that is armed by name.
func (h *halts) halt(event *EventHalt) {
	scope := event.Scope
	before := h.book.HaltOf(scope)
	h.askedMS, h.roundMS = h.nowMS, h.nowMS
	if event.Level != record.LevelNone && event.Level <= before.Level {
		return // in force already, or a severer one is
	}
	h.record(record.Record{Strategy: scope.Strategy, Symbol: scope.Symbol, Body: record.Halt{Level: event.Level, Why: event.Why}})
	h.note(scope.Strategy, h.symbolOf(scope.Symbol), NoteHalt{event.Why, event.Level == record.LevelNone})
	if event.Level == record.LevelNone && scope.Symbol == (exchange.SymbolKey{}) {
		h.limits.rearmed(scope.Strategy)
	}
	if leg := h.legNamed(scope.Strategy); leg != nil && event.Level == record.LevelNone && leg.state.Latch() != 0 {
		h.record(record.Record{Strategy: scope.Strategy, Body: record.Latch{}})
		h.note(scope.Strategy, leg.config.Symbol, NoteLatch{Why: event.Why, Over: true})
	}
	if event.Level == record.LevelNone {
		h.decideAgain(scope)
	}
	h.roundMS = h.nowMS
	h.emergencyMS = min(h.emergencyMS, h.nowMS+haltRetryMS) // a round under way may hang
}

// decideAgain has the strategies of a scope that is armed again decide again: the plan of before counts on
// what was closed.
func (h *halts) decideAgain(scope account.Scope) {
	for _, leg := range h.legs {
		if scope.Covers(leg.config.Name, leg.symbol.Key()) {
			h.tick.decideAgain(leg)
		}
	}
}

// levelOn is the severest level that holds for a strategy: of the kill switch, of
// stopping, of its removal from the configuration, of a limit passed, and of the
// one given.
func (h *halts) levelOn(leg *leg, level record.HaltLevel) record.HaltLevel {
	if h.limits.breached(leg.config.Name) != nil {
		level = max(level, record.LevelCancel) // an order that rests would still open
	}
	return max(level, h.book.HaltOn(leg.config.Name, leg.symbol.Key()).Level, h.closing, leg.removal())
}

// stop ends what is new. Leaving, nothing more is sent. Canceling or flattening,
// rounds go on without ticks until nothing is left to do, or the driver gives up.
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

// finishShutdown ends stopping when a round found nothing left to do.
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

// unfinished reports whether something is left that a level takes away.
func (h *halts) unfinished(leg *leg, level record.HaltLevel) bool {
	if held := h.book.ToClose(leg.symbol); level == record.LevelFlatten && held != 0 && !h.dust(leg, held) {
		return true
	}
	for _, p := range h.book.Live() {
		if p.Symbol() == leg.symbol.Key() && (p.Purpose().Opens() || level == record.LevelFlatten) {
			return true
		}
	}
	return false
}

// dust reports whether what is held on spot is worth less than any order may be, by the rules of the start and by
// those of now: nothing can be sold of it, and little is lost.
func (b *base) dust(leg *leg, held exchange.Quantity) bool {
	return b.belowMinimum(leg, held) && worth(leg, held).Less(leg.config.Symbol.MinNotional)
}

// belowMinimum reports whether what is held on spot is worth less than the smallest order that the exchange takes now.
func (b *base) belowMinimum(leg *leg, held exchange.Quantity) bool {
	rules := leg.symbol.Rules
	return leg.symbol.Key().Market == exchange.Spot && rules != nil && leg.symbol.Last > 0 && worth(leg, held).Less(rules.MinNotional)
}

func worth(leg *leg, held exchange.Quantity) exchange.Amount {
	return leg.symbol.Rules.Notional(leg.symbol.Last, max(held, -held))
}

// minimumText says that no order can be made of what is held, though it is more than dust; empty when one can.
func (b *base) minimumText(leg *leg, held exchange.Quantity) string {
	if held == 0 || !b.belowMinimum(leg, held) || b.dust(leg, held) {
		return ""
	}
	return fmt.Sprintf("%s is worth %s USDT: the exchange takes no order below %s USDT now", leg.symbol.Key(), worth(leg, held), leg.symbol.Rules.MinNotional)
}

// unread reports whether a halt that takes something away is younger than the newest read
// of a symbol it concerns: what is left is not known before that.
func (h *halts) unread() bool {
	for _, leg := range h.legs {
		halt := h.book.HaltOn(leg.config.Name, leg.symbol.Key())
		if halt.Level > record.LevelPause && leg.readMS < max(halt.AtMS, h.askedMS) {
			return true
		}
	}
	return false
}

// pending reports whether a halt has still something to take away, or an order is
// withdrawn: a round that fails is then tried again soon.
func (h *halts) pending() bool {
	for _, leg := range h.legs {
		if level := h.levelOn(leg, record.LevelNone); level > record.LevelPause && h.unfinished(leg, level) {
			return true
		}
	}
	return slices.ContainsFunc(h.book.Live(), func(p *account.Placement) bool { return p.Withdrawn() != "" })
}

// latchFlattened keeps a strategy whose position is closed over its head from
// opening it again by the plan that still stands.
func (h *halts) latchFlattened(leg *leg, level record.HaltLevel) {
	sign := leg.state.Plan().Target.Sign()
	if level != record.LevelFlatten || leg.symbol.Known() == 0 || sign == 0 || leg.state.Latch() == sign || leg.config.Removed {
		return
	}
	h.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: sign}})
	h.note(
		leg.config.Name,
		leg.config.Symbol,
		NoteLatch{Side: sign, Why: "its position is closed by " + cmp.Or(h.book.HaltOn(leg.config.Name, leg.symbol.Key()).Why, "stopping")},
	)
}
