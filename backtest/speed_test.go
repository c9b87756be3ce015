package backtest_test

import (
	"context"
	"fmt"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// steps is a long series of candles with small moves, so that fast and slow averages cross from time to time.
func steps(symbol *exchange.Symbol, count int) *tape.Tape {
	candles := &exchange.Candles{Interval: exchange.Minute1}
	price, seed := int64(50_000_0), uint64(88172645463325252)
	for i := range count {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		open := price
		price += int64(seed%201) - 100
		price = max(price, 1_000_0)
		tick := func(p int64) exchange.Price { return exchange.Price(p) * symbol.PriceTick }
		candles.Append(
			exchange.Candle{
				OpenMS: 1_700_000_040_000 + int64(i)*60_000,
				Open:   tick(open),
				Close:  tick(price),
				High:   tick(max(open, price) + 20),
				Low:    tick(min(open, price) - 20),
				Volume: 3,
			},
		)
	}
	return &tape.Tape{Symbol: symbol, Candles: candles}
}

func speedConfig(t testing.TB, recorded *tape.Tape, fast, slow string) backtest.Config {
	size := strategy.Size{Equity: exchange.RateOne}
	return backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{{Kind: "sma_cross", Tape: recorded,
		Strategy: engine.StrategyConfig{
			Name:     "speed",
			Symbol:   recorded.Symbol,
			Interval: exchange.Minute1,
			Leverage: 3,
			Size:     size,
			Strategy: build(t, "sma_cross", strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Minute1,
				Size: size}, strategy.Values{"fast": fast, "slow": slow}),
		}}}}
}

// gridConfig rests that many buys below the price, with lines a tenth of a percent apart.
func gridConfig(t testing.TB, recorded *tape.Tape, orders int) backtest.Config {
	config := speedConfig(t, recorded, "10", "50")
	first := recorded.Symbol.PriceDecimal(recorded.Candles.Open[0]).IntPart()
	values := strategy.Values{
		"upper":    fmt.Sprint(first * 999 / 1000),
		"lower":    fmt.Sprint(first*999/1000 - first*int64(orders)/1000),
		"lines":    fmt.Sprint(orders + 1),
		"orders":   "200",
		"quantity": "0.001",
	}
	config.Legs[0].Kind = "grid"
	config.Legs[0].Strategy.Strategy = build(t, "grid", strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol,
		Interval: exchange.Minute1}, values)
	config.Legs[0].Strategy.Size = strategy.Size{}
	return config
}

// BenchmarkBacktest runs sma_cross over a million candles in memory and measures candles a second of the
// whole engine, including the exchange. plain is a loop over the same columns in float64: what the hardware
// could do without any of it.
func BenchmarkBacktest(b *testing.B) {
	recorded := steps(symbol(b, exchange.Futures, "0.1", "0.001"), 1_000_000)
	for _, c := range []struct{ name, fast, slow string }{{"sma_10_50", "10", "50"}, {"sma_200_1000", "200", "1000"}, {"sma_2000_10000", "2000", "10000"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			fills := 0
			for b.Loop() {
				config := speedConfig(b, recorded, c.fast, c.slow)
				result, err := backtest.Run(context.Background(), config)
				if err != nil {
					b.Fatal(err)
				}
				fills = result.Fills
			}
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mcandles/s")
			b.ReportMetric(float64(fills), "fills")
		})
	}
	// 200 orders rest, and some of them fill.
	b.Run("grid_200", func(b *testing.B) {
		b.ReportAllocs()
		fills := 0
		for b.Loop() {
			result, err := backtest.Run(context.Background(), gridConfig(b, recorded, 200))
			if err != nil {
				b.Fatal(err)
			}
			fills = result.Fills
		}
		b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mcandles/s")
		b.ReportMetric(float64(fills), "fills")
	})
	// Without orders: the minimum cost of a candle, in nanoseconds, with and without a position.
	for _, c := range []struct {
		name    string
		targets []strategy.Target
		direct  bool
	}{{"quiet", nil, false}, {"quiet_direct", nil, true}, {"held", hold(b, recorded.Symbol, "0.010"), false},
		{"held_direct", hold(b, recorded.Symbol, "0.010"), true}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				config := speedConfig(b, recorded, "10", "50")
				if c.direct {
					config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{targets: c.targets}, nil }
				}
				config.Legs[0].Strategy.Strategy = &scripted{targets: c.targets}
				if _, err := backtest.Run(context.Background(), config); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/1e6, "ns/candle")
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mcandles/s")
		})
	}
	b.Run("plain", func(b *testing.B) { plainLoop(b, recorded.Candles) })
}

// plainLoop is only a moving average cross in float64 over columns.
func plainLoop(b *testing.B, c *exchange.Candles) {
	closes := make([]float64, c.Len())
	for i := range closes {
		closes[i] = float64(c.Close[i])
	}
	crosses := 0
	for b.Loop() {
		fast, slow, above := 0.0, 0.0, false
		for i, price := range closes {
			fast, slow = fast+price, slow+price
			if i >= 10 {
				fast -= closes[i-10]
			}
			if i >= 50 {
				slow -= closes[i-50]
				if now := fast*5 > slow; now != above {
					above = now
					crosses++
				}
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(closes))/b.Elapsed().Seconds()/1e6, "Mcandles/s")
	if crosses == 0 {
		b.Fatal("no cross")
	}
}

// TestQuietCandlesDoNotAllocate compares two runs that differ in quiet candles only.
func TestQuietCandlesDoNotAllocate(t *testing.T) {
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	run := func(count int) float64 {
		recorded := steps(symbol, count)
		return testing.AllocsPerRun(3, func() {
			// Averages longer than the series never cross, so every candle is quiet.
			if _, err := backtest.Run(context.Background(), speedConfig(t, recorded, "4000", "10000")); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := run(4_500), run(9_500) // both have several days, and so metrics
	// Equity is stored for the report a fixed number of times and once a day.
	if perCandle := (many - few) / 5_000; perCandle > 0.01 {
		t.Errorf("allocations per quiet candle: want 0, have %.3f (%.0f in 4500 candles, %.0f in 9500)", perCandle, few, many)
	}
}

// TestCostIsLinear compares the work of a long trading run with that of a short one, in allocations, which no
// busy machine disturbs.
func TestCostIsLinear(t *testing.T) {
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	cost := func(count int) (float64, int) {
		recorded, fills := steps(symbol, count), 0
		return testing.AllocsPerRun(2, func() {
			result, err := backtest.Run(context.Background(), speedConfig(t, recorded, "10", "50"))
			if err != nil {
				t.Fatal(err)
			}
			fills = result.Fills
		}), fills
	}
	short, few := cost(10_000)
	long, many := cost(80_000)
	perFew, perMany := short/float64(few), long/float64(many)
	if perMany > 1.15*perFew {
		t.Errorf("allocations per fill: %.1f in %d fills, %.1f in %d", perFew, few, perMany, many)
	}
}
