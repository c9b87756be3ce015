package engine

import (
	"slices"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// press does of a halt what needs no reading, while the exchange answers no reads:
// orders that may open are canceled by their ids, as often as wished (class I), and
// a futures position is closed at market by what was last read of it, once, since
// reduceOnly can not flip. Whatever became of that, another exit is sent from a
// fresh read only (class R). What protects stays until then.
func (e *placer) press() {
	if e.halts.stopped {
		return
	}
	e.pressMS = e.nowMS + pressingMS
	for _, r := range e.runs {
		level := e.halts.levelOn(r, record.LevelNone)
		if !e.takesAway(r, level) {
			continue
		}
		wish := e.wishOf(r)
		wish.Strategy = wish.Strategy.Halted(level)
		e.halts.latchFlattened(r, level)
		intents, _ := e.book.Derive(&wish, e.nowMS)
		for i := range intents {
			if e.needsNoRead(r, &intents[i], level) {
				e.dispatch(r, &intents[i])
			}
		}
	}
}

// takesAway reports whether a halt at this level, or a person who withdrew an order,
// wants something of the run's symbol ended.
func (e *placer) takesAway(r *run, level record.HaltLevel) bool {
	return level >= record.LevelCancel ||
		slices.ContainsFunc(e.book.Live(), func(p *account.Placement) bool { return p.Symbol() == r.truth.Key() && p.Withdrawn() != "" })
}

func (e *placer) needsNoRead(r *run, intent *reconcile.Intent, level record.HaltLevel) bool {
	switch intent.Purpose {
	case placement.Cancel:
		p := e.book.Placement(intent.ClientID)
		return p != nil && (p.Purpose().Opens() || p.Purpose() == placement.ExitOrder)
	case placement.Exit:
		if level != record.LevelFlatten || !intent.Order.ReduceOnly || r.pressedMS == e.sight.soundMS {
			return false
		}
		r.pressedMS = e.sight.soundMS
		return true
	}
	return false
}
