package cli

import (
	"fmt"
	"math"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
)

// nothingWished wishes nothing.
type nothingWished struct{}

func (nothingWished) Warmup() int                           { return 0 }
func (nothingWished) Candle(*strategy.View)                 {}
func (nothingWished) Decide(*strategy.View, *strategy.Plan) {}

func (b *bench) quiet() (backtest.Config, error) {
	config := b.costs()
	config.Legs = []backtest.Leg{{Kind: "idle", Tape: b.recorded, Strategy: engine.StrategyConfig{Name: "idle", Interval: exchange.Minute1, Leverage: 3, Strategy: nothingWished{}}}}
	return config, nil
}

func (b *bench) costs() backtest.Config {
	return backtest.Config{Cash: exchange.AmountOf(10_000), Costs: backtest.Costs{Futures: backtest.Fees{Maker: 20_000, Taker: 50_000}}}
}

// leg puts a strategy of the library on a tape.
func (b *bench) leg(recorded *tape.Tape, kind string, size strategy.Size, values strategy.Values) (backtest.Leg, error) {
	definition, found := strategy.NewRegistry(library.All()...).Find(kind)
	if !found {
		return backtest.Leg{}, fmt.Errorf("no strategy %s", kind)
	}
	built, err := definition.New(strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Minute1, Size: size}, values)
	return backtest.Leg{Kind: kind, Tape: recorded, Strategy: engine.StrategyConfig{Name: recorded.Symbol.Name, Interval: exchange.Minute1, Leverage: 3, Size: size, Strategy: built}}, err
}

func (b *bench) one(kind string, size strategy.Size, values strategy.Values) (backtest.Config, error) {
	config := b.costs()
	leg, err := b.leg(b.recorded, kind, size, values)
	config.Legs = []backtest.Leg{leg}
	return config, err
}

func (b *bench) cross(fast, slow string) (backtest.Config, error) {
	return b.one("sma_cross", strategy.Size{Quote: exchange.AmountOf(5_000)}, strategy.Values{"fast": fast, "slow": slow, "mode": "long_short"})
}

// grid rests 200 buys below the first price, a share of it apart; what would be
// below nothing stands an equal ratio apart.
func (b *bench) grid(apart float64) (backtest.Config, error) {
	first := b.recorded.Symbol.PriceFloat(b.recorded.Candles.Open[0])
	upper := first * (1 - apart)
	values := strategy.Values{"upper": fmt.Sprintf("%.1f", upper), "lower": fmt.Sprintf("%.1f", upper*math.Pow(1-apart, 200)), "lines": "201", "orders": "200", "quantity": "0.001", "spacing": "geometric"}
	return b.one("grid", strategy.Size{}, values)
}

// several are the candles of so many symbols, a tenth as many of each.
func (b *bench) several(symbols int) []*tape.Tape {
	all := make([]*tape.Tape, symbols)
	for i := range all {
		own := *b.recorded.Symbol
		own.Name = fmt.Sprintf("S%d-USDT", i)
		all[i] = &tape.Tape{Symbol: &own, Candles: tape.Generate(uint64(i+1), &own, exchange.Minute1, benchStartMS, b.candles/symbols)}
	}
	return all
}

func (b *bench) together(tapes []*tape.Tape) (backtest.Config, error) {
	config := b.costs()
	for _, recorded := range tapes {
		leg, err := b.leg(recorded, "sma_cross", strategy.Size{Quote: exchange.AmountOf(500)}, strategy.Values{"fast": "200", "slow": "1000", "mode": "long_short"})
		if err != nil {
			return config, err
		}
		config.Legs = append(config.Legs, leg)
	}
	return config, nil
}
