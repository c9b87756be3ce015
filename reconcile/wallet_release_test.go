package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The exit follows the cancel of a stop, and a wallet may still freeze what that held. One that freezes what others' sales hold, and no more, does not.
func TestExitSellsWhatACanceledStopHasFreed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop, others exchange.Quantity
		free, frozen string
		want         exchange.Quantity
	}{
		"the wallet shows it":                              {10, 0, "0.01", "0", 10},
		"the wallet is older":                              {10, 0, "0", "0.01", 10},
		"the wallet shows it, another botd's stop rests":   {4, 6, "0.004", "0.006", 4},
		"the wallet is older, another botd's stop rests":   {4, 6, "0", "0.01", 4},
		"the wallet is older than the stop of another":     {4, 6, "0.006", "0.004", 10},
		"the wallet shows half, another botd's stop rests": {4, 6, "0.002", "0.003", 6},
		"the wallet shows none, another botd's stop rests": {4, 6, "0", "0", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if have := exitAfterCancel(t, c.stop, c.others, c.free, c.frozen); have != c.want {
				t.Errorf("want an exit of %d, have %d", c.want, have)
			}
		})
	}
}

// A smaller target needs the canceled stop of 4 of the 10, not the one of 6 that stands, and another order sells 6 of a person's units. The wallet, which may
// be older than the cancel, is one of both stops and that order, or has lost units of botd's.
func TestPartialExitSellsWhatACanceledStopHasFreed(t *testing.T) {
	t.Parallel()
	unread := func(d *Desired) { d.Unread = true }
	for name, c := range map[string]struct {
		target       exchange.Quantity
		buys         exchange.Quantity // by botd's own order that rests
		free, frozen string
		desired      func(*Desired)
		want         exchange.Quantity
	}{
		"the wallet shows the cancel":                            {6, 0, "0.004", "0.012", nil, 4},
		"the wallet is older":                                    {6, 0, "0", "0.016", nil, 4},
		"the wallet is older, and the lists could not be read":   {6, 0, "0", "0.016", unread, 4},
		"the same, beside a purchase, which holds none of it":    {6, 2, "0", "0.016", unread, 4},
		"the wallet shows the cancel, and lacks 2: those remain": {4, 0, "0.002", "0.012", nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holdingNextTo(t, ForeignHalt, "0.006")
			w.tracker.Symbol(coin).last = 50_000e8
			w.targets(c.target, nil)
			w.derives(nil) // the target is priced
			off, stands := w.places(placement.StopLoss, 7, stopOf(4)), w.places(placement.StopLoss, 8, stopOf(6))
			rows := []exchange.Order{stands, anothers("by hand", 9, exchange.Sell, exchange.Limit, 6, 0, w.now)}
			if c.buys != 0 {
				rows = append(rows, w.buysUnder(11, c.buys))
			}
			w.now += 60_000
			w.shows("0", "0.016", append(rows, off)...)
			w.answersCancel(off)
			w.now += ExitReleaseMS
			w.apply(record.Record{AtMS: w.now, ClientOrderID: off.ClientOrderID, Body: record.Ended{State: placement.Canceled, Evidence: "a test"}})
			w.shows(c.free, c.frozen, rows...)
			if have := soldBy(w.derives(c.desired)); have != c.want {
				t.Errorf("want an exit of %d, have %d", c.want, have)
			}
		})
	}
}

// exitAfterCancel holds ten, and nobody else holds any of the asset. A stop has been canceled for an exit of all. Another order without an id sells some of
// it. It returns the quantity of the exit.
func exitAfterCancel(t testing.TB, stop, others exchange.Quantity, free, frozen string) (sold exchange.Quantity) {
	t.Helper()
	w := newWallet(t)
	w.observe("0")
	w.now += 60_000
	w.buys(10)
	w.tracker.Symbol(coin).last = 50_000e8
	w.targets(0, nil)
	own := w.places(placement.StopLoss, 8, stopOf(stop))
	w.now += 60_000
	var rows []exchange.Order
	if others != 0 {
		rows = []exchange.Order{{ID: 9, Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Sell, Type: exchange.StopLimit, Quantity: others,
			Price: 46_600e8, StopPrice: 49_050e8, Status: exchange.StatusOpen, CreatedMS: w.now}}
	}
	w.shows("0", "0.01", append(rows, own)...)
	w.answersCancel(own)
	w.now += ExitReleaseMS
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Body: record.Ended{State: placement.Canceled, Evidence: "a test"}})
	w.shows(free, frozen, rows...)
	for _, i := range w.derives(nil) {
		if i.Purpose == placement.Exit {
			sold += i.Order.Quantity
		}
	}
	return sold
}
