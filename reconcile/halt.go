package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// Levels of the kill switch, the mildest first.
const (
	LevelPause   = "pause"   // nothing opens
	LevelCancel  = "cancel"  // and resting openings are taken out of the book
	LevelFlatten = "flatten" // and positions are closed
)

// Levels are all levels of the kill switch, the mildest first.
var Levels = []string{LevelPause, LevelCancel, LevelFlatten}

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
	Level string // "", pause, cancel, flatten
	Why   string
	AtMS  int64
	Scope Scope
}

// Halts returns every halt in force, the account's first.
func (b *Book) Halts() []Halt { return b.halts }

// Halted returns the account's halt; its level is empty while there is none.
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
		if h.Scope.Covers(strategy, symbol) && rank(h.Level) > rank(most.Level) {
			most = h
		}
	}
	return most
}

// Severer reports whether a level asks for more than another. A halt is only
// ever made severer; it ends by being armed again.
func Severer(level, than string) bool { return rank(level) > rank(than) }

func rank(level string) int { return slices.Index(Levels, level) }

func (b *Book) findHalt(scope Scope) (int, bool) {
	return slices.BinarySearchFunc(b.halts, scope, func(h Halt, s Scope) int { return h.Scope.compare(s) })
}

// halted takes a halt's record: escalated, or ended by an empty level.
func (b *Book) halted(record *Record) {
	scope := Scope{record.Strategy, record.Symbol}
	i, found := b.findHalt(scope)
	switch {
	case record.Level == "":
		if found {
			b.halts = slices.Delete(b.halts, i, i+1)
		}
	case !found:
		b.halts = slices.Insert(b.halts, i, Halt{record.Level, record.Why, record.AtMS, scope})
	case Severer(record.Level, b.halts[i].Level):
		b.halts[i] = Halt{record.Level, record.Why, record.AtMS, scope}
	}
}
