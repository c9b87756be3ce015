package engine

import (
	"slices"
	"testing"

	"botd/exchange"
)

// standIn is a substitute for a strategy whose process has not answered.
type standIn struct{ waving }

func (*standIn) Substitutes() {}

// A strategy that replaces its substitute starts as at a start: the candles of its warm-up are read.
func TestReplacedSubstituteStartsWithItsWarmUp(t *testing.T) {
	t.Parallel()
	w := settled(t)
	leg := w.engine.legs[0]
	leg.config.Strategy = &standIn{}
	if have := w.engine.Substitutes(); len(have) != 1 || have["one"] != leg.config.Substitute() {
		t.Errorf("want the substitute, have %+v", have)
	}
	failing, series := w.config.Strategies[0], leg.series
	failing.Strategy = &standIn{}
	w.out.Reset()
	w.engine.Handle(w.now, &EventReload{Reload: &Reload{Strategies: []*StrategyConfig{&failing}}}, &w.out)
	if have := facts[NoteReload](w.out.Notes); len(have) != 1 || have[0].Text != "a new version has replaced it" || leg.series != series {
		t.Errorf("want one substitute replaced by another, have %+v", have)
	}
	before, x := leg.series, &waving{warmup: 7}
	before.asking = true // its answer is no longer awaited
	config := w.config.Strategies[0]
	config.Strategy = x
	w.out.Reset()
	w.engine.Handle(w.now, &EventReload{Reload: &Reload{Strategies: []*StrategyConfig{&config}}}, &w.out)
	notes := facts[NoteReload](w.out.Notes)
	if len(notes) != 1 || notes[0].Text != "its process has answered; it starts with a warm-up of 7 candles" || len(w.engine.Substitutes()) != 0 {
		t.Errorf("want the strategy, and that reported, have %+v", notes)
	}
	if s := leg.series; s == before || s.warmup != 7 || s.pollMS > w.now && !s.asking || !slices.Contains(w.engine.market.series, s) ||
		slices.Contains(w.engine.market.series, before) || leg.schedule.seen != 0 || len(x.seen) != 0 {
		t.Errorf("want its candles read again, have %+v, %d seen", s, leg.schedule.seen)
	}
	w.out.Reset()
	w.engine.Handle(w.now, &EventWake{}, &w.out)
	from := int64(0)
	for i := range w.out.Calls {
		if request := &w.out.Calls[i].Request; request.Operation == exchange.FuturesCandles {
			from = request.StartMS
		}
	}
	if want := exchange.Minute1.OpenOf(w.now) - 8*minuteMS; from != want {
		t.Errorf("want the candles requested from %d on, have %d", want, from)
	}
}
