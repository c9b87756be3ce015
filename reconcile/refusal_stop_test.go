package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// The exchange refused an exit that took the place of the stop, and may have executed it. A new stop in addition would sell a person's units. It waits
// until a wallet can show the sale, at most two seconds, and then covers what the wallet has.
func TestStopAfterRefusedExitCoversWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		afterMS int64
		wallet  string // empty: not read since
		want    exchange.Quantity
	}{
		"at once":                           {100, "", 0},
		"a wallet that may be older":        {100, "1.01", 0},
		"the wallet shows that it was sold": {1_000, "1", 0},
		"the wallet shows that a part was":  {1_000, "1.004", 4},
		"the wallet shows all of it":        {1_000, "1.01", 10},
		"no wallet is read":                 {1_900, "", 0},
		"no wallet is read for two seconds": {2_000, "", 10},
		"it shows the sale long afterwards": {9_000, "1", 0},
		"no wallet is read for ten seconds": {10_000, "", 10},
		"it shows less ten seconds later":   {10_000, "1", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopAfterARefusedExit(t, c.afterMS, c.wallet, c.want)
		})
	}
}

func stopAfterARefusedExit(t testing.TB, afterMS int64, held string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	w.observe("1.01")
	w.refuses(placement.Exit, saleOf(10))
	w.now += afterMS
	if held != "" {
		w.observe(held)
	}
	if have := stopped(derive()); have != want {
		t.Errorf("%d ms after the refusal: want a stop of %d, have %d", afterMS, want, have)
	}
}

// A refused purchase sells nothing: the stop covers the whole position at once.
func TestStopAfterRefusedPurchaseCoversThePosition(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	w.observe("1.01")
	w.refuses(placement.Order, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 47_500e8})
	w.now += 100
	if have := stopped(derive()); have != 10 {
		t.Errorf("want a stop of 10, have %d", have)
	}
}

// The exchange executed a refused exit of seven next to a stop of three: nothing is left for another stop.
func TestStopBesideExecutedRefusedExitCoversTheRest(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(3))
	w.now += 60_000
	w.observe("1.01", stop)
	w.refuses(placement.Exit, saleOf(7))
	w.now += 1_000
	w.observe("1.003", stop)
	if have := stopped(derive()); have != 0 {
		t.Errorf("want no other stop, have one of %d", have)
	}
}
