package engine

import (
	"fmt"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// condition is a state of the account, of a symbol or of a strategy that blocks openings, is declared,
// or both.
type condition struct {
	name      string // as declared; also the name of the block in package risk by which the gate refuses
	blocks    func(p *permission, o candidate) bool
	meanwhile string // why a queued opening is withdrawn in this state; empty: it is sent
	declare   func(r *reporter) []Degraded
	ofLeg     func(r *reporter, leg *leg) []Degraded // declares the state of one strategy, after all other states
}

// candidate is where a strategy may open; leg is nil if the strategy has ended.
type candidate struct {
	risk.Opening
	leg *leg
}

// conditions returns the only list of what blocks openings: in a condition that blocks, a strategy
// derives no openings and a queued opening is withdrawn; Degraded declares the conditions in this order.
func conditions() []condition {
	return []condition{
		{name: "stopping", blocks: func(p *permission, _ candidate) bool { return p.closing != record.LevelNone }, meanwhile: "botd is stopping"},
		{name: "journal", declare: (*reporter).journalFails}, // nothing is sent without a record
		{name: "disk", blocks: func(p *permission, _ candidate) bool { return p.low != "" },
			meanwhile: "the journal's disk was nearly full or its files lost meanwhile", declare: (*reporter).diskLow},
		{name: "blind", blocks: gated("blind"), meanwhile: "reads failed meanwhile", declare: func(r *reporter) []Degraded { return r.readHealth.degraded() }},
		{name: "breaker", blocks: gated("breaker"), meanwhile: "the breaker was tripped meanwhile", declare: (*reporter).breaking},
		{name: "standing_down", declare: (*reporter).standingDown}, // the account is halted in this state
		{name: "halted", blocks: gated("halted"), meanwhile: "trading was halted meanwhile", declare: (*reporter).halted},
		{name: "limit", blocks: func(p *permission, o candidate) bool { return p.breached(o.Strategy) }, meanwhile: "a limit was crossed meanwhile",
			declare: func(r *reporter) []Degraded { return r.limits.limitedBy("") },
			ofLeg:   func(r *reporter, leg *leg) []Degraded { return r.limits.limitedBy(leg.config.Name) }},
		{name: "quarantined", blocks: gated("quarantined"), meanwhile: "the symbol was quarantined meanwhile", declare: ofSymbols((*reporter).quarantined)},
		{name: "contradicted", blocks: func(_ *permission, o candidate) bool { return o.State.Contradicted() != "" },
			meanwhile: "the position was contradicted meanwhile", declare: ofSymbols((*reporter).contradicted)},
		{name: "adopted", blocks: func(p *permission, o candidate) bool { return p.nowMS < o.State.HoldMS(p.bounds()) },
			meanwhile: "a change that botd did not make was adopted meanwhile", declare: ofSymbols((*reporter).adopted)},
		{name: "unread"},            // refused by the gate: before the first read no order is derived
		{name: "outcome_uncertain"}, // refused by the gate: an unsettled symbol derives no candidate, and withdrawn decides about those sent meanwhile
		{name: "foreign", declare: ofSymbols((*reporter).foreign)}, // refused by the gate: the opening is derived, so that its refusal is reported
		{name: "stale", declare: (*reporter).stale},                // refused by the limit max_data_age
		{name: "missing", declare: (*reporter).missing},            // no strategy runs
		{name: "unprotected", blocks: func(p *permission, o candidate) bool { return p.protection.declared(o.leg) },
			meanwhile: "its position is unprotected meanwhile", ofLeg: (*reporter).unprotected},
		{name: "failed", blocks: ofLeg(func(leg *leg) bool { return leg.failure.why != "" }), ofLeg: (*reporter).failed},
		{name: "hung", blocks: ofLeg(func(leg *leg) bool { return leg.question.hung != "" }), ofLeg: (*reporter).hung},
		{name: "removed", blocks: ofLeg(func(leg *leg) bool { return leg.config.Removed })},
		{name: "undecided", blocks: ofLeg(func(leg *leg) bool { return leg.inForce.outdated })},
	}
}

// gated returns the condition for a block of package risk.
func gated(name string) func(*permission, candidate) bool {
	for _, b := range risk.Blocks() {
		if b.Name == name {
			return func(_ *permission, o candidate) bool { return b.In(o.Opening) }
		}
	}
	panic(fmt.Sprintf("engine: package risk has no block %s", name))
}

func ofLeg(in func(*leg) bool) func(*permission, candidate) bool {
	return func(_ *permission, o candidate) bool { return o.leg != nil && in(o.leg) }
}

// ofSymbols declares the state of each symbol.
func ofSymbols(of func(*reporter, *reconcile.SymbolState) []Degraded) func(*reporter) []Degraded {
	return func(r *reporter) (all []Degraded) {
		for symbol := range r.tracker.Symbols() {
			all = append(all, of(r, symbol)...)
		}
		return all
	}
}

// Degraded is a declared state in which some or all openings are blocked.
type Degraded struct {
	State         string // the name of a condition
	Scope         account.Scope
	Cause         string
	SinceMS       int64
	UntilMS       int64    // when it ends automatically; 0 if unknown
	Remedy        string   // how it ends
	Blind         []string // of a halt that closes something: what it cannot see or change
	ExitsAccepted bool     // the exchange has also accepted all orders that close the rest
	Remaining     string   // of a halt that closes something: what remains to be closed, and why
}

// Degraded lists the declared states in force: the account's first, then the symbols',
// then the strategies'.
func (r *reporter) Degraded() (all []Degraded) {
	for i := range r.permission.conditions {
		if declare := r.permission.conditions[i].declare; declare != nil {
			all = append(all, declare(r)...)
		}
	}
	for _, leg := range r.legs {
		for i := range r.permission.conditions {
			if declare := r.permission.conditions[i].ofLeg; declare != nil {
				all = append(all, declare(r, leg)...)
			}
		}
	}
	return append(all, r.refused()...)
}
