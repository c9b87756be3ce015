package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestAViewShowsNoCandleBeyondTheNewest(t *testing.T) {
	t.Parallel()
	candles := &exchange.Candles{Interval: exchange.Minute1}
	for i := range 5 {
		candles.Append(exchange.Candle{OpenMS: int64(i) * 60_000, Close: exchange.Price(100 + i)})
	}
	var view strategy.View
	if view.Candle() != (exchange.Candle{}) || view.Close() != 0 {
		t.Errorf("before the first: want none, have %+v and %d", view.Candle(), view.Close())
	}
	view.SetHistory(candles, 3) // two more are recorded
	if view.Candle() != view.Back(0) || view.Close() != 102 {
		t.Errorf("the newest: want that of 102, have %+v and %d", view.Candle(), view.Close())
	}
	if have := view.Back(0).Close; have != 102 {
		t.Errorf("the newest: want 102, have %d", have)
	}
	if have := view.Back(2).Close; have != 100 {
		t.Errorf("the oldest: want 100, have %d", have)
	}
	for _, n := range []int{-1, -2, 3, 1 << 40} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, "is not visible") {
					t.Errorf("Back(%d): want a panic that explains it, have %s", n, why)
				}
			}()
			view.Back(n)
		}()
	}
}
