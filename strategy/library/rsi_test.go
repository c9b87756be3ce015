package library

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The index is 0 by convention on equal prices.
func TestRSIDoesNotBuyOnConstantPrices(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "rsi", exchange.Futures, strategy.Values{"period": "3"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}, strategy.Plan{}
	decide := func(price float64) int {
		show(&view, flatCandles(price)[0])
		view.NowMS += 60_000
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

// An index of exactly 50 changes nothing, and a new fall from there is a new signal.
func TestRSIIsBelowAndAboveItsBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		low, high string
		closes    []float64 // for Wilder's averages of two changes
		want      string    // the side after each, and its signal's candle
	}{
		{"at low", "50", "90", []float64{100, 110, 100}, ". . ."},
		{"below low", "51", "90", []float64{100, 110, 100}, ". . L3"},
		{"at high", "10", "50", []float64{100, 110, 100}, ". . ."},
		{"above high", "10", "49", []float64{100, 110, 100}, ". . 0"},
		{"it is low still", "51", "90", []float64{100, 90, 80, 90, 80}, ". . L3 L3 L3"}, // 0, 50, 25
		{"at low and below it again", "50", "90", []float64{100, 90, 80, 90, 80}, ". . L3 L3 L5"},
		{"above low and below it again", "49", "90", []float64{100, 90, 80, 90, 80}, ". . L3 L3 L5"},
		{"high and low again", "30", "70", []float64{100, 90, 80, 200, 10}, ". . L3 0 L5"},
	} {
		b := newBook(t, newStrategy(t, "rsi", exchange.Futures, strategy.Values{"period": "2", "low": c.low, "high": c.high}), exchange.Futures)
		var have []string
		for i, price := range c.closes {
			b.view.NowMS = int64(i + 1)
			b.feed(price)
			b.decide(price)
			switch {
			case b.plan.Target.Kind == strategy.NoTarget:
				have = append(have, ".")
			case b.plan.Target == strategy.Flat():
				have = append(have, "0")
			default:
				have = append(have, fmt.Sprint("L", b.plan.SignalMS))
			}
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}
