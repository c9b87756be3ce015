package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A stop sells what an uncertain purchase bought, while the order history is older than both. What was bought and sold
// again is no longer owned.
func TestSaleIsBookedAfterItsUncertainPurchase(t *testing.T) {
	t.Parallel()
	const sold = exchange.Quantity(10)
	setUp := func(t *testing.T) (w *wallet, purchase, stop exchange.Order, sees func(whole bool, history ...exchange.Order)) {
		w = newWallet(t)
		w.observe("0")
		w.now += 60_000
		purchase = w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: sold, Price: 50_000e8})
		w.now += 1_000
		stop = w.places(placement.StopLoss, 8, stopOf(sold))
		return w, purchase, stop, func(whole bool, history ...exchange.Order) {
			t.Helper()
			w.now += 1_000
			w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
				History: exchange.FetchedOf(history), HistoryWhole: whole, Trades: []Traded{{OrderID: 8, Filled: sold, Price: exchange.AmountOf(49_000)}},
				Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0")}})})...)
		}
	}
	t.Run("the history shows the purchase later", func(t *testing.T) {
		t.Parallel()
		w, purchase, stop, sees := setUp(t)
		sees(false)
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != 0 {
			t.Errorf("want the sale to wait for the purchase, have %d booked", have)
		}
		purchase.ID = 7
		sees(false, w.filled(purchase))
		if have := w.tracker.Symbol(coin).Known(); have != 0 || w.tracker.Placement(stop.ClientOrderID).Filled() != sold {
			t.Errorf("want nothing held once both are booked, have %d", have)
		}
	})
	t.Run("the purchase was acknowledged, and nothing has shown it", func(t *testing.T) {
		t.Parallel()
		w, purchase, stop, sees := setUp(t)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: record.Acknowledged{OrderID: 7}})
		sees(false)
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != 0 {
			t.Errorf("want the sale to wait for the purchase, have %d booked", have)
		}
		purchase.ID = 7
		sees(false, w.filled(purchase))
		if have := w.tracker.Symbol(coin).Known(); have != 0 || w.tracker.Placement(stop.ClientOrderID).Filled() != sold {
			t.Errorf("want nothing held once both are booked, have %d", have)
		}
	})
	t.Run("the purchase was never taken", func(t *testing.T) {
		t.Parallel()
		w, purchase, stop, sees := setUp(t)
		sees(false)
		w.now = w.tracker.Placement(purchase.ClientOrderID).Fence(testSettle) + 1_000
		w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: record.Ended{State: placement.Absent, Evidence: "a test"}})
		sees(false)
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != sold {
			t.Errorf("want the sale booked when the purchase is decided, have %d", have)
		}
	})
	t.Run("a person must look", func(t *testing.T) {
		t.Parallel()
		w, _, stop, sees := setUp(t)
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		sees(false)
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != sold {
			t.Errorf("want the sale booked at once, have %d", have)
		}
	})
}

// soldTogether reads a history that shows a purchase and, earlier in the list, its sale.
func soldTogether(t testing.TB) {
	t.Helper()
	const sold = exchange.Quantity(10)
	w := newWallet(t)
	w.observe("0")
	w.now += 60_000
	purchase := w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: sold, Price: 50_000e8})
	purchase.ID = 7
	w.now += 1_000
	stop := w.places(placement.StopLoss, 8, stopOf(sold))
	w.now += 1_000
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History:  exchange.FetchedOf([]exchange.Order{w.filled(stop), w.filled(purchase)}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0")}})})...)
	if have := w.tracker.Symbol(coin).Known(); have != 0 {
		t.Errorf("want nothing held, have %d", have)
	}
}

func TestSaleIsBookedAfterPurchaseInSameHistory(t *testing.T) {
	t.Parallel()
	soldTogether(t)
}

const partBought, partSold = exchange.Quantity(10), exchange.Quantity(4)

// partSale reads an open list that shows a stop which has sold a part of what an uncertain purchase bought.
func partSale(t testing.TB) (w *wallet, purchase, stop exchange.Order, sees func(history ...exchange.Order)) {
	w = newWallet(t)
	w.observe("0")
	w.now += 60_000
	purchase = w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: partBought, Price: 50_000e8})
	w.now += 1_000
	stop = w.places(placement.StopLoss, 8, stopOf(partBought))
	part := stop
	part.ID, part.Filled, part.Status = 8, partSold, exchange.StatusOpen
	return w, purchase, stop, func(history ...exchange.Order) {
		t.Helper()
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{part}),
			History:  exchange.FetchedOf(history),
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Frozen: exchange.MustAmount("0.006")}})})...)
	}
}

func partSoldBeforeItsPurchase(t testing.TB) {
	w, purchase, stop, sees := partSale(t)
	sees()
	if p := w.tracker.Placement(stop.ClientOrderID); p.Filled() != 0 || p.State() != placement.Working {
		t.Errorf("want the stop standing, and its sale to wait for the purchase, have it %s with %d booked", p.State(), p.Filled())
	}
	purchase.ID = 7
	sees(w.filled(purchase))
	sees(w.filled(purchase))
	if have := w.tracker.Symbol(coin).Known(); have != partBought-partSold || w.tracker.Placement(stop.ClientOrderID).Filled() != partSold {
		t.Errorf("want %d held once both are booked, have %d", partBought-partSold, have)
	}
}

// The rest is owned, and the remaining quantity of the stop covers it.
func TestPartialSaleIsBookedAfterItsPurchase(t *testing.T) {
	t.Parallel()
	t.Run("the history shows the purchase later", func(t *testing.T) {
		t.Parallel()
		partSoldBeforeItsPurchase(t)
	})
	t.Run("the purchase was never taken", func(t *testing.T) {
		t.Parallel()
		w, purchase, stop, sees := partSale(t)
		sees()
		w.now = w.tracker.Placement(purchase.ClientOrderID).Fence(testSettle) + 1_000
		w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: record.Ended{State: placement.Absent, Evidence: "a test"}})
		sees()
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != partSold {
			t.Errorf("want the sale booked when the purchase is decided, have %d", have)
		}
	})
	t.Run("a person must look", func(t *testing.T) {
		t.Parallel()
		w, _, stop, sees := partSale(t)
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		sees()
		if have := w.tracker.Placement(stop.ClientOrderID).Filled(); have != partSold {
			t.Errorf("want the sale booked at once, have %d", have)
		}
	})
}
