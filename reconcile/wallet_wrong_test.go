package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// In a quarantine the wallet limits a new stop, unless it freezes less than the open orders require although it was read long enough after them.
func TestAWalletThatFreezesLessThanStandsBoundsNoStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cause  record.QuarantineCause
		free   string
		frozen string
		wait   int64 // between the stop and the read
		want   exchange.Quantity
	}{
		{"half of all", record.OtherCause, "1.003", "0.002", 6_000, 6},
		{"half of all, a moment after the stop was sent", record.OtherCause, "1.003", "0.002", 500, 1},
		{"half of all, and others have sold", record.SoldByOthers, "1.003", "0.002", 6_000, 1},
		{"as much is frozen as stands", record.OtherCause, "1.001", "0.004", 6_000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			halvedInAQuarantine(t, c.cause, c.free, c.frozen, c.wait, c.want)
		})
	}
}

func halvedInAQuarantine(t testing.TB, cause record.QuarantineCause, free, frozen string, wait int64, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test", Cause: cause}})
	stop := w.places(placement.StopLoss, 8, stopOf(4))
	w.now += wait
	w.shows(free, frozen, stop)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have one of %d", want, have)
	}
}

// However old a read may be, four seconds after the last of botd's own sales the wallet contains it.
func TestAWalletOfLongAfterAStopIsWrongHoweverOldReadsMayBe(t *testing.T) {
	t.Parallel()
	for wait, want := range map[int64]exchange.Quantity{4_000: 1, 4_001: 6} {
		w, _ := protecting(t)
		w.restoresWith(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 15_000})
		derive := w.deriver()
		w.now += 60_000
		w.apply(quarantineOf("a test"))
		stop := w.places(placement.StopLoss, 8, stopOf(4))
		w.now += wait
		w.shows("1.003", "0.002", stop)
		if have := stopped(derive()); have != want {
			t.Errorf("%d ms after it: want a stop of %d, have one of %d", wait, want, have)
		}
	}
}

// If the exchange executed more than it answered, no fill is missing from the journal: a wallet that may be older than the last fill does not
// prevent the stop.
func TestOldWalletBlocksNoStopIfTheExchangeExecutedMore(t *testing.T) {
	t.Parallel()
	executedBeyondAnOldWallet(t)
}

func executedBeyondAnOldWallet(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := w.places(placement.Entry, 20, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 7, Price: 50_000e8})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Ended{OrderID: 20, State: placement.Filled, Filled: 7}})
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test", Cause: record.ExecutedBeyond}})
	w.targets(17, nil)
	w.shows("0", "0.01", stop)
	if have := stopped(derive()); have != 7 {
		t.Errorf("want a stop of the seven, have one of %d", have)
	}
}

// A sale by others that the order history shows confirms the wallet's shortfall in any quarantine: the stop would sell a person's units.
func TestASaleByOthersTakesTheStopOffInAQuarantine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sold exchange.Quantity
		want []int64
	}{
		{"all of it", 10, []int64{8}},
		{"nothing", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soldInAQuarantine(t, c.sold, c.want)
		})
	}
}

func soldInAQuarantine(t testing.TB, sold exchange.Quantity, want []int64) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test", Cause: record.ExecutedBeyond}})
	sale := exchange.Order{ID: 77, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Filled: sold,
		Status: exchange.StatusFilled, CreatedMS: w.now}
	for range 10 {
		w.now += 1_000
		w.sees("0.99", "0.01", []exchange.Order{sale}, stop)
	}
	if have := canceled(derive()); !slices.Equal(have, want) {
		t.Errorf("want %v canceled, have %v", want, have)
	}
	if sold == 0 {
		return
	}
	w.now += 1_000
	w.sees("1", "0.01", []exchange.Order{sale}, stop)
	if have := canceled(derive()); len(have) != 0 {
		t.Errorf("want the stop to stand once the wallet shows all of it, have %v canceled", have)
	}
}

// A list of futures orders that omits an order of any symbol, sent before the refused one and open by its id, does not show the refused one either.
func TestAListThatOmitsAnOlderOrderConfirmsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		aged   int64 // when it was sent, before the refused one
		status exchange.OrderStatus
		listed bool
		want   int // refusals that are not confirmed
	}{
		{"sent before", 10_000, exchange.StatusOpen, false, 1},
		{"sent in the same moment", 0, exchange.StatusOpen, false, 0},
		{"sent after", -500, exchange.StatusOpen, false, 0},
		{"ended", 10_000, exchange.StatusCanceled, false, 0},
		{"listed", 10_000, exchange.StatusOpen, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedWithAnother(t, c.aged, c.status, c.listed, c.want)
		})
	}
}

func refusedWithAnother(t testing.TB, aged int64, status exchange.OrderStatus, listed bool, want int) {
	t.Helper()
	d := newDesk(t)
	other := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	sends := func(key exchange.SymbolKey, atMS int64) exchange.NewOrder {
		order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: d.price("40000"),
			ClientOrderID: d.tracker.NextClientOrderID("t")}
		d.tracker.Apply(&record.Record{AtMS: atMS, Strategy: "one", Symbol: key, ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.Order, DeadlineMS: atMS + 5_000}})
		return order
	}
	d.now += 60_000
	stands := sends(other, d.now-aged)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: stands.ClientOrderID, Body: record.Acknowledged{OrderID: 12}})
	refused := sends(bitcoin, d.now)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: refused.ClientOrderID, Body: record.Refused{Reason: "busy"}})
	d.now += 1_000
	row := exchange.Order{ID: 12, ClientOrderID: stands.ClientOrderID, Market: other.Market, Symbol: other.Name, Side: exchange.Buy, Type: exchange.Limit,
		Quantity: 10, Price: stands.Price, Status: status, CreatedMS: d.now}
	var list []exchange.Order
	if listed {
		list = append(list, row)
	}
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(list), Before: exchange.FetchedOf[exchange.Position](nil),
		Positions: exchange.FetchedOf[exchange.Position](nil), ByID: []OrderByID{{OrderID: 12, Order: row, Known: true}}})
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("want %d refusals unconfirmed, have %d", want, have)
	}
}
