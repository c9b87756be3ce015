// Package risk checks every intent against the rules, is the only maker of Approved, and fails
// closed.
//
// A Gate checks one intent against the state of the account, with everything in flight counted at
// its worst case. It refuses every intent that it cannot judge. While the outcome of an order is uncertain,
// nothing opens on its symbol, and the symbol's leverage is not changed.
//
// The rules of the exchange and of botd itself are in venue.go, position.go, money.go and
// block.go. The user's limits are rows of one table, in limit.go.
package risk

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// Rejection is botd's own refusal of an intent (exchange.Refusal is the exchange's): the rule, with its figures.
type Rejection struct {
	Rule  string // from Rules
	Scope string // of a limit: account, account futures, symbol ..., strategy ...
	Value string // value including the intent
	Limit string
	Hint  string
}

// Error returns rule, value, limit and hint in one line.
func (r *Rejection) Error() string {
	return fmt.Sprintf("%s: %s, limit %s (%s)", r.Rule, r.Value, r.Limit, r.Hint)
}

// Approved is an intent that passed every rule. Only a Gate creates one. Using the zero value
// panics.
type Approved struct {
	intent reconcile.Intent
	passed bool
}

// Intent returns the approved intent. It panics on a value that no Gate created.
func (a Approved) Intent() reconcile.Intent {
	if !a.passed {
		panic("risk: an intent that no gate has approved")
	}
	return a.intent
}

// Facts are the state that a check judges an intent against.
type Facts struct {
	NowMS    int64
	Tracker  *reconcile.Tracker
	State    *reconcile.SymbolState
	Strategy Limits          // the strategy's own limits, applied in addition
	Market   exchange.Amount // equity of the order's market, for exposures
	Equity   exchange.Amount // equity of the account in all markets that botd trades, for losses
	Unread   bool            // Equity is not known yet, so loss limits refuse
	Own      exchange.Amount // equity of the strategy, if one of its limits depends on it
	TakerFee exchange.Rate   // counted for orders in flight, and for each purchase on spot
	Blind    bool            // reads have failed for too long: nothing opens
}

// Gate checks the intents of one account. It is not safe for concurrent use.
type Gate struct {
	limits Limits

	// Scratch space of one check, so that it does not allocate.
	found             finding
	account, strategy subject

	passed []passSums // of the current pass
}

// NewGate returns a gate with the account's limits.
func NewGate(limits Limits) *Gate { return &Gate{limits: limits} }

// rule is one rule of the exchange or of botd itself, as opposed to a limit of the user.
type rule struct {
	name string
	find func(*Gate, *reconcile.Intent, *Facts, *finding) (fits bool)
}

// The rules for each kind of intent, in the order of their checks.
var (
	always = []rule{
		{"symbol", (*Gate).symbol},
		{"shape", (*Gate).shape},
		{"price", (*Gate).price},
		{"price_tick", (*Gate).priceTick},
		{"quantity_tick", (*Gate).quantityTick},
		{"notional", (*Gate).notional},
		{"stop_price", (*Gate).stopPrice},
		{"reduce_only", (*Gate).reduceOnly},
		{"reduce_only_sum", (*Gate).reduceOnlySum},
		{"close_position", (*Gate).closePosition},
	}
	opens = append(slices.Clip(always),
		rule{"balance", (*Gate).balance},
		rule{"order_count", (*Gate).orderCount},
		rule{"halted", (*Gate).halted},
		rule{"unsettled", (*Gate).unsettled},
		rule{"opposite", (*Gate).opposite},
		rule{"leverage", (*Gate).leverage},
		rule{"margin", (*Gate).margin},
	)
	cancels   = []rule{{"symbol", (*Gate).cancelable}}
	leverages = []rule{{"leverage", (*Gate).setLeverage}}
)

// Rules returns the names of all rules and limits.
func Rules() []string {
	return namesOf(placement.Entry)
}

// rulesOf returns the rules that apply to an intent. The limits follow them.
func rulesOf(purpose placement.Purpose) []rule {
	switch {
	case purpose == placement.Cancel:
		return cancels
	case purpose == placement.Leverage:
		return leverages
	case purpose.Opens():
		return opens
	}
	return always
}

// judges reports whether the limit applies to an intent.
func (l *Limit) judges(purpose placement.Purpose) bool {
	return l.measure != nil && (purpose.Opens() || l.ofLeverage && purpose == placement.Leverage)
}

// namesOf returns the names of all rules and limits that apply to an intent.
func namesOf(purpose placement.Purpose) (names []string) {
	for _, r := range rulesOf(purpose) {
		names = append(names, r.name)
	}
	for i := range limitTable {
		if limitTable[i].judges(purpose) {
			names = append(names, limitTable[i].Name)
		}
	}
	return names
}

// Check approves an intent or returns the rejection. A cancel passes unless the symbol does not allow
// cancels.
func (g *Gate) Check(intent *reconcile.Intent, facts *Facts) (Approved, *Rejection) {
	if refused := g.judge(intent, facts, discard); refused != nil {
		return Approved{}, refused.rejection()
	}
	return Approved{*intent, true}, nil
}

// judge checks an intent against each rule in order and returns the first finding that refuses, or
// nil. It passes every finding up to that one to give. A limit set for both the account and the strategy
// has a finding for each. A finding is valid until the next one.
func (g *Gate) judge(intent *reconcile.Intent, facts *Facts, give func(*finding)) *finding {
	f := &g.found
	for _, r := range rulesOf(intent.Purpose) {
		*f = finding{rule: r.name}
		f.refused = !r.find(g, intent, facts, f)
		give(f)
		if f.refused {
			return f
		}
	}
	g.account = subject{nowMS: facts.NowMS, tracker: facts.Tracker, watch: facts.Tracker.Watch(""), limits: &g.limits, intent: intent,
		market: facts.State.Key().Market, state: facts.State, equity: facts.Market, funds: facts.Equity, unread: facts.Unread}
	g.strategy = g.account
	g.strategy.limits, g.strategy.watch = &facts.Strategy, facts.Tracker.Watch(intent.Strategy)
	g.strategy.strategy, g.strategy.funds = intent.Strategy, facts.Own
	for i := range limitTable {
		l, checked := &limitTable[i], false
		if !l.judges(intent.Purpose) {
			continue
		}
		for _, s := range [...]*subject{&g.account, &g.strategy} {
			if !l.isSet(s.limits) && l.breach(s) == nil {
				continue
			}
			checked = true
			l.judge(s, f)
			give(f)
			if f.refused {
				return f
			}
		}
		if !checked {
			*f = finding{rule: l.Name}
			give(f)
		}
	}
	return nil
}

func discard(*finding) {}
