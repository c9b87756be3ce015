package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The lines list positions with their entry price, and orders with their remaining quantity.
func TestOpenItemsText(t *testing.T) {
	t.Parallel()
	w := standing(t)
	ids := map[placement.Purpose]string{}
	for p := range w.engine.Tracker().Live() {
		ids[p.Purpose()] = p.ClientOrderID()
	}
	want := []string{
		"position futures BTC-USDT 0.01 at 50000.1",
		"order " + ids[placement.StopLoss] + " working futures BTC-USDT SELL STOP_MARKET stop 49000",
		"order " + ids[placement.Order] + " working futures BTC-USDT BUY LIMIT price 40000 quantity 0.01",
		"order " + ids[placement.ExitOrder] + " working futures BTC-USDT SELL LIMIT price 60000 quantity 0.004",
	}
	have := w.engine.OpenLeft()
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("what is open: -want +have\n%s", diff)
	}
	nothing := settled(t)
	if have := nothing.engine.OpenLeft(); len(have) != 0 {
		t.Errorf("nothing is open: have %q", have)
	}
	unruled := nothing.sendsOn(ether, placement.Exit)
	if have := nothing.engine.OpenLeft(); !slices.Equal(have, []string{"order " + unruled + " sending futures ETH-USDT BUY MARKET"}) {
		t.Errorf("on a symbol whose rules are not known: want the order without its measures, have %q", have)
	}
	// Spot has no entry price. 1,000 USDT at 50000.1 buy 0.01999, of which a thousandth is the fee.
	spot := newWorld(t, hold(2_000), onSpot)
	spot.pass(20_000)
	if have := spot.engine.OpenLeft(); len(have) != 1 || have[0] != "position spot BTC-USDT 0.01997" {
		t.Errorf("on spot: want the position without a price, have %q", have)
	}
}

// The status gives the reason that a person needs.
func TestTheStateOfAStrategyIsItsGravest(t *testing.T) {
	t.Parallel()
	quarantines := func(w *world, _ *leg) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
	}
	halts := func(w *world, _ *leg) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
	}
	refuses := func(purpose placement.Purpose, times int) func(*world, *leg) {
		return func(w *world, _ *leg) {
			for range times {
				w.engine.backoffs.count(attempt{strategy: "one", symbol: bitcoin, purpose: purpose}, 7, "no", false, w.engine.nowMS)
			}
		}
	}
	latches := func(w *world, _ *leg) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Latch{Side: 1}})
	}
	for _, c := range []struct {
		name, state, why string // prefix of the reason
		with             []func(*world, *leg)
	}{
		{"it decides", "running", "", nil},
		{"it has seen too few candles", "warming_up", "2 of 3 candles", []func(*world, *leg){func(_ *world, one *leg) {
			one.config.Strategy, one.schedule.seen = slow{scripted(hold(0))}, 2
		}}},
		{"it has seen enough candles", "running", "", []func(*world, *leg){func(_ *world, one *leg) {
			one.config.Strategy, one.schedule.seen = slow{scripted(hold(0))}, 3
		}}},
		{"it needs candles of another symbol", "warming_up", "it needs 3 candles of futures ETH-USDT", []func(*world, *leg){func(w *world, one *leg) {
			one.config.Strategy, one.schedule.seen = slow{scripted(hold(0))}, 3
			one.others = []*series{w.etherCandles(2)}
		}}},
		{"its opening was refused twice", "running", "", []func(*world, *leg){refuses(placement.Entry, 2)}},
		{"its opening was refused three times", "refused", "the exchange refuses the entry, 3 times in a row: 7 no", []func(*world, *leg){
			refuses(placement.Entry, 3)}},
		{"its side is latched", "latched", "it waits until the strategy desires no position", []func(*world, *leg){latches}},
		{"refused is graver than latched", "refused", "the exchange refuses the entry", []func(*world, *leg){latches, refuses(placement.Entry, 3)}},
		{"a person paused it", "halted", "strategy one: news", []func(*world, *leg){halts}},
		{"halted is graver than refused", "halted", "strategy one: news", []func(*world, *leg){refuses(placement.Entry, 3), halts}},
		{"its position is not trusted to have ended", "contradicted", "a witness", []func(*world, *leg){halts, func(_ *world, one *leg) {
			see(one.symbol, func(o *seen) { o.Contradicted = "a witness" })
		}}},
		{"its position lacks its stop", "unprotected", "no stop is confirmed", []func(*world, *leg){func(w *world, one *leg) {
			see(one.symbol, func(o *seen) { o.Contradicted, o.UnprotectedSinceMS = "a witness", w.engine.nowMS-unprotectedAfterMS })
		}}},
		{"its symbol waits for a person", "quarantined", "a difference", []func(*world, *leg){quarantines, func(w *world, one *leg) {
			see(one.symbol, func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - unprotectedAfterMS })
		}}},
		{"it does not answer", "hung", "no answer", []func(*world, *leg){quarantines, func(_ *world, one *leg) { one.question.hung = "no answer" }}},
		{"it failed", "failed", "a bug", []func(*world, *leg){func(_ *world, one *leg) { one.failure.why, one.question.hung = "a bug", "no answer" }}},
		{"its file is absent", "running", "its file is missing: it decides nothing, its protection stays; after a reload, on_remove: none",
			[]func(*world, *leg){
				func(_ *world, one *leg) { one.config.Absent = true }}},
		{"its file is absent, and it is paused", "halted", "strategy one: news", []func(*world, *leg){halts, func(_ *world, one *leg) {
			one.config.Absent = true
		}}},
		{"it was removed", "running", "it is no longer configured; on_remove: none", []func(*world, *leg){func(_ *world, one *leg) {
			one.config.Removed = true
		}}},
		{"it was removed, and failed", "failed", "a bug", []func(*world, *leg){
			func(_ *world, one *leg) { one.config.Removed, one.failure.why = true, "a bug" }}},
		{"a foreign order may open", "running", "order 9", []func(*world, *leg){foreignOpening}},
		{"a foreign order may open, and it is paused", "halted", "strategy one: news", []func(*world, *leg){halts, foreignOpening}},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		for _, with := range c.with {
			with(w, one)
		}
		s := w.engine.Status().Strategies[0]
		if s.State != c.state || !strings.HasPrefix(s.StateReason, c.why) || c.why == "" && s.StateReason != "" {
			t.Errorf("%s: want %s: %q, have %s: %q", c.name, c.state, c.why, s.State, s.StateReason)
		}
	}
}

func foreignOpening(_ *world, one *leg) {
	see(one.symbol, func(o *seen) {
		o.Foreign = []exchange.Order{{ID: 9, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 1,
			Quantity: 10, Status: exchange.StatusNew}}
	})
	see(one.symbol, func(o *seen) { o.ForeignSinceMS = 1 })
}

// etherCandles returns that many candles of another symbol.
func (w *world) etherCandles(count int) *series {
	s := &series{key: ether, symbol: w.venue.Symbol(ether), candles: &exchange.Candles{Interval: exchange.Minute1}, end: count}
	for i := range count {
		s.candles.Append(candleAt(w.now - int64(count-i)*minuteMS))
	}
	return s
}

// Each obstacle is listed with its remedy.
func TestPreviewListsObstacles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want string // prefix of "what | remedy"; empty for nothing
	}{
		{"nothing", func(*world, *leg) {}, ""},
		{"it failed", func(_ *world, one *leg) { one.failure.why = "a bug" },
			"the strategy has failed: a bug | fix its file, which is then reloaded; its protection stays"},
		{"it hangs", func(_ *world, one *leg) { one.question.hung = "no answer" },
			"the strategy hangs: no answer | it is called again when it returns, with the candles it has missed; or correct its file"},
		{"its process ended", func(_ *world, one *leg) { one.question.hung, one.question.ends = "no answer", 1 },
			"the strategy hangs: no answer | its process is restarted at growing intervals and sees all candles again; or correct its file"},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true },
			"the strategy was removed from the configuration | put it back into the configuration, or flatten it"},
		{"it has seen too few candles", func(_ *world, one *leg) { one.config.Strategy, one.schedule.seen = slow{scripted(hold(0))}, 2 },
			"it has seen 2 of 3 candles | candles are read as they close"},
		{"it has seen enough candles", func(_ *world, one *leg) { one.config.Strategy, one.schedule.seen = slow{scripted(hold(0))}, 3 }, ""},
		{"another symbol's candles are too few", func(w *world, one *leg) {
			one.config.Strategy, one.schedule.seen, one.others = slow{scripted(hold(0))}, 3, []*series{w.etherCandles(2)}
		}, "fewer than 3 candles are known of futures ETH-USDT, which it also reads | candles are read as they close"},
		{"no price", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Last = 0 }) }, "no price of BTC-USDT is known | the next round reads it"},
		{"not read", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Read = false }) },
			"orders and positions of BTC-USDT have not been read since the start | the next complete round"},
		{"latched", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Plan{Plan: &strategy.Plan{
				Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}}})
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Latch{Side: 1}})
			w.config.Strategies[0].Strategy, w.engine.legs[0].config.Strategy = scripted(hold(10)), scripted(hold(10))
		}, "latched: something other than its plan ended its position on this side | it waits until the strategy desires no position, or the " +
			"other side, or reports a new signal; or botd rearm --strategy one"},
		{"paused by name", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
		}, "halted: pause: news | botd rearm --strategy one"},
		{"another strategy is paused", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "two", Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
		}, ""},
		{"the account is paused", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
		}, "halted: pause: news | botd rearm"},
		{"an uncertain placement", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Exit), Body: record.Uncertain{Reason: "lost"}})
		}, "placement "},
		{"a placement that is answered", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Exit), Body: record.Acknowledged{OrderID: 5}})
		}, ""},
	} {
		w := settled(t)
		c.with(w, w.engine.legs[0])
		var have []string
		for _, b := range w.engine.PreviewTicks()[0].Blocks {
			have = append(have, b.What+" | "+b.Remedy)
		}
		if c.want == "" && len(have) > 0 || c.want != "" && (len(have) != 1 || !strings.HasPrefix(have[0], c.want)) {
			t.Errorf("%s: want %q\nhave %q", c.name, c.want, have)
		}
	}
}

// There is nothing to decide without a price or a next tick, and while candles are missing.
func TestPreviewKeepsPlanWithoutDecision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want exchange.Quantity // of the plan after the tick; 5 is in force
	}{
		{"it decides", func(*world, *leg) {}, 30},
		{"no price", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Last = 0 }) }, 5},
		{"it failed", func(_ *world, one *leg) { one.failure.why = "a bug" }, 5},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true }, 5},
		{"candles are missing", func(_ *world, one *leg) { one.schedule.seen, one.config.Strategy = 2, eager{slow{scripted(hold(30))}} }, 5},
		{"candles are enough", func(_ *world, one *leg) { one.schedule.seen, one.config.Strategy = 3, eager{slow{scripted(hold(30))}} }, 30},
		{"a worker decides", func(w *world, _ *leg) { w.engine.config.Offload = true }, 5},
	} {
		desired := exchange.Quantity(5)
		w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(desired)(view, plan) })
		w.pass(20_000)
		w.wantHeld(5)
		desired = 30
		c.with(w, w.engine.legs[0])
		o := w.engine.PreviewTicks()[0]
		if o.Plan.Target.Quantity != c.want || o.Changes != (c.want != 5) || o.InForce.Target.Quantity != 5 {
			t.Errorf("%s: want a target of %d instead of 5, have %d, changes %t", c.name, c.want, o.Plan.Target.Quantity, o.Changes)
		}
	}
}

// eager needs three candles, and requests 30.
type eager struct{ slow }

// A halt leaves the exits of a plan, a flatten replaces them.
func TestFlattenReplacesPlanExits(t *testing.T) {
	t.Parallel()
	w := settled(t)
	one := w.engine.legs[0]
	for level, want := range map[record.HaltLevel]string{
		record.LevelNone: "flatten false, exit of the plan 4", record.LevelPause: "flatten false, exit of the plan 4",
		record.LevelCancel: "flatten false, exit of the plan 4", record.LevelFlatten: "flatten true, exit of the plan 0",
	} {
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{
			Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}, ExitsSet: true,
			Exits: []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: 60_000e8, Quantity: 4}}}}})
		desired := w.engine.dispatcher.desiredAt(one, level)
		sum := exchange.Quantity(0)
		for _, exit := range desired.Strategy.Plan().Clone().Exits {
			sum += exit.Quantity
		}
		if have := fmt.Sprintf("flatten %t, exit of the plan %d", desired.Flatten, sum); have != want {
			t.Errorf("%s: want %s, have %s", level, want, have)
		}
	}
}
