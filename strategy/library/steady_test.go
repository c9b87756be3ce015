package library

import (
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// TestWhatStaysWouldBeDecidedAgain has every strategy that says so proved right, whatever its view shows.
func TestWhatStaysWouldBeDecidedAgain(t *testing.T) {
	t.Parallel()
	steady := 0
	for _, definition := range All() {
		s, err := definition.New(setting(t, exchange.Futures), strategy.Values{})
		if err != nil {
			continue // it needs values, and decides by more than candles
		}
		if knows, is := s.(strategy.Steady); is {
			steady++
			staysSeldom(t, definition.Name, s, knows)
		}
	}
	if steady < 8 {
		t.Errorf("want at least 8 strategies that know when they stay, have %d", steady)
	}
}

func staysSeldom(t *testing.T, name string, s strategy.Strategy, steady strategy.Steady) {
	t.Helper()
	const candles = 20_000
	draw, price := rand.New(rand.NewPCG(20, 24)), int64(50_000_0)
	symbol := setting(t, exchange.Futures).Symbol
	stays, changes, before := 0, 0, strategy.Plan{}
	for i := range candles {
		price = max(1_000_0, price+draw.Int64N(1001)-500)
		tick := func(p int64) exchange.Price { return exchange.Price(p) * symbol.PriceTick }
		view := strategy.View{Symbol: symbol, NowMS: int64(i+1) * 60_000, Last: tick(price), Equity: exchange.AmountOf(draw.Int64N(9)),
			Position: strategy.Position{Quantity: exchange.Quantity(draw.Int64N(3) - 1)},
			Memory:   strategy.MemoryOf(strategy.MemoryEntry{Key: "x", Value: draw.Int64()}),
			Candle: exchange.Candle{OpenMS: int64(i) * 60_000, Open: tick(price), Close: tick(price + draw.Int64N(41) - 20),
				High: tick(price + 20 + draw.Int64N(200)), Low: tick(price - 20 - draw.Int64N(200)), Volume: 1 + draw.Float64()}}
		s.Candle(&view)
		plan := strategy.Plan{}
		s.Decide(&view, &plan)
		same := plan.Equal(&before) && plan.Reason == before.Reason && plan.SignalMS == before.SignalMS &&
			slices.Equal(plan.Remembered().Entries(), before.Remembered().Entries()) && slices.Equal(plan.Notices(), before.Notices())
		if !same {
			changes++
		}
		if steady.Stays() {
			if stays++; !same {
				t.Fatalf("%s, candle %d: it said that it stays, and went from %+v to %+v", name, i, before, plan)
			}
		}
		before = plan
	}
	if changes < 10 || stays < candles/2 {
		t.Errorf("%s: want it to change and to stay, have %d changes, and %d times stayed", name, changes, stays)
	}
}
