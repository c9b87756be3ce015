package risk

import (
	"fmt"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// The rules of this file are botd's own: while they refuse, nothing opens.

func (g *Gate) halted(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if halt := facts.Book.HaltOn(intent.Strategy, facts.State.Key()); halt.Level != record.LevelNone {
		return f.refuse(halt.Scope.String()+" halted: "+halt.Why, "armed", "botd rearm ends it")
	}
	if facts.Book.Breaking(facts.NowMS) {
		return f.refuse("breaker: "+facts.Book.Breaker().Why, "no breaker", "it ends by itself; exits and stops continue")
	}
	if facts.Blind {
		return f.refuse("blind", "fetched orders and positions", "reads have failed for too long; openings wait for the exchange")
	}
	return true
}

func (g *Gate) unsettled(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state := facts.State
	switch {
	case state.Quarantine() != "":
		return f.refuse("quarantine: "+state.Quarantine(), "a settled symbol", "botd resolve "+state.Key().Name+" ends it")
	case !state.Read():
		return f.refuse("not fetched", "a settled symbol", "nothing opens before the first snapshot")
	}
	if p := unresolved(facts); p != nil {
		return f.refuse("placement "+p.ClientOrderID()+" "+p.State().String(), "a settled symbol", "its outcome is fetched, never guessed")
	}
	switch o := facts.Book.ForeignOpening(state); {
	case o == nil:
	case facts.Book.Resembles(state, o):
		return f.refuse(fmt.Sprintf("order %d has the form of botd's stops", o.ID), "no openings while another botd trades", "stop it, and close its positions")
	case state.Repeats(o):
		return f.refuse(fmt.Sprintf("order %d equals one of botd's", o.ID), "no opening placed twice", "cancel it; another botd may be running")
	default:
		return f.refuse(fmt.Sprintf("order %d, not placed by botd", o.ID), "no foreign opening order (foreign: halt)",
			"cancel it, or set foreign: ignore or adopt")
	}
	return true
}

// unresolved returns a placement on the symbol whose outcome is not known, or nil.
func unresolved(facts *Facts) *account.Placement {
	for p := range facts.Book.InFlightOn(facts.State.Key()) {
		if p.State().Unresolved() {
			return p
		}
	}
	return nil
}
