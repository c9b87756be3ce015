package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A wallet that shows none of the asset does not prove that an uncertain exit has sold it, unless it shows the money. If the wallet is right
// after all, there is nothing that a stop could sell.
func TestEmptyWalletDoesNotShowThatAnExitSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asset, usd string
		with       func(w *wallet)
		want       exchange.Quantity
	}{
		"an empty wallet":                      {"0", "0", nil, 10},
		"one without the asset":                {"0", "10000", nil, 10},
		"sold":                                 {"0", "10500", nil, 0},
		"sold at its limit":                    {"0", "10470.25", nil, 0},
		"less than its limit":                  {"0", "10470.24", nil, 10},
		"a person's units are there":           {"1", "10000", nil, 0},
		"an empty wallet after a start":        {"0", "0", func(w *wallet) { w.restores(); w.deriver(); w.now += 3_000 }, 10},
		"one without the asset, after a start": {"0", "10000", func(w *wallet) { w.restores(); w.deriver(); w.now += 3_000 }, 10},
		"sold, after a start":                  {"0", "10500", func(w *wallet) { w.restores(); w.deriver(); w.now += 3_000 }, 0},
		"its money may have bought another":    {"0", "10000", func(w *wallet) { w.sendsElsewhere(exchange.Buy) }, 0},
		"another botd may be placing, and so on": {"0", "0", func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
		}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			emptyAfterAnExit(t, c.asset, c.usd, c.with, c.want)
		})
	}
}

func emptyAfterAnExit(t testing.TB, asset, usd string, with func(w *wallet), want exchange.Quantity) {
	w, _ := protecting(t) // 10, besides 1 BTC of a person
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.places(placement.Exit, 0, saleOf(10))
	w.now += 3_000
	if with != nil {
		with(w)
	}
	w.hasMoney(asset, "0", usd)
	w.now += 1_000
	w.hasMoney(asset, "0", usd)
	if have := stopped(w.derives(stopped2)); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}
