package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A wallet that is minutes old still shows units that have been sold since, and none of the money. Those units are not a person's.
func TestWalletReadBeforeASaleShowsNoForeignUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asset, usd string
		baseline   exchange.Quantity
		settled    bool
	}{
		"the wallet of before the sale":  {"1.01", "10000", 1_000, false},
		"sold":                           {"1", "10500", 1_000, true},
		"sold, and a deposit of as much": {"1.01", "10500", 1_010, true},
		"sold, and the money is taken":   {"1", "10000", 1_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walletOfBefore(t, c.asset, c.usd, c.baseline, c.settled)
		})
	}
}

func walletOfBefore(t testing.TB, asset, usd string, baseline exchange.Quantity, settled bool) {
	w, _ := protecting(t) // 10, besides 1 BTC of a person
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	sale := w.places(placement.Exit, 9, saleOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 9, Filled: 10}})
	for range 16 {
		w.now += 60_000
		w.hasMoney(asset, "0", usd)
	}
	symbol := w.tracker.Symbol(coin)
	if have := symbol.Baseline(); have != baseline || symbol.settled != settled {
		t.Errorf("want %d of others', settled %t, have %d, %t", baseline, settled, have, symbol.settled)
	}
}

// Six of ten are sold, and a wallet from before that shows ten. The six that it has too many are not a person's (seed 897020385).
func TestWalletReadBeforeAPartialSaleAttributesNothing(t *testing.T) {
	t.Parallel()
	walletBeforePart(t, "1.01", "10000", 0)
	walletBeforePart(t, "1.01", "10300", 6) // a deposit
}

func walletBeforePart(t testing.TB, asset, usd string, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	sale := w.places(placement.Exit, 9, saleOf(6))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 9, Filled: 6}})
	w.now += 60_000
	w.hasMoney("1.004", "0", "10300")
	w.now += 60_000
	w.hasMoney(asset, "0", usd)
	if have := w.tracker.Symbol(coin).Unattributed(); have != want {
		t.Errorf("want %d of others', have %d", want, have)
	}
}
