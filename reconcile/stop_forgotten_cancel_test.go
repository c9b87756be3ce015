package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// Next to a person's units, a process dies between the answer to a stop's cancel and its replacement. After the start an old list still shows the stop, and
// the wallet freezes nothing for it. botd cancels it once more, and its units get a stop, whatever the exchange answers (seeds 904007262, 897021008).
func TestStopWhoseCancelAStartForgotIsReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]forgottenCancel{
		"the exchange refuses the cancel": {free: "1.006", frozen: "0.004", refuses: true, canceled: true, want: 6},
		"it rested all the same":          {free: "1.006", frozen: "0.004", canceled: true, want: 6},
		"the wallet freezes all":          {free: "1", frozen: "0.01"},
		"it has sold the units":           {free: "1", frozen: "0.004"},
		"another quantity":                {free: "1.005", frozen: "0.005"},
		"no start":                        {free: "1.006", frozen: "0.004", runs: true},
		"a start of long ago":             {free: "1.006", frozen: "0.004", afterMS: forgottenCancelMS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type forgottenCancel struct {
	free, frozen string
	runs         bool  // the process does not start again
	afterMS      int64 // since the start
	refuses      bool
	canceled     bool
	want         exchange.Quantity
}

func (c forgottenCancel) check(t testing.TB) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, "1")
	w.deriver()
	stop, moves := w.places(placement.StopLoss, 8, stopOf(4)), w.places(placement.StopLoss, 9, stopOf(6))
	w.shows("1", "0.01", stop, moves)
	w.now += 60_000
	if !c.runs {
		w.restores()
	}
	derive := w.deriver()
	w.now += c.afterMS
	var off []int64
	for range 4 {
		w.now += 1_000
		w.shows(c.free, c.frozen, stop, moves)
		off = append(off, canceled(derive())...)
	}
	if slices.Contains(off, 9) != c.canceled || slices.Contains(off, 8) {
		t.Fatalf("want the stop of 6 canceled %t, have %v", c.canceled, off)
	}
	if c.canceled {
		if c.refuses {
			w.tracker.NoteCancelRefused(moves.ClientOrderID, w.now)
		} else {
			w.answersCancel(moves)
		}
		w.now += ReleaseMS
	}
	if have := stopped(derive()); have != c.want {
		t.Errorf("want a stop of %d, have %d", c.want, have)
	}
}

// The cancel is repeated only where stops may be moved, by a wallet and a list that were read, two seconds after the start.
func TestForgottenCancelWaitsForEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		afterMS int64
		change  func(w *wallet, d *Desired)
		want    bool
	}{
		{"two seconds and a moment after the start", unconfirmedWaitMS + 1, func(*wallet, *Desired) {}, true},
		{"two seconds after the start", unconfirmedWaitMS, func(*wallet, *Desired) {}, false},
		{"the market was not read", unconfirmedWaitMS + 1, func(_ *wallet, d *Desired) { d.Unread = true }, false},
		{"the wallet was not read", unconfirmedWaitMS + 1, func(w *wallet, _ *Desired) { w.tracker.walletRead = false }, false},
		{"no stop may be placed", unconfirmedWaitMS + 1, func(_ *wallet, d *Desired) { d.Bridge = false }, false},
	} {
		w := holdingNextTo(t, ForeignHalt, "1")
		w.deriver()
		stop, moves := w.places(placement.StopLoss, 8, stopOf(4)), w.places(placement.StopLoss, 9, stopOf(6))
		w.shows("1", "0.01", stop, moves)
		w.now += 60_000
		w.restores()
		w.deriver()
		w.tracker.bootMS = w.now
		w.now += c.afterMS
		w.shows("1.006", "0.004", stop, moves)
		off := canceled(w.derives(func(d *Desired) { stopped2(d); c.change(w, d) }))
		if have := slices.Contains(off, 9); have != c.want {
			t.Errorf("%s: want the stop of 6 canceled %t, have %v", c.name, c.want, off)
		}
	}
}

// Next to a person's units, the outcome of an exit is uncertain, and the row of a stop of six cannot be read. The wallet freezes six: the stop rests, and the
// exit holds nothing (seed 895080312).
func TestStopWithAnUnreadableRowHoldsItsUnits(t *testing.T) {
	t.Parallel()
	unreadableHolds(t)
}

func unreadableHolds(t testing.TB) {
	w := holdingNextTo(t, ForeignHalt, "1")
	derive := w.deriver()
	stop := w.places(placement.StopLoss, 8, stopOf(6))
	w.now += 60_000
	w.shows("1.004", "0.006", stop)
	w.places(placement.Exit, 0, saleOf(4))
	have := exchange.Quantity(0)
	for range 8 {
		w.now += 1_000
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
			History: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{coin},
			UnreadOrders: []UnreadOrder{{Market: exchange.Spot, Open: true, Row: exchange.UnreadableRow{ID: 8, ClientOrderID: stop.ClientOrderID,
				Symbol: "BTC-USDT"}}},
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.004"), Frozen: exchange.MustAmount("0.006")}})})
		have = max(have, stopped(derive()))
	}
	if have != 4 {
		t.Errorf("want a stop of the 4 that the exit does not hold, have %d", have)
	}
}
