package backtest_test

import (
	"slices"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// onlooker records what it is shown, and has no target.
type onlooker struct {
	t       *testing.T
	candles *exchange.Candles
	moved   int // questions at which the last price was not the newest close
	asked   int
}

func (*onlooker) Warmup() int           { return 1 }
func (*onlooker) Candle(*strategy.View) {}
func (o *onlooker) Decide(view *strategy.View, _ *strategy.Plan) {
	o.asked++
	closeMS := view.Candle.OpenMS + int64(view.Interval)
	if closeMS > view.NowMS || view.NowMS >= closeMS+int64(view.Interval) || view.Back(0) != view.Candle {
		o.t.Errorf("at %d: want the candle that closed last, have that of %d", view.NowMS, view.Candle.OpenMS)
	}
	now, found := slices.BinarySearch(o.candles.OpenMS, closeMS)
	if !found {
		return // behind the last candle
	}
	if view.Last != view.Candle.Close {
		o.moved++
	}
	if low, high := min(o.candles.Low[now], view.Candle.Close), max(o.candles.High[now], view.Candle.Close); view.Last < low || view.Last > high {
		o.t.Errorf("at %d: want a last price of the candle under way, within %d to %d, have %d", view.NowMS, low, high, view.Last)
	}
}

// TestBetweenClosesAStrategySeesTheLastPriceAndClosedCandlesOnly asks a strategy ten
// times a candle: the price moves, the candles it is shown do not, before they close.
func TestBetweenClosesAStrategySeesTheLastPriceAndClosedCandlesOnly(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 300)
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	seen := &onlooker{t: t, candles: recorded.Candles}
	config.Legs[0].Strategy.Strategy = seen
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return seen, nil }
	config.Legs[0].Strategy.Schedule = every(recorded.Candles.Interval / 10)
	if _, err := backtest.Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if seen.asked < 2_900 || seen.moved < 1_500 {
		t.Errorf("want it asked ten times a candle, at another price mostly, have %d, %d", seen.asked, seen.moved)
	}
}
