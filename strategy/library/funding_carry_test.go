package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestTheFuturesLegGoesShortWhileTheFundingPays(t *testing.T) {
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
		{900, 30_000, 0, 0, 0, "the legs did not match for too long"}, // not again at once
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

func TestTheSpotLegHoldsWhatTheFuturesLegIsShort(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "funding_carry", exchange.Spot, strategy.Values{"quantity": "1"})
	view := strategy.View{Symbol: setting(t, exchange.Spot).Symbol}
	var plan strategy.Plan
	for _, c := range []struct {
		futures, want exchange.Quantity
		known         bool
	}{{0, 0, true}, {-700, 700, true}, {-1000, 1000, true}, {300, 0, true}} {
		view.Pair = strategy.Pair{Symbol: setting(t, exchange.Futures).Symbol, Position: c.futures, Known: c.known}
		plan.Reset()
		s.Decide(&view, &plan)
		if plan.Target.Kind != strategy.ByQuantity || plan.Target.Quantity != c.want {
			t.Errorf("%d short: want %d, have %+v", c.futures, c.want, plan.Target)
		}
	}
}
