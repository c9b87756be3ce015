package account

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// Scope is what a halt holds for. Its zero value is the account.
type Scope struct {
	Strategy string             // one strategy
	Symbol   exchange.SymbolKey // one symbol; what is shown of a whole market has no name
}

// String names the scope for people.
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

// Covers reports whether a halt of the scope holds for a strategy's symbol.
func (s Scope) Covers(strategy string, symbol exchange.SymbolKey) bool {
	return (s.Strategy == "" || s.Strategy == strategy) && (s.Symbol == exchange.SymbolKey{} || s.Symbol == symbol)
}

// Halt is the kill switch's state for the account, a strategy or a symbol.
type Halt struct {
	Level record.HaltLevel
	Why   string
	AtMS  int64
	Scope Scope

	Unknown   string // the client order id under our prefix that the journal did not know (case 15); empty for none
	UnknownMS int64  // when it was found
}

// Halts returns every halt in force, the account's first.
func (s *State) Halts() []Halt { return slices.Clip(s.halts) }

// Halted returns the account's halt; its level is LevelNone while there is none.
func (s *State) Halted() Halt { return s.HaltOf(Scope{}) }

// HaltOf returns the halt of exactly this scope.
func (s *State) HaltOf(scope Scope) Halt {
	if i, found := s.findHalt(scope); found {
		return s.halts[i]
	}
	return Halt{Scope: scope}
}

// HaltOn returns the severest halt that holds for a strategy's symbol.
func (s *State) HaltOn(strategy string, symbol exchange.SymbolKey) (most Halt) {
	for _, h := range s.halts {
		if h.Scope.Covers(strategy, symbol) && h.Level > most.Level {
			most = h
		}
	}
	return most
}

func (s *State) findHalt(scope Scope) (int, bool) {
	return slices.BinarySearchFunc(s.halts, scope, func(h Halt, s Scope) int { return h.Scope.compare(s) })
}

// halted applies a halt's record. A halt is only ever escalated; LevelNone ends it.
func (s *State) halted(r *record.Record, body *record.Halt) {
	scope := Scope{r.Strategy, r.Symbol}
	i, found := s.findHalt(scope)
	if body.Level == record.LevelNone {
		if found {
			s.halts = slices.Delete(s.halts, i, i+1)
		}
		return
	}
	if !found {
		s.halts = slices.Insert(s.halts, i, Halt{Scope: scope})
	}
	h := &s.halts[i]
	if body.Level > h.Level {
		h.Level, h.Why, h.AtMS = body.Level, body.Why, r.AtMS
	}
	if r.ClientOrderID != "" && h.Unknown == "" {
		h.Unknown, h.UnknownMS = r.ClientOrderID, r.AtMS
	}
}
