package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// While botd stands down, a wallet that freezes less than the open list's sales require is old or wrong, and does not limit stops. If it is
// right, the exchange refuses the stop.
func TestWalletThatFreezesLessThanOpenOrdersBoundsNoStopWhileStandingDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		want         exchange.Quantity
	}{
		"all of it":                     {"1.01", "0.01", 10},
		"half of all":                   {"0.505", "0.005", 10},
		"half of what rests":            {"1", "0.005", 10},
		"half of all, and nothing else": {"0.005", "0.005", 10},
		"all that rests, and no more":   {"0", "0.01", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			halvedNextToPeer(t, c.free, c.frozen, c.want)
		})
	}
}

// A stop without an id may be the other botd's. Half a wallet does not hide what it covers.
func TestHalfAWalletDoesNotRepeatAnotherBotdsStop(t *testing.T) {
	t.Parallel()
	unnamedStopInHalfAWallet(t)
}

func unnamedStopInHalfAWallet(t testing.TB) {
	t.Helper()
	w, derive, stop, bought := peerBuysNextToStop(t, "1")
	unnamed := anothers("", 21, exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	for range 3 {
		w.sees("0", "0.01", []exchange.Order{bought}, stop, unnamed)
		w.now += 1_000
	}
	if have := stopped(derive()); have != 0 {
		t.Errorf("want no stop beside the two that cover everything, have one of %d", have)
	}
}

// peerBuysNextToStop lets botd hold ten under a stop, with a given quantity of the asset free, and another botd buy ten a minute later.
func peerBuysNextToStop(t testing.TB, free string) (w *wallet, derive func() []Intent, stop, bought exchange.Order) {
	t.Helper()
	w, derive = protecting(t)
	stop = w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows(free, "0.01", stop)
	return w, derive, stop, anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
}

// halvedNextToPeer lets botd and another one hold ten each, of which botd's stop covers ten.
func halvedNextToPeer(t testing.TB, free, frozen string, want exchange.Quantity) {
	t.Helper()
	w, derive, stop, bought := peerBuysNextToStop(t, "1")
	for range 3 {
		w.sees(free, frozen, []exchange.Order{bought}, stop)
		w.now += 1_000
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have one of %d", want, have)
	}
	if uncovered := w.tracker.JointUncovered(w.tracker.Symbol(coin)); uncovered != (want > 0) {
		t.Errorf("want the next round soon: %t, have %t", want > 0, uncovered)
	}
}

// A wallet that was read before the other botd bought does not show its purchase, whatever keeps the next one from being read.
func TestAnUnreadWalletBoundsNoStopWhileStandingDown(t *testing.T) {
	t.Parallel()
	unreadNextToPeer(t)
}

func unreadNextToPeer(t testing.TB) {
	t.Helper()
	w, derive, stop, bought := peerBuysNextToStop(t, "0")
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{}})
	for range 3 {
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{stop}),
			History: exchange.FetchedOf([]exchange.Order{bought}), HistoryWhole: true})...)
		w.now += 1_000
	}
	if have := stopped(derive()); have != 10 {
		t.Errorf("want a stop of the ten that the other one bought, have one of %d", have)
	}
}

// A wallet that may be older than botd's last purchase does not limit stops for what it and the other botd have bought. Later it does, for botd's own.
func TestAWalletOfBeforeTheLastFillBoundsNoStopWhileStandingDown(t *testing.T) {
	t.Parallel()
	boughtNextToPeer(t, 0, 14)
	boughtNextToPeer(t, testSettle.StalenessMS, 14)
	boughtNextToPeer(t, testSettle.StalenessMS+1, 7)
	boughtNextToPeer(t, testSettle.StalenessMS+1_000, 7)
}

// boughtNextToPeer lets botd and another one buy seven each in addition to ten with a stop. The wallet, read a given time after the fill, shows the ten.
func boughtNextToPeer(t testing.TB, afterMS int64, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows("1", "0.01", stop)
	own := w.places(placement.Entry, 19, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 7, Price: 50_000e8})
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	for range 2 {
		w.sees("1", "0.01", []exchange.Order{bought}, stop)
		w.now += peerStopMS
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Body: record.Ended{OrderID: 19, State: placement.Filled, Filled: 7}})
	w.now += afterMS
	w.sees("1", "0.01", []exchange.Order{bought}, stop)
	if have := stopped(derive()); have != want {
		t.Errorf("%d ms after the fill: want a stop of %d, have one of %d", afterMS, want, have)
	}
}
