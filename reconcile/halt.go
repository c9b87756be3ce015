package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// Scope is what a halt holds for. Its zero value is the account.
type Scope struct {
	Strategy string             // one strategy
	Symbol   exchange.SymbolKey // one symbol
}

// String names the scope for people.
func (s Scope) String() string {
	switch {
	case s.Strategy != "":
		return "strategy " + s.Strategy
	case s.Symbol != exchange.SymbolKey{}:
		return "symbol " + s.Symbol.String()
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
	Level HaltLevel
	Why   string
	AtMS  int64
	Scope Scope
}

// Halts returns every halt in force, the account's first.
func (b *Book) Halts() []Halt { return b.halts }

// Halted returns the account's halt; its level is LevelNone while there is none.
func (b *Book) Halted() Halt { return b.HaltOf(Scope{}) }

// HaltOf returns the halt of exactly this scope.
func (b *Book) HaltOf(scope Scope) Halt {
	if i, found := b.findHalt(scope); found {
		return b.halts[i]
	}
	return Halt{Scope: scope}
}

// HaltOn returns the severest halt that holds for a strategy's symbol.
func (b *Book) HaltOn(strategy string, symbol exchange.SymbolKey) (most Halt) {
	for _, h := range b.halts {
		if h.Scope.Covers(strategy, symbol) && h.Level > most.Level {
			most = h
		}
	}
	return most
}

func (b *Book) findHalt(scope Scope) (int, bool) {
	return slices.BinarySearchFunc(b.halts, scope, func(h Halt, s Scope) int { return h.Scope.compare(s) })
}

// halted applies a halt's record. A halt is only ever escalated; LevelNone ends it.
func (b *Book) halted(r *record.Record, body *record.Halt) {
	scope := Scope{r.Strategy, r.Symbol}
	i, found := b.findHalt(scope)
	switch {
	case body.Level == LevelNone:
		if found {
			b.halts = slices.Delete(b.halts, i, i+1)
		}
	case !found:
		b.halts = slices.Insert(b.halts, i, Halt{body.Level, body.Why, r.AtMS, scope})
	case body.Level > b.halts[i].Level:
		b.halts[i] = Halt{body.Level, body.Why, r.AtMS, scope}
	}
}
