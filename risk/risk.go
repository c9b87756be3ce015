// Package risk checks every intent against the rules, is the only maker of Approved, and fails closed.
//
// A Gate checks one intent against the truth with everything in flight counted
// at its worst case. What it does not know, it refuses. Only reducing and
// protecting intents pass while something is uncertain.
package risk

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// Refusal says which rule refused an intent, with its figures.
type Refusal struct {
	Rule  string // from Rules
	Scope string // of a limit: account, account futures, symbol ..., strategy ...
	Value string // what the intent would be
	Limit string // what it may be
	Hint  string
}

// Error puts rule, value, limit and hint into one line.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s, limit %s (%s)", r.Rule, r.Value, r.Limit, r.Hint)
}

// Approved is an intent that every rule let pass. Only a Gate makes one: the
// zero value panics when it is used.
type Approved struct {
	intent reconcile.Intent
	passed bool
}

// Intent returns what was approved; it panics on a value no gate made.
func (a Approved) Intent() reconcile.Intent {
	if !a.passed {
		panic("risk: an intent that no gate approved")
	}
	return a.intent
}

// Facts are what one check is made against.
type Facts struct {
	NowMS    int64
	Book     *reconcile.Book
	Truth    *reconcile.SymbolTruth
	Strategy Limits          // the strategy's own, tighter
	Market   exchange.Amount // equity of the order's market, for exposures
	Equity   exchange.Amount // of the account, all markets botd trades, for losses
	Unread   bool            // Equity was not read yet
	Own      exchange.Amount // of the strategy, when its limits watch it
	TakerFee exchange.Rate   // counted for what is in flight; on spot reserved
	Blind    bool            // reads have failed for too long: nothing opens
}

// Gate is the account's gate. What it needs comes with each check, of which it
// makes one at a time.
type Gate struct {
	limits Limits

	// Room for one check, so that it allocates nothing.
	found             finding
	account, strategy subject
}

// NewGate returns a gate with the account's limits.
func NewGate(limits Limits) *Gate { return &Gate{limits: limits} }

// rule is one rule of the exchange's or of botd's own: its name, and what it finds
// about an intent. The user's limits are rules too: limit.go.
type rule struct {
	name string
	find func(*Gate, *reconcile.Intent, *Facts, *finding) (fits bool)
}

// always are the rules for every placement, opens those for openings alone.
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
		{"balance", (*Gate).balance},
		{"order_count", (*Gate).orderCount},
	}
	opens = append(slices.Clip(always),
		rule{"halted", (*Gate).halted},
		rule{"unsettled", (*Gate).unsettled},
		rule{"opposite", (*Gate).opposite},
		rule{"leverage", (*Gate).leverage},
		rule{"margin", (*Gate).margin},
	)
	cancels   = []rule{{"symbol", (*Gate).cancelable}}
	leverages = []rule{{"leverage", (*Gate).setLeverage}}
)

// Rules returns the names of all rules, for metrics and documents.
func Rules() []string {
	return namesOf(reconcile.Entry)
}

// rulesOf are the rules that an intent is judged by before the limits, in order.
func rulesOf(purpose reconcile.Purpose) []rule {
	switch {
	case purpose == reconcile.Cancel:
		return cancels
	case purpose == reconcile.Leverage:
		return leverages
	case purpose.Opens():
		return opens
	}
	return always
}

// judges reports whether an intent is judged by the limit.
func (l *Limit) judges(purpose reconcile.Purpose) bool {
	return l.measure != nil && (purpose.Opens() || l.levers && purpose == reconcile.Leverage)
}

// namesOf are the names of all rules that an intent is judged by, in order.
func namesOf(purpose reconcile.Purpose) (names []string) {
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

// judge asks each rule about an intent, in order, and returns the finding of the
// first that refuses, or nil. It gives every finding on its way to whoever takes
// them, of a limit one for each of the account and the strategy that has set it.
func (g *Gate) judge(intent *reconcile.Intent, facts *Facts, give func(*finding)) *finding {
	f := &g.found
	for _, r := range rulesOf(intent.Purpose) {
		*f = finding{rule: r.name}
		r.find(g, intent, facts, f)
		give(f)
		if f.refused {
			return f
		}
	}
	g.account = subject{nowMS: facts.NowMS, book: facts.Book, watch: facts.Book.Watch(""), limits: &g.limits, intent: intent, market: facts.Truth.Key.Market, truth: facts.Truth,
		equity: facts.Market, funds: facts.Equity, unread: facts.Unread}
	g.strategy = g.account
	g.strategy.limits, g.strategy.watch, g.strategy.strategy, g.strategy.funds = &facts.Strategy, facts.Book.Watch(intent.Strategy), intent.Strategy, facts.Own
	for i := range limitTable {
		l, asked := &limitTable[i], false
		if !l.judges(intent.Purpose) {
			continue
		}
		for _, s := range [...]*subject{&g.account, &g.strategy} {
			if !l.isSet(s.limits) && l.breach(s) == nil {
				continue
			}
			asked = true
			l.judge(s, f)
			give(f)
			if f.refused {
				return f
			}
		}
		if !asked {
			*f = finding{rule: l.Name}
			give(f)
		}
	}
	return nil
}

func nobody(*finding) {}

// Check lets an intent pass or says why not. A cancel passes unless the symbol
// admits none.
func (g *Gate) Check(intent *reconcile.Intent, facts *Facts) (Approved, *Refusal) {
	if refused := g.judge(intent, facts, nobody); refused != nil {
		return Approved{}, refused.refusal()
	}
	return Approved{*intent, true}, nil
}
