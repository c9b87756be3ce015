package engine

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// trailer requests a position of 10 once, and a stop 500 below the best price since. Its memory stores the
// stop.
type trailer struct{ asked int }

func (*trailer) Warmup() int                   { return 0 }
func (*trailer) Candle(*strategy.View)         {}
func (*trailer) Follows() bool                 { return true }
func (*trailer) Trails() (exchange.Rate, bool) { return 0, true }

func (x *trailer) Decide(_ *strategy.View, plan *strategy.Plan) {
	x.asked++
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}, "a test")
}

func (*trailer) Follow(view *strategy.View, plan *strategy.Plan) {
	best, _ := view.Memory.Get("best")
	best = max(best, int64(view.Last))
	plan.Remember("best", best)
	plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: exchange.Price(best) - 500e8}}
}

// wantStop expects one closePosition stop at a price.
func (w *world) wantStop(price exchange.Price) {
	w.t.Helper()
	if all := w.stops(); len(all) != 1 || all[0].StopPrice != price {
		w.t.Errorf("want one stop at %d, have %+v\n%s", price, all, w.story())
	}
}

func TestATrailingStopFollowsThePriceInEveryRound(t *testing.T) {
	t.Parallel()
	x := &trailer{}
	w := newWorld(t, nil, func(w *world) {
		w.config.Strategies[0].Strategy, w.config.Strategies[0].Schedule = x, nil // it decides at closes
		w.config.Strategies[0].Interval = exchange.Hour1
	})
	w.pass(3_700_000)
	w.wantHeld(10)
	last, _ := w.venue.Price(bitcoin)
	w.wantStop(last - 500e8)
	asked, ticks := x.asked, len(facts[NoteTick](w.notes))
	for _, move := range []struct{ by, stop exchange.Price }{{300e8, 300e8}, {-100e8, 300e8}, {400e8, 400e8}} {
		if err := w.venue.SetPrice(bitcoin, last+move.by, 0); err != nil {
			t.Fatal(err)
		}
		w.pass(90_000) // it moves at most once a minute
		w.wantStop(last + move.stop - 500e8)
	}
	if have := len(facts[NoteTick](w.notes)); x.asked != asked || have != ticks {
		t.Errorf("want the strategy not asked, and no decision reported, have it asked %d times, %d reported", x.asked-asked, have-ticks)
	}
	w.cut = len(w.records) + 1
	w.pass(90_000)
	w.wantStop(last + 400e8 - 500e8)
	w.wantSound()
}

// A resting exit of the whole position uses up the exchange's sum of reduceOnly quantities (rule 5). A
// smaller target cancels it first, and it is placed again for the rest.
func TestSmallerTargetReplacesRestingExit(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
		plan.Exits, plan.ExitsSet = append(plan.Exits, strategy.DesiredOrder{Key: "high", Side: exchange.Sell, Price: 60_000e8,
			Quantity: max(view.Position.Quantity, 4)}), true
	}, protected)
	w.pass(20_000)
	w.wantHeld(10)
	w.wantOpen(2)
	target = 4
	w.pass(20_000)
	w.wantHeld(4)
	w.wantOpen(2)
	for _, o := range w.open() {
		if o.Type == exchange.Limit && o.Remaining() != 4 {
			t.Errorf("want the exit over what is left, have %+v", o)
		}
	}
	if len(w.refused) > 0 {
		t.Errorf("want nothing refused, have %q", w.refused)
	}
	w.wantSound()
}
