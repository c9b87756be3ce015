package account

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Scope is what a halt applies to. Its zero value is the account.
type Scope struct {
	Strategy string             // one strategy
	Symbol   exchange.SymbolKey // one symbol; without a name, a whole market (for display)
}

// String returns the scope's name for people.
func (s Scope) String() string {
	switch {
	case s.Strategy != "":
		return "strategy " + s.Strategy
	case s.Symbol.Name != "":
		return "symbol " + s.Symbol.String()
	case s.Symbol.Market != 0:
		return "market " + s.Symbol.Market.String()
	}
	return "account"
}

func (s Scope) compare(t Scope) int {
	return cmp.Or(cmp.Compare(s.Strategy, t.Strategy), s.Symbol.Compare(t.Symbol))
}

// Covers reports whether a halt of the scope applies to a strategy's symbol.
func (s Scope) Covers(strategy string, symbol exchange.SymbolKey) bool {
	return (s.Strategy == "" || s.Strategy == strategy) && (s.Symbol == exchange.SymbolKey{} || s.Symbol == symbol)
}

// Halt is the kill switch's state for the account, a strategy or a symbol.
type Halt struct {
	Level  record.HaltLevel
	Reason string
	AtMS   int64
	Scope  Scope

	Unknown   string          // the client order id with botd's prefix that was not in the journal (case 15); empty for none
	UnknownMS int64           // when it was found
	Start     placement.Start // the newest start of this journal at that time
}

// halts are the halts in force, one per scope, sorted by scope: the account's first.
type halts struct{ inForce []Halt }

// Halts returns every halt in force, the account's first.
func (h *halts) Halts() []Halt { return slices.Clone(h.inForce) }

// Halted returns the account's halt; its level is LevelNone while there is none.
func (h *halts) Halted() Halt { return h.HaltOf(Scope{}) }

// HaltOf returns the halt of exactly this scope.
func (h *halts) HaltOf(scope Scope) Halt {
	if i, found := h.find(scope); found {
		return h.inForce[i]
	}
	return Halt{Scope: scope}
}

// HaltOn returns the severest halt that applies to a strategy's symbol.
func (h *halts) HaltOn(strategy string, symbol exchange.SymbolKey) (severest Halt) {
	for _, one := range h.inForce {
		if one.Scope.Covers(strategy, symbol) && one.Level > severest.Level {
			severest = one
		}
	}
	return severest
}

func (h *halts) find(scope Scope) (int, bool) {
	return slices.BinarySearchFunc(h.inForce, scope, func(one Halt, s Scope) int { return one.Scope.compare(s) })
}

// apply applies a halt's record. A halt is only ever escalated; LevelNone ends it.
func (h *halts) apply(r *record.Record, body *record.Halt, newest placement.Start) {
	scope := Scope{r.Strategy, r.Symbol}
	i, found := h.find(scope)
	if body.Level == record.LevelNone {
		if found {
			h.inForce = slices.Delete(h.inForce, i, i+1)
		}
		return
	}
	if !found {
		h.inForce = slices.Insert(h.inForce, i, Halt{Scope: scope})
	}
	one := &h.inForce[i]
	if body.Level > one.Level {
		one.Level, one.Reason, one.AtMS = body.Level, body.Reason, r.AtMS
	}
	if r.ClientOrderID != "" && one.Unknown == "" {
		one.Unknown, one.UnknownMS, one.Start = r.ClientOrderID, r.AtMS, newest
	}
}
