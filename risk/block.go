package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// Opening is the state that decides whether a strategy may open on its symbol.
type Opening struct {
	NowMS    int64
	Tracker  *reconcile.Tracker
	State    *reconcile.SymbolState
	Strategy string
	Blind    bool // reads have failed for too long
}

// Block is a state in which nothing opens. These are botd's own rules: the gate refuses every
// opening in such a state. What else the engine does about it is in the engine's table.
type Block struct {
	Name      string // as the state is declared
	rule      string
	In        func(Opening) bool
	rejection func(Opening) rejection
}

// rejection holds the texts that a rule shows when it refuses.
type rejection struct{ value, limit, hint string }

// blocks are all blocks, in the order of the checks.
var blocks = []Block{
	{"halted", "halted", Opening.halted, Opening.haltedText},
	{"breaker", "halted", Opening.breaking, func(o Opening) rejection {
		return rejection{"breaker: " + o.Tracker.Breaker().Reason, "no breaker", "it " + ClearsAutomatically}
	}},
	{"blind", "halted", Opening.blind, func(Opening) rejection {
		return rejection{"blind", "fetched orders and positions", "reads have failed for too long; openings wait for the exchange"}
	}},
	{"quarantined", "unsettled", Opening.quarantined, func(o Opening) rejection {
		return rejection{"quarantine: " + o.State.Quarantine(), "a settled symbol", "botd resolve " + o.State.Key().Name + " ends it"}
	}},
	{"unread", "unsettled", Opening.unread, func(Opening) rejection {
		return rejection{"not fetched", "a settled symbol", "nothing opens before the first snapshot"}
	}},
	{"outcome_uncertain", "unsettled", func(o Opening) bool { return o.uncertain() != nil }, func(o Opening) rejection {
		p := o.uncertain()
		return rejection{"placement " + p.ClientOrderID() + " " + p.State().String(), "a settled symbol", "its outcome is being fetched, never guessed"}
	}},
	{"foreign", "unsettled", func(o Opening) bool { return o.foreign() != nil }, Opening.foreignText},
}

// Blocks returns the table of blocks.
func Blocks() []Block { return blocks }

func (g *Gate) halted(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	return f.unblocked("halted", facts.opening(intent.Strategy))
}

func (g *Gate) unsettled(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	return f.unblocked("unsettled", facts.opening(intent.Strategy))
}

func (f *Facts) opening(strategy string) Opening {
	return Opening{f.NowMS, f.Tracker, f.State, strategy, f.Blind}
}

// unblocked reports whether none of a rule's blocks refuses an opening.
func (f *finding) unblocked(rule string, o Opening) bool {
	for i := range blocks {
		if b := &blocks[i]; b.rule == rule && b.In(o) {
			text := b.rejection(o)
			return f.refuse(text.value, text.limit, text.hint)
		}
	}
	return true
}

func (o Opening) halted() bool {
	return o.Tracker.HaltOn(o.Strategy, o.State.Key()).Level != record.LevelNone
}

func (o Opening) haltedText() rejection {
	halt := o.Tracker.HaltOn(o.Strategy, o.State.Key())
	return rejection{halt.Scope.String() + " halted: " + halt.Reason, "armed", "botd rearm ends it"}
}

func (o Opening) breaking() bool { return o.Tracker.Breaking(o.NowMS) }

func (o Opening) blind() bool { return o.Blind }

func (o Opening) quarantined() bool { return o.State.Quarantine() != "" }

func (o Opening) unread() bool { return !o.State.Read() }

// uncertain returns a placement on the symbol whose outcome is not known, or nil.
func (o Opening) uncertain() *account.Placement {
	for p := range o.Tracker.InFlightOn(o.State.Key()) {
		if p.State().OutcomeUncertain() {
			return p
		}
	}
	return nil
}

func (o Opening) foreign() *exchange.Order { return o.Tracker.ForeignOpening(o.State) }

func (o Opening) foreignText() rejection {
	switch order := o.foreign(); {
	case o.Tracker.Resembles(o.State, order):
		return rejection{fmt.Sprintf("order %d has the form of botd's stops", order.ID), "no openings while another botd trades",
			"stop it, and close its positions"}
	case o.State.Repeats(order) || o.Tracker.OfPlan(o.State, order):
		return rejection{fmt.Sprintf("order %d equals one of botd's", order.ID), "no opening placed twice", "cancel it; another botd may be running"}
	default:
		return rejection{fmt.Sprintf("order %d, not placed by botd", order.ID), "no foreign opening order (foreign: halt)",
			"cancel it, or set foreign: ignore or adopt"}
	}
}
