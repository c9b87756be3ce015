package backtest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/strategy"
	"botd/strategy/overlay"
)

// trailedTrip enters at the second candle with a trailing stop of 10 %. It returns the profit as a share of the entry and the
// candle of the end; -1 if it did not end.
func trailedTrip(t *testing.T, seed uint64, latencyMS int64) (profit float64, candle int64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 3))
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	candles := &exchange.Candles{Interval: exchange.Hour1}
	price := 40_000 * s.PriceTick * 10
	move := func(most int64) exchange.Price { return exchange.Price(random.Int64N(2*most+1)-most) * s.PriceTick }
	for i := range int64(12) {
		open, high, low := price, price, price
		if i > 1 { // the price is constant during the entry: only what its exits pay depends on the latency
			price += move(3_000)
			high, low = max(open, price)+max(0, move(3_000)), min(open, price)-max(0, move(3_000))
		}
		candles.Append(exchange.Candle{OpenMS: midnight + i*int64(exchange.Hour1), Open: open, High: high, Low: low, Close: price, Volume: 1})
	}
	script := &scripted{targets: make([]strategy.Target, candles.Len())}
	side := random.IntN(2)*2 - 1
	script.targets[0] = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(side) * s.QuantityTick * 100}
	config := caseConfig(&tape.Tape{Symbol: s, Candles: candles}, script)
	config.Costs = backtest.Costs{Path: sim.Worst, Through: true, LatencyMS: latencyMS}
	leg := &config.Legs[0].Strategy
	leg.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 10}}
	leg.Strategy = overlay.Wrap(leg.Strategy, overlay.TradeSettings{Exit: overlay.Exit{Base: leg.Protection, Trailing: overlay.Trailing{
		Distance: exchange.RateOne / 1_000 * exchange.Rate(1+random.Int64N(4)), After: exchange.RateOne / 500 * exchange.Rate(random.Int64N(4))}}})
	result := mustRun(t, config)
	if len(result.Trips) == 0 || result.OpenPosition != nil {
		return 0, -1
	}
	trip := &result.Trips[0]
	entry, exit := decimal.RequireFromString(trip.Entry).InexactFloat64(), decimal.RequireFromString(trip.Exit).InexactFloat64()
	return float64(side) * (exit/entry - 1), (trip.LeftMS - midnight) / int64(exchange.Hour1)
}

// On candles wider than the distance of the stop a little more latency changes little, trip by trip and in total.
func TestLatencyIsContinuousForAStopThatTrailsWithinACandle(t *testing.T) {
	t.Parallel()
	const trips = 300 // in 247 and 278 the stop due to be moved a minute after the last time was never moved: 10 s gained 0.7 %
	latencies := []int64{0, 1, 10, 100, 1_000, 10_000, 60_000}
	sums, compared := make([]float64, len(latencies)), 0
	for seed := range uint64(trips) {
		before, candleBefore := 0.0, int64(-1)
		for i, latency := range latencies {
			profit, candle := trailedTrip(t, seed, latency)
			sums[i] += profit
			if i > 0 && candle >= 0 && candle == candleBefore {
				compared++
				// What an order pays never gains (exchange/sim). When the stop has arrived, it may be moved on to what the path reached
				// meanwhile.
				if gain := profit - before; gain > 1e-5+1e-7*float64(latency) {
					t.Errorf("seed %d: %d ms of latency gain %.5f %%", seed, latency, 100*gain)
				}
			}
			before, candleBefore = profit, candle
		}
	}
	for i := 1; i < len(sums); i++ {
		if cost := (sums[i-1] - sums[i]) / trips; cost > []float64{0, 1e-5, 2e-5, 5e-5, 2e-4, 8e-4, 25e-4}[i] || cost < -2e-4 {
			t.Errorf("%d ms of latency instead of %d cost %.4f %% a trip", latencies[i], latencies[i-1], 100*cost)
		}
	}
	if compared < 500 {
		t.Errorf("%d trips compared", compared)
	}
	t.Logf("%d pairs of trips; percent made at %v ms: %.3f", compared, latencies, sums)
}
