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
	opens   bool // no finer candles: within a candle, its open is all that is known
	moved   int  // questions at which the last price was not the newest close
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
	if o.opens && view.NowMS > closeMS && view.Last != o.candles.Open[now] {
		o.t.Errorf("at %d: want the open of the candle under way, have %d", view.NowMS, view.Last)
	}
	if low, high := min(o.candles.Low[now], view.Candle.Close), max(o.candles.High[now], view.Candle.Close); view.Last < low || view.Last > high {
		o.t.Errorf("at %d: want a last price of the candle under way, within %d to %d, have %d", view.NowMS, low, high, view.Last)
	}
}

// TestBetweenClosesAStrategySeesClosedCandlesAndKnownPricesOnly asks a strategy ten times a candle:
// the candles it is shown do not change before they close, and the last price is one whose time is
// known: the open of the candle under way, or of the finer one.
func TestBetweenClosesAStrategySeesClosedCandlesAndKnownPricesOnly(t *testing.T) {
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
