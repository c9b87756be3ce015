package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

// TestWhatIsLeftOfAPositionThatWasShownBesideBotdsPartHasAStopAtOnce: the exchange had executed the entry twice, and botd has sold its part.
func TestWhatIsLeftOfAPositionThatWasShownBesideBotdsPartHasAStopAtOnce(t *testing.T) {
	t.Parallel()
	for _, shown := range []exchange.Quantity{40, 20} {
		leftOfShown(t, shown, shown == 40)
	}
}

func leftOfShown(t testing.TB, shown exchange.Quantity, want bool) {
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.observe(shown, nil)
	d.target(0)
	id := d.send(d.one(placement.Exit, nil))
	d.acknowledge(id, 21)
	sold := d.order(id, 21, exchange.StatusFilled, 20, 20)
	sold.Side = exchange.Sell
	d.now += 1_000
	d.observe(20, []OrderByID{{OrderID: 21, Known: true, Order: sold}})
	intents := d.derive(func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})
	if have := slices.Contains(purposes(intents), placement.StopLoss); have != want {
		t.Errorf("%d shown before: want a stop %t, have %+v", shown, want, intents)
	}
}
