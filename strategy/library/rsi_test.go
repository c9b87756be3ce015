package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// TestRSIDoesNotBuyBecauseNothingHasMovedYet: the index is 0 by convention on equal prices.
func TestRSIDoesNotBuyBecauseNothingHasMovedYet(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "rsi", exchange.Futures, strategy.Values{"period": "3"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}, strategy.Plan{}
	decide := func(price float64) int {
		view.Candle, view.NowMS = flatCandles(price)[0], view.NowMS+60_000
		s.Candle(&view)
		plan.Reset()
		s.Decide(&view, &plan)
		return plan.Target.Sign()
	}
	for i := range 20 {
		if decide(100) != 0 {
			t.Fatalf("candle %d of equal prices: want no position", i)
		}
	}
	if decide(99) != 1 || plan.SignalMS != view.NowMS {
		t.Errorf("a fall: want it long by a signal of now, have %+v", plan)
	}
	first := view.NowMS
	if decide(98); plan.SignalMS != first {
		t.Error("it is low still: want the same signal")
	}
}
