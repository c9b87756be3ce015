// Package account holds an account's journalled state, which changes only by applying records.
//
// It contains every placement with its state, the quantities that fills and adoptions explain, each
// strategy's plan in force, halts, quarantines, latches, and the limits that people set. Fields are
// not exported: other packages read them through methods and change them by writing records. A
// restart applies the journal's records again. Observations of the exchange are not part of it
// (package reconcile).
package account

import (
	"iter"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
)

// State is one account's journalled state. It is not safe for concurrent use.
type State struct {
	recorded
	unrecorded

	bounds        placement.Bounds
	withoutLedger bool
}

// recorded is the result of applying the journal's records; a checkpoint contains all of it. Each
// embedded part has its own fields and rules.
type recorded struct {
	halts
	setLimits
	circuit
	watches
	recentPlacements
	refusedIntents
	refusedPlacements
	starts
	endings

	version    uint64
	symbols    []*Symbol   // sorted by key
	strategies []*Strategy // sorted by name
	placements map[string]*Placement
	live       []*Placement // oldest first
	ledger     *ledger.Ledger
	books      ledger.Writer
	applied    bool // a record that New counts has been applied
}

// unrecorded are the symbols and strategies that callers observe although no record names them. The
// first record that names one makes it part of the state.
type unrecorded struct {
	symbols    map[exchange.SymbolKey]*Symbol
	strategies map[string]*Strategy
}

// Options configure a new state. They are not journalled.
type Options struct {
	Bounds        placement.Bounds // the venue's bounds
	WithoutLedger bool             // books no fills, because nothing reads the ledger
}

// New returns the state of an account whose journal is empty.
func New(options Options) *State {
	s := newState(options)
	s.placements, s.endings = map[string]*Placement{}, endings{byID: map[string]Ending{}}
	s.ledger, s.books = ledger.New()
	return s
}

func newState(options Options) *State {
	return &State{bounds: options.Bounds, withoutLedger: options.WithoutLedger,
		unrecorded: unrecorded{symbols: map[exchange.SymbolKey]*Symbol{}, strategies: map[string]*Strategy{}}}
}

// Track returns a symbol's state, which is empty until a record names the symbol.
func (s *State) Track(key exchange.SymbolKey) *Symbol {
	if i, found := s.findSymbol(key); found {
		return s.recorded.symbols[i]
	}
	return s.unrecorded.symbol(key)
}

// symbol returns the state of a symbol that a record names.
func (s *State) symbol(key exchange.SymbolKey) *Symbol {
	i, found := s.findSymbol(key)
	if !found {
		s.recorded.symbols = slices.Insert(s.recorded.symbols, i, s.unrecorded.symbol(key))
		delete(s.unrecorded.symbols, key)
	}
	return s.recorded.symbols[i]
}

func (s *State) findSymbol(key exchange.SymbolKey) (at int, found bool) {
	return slices.BinarySearchFunc(s.recorded.symbols, key, func(t *Symbol, k exchange.SymbolKey) int { return t.key.Compare(k) })
}

// Strategy returns a strategy's state. If neither a record nor EnsureStrategy has named the strategy, the
// returned state is empty and not part of the account's.
func (s *State) Strategy(name string) *Strategy {
	if i, found := s.findStrategy(name); found {
		return s.recorded.strategies[i]
	}
	if unrecorded := s.unrecorded.strategies[name]; unrecorded != nil {
		return unrecorded
	}
	return &Strategy{name: name}
}

// EnsureStrategy returns a strategy's state, which is empty until a record names the strategy. The caller
// may keep it: later records change the same value.
func (s *State) EnsureStrategy(name string) *Strategy {
	if i, found := s.findStrategy(name); found {
		return s.recorded.strategies[i]
	}
	return s.unrecorded.strategy(name)
}

// strategy returns the state of a strategy that a record names.
func (s *State) strategy(name string) *Strategy {
	i, found := s.findStrategy(name)
	if !found {
		s.recorded.strategies = slices.Insert(s.recorded.strategies, i, s.unrecorded.strategy(name))
		delete(s.unrecorded.strategies, name)
	}
	return s.recorded.strategies[i]
}

func (u *unrecorded) symbol(key exchange.SymbolKey) *Symbol {
	if u.symbols[key] == nil {
		u.symbols[key] = &Symbol{key: key}
	}
	return u.symbols[key]
}

func (u *unrecorded) strategy(name string) *Strategy {
	if u.strategies[name] == nil {
		u.strategies[name] = &Strategy{name: name}
	}
	return u.strategies[name]
}

func (s *State) findStrategy(name string) (at int, found bool) {
	return slices.BinarySearchFunc(s.recorded.strategies, name, func(t *Strategy, n string) int { return strings.Compare(t.name, n) })
}

// Strategies yields all strategies in the journal, sorted by name.
func (s *State) Strategies() iter.Seq[*Strategy] { return slices.Values(s.recorded.strategies) }

// Live yields the placements that are not final, oldest first.
func (s *State) Live() iter.Seq[*Placement] { return slices.Values(s.live) }

// AnyLive reports whether a live placement satisfies the condition.
func (s *State) AnyLive(satisfies func(*Placement) bool) bool {
	return slices.ContainsFunc(s.live, satisfies)
}

// LiveCount returns the number of live placements.
func (s *State) LiveCount() int { return len(s.live) }

// LiveAt returns a live placement by its index from the oldest.
func (s *State) LiveAt(i int) *Placement { return s.live[i] }

// Placement returns a live placement by its client order id, or nil.
func (s *State) Placement(clientOrderID string) *Placement { return s.placements[clientOrderID] }

// Known reports whether the journal contains the client order id.
func (s *State) Known(clientOrderID string) bool {
	_, ended := s.Ended(clientOrderID)
	return ended || s.placements[clientOrderID] != nil
}

// Version changes with every record that can affect a round.
func (s *State) Version() uint64 { return s.version }

// Bounds returns the venue's bounds.
func (s *State) Bounds() placement.Bounds { return s.bounds }

// Ledger returns the account's ledger.
func (s *State) Ledger() *ledger.Ledger { return s.ledger }

// New reports whether the journal contains no fact yet about orders, positions, results or halts. Starts, the
// configuration, strategies' plans and memories, limits, audits and postings of the ledger do not count.
func (s *State) New() bool { return !s.applied }

// Orphan is a symbol that no configured strategy trades, although trading on it is not finished: see Orphans.
type Orphan struct {
	Strategy string
	Symbol   exchange.SymbolKey
	Held     bool // fills explain a position
}

// Orphans returns the symbols that no configured strategy trades and that have a position or live orders
// of a strategy, or trades that are missing in the ledger or in the strategy's result.
func (s *State) Orphans(configured func(strategy string, symbol exchange.SymbolKey) bool) []Orphan {
	var orphans []Orphan
	for _, symbol := range s.recorded.symbols {
		owner := symbol.owner
		unfinished := symbol.known != 0 || !s.withoutLedger && s.ledger.Awaits(symbol.key) || s.unaccounted(owner)
		for _, p := range s.live {
			if p.Symbol() == symbol.key {
				unfinished = true
				if owner == "" {
					owner = p.strategy
				}
			}
		}
		if unfinished && owner != "" && !configured(owner, symbol.key) {
			orphans = append(orphans, Orphan{owner, symbol.key, symbol.known != 0})
		}
	}
	return orphans
}
