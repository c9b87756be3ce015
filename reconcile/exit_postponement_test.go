package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// While the exchange refuses an exit on futures, the position keeps its stop, as on spot: one for a quantity, which stands in the exit's way in the
// exchange's sum, is not canceled, and a missing one is placed (seed 850900087).
func TestPositionKeepsItsStopWhileARefusedExitWaits(t *testing.T) {
	t.Parallel()
	const stop, room = "stop_loss sell stop_market stop 49000 whole: protects the position", "cancel 12: makes room for the exit"
	for _, c := range []struct {
		name  string
		waits bool
		stops bool
		want  string
	}{
		{"no stop stands, and the exit waits", true, false, stop},
		{"no stop stands, and the exit is due", false, false, "exit sell market 20 reduceOnly: the target is flat"},
		{"one for a quantity, and the exit waits", true, true, stop},
		{"one for a quantity, and the exit is due", false, true, room + "; " + stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedExitWaits(t, c.waits, c.stops, c.want)
		})
	}
}

func refusedExitWaits(t testing.TB, waits, stops bool, want string) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.target(0)
	if stops {
		d.part(12, 20, "49000")
	}
	intents := d.derive(func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
		if w.ExitFromMS = d.now; waits {
			w.ExitFromMS++
		}
	})
	if have := summary(intents); have != want {
		t.Errorf("want %q, have %q", want, have)
	}
}
