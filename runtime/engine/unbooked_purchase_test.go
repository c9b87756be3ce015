package engine

import (
	"testing"

	"botd/exchange"
	"botd/risk"
)

// The history shows no client order ids, and the answer to a purchase was lost: it is not booked yet, and its money is gone. That is no loss,
// and once a person has adopted it, no gain.
func TestUnbookedPurchaseLatchesNoLossLimit(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]option{"spot": onEther, "next to a person's units": onSpot} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unbookedPurchase(t, on)
		})
	}
}

func unbookedPurchase(t testing.TB, on option) {
	w := newWorld(t, hold(2_000), on, protected, patient, func(w *world) {
		most := risk.Loss{USDT: exchange.AmountOf(100)}
		w.config.Limits = risk.Limits{MaxDailyLoss: most, MaxDrawdown: most}
	})
	w.mirror = withoutIDs(exchange.SpotOrderHistory)
	w.network = once(fate{silent: true})
	for second := range 400 {
		if w.pass(1_000); second == 300 {
			w.give(&EventResolve{Symbol: w.symbol().Key(), Adopt: true, Reason: "it is botd's"})
		}
		for _, d := range w.engine.Degraded() {
			if d.State == "limit" {
				t.Fatalf("want no limit breached, have %+v\n%s", d, w.story())
			}
		}
	}
	if position := w.symbol().Position(); position < 1_990 || w.forSale() < 1_990 {
		t.Errorf("want it adopted, with a stop, have %d\n%s", position, w.story())
	}
}
