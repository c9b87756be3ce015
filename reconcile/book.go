// Package reconcile derives an account's state from what was requested and fetched, and the intents that lead from it to the plan.
//
// It holds the account's Book: every placement with its state, the position per
// symbol, and each strategy's plan in force. The Book changes in one way only,
// by applying records; the journal keeps the same records, so starting anew is
// applying them again. Nothing here asks for the time or does I/O.
package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
)

// maxRemembered bounds how many ended placements are remembered by their ids,
// so that a stale list showing one of them is not taken for a stranger's order.
const maxRemembered = 20_000

// Book is what is known about one account. It is changed by Apply only; time
// and fetched truth come in as records or snapshots. Not safe for several
// goroutines.
type Book struct {
	settle     Settle
	epoch      int64
	sequence   int64
	version    uint64
	symbols    []*SymbolTruth   // sorted by key
	strategies []*StrategyState // sorted by name
	placements map[string]*Placement
	live       []*Placement // oldest first
	ended      map[string]ending
	endedOrder []string   // ring of ended ids, oldest first
	halts      []Halt     // sorted by scope, the account's first
	set        []SetLimit // sorted by strategy and rule, the account's first
	breaker    Breaker
	tally      tally
	ledger     *ledger.Ledger
	watches    []*Watch // sorted by strategy, the account's first
	sends      []send   // of the last minute, oldest first

	openIDs []int64      // scratch of Vanished
	matched []*Placement // scratch of observeList
	placed  [2]places    // of the plan's orders and exits

	newest   placement.Serial // of the ids the journal has told of
	began    placement.Serial // the newest when this epoch began, or that a person was told of since
	seasoned bool             // the journal holds more than starts and wishes
	stale    int64            // answers older than what was known, counted

	Foreign  string // policy for what botd did not make: halt, adopt or ignore
	Instance string // whose prefix our client order ids carry
	Unbooked bool   // no money is booked: fills are not kept for the ledger, which nobody would take them from

	Account   exchange.MarginAccount // as last fetched
	AccountMS int64                  // when; 0 for never
	Balances  []exchange.Balance     // spot wallet as last fetched
	WalletMS  int64
}

// NewBook returns an empty book.
func NewBook(settle Settle) *Book {
	return &Book{settle: settle, placements: map[string]*Placement{}, ended: map[string]ending{}, ledger: ledger.New()}
}

// Symbol returns the truth of a symbol, made when it is new.
func (b *Book) Symbol(key exchange.SymbolKey) *SymbolTruth {
	i, found := slices.BinarySearchFunc(b.symbols, key, func(t *SymbolTruth, k exchange.SymbolKey) int { return t.Key.Compare(k) })
	if !found {
		b.symbols = slices.Insert(b.symbols, i, &SymbolTruth{Key: key})
	}
	return b.symbols[i]
}

// Symbols returns all symbols, sorted by key.
func (b *Book) Symbols() []*SymbolTruth { return b.symbols }

// Strategy returns a strategy's state, made when it is new.
func (b *Book) Strategy(name string) *StrategyState {
	i, found := slices.BinarySearchFunc(b.strategies, name, func(s *StrategyState, n string) int { return strings.Compare(s.Name, n) })
	if !found {
		b.strategies = slices.Insert(b.strategies, i, &StrategyState{Name: name})
	}
	return b.strategies[i]
}

// Strategies returns all strategies the book knows, sorted by name.
func (b *Book) Strategies() []*StrategyState { return b.strategies }

// Live returns the placements that are not final, oldest first.
func (b *Book) Live() []*Placement { return b.live }

// Placement returns a live placement by its client order id, or nil.
func (b *Book) Placement(clientOrderID string) *Placement { return b.placements[clientOrderID] }

// Epoch returns the highest journalled epoch.
func (b *Book) Epoch() int64 { return b.epoch }

// Version changes whenever anything a round could act on changes.
func (b *Book) Version() uint64 { return b.version }

// Today returns the account's day.
func (b *Book) Today() Day { return b.Watch("").Day }

// Settle returns the venue's bounds.
func (b *Book) Settle() Settle { return b.settle }

// NextClientOrderID returns an id that was never used: the epoch is above every
// journalled one and the sequence counts up.
func (b *Book) NextClientOrderID(instance string) string {
	b.sequence++
	return placement.ClientOrderID(instance, b.epoch, b.sequence)
}

// Equity returns the futures account's equity, as last fetched and marked.
func (b *Book) Equity() exchange.Amount { return b.Account.Equity() }

// Marked returns the futures account's equity at the last prices: what prices
// have done to positions since the account was fetched is added.
func (b *Book) Marked() exchange.Amount {
	equity := b.Account.Equity()
	for _, truth := range b.symbols {
		equity = equity.Add(truth.Moved())
	}
	return equity
}

// Balance returns the spot wallet's entry of an asset; zero when it has none.
func (b *Book) Balance(asset string) exchange.Balance {
	for _, balance := range b.Balances {
		if balance.Asset == asset {
			return balance
		}
	}
	return exchange.Balance{Asset: asset}
}

// Ours reports whether the client order id is one the book has made.
func (b *Book) Ours(clientOrderID string) bool {
	_, ended := b.ended[clientOrderID]
	return ended || b.placements[clientOrderID] != nil
}

// Stale returns how many answers were older than what was known already.
func (b *Book) Stale() int64 { return b.stale }
