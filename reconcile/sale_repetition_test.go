package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Soon after a sale of everything, the wallet shows less than before botd bought: the exchange has executed the sale twice.
func TestSaleExecutedTwiceIsFoundWithoutAPosition(t *testing.T) {
	t.Parallel()
	const boundsMS = 5_000 + 1_000 + 1_000 // W, D and L
	for name, c := range map[string]struct {
		afterMS int64
		free    string
		asks    bool
	}{
		"the same is gone again":            {4_000, "0.99", true},
		"as late as a list may show it":     {boundsMS - 1, "0.99", true},
		"a withdrawal later":                {boundsMS, "0.99", false},
		"what was there before botd bought": {4_000, "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soldTwice(t, c.afterMS, c.free, c.asks)
		})
	}
}

func soldTwice(t testing.TB, afterMS int64, free string, asks bool) {
	w := holding(t, ForeignHalt)
	symbol, filledMS := w.tracker.Symbol(coin), w.now
	symbol.last = 50_000e8
	sale := w.places(placement.Exit, 9, saleOf(10))
	sold := sale
	sold.Status, sold.Filled, sold.AveragePrice = exchange.StatusFilled, 10, exchange.AmountOf(50_000)
	w.sees("1", "0", []exchange.Order{sold})
	for w.now < filledMS+3_000 {
		w.now += 1_000
		w.shows("1", "0")
	}
	w.now = filledMS + afterMS
	w.shows(free, "0")
	if _, have := w.tracker.NeedsOrderHistory(symbol); have != asks || symbol.settled == asks {
		t.Fatalf("want the order history asked for, and nothing opened: %t; have %t, settled %t", asks, have, symbol.settled)
	}
	if !asks {
		return
	}
	again := sold
	again.ID = 10
	w.now += 500
	if w.sees(free, "0", []exchange.Order{sold, again}); symbol.Cause() != record.ExecutedBeyond {
		t.Errorf("want the second execution found, have quarantine %q", symbol.Quarantine())
	}
}

// A person withdraws some of the asset in the seconds after a sale: the history shows no second sale.
func TestWithdrawalAfterASaleBecomesTheBaseline(t *testing.T) {
	t.Parallel()
	w := holding(t, ForeignHalt)
	symbol := w.tracker.Symbol(coin)
	symbol.last = 50_000e8
	sold := w.places(placement.Exit, 9, saleOf(10))
	sold.Status, sold.Filled = exchange.StatusFilled, 10
	w.sees("1", "0", []exchange.Order{sold})
	for range 4 {
		w.now += 1_000
		w.shows("0.99", "0")
	}
	if symbol.settled {
		t.Errorf("want nothing opened before the history has been read for long enough")
	}
	for range 4 {
		w.now += 1_000
		w.shows("0.99", "0")
	}
	if !symbol.settled || symbol.Baseline() != 990 || symbol.Quarantine() != "" {
		t.Errorf("want a baseline of 990, and trading on; have %d, settled %t, quarantine %q", symbol.Baseline(), symbol.settled, symbol.Quarantine())
	}
}
