package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestFuturesLegIsShortWhileFundingPays(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "funding_carry", exchange.Futures, strategy.Values{"enter": "0.02%", "leave": "0.005%", "quantity": "1", "patience": "60s"})
	if w := strategy.WatchingOf(s); !w.Funding || w.Pair.Market != exchange.Spot || w.Pair.Name != "BTC-USDT" {
		t.Errorf("want the funding and the spot leg watched, have %+v", w)
	}
	spot := setting(t, exchange.Spot).Symbol
	view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1, Last: 100e8}
	var plan strategy.Plan
	for i, c := range []struct {
		seconds int64
		rate    exchange.Rate // of 1e-8
		short   exchange.Quantity
		long    exchange.Quantity
		want    exchange.Quantity
		reason  string
	}{
		{0, 19_999, 0, 0, 0, "the funding does not pay for it"},
		{1, 20_000, 0, 0, -1000, "the funding pays for it"},
		{1, 10_000, -1000, 0, -1000, "the funding pays for it"}, // the spot leg follows
		{1, 10_000, -1000, 999, -1000, "the funding pays for it"},
		{900, 5_000, -1000, 999, -1000, "the funding pays for it"},
		{1, 4_999, -1000, 999, 0, "the funding does not pay for it"},
		{1, 20_000, 0, 0, -1000, "the funding pays for it"},
		{1, 20_000, -1000, 0, -1000, "the funding pays for it"},
		{59, 20_000, -1000, 500, -1000, "the funding pays for it"},
		{1, 20_000, -1000, 500, 0, "the legs did not match for too long"},
		{900, 30_000, 0, 0, 0, "the legs did not match for too long"}, // not again immediately
		{1, 0, 0, 0, 0, "the funding does not pay for it"},
		{1, 20_000, 0, 0, -1000, "the funding pays for it"},
	} {
		view.NowMS += c.seconds * 1000
		view.Funding = strategy.Funding{Rate: c.rate, Known: true}
		view.Position.Quantity = c.short
		view.Pair = strategy.Pair{Symbol: spot, Position: c.long, Last: 100e8, Known: true}
		plan.Reset()
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if plan.Target.Quantity != c.want || plan.Reason != c.reason {
			t.Errorf("step %d: want %d (%s), have %d (%s)", i, c.want, c.reason, plan.Target.Quantity, plan.Reason)
		}
	}
	view.Funding.Known = false
	if plan.Reset(); func() bool { s.Decide(&view, &plan); return plan.Target.Kind != strategy.NoTarget }() {
		t.Error("an unknown rate: want no target")
	}
}

func TestSpotLegMatchesShortFuturesLeg(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "funding_carry", exchange.Spot, strategy.Values{"quantity": "1"})
	if w := strategy.WatchingOf(s); w.Funding || w.Pair != (exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}) {
		t.Errorf("want the futures leg watched, have %+v", w)
	}
	view := strategy.View{Symbol: setting(t, exchange.Spot).Symbol}
	var plan strategy.Plan
	const short, flat = "the futures leg is short by as much", "the futures leg is not short"
	for _, c := range []struct {
		futures, want exchange.Quantity
		known         bool
		reason        string
	}{{0, 0, true, flat}, {-1, 1, true, short}, {-700, 700, true, short}, {-1000, 1000, true, short}, {300, 0, true, flat}} {
		view.Pair = strategy.Pair{Symbol: setting(t, exchange.Futures).Symbol, Position: c.futures, Known: c.known}
		plan.Reset()
		s.Decide(&view, &plan)
		if plan.Target.Kind != strategy.ByQuantity || plan.Target.Quantity != c.want || plan.Reason != c.reason {
			t.Errorf("%d short: want %d, %q, have %+v", c.futures, c.want, c.reason, plan)
		}
	}
	view.Position.Quantity, view.Pair.Position = 999, -1000
	if lines := conditionLines(s, &view); len(lines) != 1 || lines[0] != "the other leg: -1 beside 0.999 | as large as this one, on the other side | met" {
		t.Errorf("want both legs shown, have %q", lines)
	}
	view.Pair.Known = false
	plan.Reset()
	if s.Decide(&view, &plan); plan.Target.Kind != strategy.NoTarget {
		t.Errorf("an unknown futures leg: want no target, have %+v", plan.Target)
	}
}

// The difference is between the legs, or from the quantity. A difference of exactly the band is within it.
func TestTheLegsDifferByMoreThanTheBand(t *testing.T) {
	t.Parallel()
	const nowMS, sinceMS = 90_000, 70_000
	for _, c := range []struct {
		name        string
		short, long exchange.Quantity // of 3.000, with a band of 2 %: 0.060
		before      int64             // stored start of the difference
		want        int64
	}{
		{"equal", 3_000, 3_000, 0, 0},
		{"equal again", 3_000, 3_000, sinceMS, 0},
		{"less on spot, by the band", 3_000, 2_940, 0, 0},
		{"less on spot, by more", 3_000, 2_939, 0, nowMS},
		{"less on spot, for a while already", 3_000, 2_939, sinceMS, sinceMS},
		{"more on spot, by the band", 2_970, 3_030, 0, 0},
		{"more on spot, by more", 2_970, 3_031, 0, nowMS},
		{"both smaller, by the band", 2_940, 2_940, 0, 0},
		{"both smaller, by more", 2_939, 2_939, 0, nowMS},
		{"both larger", 3_100, 3_100, 0, 0},
		{"nothing on spot", 3_000, 0, 0, nowMS},
		{"nothing yet", 0, 0, 0, nowMS},
	} {
		s := newStrategy(t, "funding_carry", exchange.Futures, strategy.Values{"quantity": "3", "patience": "60s", "band": "2%"})
		view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: nowMS, Last: 100e8, Position: strategy.Position{Quantity: -c.short},
			Funding: strategy.Funding{Known: true, Rate: exchange.RateOne / 1_000},
			Pair:    strategy.Pair{Known: true, Symbol: setting(t, exchange.Spot).Symbol, Position: c.long},
			Memory:  strategy.MemoryOf(strategy.MemoryVariable{Key: carryOn, Value: 1}, strategy.MemoryVariable{Key: carryDiffers, Value: c.before})}
		var plan strategy.Plan
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if have, _ := view.Memory.Get(carryDiffers); have != c.want || plan.Target.Quantity != -3_000 {
			t.Errorf("%s: want them to differ since %d, and the carry on; have %d, %+v", c.name, c.want, have, plan.Target)
		}
	}
}

// Funding rates have eight places.
func TestRatesOfACarryAreRoundedToEightPlaces(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "funding_carry", exchange.Futures, strategy.Values{"quantity": "1", "enter": "0.000012345", "leave": "-0.000012344"}).(*carryFutures)
	if s.enter != 1_235 || s.leave != -1_234 {
		t.Errorf("want 1235 and -1234 of a hundred-millionth, have %d and %d", int64(s.enter), int64(s.leave))
	}
}
