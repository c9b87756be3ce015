package configs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/strategy"
)

// idle is a strategy that requests nothing: these tests are about reading, not trading.
type idle struct{}

func (idle) Warmup() int                           { return 0 }
func (idle) Candle(*strategy.View)                 {}
func (idle) Decide(*strategy.View, *strategy.Plan) {}

type crossParams struct {
	Fast int    `param:"fast" default:"10" min:"1" max:"1000" help:"candles of the fast average"`
	Slow int    `param:"slow" default:"30" min:"2" max:"1000" help:"candles of the slow average"`
	Mode string `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"which sides"`
}

type twapParams struct {
	Side     exchange.Side   `param:"side" default:"buy" help:"buy or sell"`
	Quantity decimal.Decimal `param:"quantity" min:"0" help:"base units to reach"`
	Slices   int             `param:"slices" default:"10" min:"1" help:"equal parts"`
	Every    time.Duration   `param:"every" default:"1m" min:"100ms" help:"time between parts"`
}

func registry() *strategy.Registry {
	return strategy.NewRegistry(
		strategy.Define("sma_cross", "Crossing averages.", func(_ strategy.Setting, p crossParams) (strategy.Strategy, error) {
			if p.Fast >= p.Slow {
				return nil, &strategy.ValueError{Parameter: "fast", Err: fmt.Errorf("%d is not below slow %d", p.Fast, p.Slow)}
			}
			return idle{}, nil
		}),
		strategy.Define("twap", "Equal parts.", func(strategy.Setting, twapParams) (strategy.Strategy, error) { return idle{}, nil }),
		strategy.Define("buy_and_hold", "Buys once.", func(setting strategy.Setting, _ struct{}) (strategy.Strategy, error) { return idle{}, nil }),
	)
}

// symbols returns the built-in market's instruments (docs/exchange.md, The built-in symbols).
func symbols(tb testing.TB) []*exchange.Symbol {
	tb.Helper()
	var all []*exchange.Symbol
	for _, row := range []struct {
		market              exchange.Market
		name, price, amount string
	}{
		{exchange.Futures, "BTC-USDT", "0.1", "0.001"}, {exchange.Futures, "ETH-USDT", "0.01", "0.01"},
		{exchange.Futures, "SOL-USDT", "0.01", "0.1"}, {exchange.Futures, "PEPE-USDT", "0.00000001", "100"},
		{exchange.Spot, "BTC-USDT", "0.1", "0.00001"}, {exchange.Spot, "ETH-USDT", "0.01", "0.0001"},
		{exchange.Spot, "SOL-USDT", "0.01", "0.001"}, {exchange.Spot, "PEPE-USDT", "0.00000001", "1"},
	} {
		spec := exchange.SymbolSpec{
			Market: row.market, Name: row.name, PriceTick: decimal.RequireFromString(row.price), QuantityTick: decimal.RequireFromString(row.amount),
			MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true,
		}
		if row.market == exchange.Futures {
			spec.Brackets = []exchange.Bracket{{Max: exchange.AmountOf(250_000), MaxLeverage: 50},
				{Min: exchange.AmountOf(250_000), Max: exchange.AmountOf(1_000_000), MaxLeverage: 20}}
		}
		symbol, err := exchange.NewSymbol(spec)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, symbol)
	}
	return all
}

func options(tb testing.TB) configs.Options {
	return configs.Options{Registry: registry(), Symbols: symbols(tb)}
}
