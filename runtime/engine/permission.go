package engine

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// permission says whether openings may go out.
type permission struct {
	*base
	sight   *sight
	limits  *limits
	ruleset *ruleset
	halts   *halts
	low     string // why the journal's disk is nearly full; empty while it is not
	lowMS   int64
}

func (e *permission) mayEnter(r *run) bool {
	return e.heldBack(r.config.Name, r.truth.Key()) == "" && e.low == "" && e.halts.closing == record.LevelNone && !r.config.Removed &&
		r.failed == "" &&
		e.limits.breached(r.config.Name) == nil
}

// heldBack says what declared state keeps openings of a strategy back; empty for none.
func (e *permission) heldBack(strategy string, key exchange.SymbolKey) string {
	switch {
	case e.book.HaltOn(strategy, key).Level != record.LevelNone:
		return "trading was halted"
	case e.book.Breaking(e.nowMS):
		return "the breaker was tripped"
	case e.sight.Blind():
		return "reads failed"
	case e.book.Symbol(key).Quarantine() != "":
		return "the symbol was quarantined"
	}
	return ""
}

// withdrawn says why a placement must not go any more, though its record is
// durable: what was approved before the commit may have become wrong during it.
func (e *permission) withdrawn(w *queued) string {
	key := w.intent.Order.Key()
	switch {
	case e.halts.stopped:
		return "botd is stopping"
	case e.nowMS > w.call.DeadlineMS:
		return "its time to live had passed"
	case !w.intent.Purpose.Opens():
		return ""
	case e.halts.closing != record.LevelNone:
		return "botd is stopping"
	case e.heldBack(w.intent.Strategy, key) != "":
		return e.heldBack(w.intent.Strategy, key) + " meanwhile"
	case w.limitsVersion != e.ruleset.limitsVersionOf(w.intent.Strategy):
		return "the configuration changed meanwhile"
	case e.low != "":
		return "the journal's disk was nearly full meanwhile"
	case e.limits.breached(w.intent.Strategy) != nil:
		return "a limit was passed meanwhile"
	case e.book.UnresolvedBeside(w.intent.Order.ClientOrderID, key):
		return "another placement on the symbol is under way or became unknown meanwhile"
	}
	return ""
}

// disk notes that the journal's disk is nearly full, or has room again. What is
// left of it is for facts and exits: nothing opens.
func (e *permission) disk(why string) {
	if (why == "") != (e.low == "") {
		e.lowMS = e.nowMS
		e.note("", nil, NoteJournal{Over: why == "", Why: why})
		e.soon()
	}
	e.low = why
}
