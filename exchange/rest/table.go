package rest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"botd/exchange"
)

// SymbolTable holds the instruments of both markets. It is safe for concurrent use.
type SymbolTable struct {
	mu      sync.RWMutex // guards all below
	symbols map[exchange.SymbolKey]*exchange.Symbol
	readAt  map[exchange.Market]time.Time
}

// NewSymbolTable returns a table of the given symbols.
func NewSymbolTable(symbols ...*exchange.Symbol) *SymbolTable {
	t := &SymbolTable{symbols: map[exchange.SymbolKey]*exchange.Symbol{}, readAt: map[exchange.Market]time.Time{}}
	for _, symbol := range symbols {
		t.symbols[symbol.Key()] = symbol
	}
	return t
}

// Symbol returns an instrument.
func (t *SymbolTable) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	symbol, found := t.symbols[key]
	return symbol, found
}

// All returns every instrument, sorted by key.
func (t *SymbolTable) All() []*exchange.Symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.SortedFunc(maps.Values(t.symbols), func(a, b *exchange.Symbol) int { return a.Key().Compare(b.Key()) })
}

// holds reports whether a market's list has been read.
func (t *SymbolTable) holds(market exchange.Market) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return !t.readAt[market].IsZero()
}

func (t *SymbolTable) age(market exchange.Market, now time.Time) time.Duration {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return now.Sub(t.readAt[market])
}

// replace stores a market's new list. A symbol that is no longer listed stays, because orders on it
// may still be reported, but it is not tradable.
func (t *SymbolTable) replace(market exchange.Market, symbols []*exchange.Symbol, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	listed := map[exchange.SymbolKey]bool{}
	for _, symbol := range symbols {
		listed[symbol.Key()] = true
		t.symbols[symbol.Key()] = symbol
	}
	for key, symbol := range t.symbols {
		if key.Market == market && !listed[key] && symbol.Tradable {
			delisted := *symbol
			delisted.Tradable = false
			t.symbols[key] = &delisted
		}
	}
	t.readAt[market] = now
}

// needsSymbols reports whether an operation's request or answer contains prices or quantities in a
// symbol's units.
func needsSymbols(operation exchange.Operation) bool {
	switch operation {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesTime, exchange.FuturesSymbols,
		exchange.FuturesFundingRate, exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels,
		exchange.FuturesLeverages, exchange.FuturesSetLeverage, exchange.FuturesAccount,
		exchange.SpotPairs, exchange.SpotWallet:
		return false
	}
	return true
}

// RefreshSymbols reads both markets' lists and the futures margin levels. A failure of one market's
// list does not stop the other.
func (c *Client) RefreshSymbols(ctx context.Context) error {
	if err := c.listing.enter(ctx); err != nil {
		return err
	}
	defer c.listing.leave()
	return errors.Join(c.listFutures(ctx), c.listSpot(ctx))
}

// relistAfter is the minimum age of a list at which an unknown symbol makes the client read it
// again.
const relistAfter = 30 * time.Second

// list reads one market's list if there is none, or again if an unknown symbol occurred.
func (c *Client) list(ctx context.Context, market exchange.Market, again bool) error {
	if err := c.listing.enter(ctx); err != nil {
		return err
	}
	defer c.listing.leave()
	if c.symbols.holds(market) && !(again && c.symbols.age(market, c.config.Clock()) >= relistAfter) {
		return nil // another goroutine has just read it
	}
	if market == exchange.Spot {
		return c.listSpot(ctx)
	}
	return c.listFutures(ctx)
}

func (c *Client) listSpot(ctx context.Context) error {
	pairs, outcome := c.read(ctx, &exchange.Request{Operation: exchange.SpotPairs})
	if outcome.err != nil {
		return outcome.err
	}
	c.symbols.replace(exchange.Spot, pairs.Symbols.Items(), c.config.Clock())
	return nil
}

// listFutures reads the symbols and adds the margin levels.
func (c *Client) listFutures(ctx context.Context) error {
	listed, outcome := c.read(ctx, &exchange.Request{Operation: exchange.FuturesSymbols})
	if outcome.err != nil {
		return outcome.err
	}
	brackets := c.brackets(ctx)
	symbols := listed.Symbols.Items()
	for _, symbol := range symbols { // just parsed: no other goroutine uses them yet
		symbol.Brackets = brackets[symbol.Name]
		if known, found := c.symbols.Symbol(symbol.Key()); found && len(symbol.Brackets) == 0 {
			symbol.Brackets = known.Brackets
		}
	}
	c.symbols.replace(exchange.Futures, symbols, c.config.Clock())
	return nil
}

// brackets reads the margin levels, sorted. If they cannot be read, symbols keep the previous ones
// or have none, and everything else continues.
func (c *Client) brackets(ctx context.Context) map[string][]exchange.Bracket {
	brackets := map[string][]exchange.Bracket{}
	levels, outcome := c.read(ctx, &exchange.Request{Operation: exchange.FuturesMarginLevels})
	if outcome.err != nil {
		return brackets
	}
	return bracketsOf(&levels)
}

// addBrackets assigns the known margin levels to listed symbols, and requests them once for symbols
// without any, because the request may have failed at the start.
func (c *Client) addBrackets(ctx context.Context, symbols []*exchange.Symbol) {
	if !c.symbols.holds(exchange.Futures) {
		return // the client's first read of the list includes both
	}
	missing := false
	for _, symbol := range symbols {
		if known, found := c.symbols.Symbol(symbol.Key()); found {
			symbol.Brackets = known.Brackets
		}
		missing = missing || len(symbol.Brackets) == 0
	}
	if !missing {
		return
	}
	levels, outcome := c.try(ctx, &exchange.Request{Operation: exchange.FuturesMarginLevels}, exchange.SendLimit{})
	if outcome.err != nil {
		return // the risk check refuses orders that need them; the rest continues
	}
	brackets := bracketsOf(&levels)
	for _, symbol := range symbols {
		if len(symbol.Brackets) == 0 {
			symbol.Brackets = brackets[symbol.Name]
		}
	}
	c.symbols.replace(exchange.Futures, symbols, c.config.Clock())
}

// bracketsOf returns the sorted margin levels by symbol. A symbol with an unreadable level has
// none.
func bracketsOf(levels *exchange.Answer) map[string][]exchange.Bracket {
	brackets := map[string][]exchange.Bracket{}
	for _, level := range levels.Levels.Items() {
		brackets[level.Symbol] = append(brackets[level.Symbol], level.Bracket)
	}
	for _, row := range levels.Unreadable {
		delete(brackets, row.Symbol)
	}
	for _, levels := range brackets {
		slices.SortFunc(levels, func(a, b exchange.Bracket) int { return a.Min.Cmp(b.Min) })
	}
	return brackets
}
