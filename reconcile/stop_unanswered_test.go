package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A spot stop whose answer does not come is placed again after two seconds if the wallet has enough for one of the two only, and freezes nothing for
// the first: the exchange refuses whichever arrives second. Where a person's units suffice for both, both would sell.
func TestUnansweredSpotStopIsPlacedAgainIfWalletHasOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others       exchange.Quantity // a person's units
		free, frozen string
		readMS       int64             // of the last read, since the stop was handed out
		atMS         int64             // since then
		want         exchange.Quantity // of another stop
	}{
		"after two seconds":            {0, "0.01", "0", 2_001, 2_001, 10},
		"a little earlier":             {0, "0.01", "0", 1_900, 1_999, 0},
		"a person has some units":      {9, "0.019", "0", 2_001, 2_001, 10},
		"a person has enough for both": {10, "0.02", "0", 2_001, 2_001, 0},
		"the wallet freezes it":        {0, "0", "0.01", 2_001, 2_001, 0},
		"the wallet has sold it":       {0, "0", "0", 2_001, 2_001, 0},
		"the read may be older":        {0, "0.01", "0", 1_000, 2_001, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spotStopUnanswered(t, c.others, c.free, c.frozen, c.readMS, c.atMS, c.want)
		})
	}
}

// The answer counts as lost after two seconds even where a read may be older than that.
func TestUnansweredSpotStopIsPlacedAgainHoweverOldReadsMayBe(t *testing.T) {
	t.Parallel()
	for readMS, want := range map[int64]exchange.Quantity{2_000: 0, 2_001: 10} {
		w, _ := protecting(t)
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{}})
		w.restoresWith(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 15_000})
		derive := w.deriver()
		w.now += 60_000
		w.shows("0.01", "0")
		stop := w.sends(placement.StopLoss, 0, stopOf(10))
		w.tracker.NoteHandedOut(stop.ClientOrderID, w.now)
		w.now += readMS
		w.shows("0.01", "0")
		if have := stopped(derive()); have != want {
			t.Errorf("read %d ms after it was sent: want another stop of %d, have %d", readMS, want, have)
		}
	}
}

func spotStopUnanswered(t testing.TB, others exchange.Quantity, free, frozen string, readMS, atMS int64, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: others}})
	w.now += 10_000
	stop := stopOf(10)
	stop.Market, stop.Symbol, stop.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	sentMS := w.now
	w.apply(record.Record{AtMS: sentMS, Strategy: "one", Symbol: coin, ClientOrderID: stop.ClientOrderID,
		Body: record.Sending{Order: stop, Purpose: placement.StopLoss, DeadlineMS: sentMS + 5_000}})
	w.tracker.NoteHandedOut(stop.ClientOrderID, sentMS)
	for w.now = sentMS + readMS%1_000; w.now <= sentMS+readMS; w.now += 1_000 {
		w.shows(free, frozen)
	}
	w.now = sentMS + atMS
	if have := stopped(derive()); have != want {
		t.Errorf("want another stop of %d, have %d", want, have)
	}
}
