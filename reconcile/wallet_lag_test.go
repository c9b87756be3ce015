package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// looks reads the wallet a second after the last time, and applies what follows for the symbol.
func (w *wallet) looks(baseBalance exchange.Quantity, unread bool, open ...exchange.Order) (ahead bool) {
	w.now += 1_000
	s, symbol := w.reads(baseBalance, 0, open...), w.tracker.Symbol(coin)
	if unread {
		s.fetched.Unread = []exchange.SymbolKey{coin}
	}
	s.positionComparison().observePosition(symbol)
	return w.tracker.WalletAhead(symbol)
}

// rests sends a purchase that has rested for a minute.
func (w *wallet) rests() exchange.Order {
	order := w.buysUnder(8, 1_000)
	w.now += 60_000
	return order
}

// bought books a fill of the live purchase.
func (w *wallet) bought(p *exchange.Order, total exchange.Quantity) {
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: p.ClientOrderID, Body: record.Fill{Filled: total}})
}

// The wallet shows 1,010: a thousand of others, and ten of botd's. An order is worth two units or more, and a purchase rests.
func TestWalletLagsBehindFillsOrAheadOfThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rests bool
		reads []lagRead
	}{
		{"nothing changes", true, []lagRead{{}, {}}},
		{"it shows a unit before the list", true, []lagRead{{}, {wallet: 1, ahead: true}, {wallet: 1, filled: 1}}},
		{"it shows two units after the list", true, []lagRead{{}, {filled: 2, ahead: true}, {wallet: 2, filled: 2}}},
		{"a unit may be a fee", true, []lagRead{{}, {filled: 1}, {wallet: 1, filled: 1}}},
		{"it shows the first of two fills", true, []lagRead{{}, {filled: 2, ahead: true}, {wallet: 2, filled: 4, ahead: true}, {wallet: 4, filled: 4}}},
		{"a unit is another's, and no order rests", false, []lagRead{{}, {wallet: 1}}},
		{"a unit was another's at the first read", true, []lagRead{{wallet: 1}, {wallet: 1}, {ahead: true}}},
		{"a unit was spent by others at the first read", true, []lagRead{{wallet: -1}, {wallet: -1}}},
		{"a fee took a unit of a hundred", true, []lagRead{{}, {wallet: 99, filled: 100}}},
		{"two units are beyond any fee", true, []lagRead{{}, {wallet: 98, filled: 100, ahead: true}}},
		{"a fee took a unit of the next, too", true,
			[]lagRead{{}, {wallet: 100, filled: 100}, {wallet: 200, filled: 201}, {wallet: 199, filled: 201, ahead: true}}},
	} {
		lagReads(t, c.name, c.rests, c.reads)
	}
}

// lagRead is a read of the wallet, as the difference from 1,010, after a part of the purchase was booked, and whether limits wait then.
type lagRead struct {
	wallet, filled exchange.Quantity
	ahead          bool
}

func lagReads(t testing.TB, name string, rests bool, reads []lagRead) {
	t.Helper()
	w := explains(t, 10, 0)
	var order exchange.Order
	var open []exchange.Order
	if rests {
		order = w.rests()
		open = append(open, order)
	}
	filled := exchange.Quantity(0)
	for i, read := range reads {
		if read.filled != filled {
			filled = read.filled
			w.bought(&order, filled)
		}
		if have := w.looks(1_010+read.wallet, false, open...); have != read.ahead {
			t.Errorf("%s: at read %d want it ahead %t, have %t: %+v", name, i, read.ahead, have, w.tracker.Symbol(coin).spot.lag)
		}
	}
}

// Nothing is held. The wallet shows the first purchase before the list does. Until the fill is booked, its units count as another's, but the wallet is ahead
// of the fills all the same (seed 1099541643757).
func TestFirstPurchaseThatCountsAsAnothersIsAhead(t *testing.T) {
	t.Parallel()
	firstPurchaseAhead(t)
}

func firstPurchaseAhead(t testing.TB) {
	w := explains(t, 0, 0)
	symbol := w.tracker.Symbol(coin)
	order := w.rests()
	w.looks(1_000, false, order)
	if w.looks(1_000, false, order) {
		t.Error("nothing is bought: want it not ahead")
	}
	w.looks(1_010, false, order)
	if symbol.Unattributed() != 10 {
		t.Fatalf("want 10 counted as another's, have %d", symbol.Unattributed())
	}
	if !w.looks(1_010, true, order) {
		t.Error("the fill is not booked: want it ahead")
	}
	w.bought(&order, 10)
	if w.looks(1_010, false, order) {
		t.Error("the fill is booked: want it not ahead")
	}
}

// A difference that lasts for ten reads has another cause.
func TestWalletThatStaysAheadLagsForTenReads(t *testing.T) {
	t.Parallel()
	staysAhead(t)
}

func staysAhead(t testing.TB) {
	w := explains(t, 10, 0)
	order := w.rests()
	w.looks(1_010, false, order)
	for i := range 12 {
		if want, have := i < 10, w.looks(1_011, false, order); have != want {
			t.Errorf("read %d: want it ahead %t, have %t", i, want, have)
		}
	}
	if !w.looks(1_010, false, order) {
		t.Error("the unit is gone again: want that noticed as well")
	}
}

// While a symbol cannot be read completely, no list shows a fill: then the wallet counts as lagging for a minute at most, whatever the difference.
func TestWalletOfASymbolThatCannotBeReadLagsForAMinute(t *testing.T) {
	t.Parallel()
	for _, by := range []exchange.Quantity{1, 100} {
		w := explains(t, 10, 0)
		order := w.rests()
		w.looks(1_010, false, order)
		for i := range 70 {
			if want, have := i < 60, w.looks(1_010+by, true, order); have != want {
				t.Errorf("%d after %d s: want it ahead %t, have %t", by, i, want, have)
			}
		}
	}
}

// Nothing is concluded without a wallet, or without rules.
func TestNoLagIsConcludedWithoutAWallet(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]func(w *wallet, s *Snapshot){
		"no wallet": func(_ *wallet, s *Snapshot) { s.Balances = exchange.Fetched[exchange.Balance]{} },
		"no rules":  func(w *wallet, _ *Snapshot) { w.tracker.Symbol(coin).rules = nil },
	} {
		w := explains(t, 10, 0)
		order := w.rests()
		w.looks(1_010, false, order)
		symbol := w.tracker.Symbol(coin)
		before := symbol.spot.lag
		w.now += 1_000
		s := w.reads(1_011, 0, order)
		without(w, s.fetched)
		w.tracker.observedAccount.note(s.fetched)
		s.positionComparison().observePosition(symbol)
		if symbol.spot.lag != before {
			t.Errorf("%s: want nothing noted, have %+v, was %+v", name, symbol.spot.lag, before)
		}
	}
}

// After a start the first wallet that proves something is compared with none before it; one that may be older than the last fill waits for the next.
func TestAWalletAfterAStartIsComparedWithTheFills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		agoMS int64 // since the last fill
		shows exchange.Quantity
		want  bool
	}{
		{"two units more, long after the fill", 60_000, 1_012, false},
		{"two units more, just after it", 0, 1_012, true},
		{"as much, just after it", 0, 1_010, false},
	} {
		w := explains(t, 9, 0)
		order := w.rests()
		w.bought(&order, 1)
		w.now += c.agoMS - 500
		w.restoresWith(testSettle)
		if have := w.looks(c.shows, false, order); have != c.want {
			t.Errorf("%s: want it ahead %t, have %t: %+v", c.name, c.want, have, w.tracker.Symbol(coin).spot.lag)
		}
	}
}

// What rounded fees of earlier positions have left in the wallet is too little for an order, and delays no limit after a start.
func TestRestOfEarlierPositionsDelaysNoLimitAfterAStart(t *testing.T) {
	t.Parallel()
	restAfterAStart(t, "a unit", 1_001, 2_500e8, false)
	restAfterAStart(t, "two units, which are worth an order", 1_002, 2_500e8, true)
	restAfterAStart(t, "a unit, at an unknown price", 1_001, 0, true)
}

func restAfterAStart(t testing.TB, name string, shows exchange.Quantity, price exchange.Price, want bool) {
	w := explains(t, 10, 0)
	order := w.places(placement.Exit, 8, saleOf(10))
	w.bought(&order, 10)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 10}})
	w.now -= 500
	w.restoresWith(testSettle)
	w.tracker.Symbol(coin).last = price
	if have := w.looks(shows, false); have != want {
		t.Errorf("%s: want it ahead %t, have %t: %+v", name, want, have, w.tracker.Symbol(coin).spot.lag)
	}
}

// A wallet that was read longer after the last fill than it may be old shows that fill, however short the reads since then have watched it: what still
// differs is another's.
func TestWalletYoungerThanItsAgeAfterTheLastFillDoesNotLag(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	w.now += 60_000
	w.looks(1_010, false)
	order := w.places(placement.Exit, 8, saleOf(10))
	w.looks(1_010, false, order)
	w.bought(&order, 10)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 10}})
	if !w.looks(996, false) {
		t.Error("a second after the sale: want a wallet that shows four less still compared")
	}
	w.now += testSettle.StalenessMS
	w.tracker.Symbol(coin).sinceFill.pause(&Snapshot{EndedMS: w.now + 1_000}) // reads took all of that time
	if w.looks(996, false) {
		t.Errorf("%d ms after the sale: want it current, have %+v", 2_000+testSettle.StalenessMS, w.tracker.Symbol(coin).spot.lag)
	}
}

// An unexpected fee is not a lag either after its position has been sold.
func TestUnexpectedFeeOfASoldPositionIsNoLag(t *testing.T) {
	t.Parallel()
	feeOfASoldPosition(t)
}

func feeOfASoldPosition(t testing.TB) {
	t.Helper()
	w := explains(t, 10, 0)
	order := w.rests()
	w.looks(1_010, false, order)
	w.bought(&order, 100)
	if w.looks(1_109, false, order) {
		t.Error("a unit less than was bought: want it taken for a fee")
	}
	exit := w.places(placement.Exit, 9, saleOf(110))
	w.bought(&exit, 110)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: exit.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 110}})
	if known := w.tracker.Symbol(coin).Known(); known != 0 {
		t.Fatalf("want nothing held, have %d", known)
	}
	if w.looks(999, false, order) {
		t.Errorf("after the sale: want the same unit taken for it, have %+v", w.tracker.Symbol(coin).spot.lag)
	}
}

// The fees of what was bought before wallet and fills were last of one moment are known: a unit more is not a fee.
func TestUnitBeyondReconciledPurchasesIsALag(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	order := w.rests()
	w.looks(1_010, false, order)
	w.bought(&order, 100)
	w.now += 60_000
	if w.looks(1_110, false, order) {
		t.Fatal("want wallet and fills of one moment")
	}
	if !w.looks(1_111, false, order) {
		t.Errorf("want a unit more noticed, have %+v", w.tracker.Symbol(coin).spot.lag)
	}
}
