package rest

import (
	"context"
	"slices"
	"sync"

	"botd/exchange"
)

// Table holds the instruments of both markets. Safe for several goroutines.
type Table struct {
	mu      sync.RWMutex // guards symbols
	symbols map[exchange.SymbolKey]*exchange.Symbol
}

// NewTable returns a table of the symbols given.
func NewTable(symbols ...*exchange.Symbol) *Table {
	t := &Table{symbols: map[exchange.SymbolKey]*exchange.Symbol{}}
	t.add(symbols)
	return t
}

// Symbol returns an instrument.
func (t *Table) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	symbol, found := t.symbols[key]
	return symbol, found
}

// All returns every instrument, sorted by key.
func (t *Table) All() []*exchange.Symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]*exchange.Symbol, 0, len(t.symbols))
	for _, symbol := range t.symbols {
		all = append(all, symbol)
	}
	slices.SortFunc(all, func(a, b *exchange.Symbol) int { return a.Key().Compare(b.Key()) })
	return all
}

func (t *Table) loaded() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.symbols) > 0
}

func (t *Table) add(symbols []*exchange.Symbol) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, symbol := range symbols {
		t.symbols[symbol.Key()] = symbol
	}
}

// RefreshSymbols reads both markets' lists and the futures margin levels.
func (c *Client) RefreshSymbols(ctx context.Context) error {
	futures, err := c.read(ctx, &exchange.Request{Operation: exchange.FuturesSymbols})
	if err != nil {
		return err
	}
	levels, err := c.read(ctx, &exchange.Request{Operation: exchange.FuturesMarginLevels})
	if err != nil {
		return err
	}
	spot, err := c.read(ctx, &exchange.Request{Operation: exchange.SpotPairs})
	if err != nil {
		return err
	}
	symbols := futures.Symbols.Items()
	for _, level := range levels.Levels.Items() {
		for _, symbol := range symbols { // fresh from the wire: nobody else holds them yet
			if symbol.Name == level.Symbol {
				symbol.Brackets = append(symbol.Brackets, level.Bracket)
			}
		}
	}
	for _, symbol := range symbols {
		slices.SortFunc(symbol.Brackets, func(a, b exchange.Bracket) int { return a.Min.Cmp(b.Min) })
	}
	c.symbols.add(symbols)
	c.symbols.add(spot.Symbols.Items())
	return nil
}
