package strategy_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// remembering returns a plan that stores that many values in memory.
func remembering(values int, suffix string) (plan strategy.Plan) {
	for i := range values {
		plan.Remember(strconv.Itoa(i)+suffix, 1)
	}
	return plan
}

func TestAPlanBeyondAllBoundsIsReported(t *testing.T) {
	t.Parallel()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick:    decimal.RequireFromString("0.1"),
		QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	const last = 50_000 * 100_000_000
	orders := func(w strategy.DesiredOrder) strategy.Plan {
		return strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{w}}
	}
	for _, c := range []struct {
		name string
		plan strategy.Plan
		want string // empty: within bounds
	}{
		{"nothing", strategy.Plan{}, ""},
		{"a position", strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -2_000}}, ""},
		{"a huge one", strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -1 << 62}}, "a target of -"},
		{"all equity", strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -10 * exchange.RateOne}}, ""},
		{"a billion times", strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -1_000_000_000 * exchange.RateOne}},
			"a target of -1000000000 times"},
		{"money", strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1_000_000_000_000)}}, ""},
		{"more", strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(-1_000_000_000_001)}},
			"a target of -1000000000001 USDT"},
		{"an order", orders(strategy.DesiredOrder{Key: "bid", Price: last, Quantity: 100}), ""},
		{"a huge order", orders(strategy.DesiredOrder{Key: "bid", Price: last, Quantity: 1 << 62}), `order "bid" of`},
		{"a huge price", orders(strategy.DesiredOrder{Key: "bid", Price: 1 << 62, Quantity: 1 << 40}), `order "bid" of`},
		{"a huge stop", strategy.Plan{ExitsSet: true, Exits: []strategy.DesiredOrder{
			{Key: "out", Price: last, StopPrice: 1 << 62, Quantity: 1 << 40}}}, `order "out" of`},
		{"a reason", strategy.Plan{Reason: strings.Repeat("r", 1_000)}, ""},
		{"a book as its reason", strategy.Plan{Reason: strings.Repeat("r", 1_001)}, "a reason of 1001 bytes"},
		{"a key", orders(strategy.DesiredOrder{Key: strings.Repeat("k", 201), Price: last, Quantity: 100}), "an order's key of 201 bytes"},
		{"a memory", remembering(1_000, ""), ""},
		{"a large memory", remembering(1_001, ""), "1001 remembered values exceed 1000"},
		{"a remembered text", remembering(1, strings.Repeat("k", 200)), "a remembered value's key of 201 bytes"},
		{"a key twice", strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Price: last, Quantity: 100},
			{Key: "b", Price: last, Quantity: 100}, {Key: "a", Price: last, Quantity: 200}}}, `two orders have the key "a"`},
		{"an exit's key twice", strategy.Plan{ExitsSet: true, Exits: []strategy.DesiredOrder{{Key: "b", Price: last, Quantity: 100},
			{Key: "b", Price: last, Quantity: 100}}}, `two exits have the key "b"`},
		{"the key of an order and an exit", strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Price: last, Quantity: 100}},
			ExitsSet: true, Exits: []strategy.DesiredOrder{{Key: "a", Price: last, Quantity: 100}}}, ""},
		{"too many", strategy.Plan{OrdersSet: true, Orders: make([]strategy.DesiredOrder, 10_001)}, "10001 orders"},
	} {
		have := c.plan.OutOfBounds(symbol, last)
		if (have == "") != (c.want == "") || !strings.HasPrefix(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}
