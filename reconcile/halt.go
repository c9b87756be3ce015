package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
)

// HaltLevel says how much a halt stops. Each level does what the lower ones do,
// so a greater one is more severe.
type HaltLevel uint8

// The levels of a halt.
const (
	LevelNone    HaltLevel = iota // no halt; as a request, rearm
	LevelPause                    // nothing opens
	LevelCancel                   // and resting openings are canceled
	LevelFlatten                  // and positions are closed
	levelEnd
)

var levelNames = [levelEnd]string{"", "pause", "cancel", "flatten"}

// HaltLevels returns the names of all levels, the mildest first.
func HaltLevels() []string { return slices.Clone(levelNames[LevelPause:]) }

// String returns the level's name; LevelNone has none.
func (l HaltLevel) String() string {
	if l < levelEnd {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", l)
}

// ParseHaltLevel reads the name of a level; an empty one is LevelNone.
func ParseHaltLevel(text string) (HaltLevel, error) {
	if i := slices.Index(levelNames[:], text); i >= 0 {
		return HaltLevel(i), nil
	}
	return LevelNone, fmt.Errorf("unknown halt level %q (known: %s)", text, strings.Join(levelNames[LevelPause:], ", "))
}

// MarshalText writes the name.
func (l HaltLevel) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name.
func (l *HaltLevel) UnmarshalText(text []byte) (err error) {
	*l, err = ParseHaltLevel(string(text))
	return err
}

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
func (b *Book) halted(record *Record) {
	scope := Scope{record.Strategy, record.Symbol}
	i, found := b.findHalt(scope)
	switch {
	case record.Level == LevelNone:
		if found {
			b.halts = slices.Delete(b.halts, i, i+1)
		}
	case !found:
		b.halts = slices.Insert(b.halts, i, Halt{record.Level, record.Why, record.AtMS, scope})
	case record.Level > b.halts[i].Level:
		b.halts[i] = Halt{record.Level, record.Why, record.AtMS, scope}
	}
}
