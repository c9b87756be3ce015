package engine

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func (w *world) reload(plan func(*strategy.View, *strategy.Plan)) {
	config := w.config.Strategies[0]
	config.Strategy = scripted(plan)
	w.give(&Event{Kind: EventReload, Strategies: []*StrategyConfig{&config}})
}

func TestANewVersionOfAStrategyKeepsWhatTheOldOneHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		hold(10)(view, plan)
		plan.Remember("n", 7)
	}, protected)
	w.pass(10_000)
	w.wantHeld(10)
	sent := len(w.sent)
	var remembered int64
	w.reload(func(view *strategy.View, plan *strategy.Plan) {
		remembered, _ = view.Memory.Get("n")
		hold(10)(view, plan)
	})
	w.pass(10_000)
	if w.wantHeld(10); len(w.sent) != sent {
		t.Errorf("the same wish: want nothing sent, have %+v", w.sent[sent:])
	}
	if remembered != 7 {
		t.Errorf("want its memory kept, have %d", remembered)
	}
	w.reload(hold(30))
	w.pass(10_000)
	w.wantHeld(30)
	w.wantSound()
}

func TestANewVersionRevivesAStrategyThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*strategy.View, *strategy.Plan) { panic("a fault") })
	w.pass(10_000)
	if state := w.engine.Status().Strategies[0].State; state != "failed" {
		t.Fatalf("want it failed, have %s", state)
	}
	w.reload(hold(10))
	w.pass(10_000)
	w.wantHeld(10)
	w.wantSound()
}

func TestAnotherSymbolOrIntervalTakesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	for _, c := range []struct {
		name     string
		key      exchange.SymbolKey
		interval exchange.Interval
		well     bool
	}{
		{"one", bitcoin, exchange.Minute1, true}, {"two", bitcoin, exchange.Minute1, false},
		{"one", coin, exchange.Minute1, false}, {"one", bitcoin, exchange.Hour1, false},
	} {
		if why := w.engine.Reloadable(c.name, c.key, c.interval); (why == "") != c.well {
			t.Errorf("%+v: have %q", c, why)
		}
	}
}
