package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// conditionsShown is a strategy that buys, turns and leaves by the clock, and shows the conditions of its
// decisions.
type conditionsShown struct{ scripted }

func (conditionsShown) Conditions(view *strategy.View) []strategy.Condition {
	return []strategy.Condition{{Name: "last", Value: view.Symbol.PriceDecimal(view.Last).String()}}
}

// byClock requests another position at a fixed interval of seconds.
func byClock(view *strategy.View, plan *strategy.Plan) {
	plan.Hold(
		strategy.Target{Kind: strategy.ByQuantity, Quantity: []exchange.Quantity{100, 300, -200, 0}[view.NowMS/9000%4] * view.Symbol.QuantityTick},
		"by the clock",
	)
}

// TestAPreviewHasNoEffect runs the same world twice, once with previews all the time: records, notes and
// placements are equal.
func TestAPreviewHasNoEffect(t *testing.T) {
	t.Parallel()
	run := func(ask bool) *world {
		w := newWorld(t, byClock, protected, func(w *world) { w.config.Strategies[0].Strategy = conditionsShown{byClock} })
		w.network = nth(2, fate{silent: true})
		for range 120 {
			w.pass(500)
			if ask {
				w.engine.PreviewTicks()
			}
		}
		return w
	}
	quiet, asked := run(false), run(true)
	if len(quiet.sent) < 5 {
		t.Fatalf("placements: want several, have %d\n%s", len(quiet.sent), quiet.story())
	}
	if diff := cmp.Diff(quiet.story(), asked.story()); diff != "" {
		t.Errorf("journal: want the same, have\n%s", diff)
	}
	if diff := cmp.Diff(quiet.sent, asked.sent, cmp.AllowUnexported(exchange.Amount{})); diff != "" {
		t.Errorf("placements: want the same, have\n%s", diff)
	}
}

// TestPreviewEqualsNextTick previews just before each tick.
func TestPreviewEqualsNextTick(t *testing.T) {
	t.Parallel()
	w := newWorld(t, byClock, protected)
	foreseen := 0
	w.pass(500) // each preview is half a second before a tick
	for range 60 {
		o := w.engine.PreviewTicks()[0]
		var want []string
		for _, s := range o.Steps {
			if s.Approved && !s.Later && s.Intent.Purpose != placement.Cancel && s.Intent.Purpose != placement.Leverage {
				want = append(want, s.Intent.Purpose.String()+" "+s.Intent.Order.Side.String())
			}
		}
		before := len(w.notes)
		w.pass(1_000)
		if len(want) == 0 {
			continue
		}
		foreseen += len(want)
		var have []string
		for _, fact := range facts[NoteApproved](w.notes[before:]) {
			have = append(have, fact.Intent.Purpose.String()+" "+fact.Intent.Order.Side.String())
		}
		for _, step := range want {
			if !slices.Contains(have, step) {
				t.Errorf("at %+d ms: foreseen %v, approved %v\n%s", w.now-startMS, want, have, w.story())
			}
		}
	}
	if foreseen < 6 {
		t.Errorf("steps foreseen: want several, have %d\n%s", foreseen, w.story())
	}
}

func TestPreviewReportsBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(*world)
		what   string
		remedy string
	}{
		{"halted", func(w *world) { w.give(&EventHalt{Level: record.LevelPause, Reason: "news"}) }, "halted: pause: news", "botd rearm"},
		{"the disk", func(w *world) { w.give(&EventDisk{Reason: "nearly full"}) }, "nearly full", "make room"},
		{"an uncertain placement", func(w *world) {
			w.network = once(fate{silent: true})
			w.pass(3_000)
		}, "placement", "fetched"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(100*view.Symbol.QuantityTick)(view, plan) })
			c.before(w)
			o := w.engine.PreviewTicks()[0]
			if !slices.ContainsFunc(o.Blocks, func(b Block) bool { return strings.Contains(b.What, c.what) && strings.Contains(b.Remedy, c.remedy) }) {
				t.Errorf("want a block %q with the remedy %q, have %+v", c.what, c.remedy, o.Blocks)
			}
		})
	}
}

// TestARefusalIsForeseenWithItsFigures sets a limit that refuses.
func TestARefusalIsForeseenWithItsFigures(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(0)
	w := desiring(t, &desired, ownLimits(risk.Limits{MaxOpenOrders: 5, MaxPosition: exchange.AmountOf(1)}))
	w.pass(3_000)
	desired = 100 * w.symbol().Rules().QuantityTick
	limit := w.symbol().Rules().QuantityAmount(w.symbol().Rules().QuantityTick * 50)
	w.config.Strategies[0].Limits.MaxPosition = limit
	w.engine.legs[0].config.Limits.MaxPosition = limit
	o := w.engine.PreviewTicks()[0]
	if !o.Changes || len(o.Steps) == 0 || o.Steps[0].Approved {
		t.Fatalf("want a step that is refused, have %+v", o)
	}
	for _, v := range o.Steps[0].Verdicts {
		switch v.Rule {
		case risk.MaxPosition:
			if v.Outcome != risk.Rejected || !strings.Contains(v.Limit, "0.05") {
				t.Errorf("max_position: want refused at 0.05, have %+v", v)
			}
		case "notional":
			if v.Outcome != risk.Passed || v.Value == "" {
				t.Errorf("notional: want passed with its figure, have %+v", v)
			}
		}
	}
}

// TestRehearsalReadsAndSendsNoOrder drives an engine that may only read.
func TestRehearsalReadsAndSendsNoOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, byClock, protected, func(w *world) { w.config.Rehearse = true })
	w.manually(w.market(exchange.Buy, 5*w.symbol().Rules().QuantityTick, false))
	w.pass(30_000)
	w.wantSent(0)
	o := w.engine.PreviewTicks()[0]
	if !w.symbol().Read() || o.NextMS == 0 || len(o.Blocks) == 0 {
		t.Errorf("want the state read and a foreign position reported, have %+v", o)
	}
	for _, r := range w.records {
		if r.Kind() == record.KindPlan || r.Kind() == record.KindSending {
			t.Errorf("want no plan and no placement in the journal, have %s", r.Kind())
		}
	}
}

func TestTheNextTickIsATimeWhileTheCandleIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), func(w *world) { w.config.Strategies[0].Schedule = nil })
	w.pass(30_000)
	for left := 90_000; !w.engine.legs[0].series.asking && left > 0; left-- {
		w.pass(1)
	}
	s := w.engine.Status().Strategies[0]
	if most := w.now + int64(s.Interval); !w.engine.legs[0].series.asking || s.NextMS < w.now-int64(s.Interval) || s.NextMS > most {
		t.Errorf("want the next tick at most a candle from %d while the candle is read, have %d", w.now, s.NextMS)
	}
}

// A halt flattens, and the exchange refuses the exit. It is due and waits, and the position has not ended.
func TestPreviewShowsTheExitThatWaits(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		w := newWorld(t, hold(2_000), market, protected)
		w.pass(20_000)
		w.network = func(call *Call) fate {
			order := &call.Request.Order
			if call.Request.Operation.Places() && order.Side == exchange.Sell && !order.Type.StopLoss() {
				return fate{err: &exchange.Refusal{Status: 400, Code: 2998, Message: "exits are off"}}
			}
			return fate{}
		}
		w.flatten()
		w.pass(24_000)
		o := w.engine.PreviewTicks()[0]
		exits := slices.DeleteFunc(o.Steps, func(step PreviewedIntent) bool { return step.Intent.Purpose != placement.Exit })
		if len(exits) != 1 || exits[0].Intent.Order.Quantity != w.symbol().Position() ||
			!strings.HasPrefix(exits[0].RefusedBy, "the exchange refuses the exit, ") {
			t.Errorf("want the exit of %d that waits, have %+v", w.symbol().Position(), o.Steps)
		}
		if o.Blocks[0].What != "latched: something other than its plan is ending its position on this side" {
			t.Errorf("want the position not ended, have %+v", o.Blocks)
		}
		w.network = nil
		w.pass(70_000)
		o = w.engine.PreviewTicks()[0]
		if len(o.Steps) != 0 || o.Blocks[0].What != "latched: something other than its plan ended its position on this side" {
			t.Errorf("want the position ended, have %+v, %+v", o.Steps, o.Blocks)
		}
	}
}
