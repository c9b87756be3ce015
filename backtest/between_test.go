package backtest_test

import (
	"slices"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
	"botd/strategy/overlay"
)

// onlooker records what it sees, and has no target.
type onlooker struct {
	t       *testing.T
	candles *exchange.Candles
	opens   bool // no finer candles: within a candle, only its open is known
	moved   int  // number of questions at which the last price was not the newest close
	asked   int
}

func (*onlooker) Warmup() int           { return 1 }
func (*onlooker) Candle(*strategy.View) {}
func (o *onlooker) Decide(view *strategy.View, _ *strategy.Plan) {
	o.asked++
	closeMS := view.Candle().OpenMS + int64(view.Interval)
	if closeMS > view.NowMS || view.NowMS >= closeMS+int64(view.Interval) || view.Back(0) != view.Candle() {
		o.t.Errorf("at %d: want the candle that closed last, have that of %d", view.NowMS, view.Candle().OpenMS)
	}
	now, found := slices.BinarySearch(o.candles.OpenMS, closeMS)
	if !found {
		return // after the last candle
	}
	if view.Last != view.Close() {
		o.moved++
	}
	if o.opens && view.NowMS > closeMS && view.Last != o.candles.Open[now] {
		o.t.Errorf("at %d: want the open of the candle under way, have %d", view.NowMS, view.Last)
	}
	if low, high := min(o.candles.Low[now], view.Close()), max(o.candles.High[now], view.Close()); view.Last < low || view.Last > high {
		o.t.Errorf("at %d: want a last price of the candle under way, within %d to %d, have %d", view.NowMS, low, high, view.Last)
	}
}

// TestStrategySeesOnlyKnownDataBetweenCloses asks a strategy ten times a candle. The
// candles that it sees do not change before they close, and the last price has a known time: it is the open
// of the current candle, or of the finer one.
func TestStrategySeesOnlyKnownDataBetweenCloses(t *testing.T) {
	t.Parallel()
	fine := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 3_000)
	coarse := &exchange.Candles{Interval: 10 * fine.Candles.Interval}
	for i := range fine.Candles.Len() {
		coarse.Merge(fine.Candles.At(i))
	}
	recorded := &tape.Tape{Symbol: fine.Symbol, Candles: coarse}
	for _, detail := range []*tape.Tape{nil, fine} {
		config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
		seen := &onlooker{t: t, candles: coarse, opens: detail == nil}
		config.Legs[0].Strategy.Strategy, config.Legs[0].Detail = seen, detail
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return seen, nil }
		config.Legs[0].Strategy.Schedule = every(fine.Candles.Interval)
		if _, err := backtest.Run(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		if seen.asked < 2_900 || detail != nil && seen.moved < 1_500 {
			t.Errorf("want it asked ten times a candle, with finer candles at another price mostly, have %d, %d", seen.asked, seen.moved)
		}
	}
}

// keeper enters again every forty questions, and checks its views like an onlooker while it has a position.
type keeper struct {
	onlooker
	questions, held int
	met             map[int64]exchange.Price // last prices other than the open, by the time at which they were seen
}

func (k *keeper) Decide(view *strategy.View, plan *strategy.Plan) {
	if view.Position.Quantity != 0 {
		k.held++
		k.onlooker.Decide(view, plan)
		openMS := view.Candle().OpenMS + int64(view.Interval)
		if at, found := slices.BinarySearch(k.candles.OpenMS, openMS); found && view.NowMS > openMS && view.Last != k.candles.Open[at] {
			k.met[view.NowMS] = view.Last
		}
	}
	if k.questions++; k.questions%40 == 0 {
		plan.Hold(strategy.Flat(), "out")
		return
	}
	plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(1), "kept")
}

// TestStopInFlightRevealsNoPath asks ten times a candle while a stop that follows the price is moved, which takes
// half the time between two questions. Its exits know the path then, while the strategy still sees the candle's open. A stop
// closer than a candle's length may fill at the moment of a question: the strategy then sees the price of that fill.
func TestStopInFlightRevealsNoPath(t *testing.T) {
	t.Parallel()
	fine := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 3_000)
	coarse := &exchange.Candles{Interval: 10 * fine.Candles.Interval}
	for i := range fine.Candles.Len() {
		coarse.Merge(fine.Candles.At(i))
	}
	for distance, fills := range map[exchange.Rate]int{exchange.RateOne / 200: 0, exchange.RateOne / 2000: 1} {
		config := crossing(t, &tape.Tape{Symbol: fine.Symbol, Candles: coarse}, exchange.RateOne, strategy.Protection{}, bothWays)
		seen := &keeper{onlooker: onlooker{t: t, candles: coarse}, met: map[int64]exchange.Price{}}
		config.Costs.LatencyMS = int64(fine.Candles.Interval) / 2
		leg := &config.Legs[0].Strategy
		leg.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 10}}
		leg.Strategy = overlay.Wrap(seen, overlay.TradeSettings{Exit: overlay.Exit{Base: leg.Protection, Trailing: overlay.Trailing{Distance: distance}}})
		config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return leg.Strategy, nil }
		leg.Schedule = every(fine.Candles.Interval)
		result, err := backtest.Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if seen.held < 200 || len(result.Trips) < 10 || len(seen.met) != fills {
			t.Errorf("asked %d times while it held, %d trips, %d fills at a question: want 200, 10, %d", seen.held, len(result.Trips), len(seen.met), fills)
		}
		for atMS, price := range seen.met {
			if !slices.ContainsFunc(result.Executions, func(e backtest.Execution) bool {
				return e.TimeMS == atMS && e.Price == fine.Symbol.PriceDecimal(price).String()
			}) {
				t.Errorf("at %d: want the open or the price of a fill, have %d", atMS, price)
			}
		}
		t.Logf("asked %d times while it held, %d trips", seen.held, len(result.Trips))
	}
}
