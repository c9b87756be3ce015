package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Ways to stop (contract: shutdown), and what becomes of a strategy that was
// removed from the configuration while it holds something (on_remove).
const (
	ShutdownLeave   = "leave"
	ShutdownCancel  = "cancel_orders"
	ShutdownFlatten = "flatten"
	removeFlatten   = "flatten"
)

// nobody stands for a strategy that was removed: it wishes nothing.
type nobody struct{}

func (nobody) Warmup() int                           { return 0 }
func (nobody) Candle(*strategy.View)                 {}
func (nobody) Decide(*strategy.View, *strategy.Plan) {}

// removal is the level at which a removed strategy's symbol is wound up.
func (r *run) removal() record.HaltLevel {
	if r.config.Removed && r.state.OnRemove() == removeFlatten {
		return record.LevelFlatten
	}
	return record.LevelNone
}

// halts is the kill switch, and shutting down.
type halts struct {
	*base
	limits  *limits
	closing record.HaltLevel // the level at which botd shuts down; LevelNone while it trades
	stopped bool
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

// doing says what a halt has still to take away, and what keeps it; empty when it
// is done.
func (e *report) doing(scope account.Scope, level record.HaltLevel) string {
	positions, orders, kept := []string(nil), 0, ""
	for _, r := range e.runs {
		if !scope.Covers(r.config.Name, r.truth.Key()) {
			continue
		}
		if level == record.LevelFlatten && r.truth.Position != 0 {
			positions = append(positions, r.truth.Key().String()+" "+r.config.Symbol.QuantityDecimal(r.truth.Position).String())
			if refused := e.placer.refusals.why(r.config.Name+" "+placement.Exit.String()+" ", e.nowMS); refused != "" {
				kept = "the exit of " + r.truth.Key().String() + " is held back by " + refused
			}
		}
		for _, p := range e.book.Live() {
			if p.Symbol() == r.truth.Key() && p.Purpose() == placement.Exit && e.sight.failed > 0 {
				kept = "an exit of " + r.truth.Key().String() + " was sent, and what became of it only a read tells"
			}
			if p.Symbol() == r.truth.Key() && (p.Withdrawn() != "" || level == record.LevelFlatten || level == record.LevelCancel && p.Purpose().Opens()) {
				orders++
			}
		}
	}
	var left []string
	if len(positions) > 0 {
		left = append(left, "to close: "+strings.Join(positions, ", "))
	}
	if orders > 0 {
		left = append(left, fmt.Sprintf("orders to end: %d", orders))
	}
	if kept != "" {
		left = append(left, kept)
	}
	switch {
	case len(positions) == 0 && orders == 0:
		return ""
	case e.journalErr != nil:
		left = append(left, "the journal can not be written, tried again every second")
	case e.sight.failed > 0:
		left = append(left, fmt.Sprintf("the exchange fails (%d times in a row), tried again every %d s", e.sight.failed, pressingMS/1000))
	}
	return strings.Join(left, "; ")
}

// latchFlattened keeps a strategy whose position is closed over its head from
// opening it again by the plan that still stands.
func (e *halts) latchFlattened(r *run, level record.HaltLevel) {
	sign := r.state.Plan().Target.Sign()
	if level != record.LevelFlatten || r.truth.Known() == 0 || sign == 0 || r.state.Latch() == sign || r.config.Removed {
		return
	}
	e.record(record.Record{Strategy: r.config.Name, Body: record.Latch{Side: sign}})
	e.note(r.config.Name, r.config.Symbol, NoteLatch{Side: sign, Why: "its position is closed by " + cmp.Or(e.book.HaltOn(r.config.Name, r.truth.Key()).Why, "stopping")})
}

// claim writes down whose a symbol is, and what is to become of it should its
// strategy be removed. A symbol that holds what another strategy left halts until
// a person accepts that: its protection stays.
func (e *roster) claim(r *run) {
	holds := r.truth.Known() != 0 || e.halts.windsUp(r, record.LevelFlatten)
	owner := r.truth.Owner()
	if !r.config.Removed && (owner != r.config.Name || r.state.Symbol() != r.truth.Key() || r.state.OnRemove() != r.config.OnRemove) {
		e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: record.Assigned{OnRemove: r.config.OnRemove}})
	}
	why := ""
	switch {
	case !holds:
	case r.config.Removed && r.removal() == record.LevelNone:
		why = "strategy " + r.config.Name + " was removed from the configuration while it holds something; its stop stays"
	case !r.config.Removed && owner != "" && owner != r.config.Name:
		why = "strategy " + r.config.Name + " takes over what " + owner + " holds; its stop stays"
	}
	if scope := (account.Scope{Symbol: r.truth.Key()}); why != "" && e.book.HaltOf(scope).Level == record.LevelNone {
		e.record(record.Record{Symbol: scope.Symbol, Body: record.Halt{Level: record.LevelPause, Why: why}})
		e.note(r.config.Name, r.config.Symbol, NoteHalt{Why: why})
	}
}
