package rest

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/pipe"
	"botd/internal/startclock"
)

// simulated is a client of a simulated exchange with a still market and no delay.
func simulated(t *testing.T, market sim.Market) *Client {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
	if err != nil {
		t.Fatal(err)
	}
	if market != nil {
		x.SetMarket(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, market)
	}
	made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: startclock.MS()},
		Accounts: []server.Account{{Key: canaryKey, Secret: canarySecret}}})
	if err != nil {
		t.Fatal(err)
	}
	pipe, shut := pipe.Serve(made.Handler())
	t.Cleanup(shut)
	return dial(t, "http://127.0.0.1", func(c *Config) { c.Transport = pipe.Transport })
}

func TestASpotMarketOrderTakesABaseQuantityOrAnAmount(t *testing.T) {
	t.Parallel()
	client := simulated(t, nil)
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	symbol, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"})
	for _, c := range []struct {
		order    SpotMarketOrder
		quantity string // filled
	}{
		{SpotMarketOrder{Side: exchange.Buy, Quantity: 123 * symbol.QuantityTick}, "0.00123"},
		{SpotMarketOrder{Side: exchange.Sell, Quantity: 50_000 * symbol.QuantityTick}, "0.5"},
		{SpotMarketOrder{Side: exchange.Buy, QuoteAmount: exchange.AmountOf(100)}, "0.00199"}, // at 50000.1
		{SpotMarketOrder{Side: exchange.Sell, QuoteAmount: exchange.AmountOf(100)}, "0.002"},
	} {
		c.order.Symbol, c.order.ClientOrderID = symbol.Name, "mine"
		placed, err := client.SpotMarket(t.Context(), c.order)
		if err != nil {
			t.Fatalf("%+v: %v", c.order, err)
		}
		history, err := client.SpotOrderHistory(t.Context(), SpotFilter{}, Span{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if have := history[0]; have.ID != placed.ID || have.ClientOrderID != "mine" || symbol.QuantityDecimal(have.Filled).String() != c.quantity ||
			have.Status != exchange.StatusFilled {
			t.Errorf("%+v: want %s filled, have %+v", c.order, c.quantity, have)
		}
	}
	var unsent *exchange.Unavailable
	for want, order := range map[string]SpotMarketOrder{
		"either":         {},
		"either a quant": {Quantity: 1, QuoteAmount: exchange.AmountOf(1)},
		"above 0":        {Quantity: -1},
		"holds less":     {Quantity: 1 << 60},
	} {
		order.Symbol, order.Side = symbol.Name, exchange.Buy
		if _, err := client.SpotMarket(t.Context(), order); !errors.As(err, &unsent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: want it not sent since %q, have %v", order, want, err)
		}
	}
}

func TestAQuantityIsPricedThroughTheLevelsOfTheBook(t *testing.T) {
	t.Parallel()
	client := simulated(t, sim.Random(7))
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	symbol, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"})
	depth, err := client.SpotDepth(t.Context(), symbol.Name, 5)
	if err != nil {
		t.Fatal(err)
	}
	first, second := depth.Bids[0], depth.Bids[1]
	want := symbol.Notional(first.Price, first.Quantity).Add(symbol.Notional(second.Price, symbol.QuantityTick))
	if have, whole := worthOf(symbol, depth.Bids, first.Quantity+symbol.QuantityTick); !whole || have != want {
		t.Errorf("want %s, have %s, %v", want, have, whole)
	}
	if _, whole := worthOf(symbol, depth.Bids[:1], first.Quantity+symbol.QuantityTick); whole {
		t.Error("a level and one tick of one level: want it not whole")
	}
}
