package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// A quantity step that has grown beyond a futures position leaves no market order that could close it. A closePosition order does, in place of the
// exit and in place of a stop whose price was passed while it was moved.
func TestPositionBelowAGrownStepIsClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, target exchange.Quantity
		last         string
		want         string
	}{
		"an exit":             {8, 0, "50000", "stop_loss sell stop_market stop 49999.9 whole as dust: the target is flat; too small for an order of its own"},
		"a stop, passed":      {8, 8, "48000", passedBelowStep},
		"of a short position": {-8, 0, "50000", "stop_loss buy stop_market stop 50000.1 whole as dust: the target is flat; too small for an order of its own"},
		"more than a step":    {18, 0, "50000", "exit sell market 10 reduceOnly: the target is flat"},
		"a part":              {8, 4, "50000", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepGrows(t, c.held, c.target, c.last, c.target != 0 && c.last != "50000", c.want)
		})
	}
}

const passedBelowStep = "stop_loss sell stop_market stop 47999.9 whole as dust: the price has already passed the stop; too small for an order of its own"

func stepGrows(t testing.TB, held, target exchange.Quantity, last string, protected bool, want string) {
	t.Helper()
	d := holds(t, held)
	d.target(target)
	d.derive(nil) // the target is priced
	d.last(last)
	d.tracker.Symbol(bitcoin).rules.QuantityTick = 10
	have := summary(d.derive(func(w *Desired) {
		if protected {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
		}
	}))
	if have != want {
		t.Errorf("want %q\nhave %q", want, have)
	}
}
