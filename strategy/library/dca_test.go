package library

import (
	"errors"
	"strings"
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
		entry  string // average price of the position
		want   exchange.Quantity
	}{
		{0, 1000, "", 100},
		{30, 950, "1000", 100},
		{31, 900, "1000", 100 + 222}, // 10 % below the last buy: twice the amount
		{32, 890, "931", 322},        // not 10 % below 900
		{60, 890, "931", 322 + 112},  // an hour has passed: the usual amount
		{61, 801, "920", 434 + 499},  // 10 % below 890: four times
		{62, 700, "860", 933},        // no third buy on a dip
		{250, 700, "860", 933 + 142}, // three hours were missed: one buy
		{251, 880, "839", 1075},      // not yet 5 % above
		{252, 881, "839", 0},         // 5 % above 839 is 880.95
		{253, 860, "839", 0},         // selling until the position is zero
		{254, 860, "", 0},            // sold
		{255, 860, "", 116},          // started over
		{300, 860, "860", 116},       // and so did the clock
		{314, 860, "860", 116 + 116}, // an hour after it started over
	} {
		view.NowMS, view.Last = 1_000_000+c.minute*60_000, exchange.Price(c.price*1e8)
		view.Position.EntryPrice = exchange.Amount{}
		if c.entry != "" {
			view.Position.EntryPrice = exchange.MustAmount(c.entry)
		}
		plan.Reset()
		s.Decide(&view, &plan)
		view.Events = fills(&view, &plan)
		if have := plan.Target; have != (strategy.Target{Kind: strategy.ByQuantity, Quantity: c.want}) {
			t.Fatalf("step %d at %v: want %d, have %+v (%s)", i, c.price, c.want, have, plan.Reason)
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

func TestSpotDCAComputesMeanFromSpending(t *testing.T) {
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
		view.Events = fills(&view, &plan)
		if have := plan.Target.Quantity; have != c.want {
			t.Fatalf("step %d: want %d, have %d", i, c.want, have)
		}
		view.Memory, _ = view.Memory.With(plan.Remembered())
		view.Position.Quantity = c.want
	}
}

// fills returns the events of a market that fills every order before the next decision.
func fills(view *strategy.View, plan *strategy.Plan) []strategy.Event {
	memory, _ := view.Memory.With(plan.Remembered())
	quantity, _ := memory.Get(dcaQuantity)
	bought := plan.Target.Quantity - exchange.Quantity(quantity)
	if bought <= 0 {
		return nil
	}
	return []strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: bought, Price: view.Symbol.PriceAmount(view.Last)}}
}

// Refused buys once counted as bought, and were all bought at once when there was money.
func TestDCADoesNotCountABuyThatWasRefused(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Spot, strategy.Values{"amount": "100", "every": "1h", "take_profit": "10%", "fall": "10%"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Spot).Symbol}, strategy.Plan{}
	filled := []strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100, Price: exchange.AmountOf(1000)}}
	refused := []strategy.Event{{Kind: strategy.EventRefused, Side: exchange.Buy, Rule: "balance"}}
	for i, c := range []struct {
		minute int64
		price  float64
		events []strategy.Event
		want   exchange.Quantity
	}{
		{0, 1000, nil, 100},
		{60, 1000, filled, 200},
		{61, 1000, refused, 100},   // it is withdrawn
		{120, 1000, nil, 200},      // the next one is due
		{121, 1000, refused, 100},  // and is refused as well
		{122, 880, nil, 100},       // a fall waits for the next scheduled buy
		{180, 1000, nil, 200},      // one buy, not three
		{240, 1000, nil, 200},      // no answer, as in a halt: still one
		{241, 1000, filled, 300},   // bought: the next one
		{242, 1000, filled, 300},   // both are requested
		{243, 880, nil, 300 + 113}, // the price is 10 % below the last buy
		{244, 880, refused, 300},   // refused
		{245, 870, nil, 300},       // not requested at every tick
		{246, 1100.5, nil, 0},      // 10 % above the average price, 1000
	} {
		view.NowMS, view.Last, view.Events = 1+c.minute*60_000, exchange.Price(c.price*1e8), c.events
		plan.Reset()
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if have := plan.Target.Quantity; have != c.want {
			t.Fatalf("step %d, minute %d: want %d, have %d (%s)", i, c.minute, c.want, have, plan.Reason)
		}
		held, _ := view.Memory.Get(dcaQuantity)
		view.Position.Quantity = exchange.Quantity(held)
	}
}

func TestDCARestartsAfterStopWithRemainder(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1, Last: 1000e8}, strategy.Plan{}
	for i, c := range []struct {
		events []strategy.Event
		want   exchange.Quantity
	}{
		{nil, 100},
		{[]strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100}}, 200},
		{[]strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100}, {Kind: strategy.EventStopped, Side: exchange.Sell, Reduces: true,
			Quantity: 150}}, 50 + 100},
		{[]strategy.Event{{Kind: strategy.EventLatched, Side: exchange.Buy}}, 100}, // another trader closed the rest: it is not bought back
	} {
		view.Events = c.events
		plan.Reset()
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if have := plan.Target.Quantity; have != c.want || plan.SignalMS != view.NowMS {
			t.Fatalf("step %d: want %d by a signal of now, have %d by %d", i, c.want, have, plan.SignalMS)
		}
		view.NowMS += 3_600_000
	}
}

// A target of the configuration sells a part, which is no longer owned. It was once bought back at each candle, up to a
// position of 10,000 USDT.
func TestDCATakesThatATargetSoldAShare(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1, Last: 1000e8}, strategy.Plan{}
	bought := strategy.Event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100}
	sold := strategy.Event{Key: "target1.1", Kind: strategy.EventFilled, Side: exchange.Sell, Reduces: true, Quantity: 33}
	for i, c := range []struct {
		events []strategy.Event
		want   exchange.Quantity
	}{{nil, 100}, {[]strategy.Event{bought}, 200}, {[]strategy.Event{bought, sold}, 167 + 100}, {[]strategy.Event{bought}, 267 + 100}} {
		view.Events = c.events
		plan.Reset()
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if have := plan.Target.Quantity; have != c.want {
			t.Fatalf("step %d: want %d, have %d", i, c.want, have)
		}
		view.NowMS += 3_600_000
	}
}

func TestDCAReportsTooSmallAmount(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1, Last: 100_001e8}, strategy.Plan{}
	s.Decide(&view, &plan)
	want := "buys nothing: 100 USDT at 100001 buy less than the smallest quantity, 0.001 BTC"
	if have := plan.Notices(); len(have) != 1 || have[0] != want || plan.Reason != want || plan.Target.Quantity != 0 {
		t.Errorf("want it reported, have %q, %q and %v", have, plan.Reason, plan.Target.Quantity)
	}
}

func TestDCARefusesBuysThatGrowBeyondTheSymbol(t *testing.T) {
	t.Parallel()
	for _, definition := range All() {
		if definition.Name != "dca" {
			continue
		}
		_, err := definition.New(setting(t, exchange.Spot), strategy.Values{"amount": "50", "fall": "0.1%", "falls": "200", "scale": "3"})
		if err == nil || !strings.Contains(err.Error(), "params.falls") || !strings.Contains(err.Error(), "maxNotional") {
			t.Errorf("want the falls refused, have %v", err)
		}
	}
}

func TestSafetyOrdersHaveAStepScaleAndTheTargetIsAfterFees(t *testing.T) {
	t.Parallel()
	where := setting(t, exchange.Futures)
	where.Fees.Taker = exchange.RateOne / 1_000
	s, err := dca().New(where, strategy.Values{"amount": "100", "every": "1000h", "fall": "2%", "falls": "3", "scale": "2", "step_scale": "1.5",
		"take_profit": "1%"})
	if err != nil {
		t.Fatal(err)
	}
	view, plan := strategy.View{Symbol: where.Symbol}, strategy.Plan{}
	for i, c := range []struct {
		price float64
		entry int64 // average price of the position
		want  exchange.Quantity
	}{
		{1000, 0, 100},
		{980.1, 1000, 100},
		{980, 1000, 100 + 204},  // 2 %
		{950.7, 985, 304},       // not yet 3 % below 980
		{950.6, 985, 304 + 420}, // 3 %
		{907.9, 965, 724},       // not yet 4.5 % below 950.6
		{907.8, 965, 724 + 881}, // 4.5 %
		{800, 934, 1605},        // no fourth one
		{945.2, 934, 1605},      // 1.2 % above 934 is 945.208
		{945.21, 934, 0},
	} {
		view.NowMS, view.Last = view.NowMS+1_000, exchange.Price(c.price*1e8)
		view.Position.EntryPrice = exchange.AmountOf(c.entry)
		plan.Reset()
		s.Decide(&view, &plan)
		view.Events = fills(&view, &plan)
		if have := plan.Target; have != (strategy.Target{Kind: strategy.ByQuantity, Quantity: c.want}) {
			t.Fatalf("step %d at %v: want %d, have %+v (%s)", i, c.price, c.want, have, plan.Reason)
		}
		view.Memory, _ = view.Memory.With(plan.Remembered())
		view.Position.Quantity = c.want
	}
	if e, _ := strategy.EconomicsOf(s); e.Net(0, where.Fees.Taker) != exchange.RateOne/100 {
		t.Errorf("want 1 %% after fees, have %s", e.Net(0, where.Fees.Taker))
	}
	var wrong *strategy.ValueError
	if _, err := dca().New(where, strategy.Values{"amount": "100", "fall": "20%", "falls": "5", "step_scale": "2"}); !errors.As(err, &wrong) ||
		wrong.Parameter != "step_scale" {
		t.Errorf("want a fall of more than all refused, have %v", err)
	}
}
