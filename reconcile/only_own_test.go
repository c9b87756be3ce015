package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Of 10, a stop covers 6, and one over the other 4 has been canceled. The wallet is older: it still freezes these. Where nobody else has coins of the asset,
// the next stop waits for no newer wallet, whatever the exchange has refused and whatever is quarantined: it refuses a stop too many. Where a person has
// coins, a stop too many would sell them.
func TestOldWalletBlocksNoStopIfNobodyElseHasCoins(t *testing.T) {
	t.Parallel()
	onlyOwnCoins(t)
}

func onlyOwnCoins(t testing.TB) {
	t.Helper()
	exitRefused := func(w *wallet, _ exchange.Order) []exchange.Order {
		w.now += 60_000
		w.refuses(placement.Exit, saleOf(4))
		w.now += 1_000
		return nil
	}
	quarantined := func(w *wallet, stop exchange.Order) []exchange.Order {
		w.now += 60_000
		w.apply(quarantineOf("a test"))
		return []exchange.Order{stop}
	}
	stopRefused := func(w *wallet, _ exchange.Order) []exchange.Order { // the open list omits the stop that rests, and perhaps this one too
		w.now += 500
		w.refuses(placement.StopLoss, stopOf(4))
		w.now += 500
		return nil
	}
	lost := func(w *wallet, stop exchange.Order) []exchange.Order {
		open := quarantined(w, stop)
		w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 3, Price: 50_000e8})
		w.now += 1_000
		return open
	}
	for _, c := range []struct {
		name         string
		others       string // what others have at the start
		free, frozen string // by the wallet, afterwards
		with         func(w *wallet, stop exchange.Order) (open []exchange.Order)
		want         exchange.Quantity
	}{
		{"an exit is refused", "0", "0", "0.01", exitRefused, 4},
		{"the symbol is quarantined", "0", "0", "0.01", quarantined, 4},
		{"the wallet has less", "0", "0", "0.009", quarantined, 3},
		{"a purchase without an answer has bought 3", "0", "0.003", "0.01", lost, 7},
		{"a stop is refused that may rest", "0", "0", "0.01", stopRefused, 4},
		{"an exit is refused, and a person has coins", "1", "1", "0.01", exitRefused, 0},
		{"the symbol is quarantined, and a person has coins", "1", "1", "0.01", quarantined, 4},
		{"a person's coins are frozen", "1", "0", "1.01", quarantined, 0},
		{"a person has deposited coins", "0", "0", "1.01", quarantined, 0},
		{"a stop is refused that may rest, and a person has coins", "1", "1", "0.01", stopRefused, 0},
	} {
		w := holdingNextTo(t, ForeignHalt, c.others)
		derive := w.deriver()
		stop, off := w.places(placement.StopLoss, 8, stopOf(6)), w.places(placement.StopLoss, 9, stopOf(4))
		w.now += 60_000
		w.shows(c.others, "0.01", stop, off)
		w.answersCancel(off)
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: off.ClientOrderID, Body: record.Ended{State: placement.Canceled}})
		open := c.with(w, stop)
		w.shows(c.free, c.frozen, open...)
		if have := stopped(derive()); have != c.want {
			t.Errorf("%s: want a stop of %d, have %d", c.name, c.want, have)
		}
	}
}

// A wallet that must be read again no longer shows that nobody else has coins.
func TestForgottenWalletDoesNotShowThatNobodyElseHasCoins(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		w := holdingNextTo(t, ForeignHalt, "0")
		derive := w.deriver()
		stop := w.places(placement.StopLoss, 8, stopOf(6))
		w.now += 60_000
		w.apply(quarantineOf("a test"))
		w.shows("0", "0.01", stop)
		want := exchange.Quantity(4)
		if forgets {
			w.book.ForgetWallet()
			want = 0
		}
		if have := stopped(derive()); have != want {
			t.Errorf("forgotten %t: want a stop of %d, have %d", forgets, want, have)
		}
	}
}

// A wallet that has shown nothing for long is contradicted, and a sale of 6 of 10 has been booked since. The price has passed the stop of the remainder, which
// is sold as far as the newest wallet shows it, although that wallet may be older than the sale.
func TestRestOfAContradictedPositionIsSoldWhenItsPriceIsPassed(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]exchange.Quantity{"1.004": 4, "1.003": 3, "1.01": 4, "1": 0, "0": 0} {
		contradictedRest(t, shown, want)
	}
}

func contradictedRest(t testing.TB, shown string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	for range 10 {
		w.now += 1_000
		w.observe("0")
	}
	if w.book.Symbol(coin).contradicted == "" {
		t.Fatal("want it contradicted")
	}
	exit := w.sends(placement.Exit, 8, saleOf(6))
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: exit.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 6, OrderID: 8}})
	w.now += 500
	w.observe(shown)
	w.book.Symbol(coin).last = 48_000e8
	if have := soldBy(derive()); have != want {
		t.Errorf("%s shown: want %d sold, have %d", shown, want, have)
	}
}
