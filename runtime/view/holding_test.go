package view

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/runtime/engine"
)

func TestAssetsOutsideEquityAreNamed(t *testing.T) {
	t.Parallel()
	balance := func(asset, free, frozen string) exchange.Balance {
		return exchange.Balance{Asset: asset, Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}
	}
	trades := func(symbol *exchange.Symbol, position exchange.Quantity) engine.StrategyStatus {
		return engine.StrategyStatus{Symbol: symbol, Position: position}
	}
	half, err := ether.Quantity(exchange.MustAmount("0.5").Decimal())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		status engine.Status
		want   []Holding
	}{
		{"no wallet was read", engine.Status{Strategies: []engine.StrategyStatus{trades(bitcoin, 7)}}, []Holding{}},
		{"the quote asset and purchases count", engine.Status{Balances: []exchange.Balance{balance("USDT", "90", "10"), balance("ETH", "0.4", "0.1")},
			Strategies: []engine.StrategyStatus{trades(ether, half)}}, []Holding{}},
		{"assets from before botd do not count", engine.Status{Balances: []exchange.Balance{balance("USDT", "90", "0"), balance("XRP", "3", "4"), balance("ETH",
			"2.5",
			"0.25"), balance("BTC", "0", "0")}, Strategies: []engine.StrategyStatus{trades(ether, half)}},
			[]Holding{{"ETH", "2.25"}, {"XRP", "7"}}},
		{"less than the step is a fee's rest", engine.Status{Balances: []exchange.Balance{balance("ETH", "0.5009", "0")},
			Strategies: []engine.StrategyStatus{trades(ether, half)}}, []Holding{}},
		{"a futures position is nothing of the spot wallet", engine.Status{Balances: []exchange.Balance{balance("BTC", "1", "0")},
			Strategies: []engine.StrategyStatus{trades(bitcoin, 7), trades(ether, 0)}}, []Holding{{"BTC", "1"}}},
	} {
		if have := uncounted(&c.status); !slices.Equal(have, c.want) {
			t.Errorf("%s: want %v, have %v", c.name, c.want, have)
		}
	}
}
