package library

import (
	"errors"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func setting(t testing.TB, market exchange.Market) strategy.Setting {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	return strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1}
}

func newStrategy(t testing.TB, name string, market exchange.Market, values strategy.Values) strategy.Strategy {
	t.Helper()
	definition, found := strategy.NewRegistry(All()...).Find(name)
	if !found {
		t.Fatalf("no strategy %s", name)
	}
	s, err := definition.New(setting(t, market), values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTWAPReachesExactlyItsQuantityThroughARestart(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"side": "sell", "quantity": "0.100", "slices": "3", "every": "10s"}
	var memory strategy.Memory
	decide := func(s strategy.Strategy, nowMS int64) exchange.Quantity {
		view, plan := strategy.View{NowMS: nowMS, Memory: memory}, strategy.Plan{}
		s.Decide(&view, &plan)
		memory, _ = memory.With(plan.Remembered())
		return plan.Target.Quantity
	}
	s := newStrategy(t, "twap", exchange.Futures, values)
	for _, c := range []struct {
		atMS int64
		want exchange.Quantity
	}{{5_000, -33}, {14_999, -33}, {15_000, -66}} {
		if have := decide(s, c.atMS); have != c.want {
			t.Errorf("at %d: want %d, have %d", c.atMS, c.want, have)
		}
	}
	s = newStrategy(t, "twap", exchange.Futures, values) // restarted with its memory from the journal
	for _, c := range []struct {
		atMS int64
		want exchange.Quantity
	}{{24_999, -66}, {25_000, -100}, {9_000_000, -100}} {
		if have := decide(s, c.atMS); have != c.want {
			t.Errorf("after a restart at %d: want %d, have %d", c.atMS, c.want, have)
		}
	}
}

func TestWrongParametersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy, parameter string
		market              exchange.Market
		values              strategy.Values
	}{
		{"sma_cross", "fast", exchange.Futures, strategy.Values{"fast": "50", "slow": "50"}},
		{"sma_cross", "fast", exchange.Futures, strategy.Values{"fast": "0"}},
		{"sma_cross", "mode", exchange.Futures, strategy.Values{"mode": "sideways"}},
		{"sma_cross", "fasst", exchange.Futures, strategy.Values{"fasst": "5"}},
		{"rsi", "low", exchange.Futures, strategy.Values{"low": "80"}},
		{"twap", "quantity", exchange.Futures, strategy.Values{}},
		{"twap", "quantity", exchange.Futures, strategy.Values{"quantity": "0.0001"}},
		{"twap", "every", exchange.Futures, strategy.Values{"quantity": "1", "every": "1ms"}},
		{"twap", "side", exchange.Spot, strategy.Values{"quantity": "1", "side": "sell"}},
	} {
		definition, _ := strategy.NewRegistry(All()...).Find(c.strategy)
		_, err := definition.New(setting(t, c.market), c.values)
		var wrong *strategy.ValueError
		if !errors.As(err, &wrong) || wrong.Parameter != c.parameter {
			t.Errorf("%s %v: want a fault of %s, have %v", c.strategy, c.values, c.parameter, err)
		}
	}
}
