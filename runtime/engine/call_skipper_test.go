package engine

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// crossing targets 10 while closes are above 50,000. It takes closes by column, and reports when one has changed
// nothing.
type crossing struct {
	above, begun, stays bool
	given               []exchange.Price
	passes              []string
	decisions           []string
	notifies            int // report something at that many first decisions
}

func (*crossing) Warmup() int { return 0 }

func (x *crossing) Candle(view *strategy.View) { x.take(view.Close()) }

func (x *crossing) Stays() bool { return x.stays }

func (x *crossing) Pass(candles *exchange.Candles, from, to int) (end int) {
	for end = from; end < to; {
		x.take(candles.Close[end])
		if end++; !x.stays {
			break
		}
	}
	x.passes = append(x.passes, fmt.Sprint(from, "-", end))
	return end
}

func (x *crossing) take(price exchange.Price) {
	above := price > 50_000e8
	x.stays = x.begun && above == x.above
	x.above, x.begun = above, true
	x.given = append(x.given, price)
}

func (x *crossing) Decide(view *strategy.View, plan *strategy.Plan) {
	x.decisions = append(x.decisions, fmt.Sprint(view.Close()/1e8, " of ", view.Closed(), " at ", (view.NowMS-startMS)/minuteMS, ", last ", view.Last/1e8))
	quantity := exchange.Quantity(0)
	if x.above {
		quantity = 10
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}, "a test")
	if len(x.decisions) <= x.notifies {
		plan.Notify("news")
	}
}

// TestSteadyStrategyIsAskedOnChangesOnly has closes cross 50,000 after seven candles, and after seven more.
func TestSteadyStrategyIsAskedOnChangesOnly(t *testing.T) {
	t.Parallel()
	const first, up, down = "49900 of 1 at 1, last 49900", "50107 of 8 at 8, last 50107", "49914 of 15 at 15, last 49914"
	for _, c := range []struct {
		name      string
		longest   int // longest stretch; 0 for candles one by one
		notifies  int
		passes    []string
		decisions []string
	}{
		{"in stretches", 60, 0, []string{"1-8", "8-15", "15-20"}, []string{first, up, down}},
		{"one by one", 0, 0, []string{"1-2", "2-3", "3-4", "4-5", "5-6", "6-7", "7-8", "8-9", "9-10", "10-11", "11-12", "12-13", "13-14", "14-15",
			"15-16", "16-17", "17-18", "18-19", "19-20"}, []string{first, up, down}},
		{"a decision that reports something is not taken for the next one", 60, 1, []string{"2-8", "8-15", "15-20"},
			[]string{first, "49901 of 2 at 2, last 49901", up, down}},
	} {
		x := &crossing{notifies: c.notifies}
		b := inBacktest(t, x, func(e *Engine) { e.legs[0].steady = steadyOf(x) })
		b.feeds(&waving{}, wave(20), c.longest)
		if !slices.Equal(x.passes, c.passes) || !slices.Equal(x.decisions, c.decisions) {
			t.Errorf("%s: want %q and %q, have %q and %q", c.name, c.passes, c.decisions, x.passes, x.decisions)
		}
		if !slices.Equal(x.given, wave(20).Close) {
			t.Errorf("%s: want each close given once, have %v", c.name, x.given)
		}
		if one := b.engine.legs[0]; one.schedule.seen != 20 || one.schedule.lastMS != startMS+20*minuteMS || one.symbol.Last() != 49_919e8 {
			t.Errorf("%s: want 20 candles seen and the last decided, have %d, %d and a last price of %d", c.name, one.schedule.seen,
				one.schedule.lastMS, one.symbol.Last())
		}
		plans := 0
		for _, r := range b.records {
			if r.Kind() == record.KindPlan {
				plans++
			}
		}
		if plans != 3 {
			t.Errorf("%s: want 3 plans in force, one after the other, have %d", c.name, plans)
		}
	}
}

// These are the same strategy with inputs besides candles.
type (
	crossingSignals struct{ crossing }
	crossingFollows struct{ crossing }
	crossingWatches struct{ crossing }
)

func (*crossingSignals) Receive(*strategy.View, *strategy.Signal, *strategy.Plan) error { return nil }
func (*crossingFollows) Follows() bool                                                  { return true }
func (*crossingFollows) Trails() (exchange.Rate, bool)                                  { return 0, true }
func (*crossingFollows) Follow(*strategy.View, *strategy.Plan)                          {}
func (*crossingWatches) Watches() strategy.Watching                                     { return strategy.Watching{Events: true} }

// The input is a signal, a price or an event.
func TestStrategyWithOtherInputsIsAskedAtEveryClose(t *testing.T) {
	t.Parallel()
	if found := steadyOf(&crossing{}); found.strategy == nil || found.passer == nil {
		t.Error("want a strategy of candles alone spared questions")
	}
	for _, s := range []strategy.Strategy{&crossingSignals{}, &crossingFollows{}, &crossingWatches{}, &waving{}} {
		if found := steadyOf(s); found != (callSkipper{}) {
			t.Errorf("%T: want it asked at every close", s)
		}
	}
}
