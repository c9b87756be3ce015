package library

import (
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// TestSteadyStrategiesRepeatTheirDecision checks every strategy that reports itself steady, with random views.
func TestSteadyStrategiesRepeatTheirDecision(t *testing.T) {
	t.Parallel()
	steady := 0
	for _, definition := range All() {
		s, err := definition.New(setting(t, exchange.Futures), strategy.Values{})
		if err != nil {
			continue // it needs values, and its decisions depend on more than candles
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
			Memory:   strategy.MemoryOf(strategy.MemoryVariable{Key: "x", Value: draw.Int64()})}
		show(&view, exchange.Candle{OpenMS: int64(i) * 60_000, Open: tick(price), Close: tick(price + draw.Int64N(41) - 20),
			High: tick(price + 20 + draw.Int64N(200)), Low: tick(price - 20 - draw.Int64N(200)), Volume: 1 + draw.Float64()})
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
				t.Fatalf("%s, candle %d: it reported no change, but went from %+v to %+v", name, i, before, plan)
			}
		}
		before = plan
	}
	if changes < 10 || stays < candles/2 {
		t.Errorf("%s: want it to change and to stay, have %d changes, and %d times stayed", name, changes, stays)
	}
}

// TestCandlesTakenInARowAreThoseTakenOneByOne has every strategy that takes candles by columns take parts of a series so, and a second
// instance the same ones by views.
func TestCandlesTakenInARowAreThoseTakenOneByOne(t *testing.T) {
	t.Parallel()
	passers := 0
	for _, definition := range All() {
		s, err := definition.New(setting(t, exchange.Futures), strategy.Values{})
		if err != nil {
			continue
		}
		twin, _ := definition.New(setting(t, exchange.Futures), strategy.Values{})
		if passer, is := s.(strategy.Passer); is {
			passers++
			passesAlike(t, definition.Name, passer, s, twin)
		}
	}
	if passers == 0 {
		t.Error("no strategy takes candles by columns")
	}
}

func passesAlike(t *testing.T, name string, passer strategy.Passer, s, twin strategy.Strategy) {
	t.Helper()
	draw, price, candles := rand.New(rand.NewPCG(3, 5)), exchange.Price(50_000_0), &exchange.Candles{Interval: exchange.Minute1}
	for i := range 20_000 {
		price = max(1_000_0, price+exchange.Price(draw.Int64N(1001)-500))
		candles.Append(exchange.Candle{OpenMS: int64(i) * 60_000, Open: price, High: price + 600, Low: price - 600, Close: price, Volume: 1})
	}
	view, other, changes := strategy.View{}, strategy.View{}, 0
	for at := 0; at < candles.Len(); {
		to := min(candles.Len(), at+1+draw.IntN(200))
		end := passer.Pass(candles, at, to)
		if end <= at || end > to || end < to && passer.Stays() {
			t.Fatalf("%s: want some of the candles %d:%d up to a change, have %d, it stays: %v", name, at, to, end, passer.Stays())
		}
		for ; at < end; at++ {
			other.SetHistory(candles, at+1)
			if twin.Candle(&other); at < end-1 && !twin.(strategy.Steady).Stays() {
				t.Fatalf("%s: candle %d changed something, and more were taken", name, at)
			}
		}
		have, want := strategy.Plan{}, strategy.Plan{}
		s.Decide(&view, &have)
		twin.Decide(&other, &want)
		if !have.Equal(&want) || have.Reason != want.Reason || passer.Stays() != twin.(strategy.Steady).Stays() {
			t.Fatalf("%s, candle %d: want %+v, have %+v", name, at, want, have)
		}
		if !passer.Stays() {
			changes++
		}
		if draw.IntN(4) == 0 && at < candles.Len() { // and one by one again
			view.SetHistory(candles, at+1)
			s.Candle(&view)
			twin.Candle(&view)
			at++
		}
	}
	if changes < 20 {
		t.Errorf("%s: want changes among the candles, have %d", name, changes)
	}
}
