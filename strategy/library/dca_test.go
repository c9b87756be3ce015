package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestDCABuysByTheClockOnFallsAndSellsAboveTheMean(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h", "fall": "10%", "falls": "2", "scale": "2",
		"take_profit": "5%"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}, strategy.Plan{}
	for i, c := range []struct {
		minute int64
		price  float64
		entry  string // mean price of the position
		want   exchange.Quantity
	}{
		{0, 1000, "", 100},
		{30, 950, "1000", 100},
		{31, 900, "1000", 100 + 222}, // 10 % below the last buy: twice the amount
		{32, 890, "931", 322},        // not 10 % below 900
		{60, 890, "931", 322 + 112},  // an hour has passed: the usual amount
		{61, 801, "920", 434 + 499},  // 10 % below 890: four times
		{62, 700, "860", 933},        // no third buy on a fall
		{250, 700, "860", 933 + 142}, // three hours were missed: one buy
		{251, 880, "839", 1075},      // not yet 5 % above
		{252, 881, "839", 0},         // 5 % above 839 is 880.95
		{253, 860, "839", 0},         // selling until the position is zero
		{254, 860, "", 0},            // sold
		{255, 860, "", 116},          // started anew
		{300, 860, "860", 116},       // the clock too
		{314, 860, "860", 116 + 116}, // an hour after it started anew
	} {
		view.NowMS, view.Last = 1_000_000+c.minute*60_000, exchange.Price(c.price*1e8)
		view.Position.EntryPrice = exchange.Amount{}
		if c.entry != "" {
			view.Position.EntryPrice = exchange.MustAmount(c.entry)
		}
		plan.Reset()
		s.Decide(&view, &plan)
		if have := plan.Target.Quantity; have != c.want {
			t.Fatalf("step %d at %v: want %d, have %d (%s)", i, c.price, c.want, have, plan.Reason)
		}
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if view.Position.Quantity = c.want; c.want == 0 && c.minute < 254 {
			view.Position.Quantity = 1075
		}
		if c.minute == 253 {
			view.Position = strategy.Position{}
		}
	}
}

func TestDCAOnSpotComputesItsMeanFromWhatItSpent(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Spot, strategy.Values{"amount": "100", "every": "1h", "take_profit": "10%", "buys": "2"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Spot).Symbol}, strategy.Plan{}
	for i, c := range []struct {
		hour  int64
		price float64
		want  exchange.Quantity
	}{{0, 1000, 100}, {1, 500, 300}, {2, 500, 300}, {3, 733, 300}, {4, 733.4, 0}} { // 200 spent for 0.3: 666.67
		view.NowMS, view.Last = 1+c.hour*3_600_000, exchange.Price(c.price*1e8)
		plan.Reset()
		s.Decide(&view, &plan)
		if have := plan.Target.Quantity; have != c.want {
			t.Fatalf("step %d: want %d, have %d", i, c.want, have)
		}
		view.Memory, _ = view.Memory.With(plan.Remembered())
		view.Position.Quantity = c.want
	}
}
