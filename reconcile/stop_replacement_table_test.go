package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// An order that has replaced a stop counts as one that may have sold from the moment it leaves the list until wallet and fills agree after it, and of many
// such orders the newest are remembered.
func TestReplacementsThatLeftTheListAreRemembered(t *testing.T) {
	t.Parallel()
	w := holdingNextTo(t, ForeignHalt, "0")
	symbol := w.tracker.Symbol(coin)
	replaced := &symbol.spot.replaced
	agreedMS := w.now - 5_000
	symbol.spot.agreedMS = agreedMS + w.tracker.Bounds().StalenessMS
	observe := func() {
		w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order(nil))}).peerOrders().noteReplacements(symbol)
	}
	replaced.left = []leftReplacement{{1, 100, agreedMS - 1}, {2, 200, agreedMS}}
	observe()
	if !slices.Equal(replaced.left, []leftReplacement{{2, 200, agreedMS}}) {
		t.Errorf("want the one that left before they agreed forgotten, have %v", replaced.left)
	}
	replaced.left = nil
	for i := range int64(maxRemembered) {
		replaced.left = append(replaced.left, leftReplacement{i, 300 + i, w.now})
	}
	replaced.orders = []replacementOrder{{900, 4, 800}}
	observe()
	if n := len(replaced.left); n != maxRemembered || replaced.left[0].orderID != 1 || replaced.left[n-1] != (leftReplacement{900, 800, w.now}) {
		t.Errorf("want the oldest dropped and the newest last, have %d, first %v, last %v", n, replaced.left[0], replaced.left[n-1])
	}
	if len(replaced.orders) != 0 || len(replaced.canceled) != 1 || replaced.canceled[0].quantity != 4 {
		t.Errorf("want another replacement of 4 expected, have %v, %v", replaced.orders, replaced.canceled)
	}
	if replaced.soldFrom(900) != 301 || replaced.soldFrom(250) != 250 || !replaced.mayHaveSold(900) || replaced.mayHaveSold(0) {
		t.Errorf("want sales read from the oldest one's date, have %d", replaced.soldFrom(900))
	}
}

// A replacement of a part of a stop leaves the rest expected.
func TestReplacementOfAPartLeavesTheRestExpected(t *testing.T) {
	t.Parallel()
	w := holdingNextTo(t, ForeignHalt, "0")
	w.places(placement.StopLoss, 8, stopOf(10))
	symbol := w.tracker.Symbol(coin)
	replaced := &symbol.spot.replaced
	symbol.collar, w.tracker.idsLeftOut = exchange.RateOne/20, true
	row := unnamed(anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 4, 0, w.now))
	row.StopPrice, row.Price = 49_000e8, 46_550e8
	replaced.canceled = []canceledStop{{w.now - 1_000, w.now, 10}}
	symbol.foreign = []exchange.Order{row}
	w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(symbol.foreign)}).peerOrders().noteReplacements(symbol)
	if !replaced.includes(50) || replaced.canceled[0].quantity != 6 {
		t.Errorf("want a replacement of 4, and 6 still expected, have %v, %v", replaced.orders, replaced.canceled)
	}
}
