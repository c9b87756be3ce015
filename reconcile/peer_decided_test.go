package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A person left to their owner what orders that the journal lacks have bought and hold. After a start, which stands down for another order of the
// same start, the history still shows them: no stop is placed for these units again.
func TestStartKeepsDecisionAboutAnotherBotdsPurchase(t *testing.T) {
	t.Parallel()
	for name, checkpoint := range map[string]bool{"from the records": false, "from a checkpoint": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decidedBeforeAStart(t, checkpoint)
		})
	}
}

func decidedBeforeAStart(t testing.TB, checkpoint bool) {
	t.Helper()
	w, _ := protecting(t)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := anothers(elders+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	theirs := anothers(elders+"2", 21, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
	w.sees("1", "0.017", []exchange.Order{bought}, own, theirs)
	for _, r := range w.tracker.Resolve(coin, false, "one", "they are mine") {
		w.apply(r)
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "an order on another symbol"}})
	if checkpoint {
		w.restores()
	} else {
		w.start()
	}
	derive := w.deriver()
	for range 12 {
		w.now += 1_000
		w.sees("1", "0.017", []exchange.Order{bought}, own, theirs)
	}
	if !w.tracker.StandsDown() {
		t.Fatal("want botd to stand down for the order on another symbol")
	}
	if have := derive(); len(have) != 0 {
		t.Errorf("want nothing placed or canceled for units that a person left to their owner, have %+v", have)
	}
	newer := anothers(youngers+"3", 30, exchange.Buy, exchange.MarketOrder, 5, 5, w.now)
	for range 2 {
		w.sees("1.005", "0.017", []exchange.Order{bought, newer}, own, theirs)
		w.now += peerStopMS
	}
	if have := stopped(derive()); have != 5 {
		t.Errorf("want a stop of the 5 that another botd bought after the decision, have %d", have)
	}
}

// A person left the order of a botd whose clock was ahead to its owner. The history later shows a sale that a backup lacks, of a start that the journal
// knows: botd stands down for it, and places no stop for what it has sold.
func TestOrderWithClockAheadHidesNoForgottenOrder(t *testing.T) {
	t.Parallel()
	reportedAhead(t)
}

func reportedAhead(t testing.TB) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	ahead := anothers("bt-zzzzzz-1", 15, exchange.Buy, exchange.Limit, 7, 0, w.now)
	w.sees("1.01", "0", nil, ahead)
	for _, r := range w.tracker.Resolve(coin, false, "one", "it is mine") {
		w.apply(r)
	}
	lost := placement.ClientOrderID("t", w.tracker.Start(), 99)
	w.start()
	derive := w.deriver()
	w.now += 60_000
	w.sees("1.01", "0", nil, ahead)
	if w.tracker.StandsDown() {
		t.Fatal("want the order that was left to its owner reported once")
	}
	sold := anothers(lost, 20, exchange.Sell, exchange.MarketOrder, 10, 10, w.now)
	w.now += peerStopMS
	w.sees("1.01", "0", []exchange.Order{sold}, ahead) // a person's units make up for those that were sold
	if have := derive(); !w.tracker.StandsDown() || stopped(have) != 0 {
		t.Errorf("want botd to stand down, and no stop for what an order that the journal lacks has sold, have %+v", have)
	}
}

// What another botd with a copy of the journal sold, by an order that the history showed without an id, was adopted as sold outside botd. A later history
// names that order: it has sold nothing of what that botd bought since.
func TestAdoptedSaleOfAnotherBotdCountsOnce(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"": false, "after a start": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adoptedSaleNamed(t, restarted)
		})
	}
}

func adoptedSaleNamed(t testing.TB, restarted bool) {
	t.Helper()
	w, _ := protecting(t)
	w.tracker.foreignPolicy = ForeignAdopt
	w.now += 60_000
	sold := anothers("", 20, exchange.Sell, exchange.MarketOrder, 10, 10, w.now)
	for range 12 {
		w.now += 1_000
		w.sees("1", "0", []exchange.Order{sold})
	}
	if have := w.tracker.Symbol(coin).Known(); have != 0 {
		t.Fatalf("want the sale adopted, have %d known", have)
	}
	if restarted {
		w.start()
	}
	derive := w.deriver()
	w.now += 60_000
	sold.ClientOrderID = youngers + "1"
	bought := anothers(youngers+"2", 21, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	for range 3 {
		w.now += peerStopMS
		w.sees("1.007", "0", []exchange.Order{sold, bought})
	}
	if have := stopped(derive()); !w.tracker.StandsDown() || have != 7 {
		t.Errorf("want a stop of the 7 that another botd bought since, have %d", have)
	}
}
