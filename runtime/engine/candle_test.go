package engine

import (
	"slices"
	"testing"

	"botd/strategy"
)

// TestStrategyDecidesOncePerLiveCandle counts decisions by their time, for candles that come one by one, and
// for several that come together after a sleep.
func TestStrategyDecidesOncePerLiveCandle(t *testing.T) {
	t.Parallel()
	var asked []int64
	w := newWorld(t, func(view *strategy.View, _ *strategy.Plan) { asked = append(asked, view.NowMS) },
		func(w *world) { w.config.Strategies[0].Schedule = nil })
	w.pass(5 * 60_000)
	w.now += 10 * 60_000
	w.pass(5 * 60_000)
	if len(asked) < 15 {
		t.Fatalf("want a decision per minute, have %d", len(asked))
	}
	if once := slices.Compact(slices.Sorted(slices.Values(asked))); len(once) != len(asked) {
		t.Errorf("want each of %d candles decided once, have %d decisions", len(once), len(asked))
	}
}
