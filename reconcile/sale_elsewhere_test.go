package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The wallet lacks some of a position, next to a person's units: another botd may have sold that. The exit waits one round for the order history. If the
// lists omit ids, what that shows as sold is not sold again; the units in its place are a person's.
func TestExitSellsNothingThatAnotherBotdHasSold(t *testing.T) {
	t.Parallel()
	flatten := func(d *Desired) { d.Flatten = true }
	for name, c := range map[string]soldElsewhere{
		"the first wallet that lacks some":                            {rounds: 1, wallet: "1.01", sold: 4, unread: true},
		"the first one, where the history shows ids":                  {rounds: 1, wallet: "1.01", sold: 4, ids: true, unread: true},
		"the first one, and its history shows the sale":               {rounds: 1, wallet: "1.01", sold: 4, want: 10},
		"the next one, and the history shows the sale":                {rounds: 2, wallet: "1.01", sold: 4, want: 10},
		"an earlier history has shown the sale":                       {rounds: 3, wallet: "1.01", sold: 4, unread: true, want: 10},
		"others have sold more: of their own, too":                    {rounds: 2, wallet: "1.01", sold: 6, want: 10},
		"nobody has sold any: the wallet may be of before a fill":     {rounds: 2, wallet: "1.01", want: 14},
		"the wallet lacks nothing":                                    {rounds: 1, wallet: "1.014", want: 14},
		"the wallet lacks nothing, and others have sold of their own": {rounds: 2, wallet: "1.014", sold: 4, want: 14},
		"a person closes the position":                                {rounds: 1, wallet: "1.01", sold: 4, desired: flatten, want: 14},
		"the history shows ids: the sale is a person's":               {rounds: 2, wallet: "1.01", sold: 4, ids: true, want: 14},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitOfSoldElsewhere(t, c)
		})
	}
}

type soldElsewhere struct {
	rounds  int    // that show this wallet
	wallet  string // 1.014 with all of it
	sold    exchange.Quantity
	ids     bool // the history shows them
	unread  bool // the last round reads no history
	desired func(*Desired)
	want    exchange.Quantity
}

func exitOfSoldElsewhere(t testing.TB, c soldElsewhere) {
	t.Helper()
	w := soldElsewhereOf(t, 0, c.rounds, c.wallet, c.sold, c.ids, c.unread)
	if have := soldBy(w.derives(c.desired)); have != c.want {
		t.Errorf("want %d sold, have %d", c.want, have)
	}
}

// soldElsewhereOf holds fourteen next to a person's thousand, four of them bought so recently that no wallet decides anything yet.
func soldElsewhereOf(t testing.TB, target exchange.Quantity, rounds int, shown string, sold exchange.Quantity, ids, unread bool) *wallet {
	t.Helper()
	w, _ := protecting(t)
	w.targets(target, nil)
	w.derives(nil) // the target is priced
	w.now += 60_000
	own := w.filled(w.places(placement.Entry, 15, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 4, Price: 50_000e8}))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 15, Filled: 4}})
	if !ids {
		own = unnamed(own)
	}
	rows := []exchange.Order{own}
	if sold != 0 {
		rows = append(rows, anothers("", 16, exchange.Sell, exchange.Limit, sold, sold, w.now))
	}
	for i := range rounds {
		w.now += 100
		if unread && i == rounds-1 {
			w.observe(shown)
			continue
		}
		w.sees(shown, "0", rows)
	}
	return w
}

// The wallet shows only a part of what another botd has sold. An exit to a smaller target counts the other part too: it sells no more than the target
// requires.
func TestPartialExitCountsWhatTheWalletDoesNotShowSoldYet(t *testing.T) {
	t.Parallel()
	w := soldElsewhereOf(t, 5, 2, "1.012", 4, false, false) // of 14, another botd has sold 4
	if have := soldBy(w.derives(nil)); have != 5 {
		t.Errorf("want 5 sold of the 10 that are left, have %d", have)
	}
}

// Two starts with one strategy sell at different limits, where lists omit ids, so that neither takes the other's sale for its own.
func TestSalesOfTwoStartsDiffer(t *testing.T) {
	t.Parallel()
	for random, want := range map[string]exchange.Price{"00000": 47_500e8, "zzzzz": 47_547_5e7, "i0000": 47_523_8e7} {
		w, _ := protecting(t)
		w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 9, Random: random}})
		w.targets(0, nil)
		w.now += 60_000
		w.shows("1.01", "0")
		if have := w.derives(nil); len(have) != 1 || have[0].Order.Price != want {
			t.Errorf("%s: want one exit at a limit of %d, have %+v", random, want, have)
		}
	}
}
