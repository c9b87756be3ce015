package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An old wallet still freezes what a canceled stop held. What is sold in place of a stop, since the price has passed it, does not wait for a newer
// one: if the wallet is right, the exchange refuses the sale.
func TestWalletThatFreezesMoreThanOpenOrdersBlocksNoExit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		change       func(*wallet)
		want         exchange.Quantity
	}{
		"all is frozen, and four rest":                        {"0", "0.01", nil, 6},
		"all is frozen, besides what is not botd's":           {"1", "0.01", nil, 6},
		"the rest is free":                                    {"0.006", "0.004", nil, 6},
		"the wallet has less":                                 {"0", "0.007", nil, 3},
		"a person's order holds it":                           {"0", "0.01", func(w *wallet) { w.restsForeign("BTC-USDT", 6) }, 0},
		"a person's order of another pair may hold it":        {"0", "0.01", func(w *wallet) { w.restsForeign("BTC-EUR", 6) }, 0},
		"the exchange has just refused a sale":                {"0", "0.01", func(w *wallet) { w.refuses(placement.StopLoss, saleOf(6)) }, 0},
		"the symbol is quarantined":                           {"0", "0.01", func(w *wallet) { w.apply(quarantineOf("a test")) }, 0},
		"botd stands down: the other one's may not be listed": {"0", "0.01", func(w *wallet) { w.tracker.Symbol(coin).unknownEnded = youngers + "1" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frozenByNone(t, c.free, c.frozen, c.change, c.want)
		})
	}
}

func quarantineOf(why string) record.Record {
	return record.Record{Symbol: coin, Body: record.Quarantined{Reason: why}}
}

// restsForeign lets a person's order rest on spot.
func (w *wallet) restsForeign(symbol string, quantity exchange.Quantity) {
	key := exchange.SymbolKey{Market: exchange.Spot, Name: symbol}
	w.tracker.Track(key).foreign = []exchange.Order{{ID: 90, Market: exchange.Spot, Symbol: symbol, Side: exchange.Sell, Type: exchange.Limit,
		Quantity: quantity}}
}

// frozenByNone returns a position of ten of which a stop covers four. The price has passed the stop of the other six.
func frozenByNone(t testing.TB, free, frozen string, change func(*wallet), want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(4))
	w.now += 60_000
	w.shows(free, frozen, stop)
	w.tracker.Symbol(coin).last = 48_000e8
	if change != nil {
		change(w)
	}
	sold := exchange.Quantity(0)
	for _, i := range derive() {
		if i.Order.Type == exchange.Limit {
			sold += i.Order.Quantity
		}
	}
	if sold != want {
		t.Errorf("want %d sold, have %d", want, sold)
	}
}
