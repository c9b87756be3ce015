package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Step is one thing a halt would send.
type Step struct {
	Strategy string
	Symbol   *exchange.Symbol
	Intent   reconcile.Intent
	Later    bool // once the steps before it are confirmed
}

// Preview says exactly what a halt would send now, and sends nothing: what a
// round under it would derive, and for flatten the exits that follow its cancels.
func (e *outlooks) Preview(level record.HaltLevel, scope account.Scope) []Step {
	var steps []Step
	for _, r := range e.runs {
		if !scope.Covers(r.config.Name, r.truth.Key()) {
			continue
		}
		wish := e.placer.wishOf(r)
		wish.Strategy = wish.Strategy.Halted(e.halts.levelOn(r, level))
		wish.Entries = false
		intents, _ := e.book.Derive(&wish, e.nowMS)
		exits := false
		for _, intent := range intents {
			switch {
			case intent.Purpose == placement.Cancel:
			case level > record.LevelCancel && intent.Purpose == placement.Exit:
				exits = true
			default:
				continue // what a round would do without the halt too
			}
			steps = append(steps, Step{r.config.Name, r.config.Symbol, intent, false})
		}
		if exits || level != record.LevelFlatten {
			continue
		}
		for _, intent := range e.book.ExitOf(&wish, e.nowMS) {
			steps = append(steps, Step{r.config.Name, r.config.Symbol, intent, true})
		}
	}
	return steps
}

// wishOf is what one strategy wants, with what deriving from it needs.
func (e *placer) wishOf(r *run) reconcile.Desired {
	wish := reconcile.Desired{
		Strategy: r.state, Symbol: r.truth, Protection: protectionOf(r), Leverage: r.config.Leverage,
		Entries: e.permission.mayEnter(r), Equity: e.equity(r.truth.Key().Market), TakerFee: e.config.TakerFee,
		Collar: e.collar(r), Interval: r.config.Interval, Bridge: e.config.BusyRoundMS > 0, Frozen: r.config.Removed,
	}
	if r.state.Plan().Leverage != 0 {
		wish.Leverage = r.state.Plan().Leverage
	}
	return wish
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
