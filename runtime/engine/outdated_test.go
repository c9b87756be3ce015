package engine

import (
	"testing"

	"botd/exchange"
)

// TestAnExitThatThePlanNoLongerAsksForIsNotSent: a process that stood still goes on with the plan
// of before, and is asked for another before the exit has left.
func TestAnExitThatThePlanNoLongerAsksForIsNotSent(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]exchange.Quantity{"the whole again": 2_000, "more": 3_000, "a part, as before": 1_000, "nothing": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := exchange.Quantity(2_000)
			w := newWorld(t, swing(&target), onSpot, protected)
			w.pass(30_000)
			sent := len(w.sent)
			target, w.slow = 1_000, true
			w.pass(4_000) // the exit is derived, and its record is being written
			target = then
			w.pass(1_100)
			if len(w.sent) != sent {
				t.Fatalf("want nothing sent before its record is durable, have %+v", w.sent[sent:])
			}
			w.slow = false
			w.give(&EventJournaled{Sequence: w.written})
			w.pass(4_000)
			exits := 0
			for _, order := range w.sent[sent:] {
				if order.Side == exchange.Sell && !order.Type.StopLoss() {
					exits++
				}
			}
			if asked := then < 2_000; (exits > 0) != asked {
				t.Errorf("want an exit sent: %t, have %d\n%s", asked, exits, w.story())
			}
			if !w.stopped(coin) && then > 0 {
				t.Errorf("want its stop back, have none\n%s", w.story())
			}
		})
	}
}
