package engine

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// halts is the kill switch, and shutting down.
type halts struct {
	*base
	limits  *limits
	closing record.HaltLevel // the level at which botd shuts down; LevelNone while it trades
	stopped bool
}

// halt takes an order of the kill switch: a halt is escalated, never made milder;
// LevelNone arms its scope again, and releases the latch of a strategy
// that is armed by name.
func (e *halts) halt(event *EventHalt) {
	scope := event.Scope
	before := e.book.HaltOf(scope)
	if event.Level != record.LevelNone && event.Level <= before.Level {
		return // in force already, or a severer one is
	}
	e.record(record.Record{Strategy: scope.Strategy, Symbol: scope.Symbol, Body: record.Halt{Level: event.Level, Why: event.Why}})
	e.note(scope.Strategy, e.symbolOf(scope.Symbol), NoteHalt{event.Why, event.Level == record.LevelNone})
	if event.Level == record.LevelNone && scope.Symbol == (exchange.SymbolKey{}) {
		e.limits.rearmed(scope.Strategy)
	}
	if r := e.runNamed(scope.Strategy); r != nil && event.Level == record.LevelNone && r.state.Latch() != 0 {
		e.record(record.Record{Strategy: scope.Strategy, Body: record.Latch{}})
		e.note(scope.Strategy, r.config.Symbol, NoteLatch{Why: event.Why, Over: true})
	}
	e.roundMS = e.nowMS
	e.pressMS = min(e.pressMS, e.nowMS+pressingMS) // a round under way may hang
}

// levelOn is the severest level that holds for a strategy: of the kill switch, of
// stopping, of its removal from the configuration, of a limit passed, and of the
// one given.
func (e *halts) levelOn(r *run, level record.HaltLevel) record.HaltLevel {
	if e.limits.breached(r.config.Name) != nil {
		level = max(level, record.LevelCancel) // an order that rests would still open
	}
	return max(level, e.book.HaltOn(r.config.Name, r.truth.Key()).Level, e.closing, r.removal())
}

// stop ends what is new. Leaving, nothing more is sent. Canceling or flattening,
// rounds go on without ticks until nothing is left to do, or the driver gives up.
func (e *halts) stop(shutdown string) {
	switch shutdown {
	case ShutdownCancel:
		e.closing = record.LevelCancel
	case ShutdownFlatten:
		e.closing = record.LevelFlatten
	default:
		e.stopped, e.roundMS = true, never
		return
	}
	e.roundMS = e.nowMS
}

// closed ends stopping when a round found nothing left to do.
func (e *halts) closed(acted, queued int) {
	if e.closing == record.LevelNone || e.stopped || acted > 0 || queued > 0 {
		return
	}
	for _, r := range e.runs {
		if e.windsUp(r, e.closing) {
			return
		}
	}
	e.stopped, e.roundMS = true, never
}

// windsUp reports whether something is left that a level takes away.
func (e *halts) windsUp(r *run, level record.HaltLevel) bool {
	if level == record.LevelFlatten && r.truth.Position != 0 {
		return true
	}
	for _, p := range e.book.Live() {
		if p.Symbol() == r.truth.Key() && (p.Purpose().Opens() || level == record.LevelFlatten) {
			return true
		}
	}
	return false
}

// pressing reports whether a halt has still something to take away, or an order is
// withdrawn: a round that fails is then tried again soon.
func (e *halts) pressing() bool {
	for _, r := range e.runs {
		if level := e.levelOn(r, record.LevelNone); level > record.LevelPause && e.windsUp(r, level) {
			return true
		}
	}
	return slices.ContainsFunc(e.book.Live(), func(p *account.Placement) bool { return p.Withdrawn() != "" })
}

// latchFlattened keeps a strategy whose position is closed over its head from
// opening it again by the plan that still stands.
func (e *halts) latchFlattened(r *run, level record.HaltLevel) {
	sign := r.state.Plan().Target.Sign()
	if level != record.LevelFlatten || r.truth.Known() == 0 || sign == 0 || r.state.Latch() == sign || r.config.Removed {
		return
	}
	e.record(record.Record{Strategy: r.config.Name, Body: record.Latch{Side: sign}})
	e.note(
		r.config.Name,
		r.config.Symbol,
		NoteLatch{Side: sign, Why: "its position is closed by " + cmp.Or(e.book.HaltOn(r.config.Name, r.truth.Key()).Why, "stopping")},
	)
}
