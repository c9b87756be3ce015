// Package enginetest makes engine notes of every kind for the tests of packages that read them.
package enginetest

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// Price is a price of a symbol, from its text.
func Price(t testing.TB, s *exchange.Symbol, text string) exchange.Price {
	t.Helper()
	p, err := s.Price(decimal.RequireFromString(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Amount is an amount of money, from its text.
func Amount(t testing.TB, text string) exchange.Amount {
	t.Helper()
	a, err := exchange.AmountFromDecimal(decimal.RequireFromString(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Notes are one of every kind, of a strategy, a symbol, an order and a rule.
func Notes(t testing.TB, owner string, symbol *exchange.Symbol, id, rule string) []engine.Note {
	t.Helper()
	order := exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
	var all []engine.Note
	for kind := engine.NoteCandle; kind < engine.NoteCandles; kind++ {
		n := engine.Note{Kind: kind, AtMS: 1_700_000_000_000, Strategy: owner, Symbol: symbol, Purpose: reconcile.Entry, ClientOrderID: id, OrderID: 7, Order: order,
			State: reconcile.Filled, Quantity: 10, Price: Amount(t, "50050"), Last: Price(t, symbol, "50000"), Count: 2, DurationMS: 120,
			Text: id, Err: fmt.Errorf("an error with %s", id), Candle: exchange.Candle{Close: Price(t, symbol, "50000")}, Plan: &strategy.Plan{}}
		if kind == engine.NoteRefusal {
			n.Refusal = &risk.Refusal{Rule: rule, Value: "1", Limit: "2", Hint: "less"}
		}
		all = append(all, n)
	}
	return all
}
