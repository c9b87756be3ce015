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

// State is one account's journalled state. Each part it embeds has its own fields and rules. It is
// not safe for concurrent use.
type State struct {
	halts
	setLimits
	circuit
	watches
	pace
	refusals
	starts
	endings

	settle     placement.Settle
	version    uint64
	symbols    []*Symbol   // sorted by key
	strategies []*Strategy // sorted by name
	placements map[string]*Placement
	live       []*Placement // oldest first
	ledger     *ledger.Ledger
	books      ledger.Writer
	unbooked   bool
	seasoned   bool // the journal contains more than starts and plans
}

// Options are what a state is created with. They are not journalled.
type Options struct {
	Settle        placement.Settle // the venue's bounds
	WithoutLedger bool             // books no fills: nothing reads the ledger
}

// New returns the state of an account whose journal is empty.
func New(options Options) *State {
	s := &State{settle: options.Settle, unbooked: options.WithoutLedger, placements: map[string]*Placement{}, endings: endings{byID: map[string]Ending{}}}
	s.ledger, s.books = ledger.New()
	return s
}

// Track returns a symbol's state and creates it if it is new.
func (s *State) Track(key exchange.SymbolKey) *Symbol {
	i, found := slices.BinarySearchFunc(s.symbols, key, func(t *Symbol, k exchange.SymbolKey) int { return t.key.Compare(k) })
	if !found {
		s.symbols = slices.Insert(s.symbols, i, &Symbol{key: key})
	}
	return s.symbols[i]
}

// Strategy returns a strategy's state. It is empty, and no part of the account's, if neither the
// journal nor the roster knows the strategy.
func (s *State) Strategy(name string) *Strategy {
	if i, found := s.findStrategy(name); found {
		return s.strategies[i]
	}
	return &Strategy{name: name}
}

// Enlist returns a strategy's state and creates it if it is new.
func (s *State) Enlist(name string) *Strategy {
	i, found := s.findStrategy(name)
	if !found {
		s.strategies = slices.Insert(s.strategies, i, &Strategy{name: name})
	}
	return s.strategies[i]
}

func (s *State) findStrategy(name string) (at int, found bool) {
	return slices.BinarySearchFunc(s.strategies, name, func(t *Strategy, n string) int { return strings.Compare(t.name, n) })
}

// Strategies yields all strategies in the journal, sorted by name.
func (s *State) Strategies() iter.Seq[*Strategy] { return slices.Values(s.strategies) }

// Live yields the placements that are not final, oldest first.
func (s *State) Live() iter.Seq[*Placement] { return slices.Values(s.live) }

// AnyLive reports whether one of them satisfies the condition.
func (s *State) AnyLive(satisfies func(*Placement) bool) bool {
	return slices.ContainsFunc(s.live, satisfies)
}

// LiveCount returns their number.
func (s *State) LiveCount() int { return len(s.live) }

// LiveAt returns one of them, by its index from the oldest.
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

// Settle returns the venue's bounds.
func (s *State) Settle() placement.Settle { return s.settle }

// Ledger returns the account's ledger.
func (s *State) Ledger() *ledger.Ledger { return s.ledger }

// New reports whether the journal contains nothing but starts and plans.
func (s *State) New() bool { return !s.seasoned }

// Orphan is a symbol that no configured strategy trades but that has a position, orders, or trades
// that the ledger still expects.
type Orphan struct {
	Strategy string
	Symbol   exchange.SymbolKey
}

// Orphans returns the symbols that none of the configured strategies trades and that have a
// position or live orders of a strategy, or trades that are not all booked or part of a result.
func (s *State) Orphans(configured func(strategy string, symbol exchange.SymbolKey) bool) []Orphan {
	var orphans []Orphan
	for _, symbol := range s.symbols {
		owner := symbol.owner
		held := symbol.known != 0 || !s.unbooked && s.ledger.Awaits(symbol.key) || s.unaccounted(owner)
		for _, p := range s.live {
			if p.Symbol() == symbol.key {
				held = true
				if owner == "" {
					owner = p.strategy
				}
			}
		}
		if held && owner != "" && !configured(owner, symbol.key) {
			orphans = append(orphans, Orphan{owner, symbol.key})
		}
	}
	return orphans
}
