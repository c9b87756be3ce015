package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// The journal was cut: it knows a purchase, and none of the sales that the history shows without ids. The wallet shows that its units are gone, and a person's
// are there: an exit would sell these, even while the wallet may be older than the purchase, which only this start has booked (seed 850001596).
func TestExitWaitsForSalesThatACutJournalLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sold    exchange.Quantity
		earlier bool // sold before the purchase
		wallet  string
		want    bool
	}{
		"sold":                                {sold: 10, wallet: "1", want: true},
		"less was sold":                       {sold: 9, wallet: "1"},
		"sold before the purchase":            {sold: 10, earlier: true, wallet: "1"},
		"the wallet shows all of it":          {sold: 10, wallet: "1.01"},
		"the wallet lacks a part of it":       {sold: 10, wallet: "1.004", want: true},
		"nothing is for sale beside a little": {sold: 1, wallet: "1.009", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soldBeforeStart(t, c.sold, c.earlier, c.wallet, c.want)
		})
	}
}

func soldBeforeStart(t testing.TB, sold exchange.Quantity, earlier bool, wallet string, want bool) {
	t.Helper()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.places(placement.Entry, 5, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.MustAmount("500.002")})
	row, sale := purchaseOf(5, "500.002", "50000.2"), anothers("", 6, exchange.Sell, exchange.Limit, sold, sold, w.now+10_000)
	if row.CreatedMS = w.now; earlier {
		sale.CreatedMS = w.now - 30_000
	}
	w.now += 60_000
	w.start()
	w.tracker.Symbol(coin).last = 50_000e8
	w.now += 1_000
	waits := func() bool {
		on := w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now)
		return on.saleEvidence().mayHaveSold()
	}
	w.sees(wallet, "0", []exchange.Order{row, sale})
	if have := waits(); have != want || w.tracker.Symbol(coin).Known() != 10 {
		t.Errorf("want an exit to wait %t, have %t with %d known", want, have, w.tracker.Symbol(coin).Known())
	}
	w.now += 500
	w.sees(wallet, "0", nil) // a later history begins later
	if have := waits(); have != want {
		t.Errorf("with a later history: want an exit to wait %t, have %t", want, have)
	}
	defer func() {
		w.now += 500
		if w.sees("1.01", "0", nil); waits() {
			t.Error("the wallet shows all of it again: want no exit to wait")
		}
	}()
	flatten := w.tracker.inputs(&Desired{Flatten: true}, w.tracker.Symbol(coin), w.now)
	if flatten.saleEvidence().mayHaveSold() {
		t.Error("want a person's flatten not to wait")
	}
}
