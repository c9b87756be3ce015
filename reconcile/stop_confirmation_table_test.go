package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Ten are held. The cases list what open list and wallet show of their sale, and of which part they do not both show it, or neither.
func TestPartWhoseSaleIsNotShown(t *testing.T) {
	t.Parallel()
	stop := func(w *wallet) exchange.Order {
		row := w.places(placement.StopLoss, 8, stopOf(10))
		w.now += 30_000
		return row
	}
	elsewhere := func(leftOut bool) func(w *wallet, symbol *SymbolState) {
		return func(w *wallet, symbol *SymbolState) {
			w.shows("0.01", "0")
			w.tracker.idsLeftOut, symbol.spot.unclaimedSales = leftOut, 3
		}
	}
	for _, c := range []struct {
		name         string
		others       string
		with         func(w *wallet, symbol *SymbolState)
		both, either exchange.Quantity // what both must show, and what one must
	}{
		{"nothing shows a sale", "0", func(w *wallet, _ *SymbolState) { w.shows("0.01", "0") }, 10, 10},
		{"both show the stop", "0", func(w *wallet, _ *SymbolState) { row := stop(w); w.shows("0", "0.01", row) }, 0, 0},
		{"the list alone shows it", "0", func(w *wallet, _ *SymbolState) { row := stop(w); w.shows("0.01", "0", row) }, 10, 0},
		{"the wallet alone shows it", "0", func(w *wallet, _ *SymbolState) { stop(w); w.shows("0", "0.01") }, 10, 0},
		{"the list shows it, and the wallet is unread", "0", func(w *wallet, _ *SymbolState) {
			row := stop(w)
			w.shows("0.01", "0", row)
			w.tracker.walletRead = false
		}, 0, 0},
		{"the former wallet shows it", "0", func(w *wallet, _ *SymbolState) { stop(w); w.shows("0", "0.01"); w.tracker.walletRead = false }, 10, 0},
		{"the list shows it, but its cancel was answered", "0", func(w *wallet, _ *SymbolState) {
			row := stop(w)
			w.shows("0.01", "0", row)
			w.answersCancel(row)
		}, 10, 10},
		{"the wallet freezes for an uncertain sale", "0", func(w *wallet, _ *SymbolState) {
			w.places(placement.StopLoss, 0, stopOf(10))
			w.now += 3_000
			w.shows("0", "0.01")
		}, 10, 0},
		{"an uncertain sale next to a person's units", "1", func(w *wallet, _ *SymbolState) {
			w.places(placement.StopLoss, 0, stopOf(10))
			w.now += 3_000
			w.shows("1.01", "0")
		}, 0, 0},
		{"an unlisted purchase next to a person's units", "1", func(w *wallet, symbol *SymbolState) {
			w.shows("1.01", "0")
			symbol.spot.unlisted.inferred = 4
		}, 14, 14},
		{"the wallet freezes for a person's sale", "1", func(w *wallet, _ *SymbolState) {
			w.shows("1.002", "0.008")
			w.restsForeign("BTC-USDT", 5)
		}, 7, 7},
		{"another has sold three, and lists omit ids", "1", elsewhere(true), 7, 7},
		{"another has sold three, but lists show ids", "1", elsewhere(false), 10, 10},
		{"a stop was canceled by another just now", "1", func(w *wallet, symbol *SymbolState) {
			w.shows("1.01", "0")
			w.tracker.idsLeftOut = true
			symbol.spot.replaced.canceled = []canceledStop{{quantity: 4, fromMS: w.now, untilMS: w.now + repeatedMS}}
		}, 6, 6},
		{"a person decides about what others have sold", "1", func(w *wallet, symbol *SymbolState) {
			w.shows("1.006", "0")
			symbol.walletShortfall = -4
			w.tracker.Apply(&record.Record{Symbol: coin, Body: record.Quarantined{Reason: "sold", Cause: record.SoldByOthers}})
		}, 6, 6},
	} {
		w := holdingNextTo(t, ForeignHalt, c.others)
		w.deriver()
		symbol := w.tracker.Symbol(coin)
		w.now += 5_000
		c.with(w, symbol)
		on := w.tracker.inputs(&Desired{}, symbol, w.now)
		if both, either := on.spotPosition().withoutSale(true), on.spotPosition().withoutSale(false); both != c.both || either != c.either {
			t.Errorf("%s: want %d and %d, have %d and %d", c.name, c.both, c.either, both, either)
		}
	}
}

// A purchase for 5,300 at 50,000 buys 107 steps at most, of which a 32nd may be lost to price and fee. It counts once lists of more than a second after the
// exchange's answer omit it.
func TestAcceptedPurchases(t *testing.T) {
	t.Parallel()
	buys := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(5_300)}
	for _, c := range []struct {
		name    string
		orderID int64
		waitMS  int64
		listed  bool
		want    exchange.Quantity
	}{
		{"after a second", 9, newOrderMS + 1, false, 104},
		{"within a second", 9, newOrderMS, false, 0},
		{"it is listed", 9, newOrderMS + 1, true, 0},
		{"the first order of an exchange", 1, newOrderMS + 1, false, 104},
		{"its answer was lost", 0, newOrderMS + 1, false, 0},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		w.deriver()
		symbol := w.tracker.Symbol(coin)
		row := w.places(placement.Entry, c.orderID, buys)
		w.now += c.waitMS
		var rows []exchange.Order
		if c.listed {
			rows = append(rows, row)
		}
		w.shows("0.01", "0", rows...)
		on := w.tracker.inputs(&Desired{}, symbol, w.now)
		if have := on.spotPosition().acceptedPurchases(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// Only an unconfirmed stop counts that the exchange has accepted, where nobody else's units are held.
func TestStopsConfirmedByExchange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, others, key string
		orderID           int64
		want              exchange.Quantity
	}{
		{"accepted", "0", UnconfirmedKey, 8, 6}, {"the first order of an exchange", "0", UnconfirmedKey, 1, 6},
		{"its answer was lost", "0", UnconfirmedKey, 0, 0}, {"an ordinary stop", "0", "", 8, 0},
		{"next to a person's units", "1", UnconfirmedKey, 8, 0},
	} {
		w := holdingNextTo(t, ForeignHalt, c.others)
		w.deriver()
		order := stopOf(6)
		order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.StopLoss, Key: c.key, DeadlineMS: w.now + 5_000}})
		if c.orderID != 0 {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: c.orderID}})
		}
		d := w.deriving(nil)
		if have := d.spotPosition().confirmedByExchange(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// Since when a part is unconfirmed is noted once, and forgotten when it is confirmed.
func TestUnconfirmedSince(t *testing.T) {
	t.Parallel()
	w := holdingNextTo(t, ForeignHalt, "0")
	derive := w.deriver()
	symbol := w.tracker.Symbol(coin)
	row := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows("0.01", "0", row)
	first := w.now
	w.now += 1_000
	w.shows("0.01", "0", row)
	if symbol.spot.unconfirmedMS != first {
		t.Errorf("want it noted at %d, have %d", first, symbol.spot.unconfirmedMS)
	}
	w.places(placement.StopLoss, 9, stopOf(1)) // a stop sent since then is waited for
	w.now = first + unconfirmedWaitMS + 1
	if have := stopped(derive()); have != 0 {
		t.Errorf("want the newest stop waited for, have another of %d", have)
	}
	w.shows("0", "0.01", row)
	if symbol.spot.unconfirmedMS != 0 {
		t.Errorf("want it forgotten once both show the stop, have %d", symbol.spot.unconfirmedMS)
	}
	symbol.last, symbol.spot.unconfirmedMS = 0, first
	if w.shows("0", "0.01", row); symbol.spot.unconfirmedMS != first {
		t.Error("want nothing concluded without a price")
	}
}

// A stop that a list has shown, or that was filled in part, ends the count; another one that ended unseen adds to it.
func TestDeniedStopsAreCounted(t *testing.T) {
	t.Parallel()
	before := delivery{before: priorBalance{frozen: 4}}
	for _, c := range []struct {
		name    string
		counted deniedStops
		order   exchange.NewOrder
		purpose placement.Purpose
		orderID int64
		state   placement.State
		filled  exchange.Quantity
		seen    bool
		known   delivery
		want    deniedStops
	}{
		{"the first", deniedStops{}, stopOf(10), placement.StopLoss, 8, placement.Canceled, 0, false, before, deniedStops{10, 4, "own", ""}},
		{"a further one", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 1, placement.Canceled, 0, false, before, deniedStops{20, 7, "own", ""}},
		{"seen", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 8, placement.Canceled, 0, true, before, deniedStops{}},
		{"filled by one step", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 8, placement.Canceled, 1, false, before, deniedStops{}},
		{"canceled by botd", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 8, placement.Canceled, 0, false,
			delivery{canceled: cancels{1, 1}}, deniedStops{10, 7, "a", ""}},
		{"rejected", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 8, placement.Rejected, 0, false, before, deniedStops{10, 7, "a", ""}},
		{"without an id", deniedStops{10, 7, "a", ""}, stopOf(10), placement.StopLoss, 0, placement.Canceled, 0, false, before, deniedStops{10, 7, "a", ""}},
		{"an exit", deniedStops{10, 7, "a", ""}, saleOf(10), placement.Exit, 8, placement.Canceled, 0, false, before, deniedStops{10, 7, "a", ""}},
		{"a seen exit", deniedStops{10, 7, "a", ""}, saleOf(10), placement.Exit, 8, placement.Canceled, 0, true, before, deniedStops{10, 7, "a", ""}},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		id := w.places(c.purpose, c.orderID, c.order).ClientOrderID
		p := w.tracker.Placement(id)
		if c.seen {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: c.orderID}})
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{State: c.state, OrderID: c.orderID, Filled: c.filled}})
		symbol := w.tracker.Symbol(coin)
		symbol.spot.denied = c.counted
		symbol.spot.denied.note(p, c.known)
		have := symbol.spot.denied
		if isOwn := have.newest == id; isOwn != (c.want.newest == "own") || symbol.Denied(p) != isOwn {
			t.Errorf("%s: want it the newest %t, have %q", c.name, c.want.newest == "own", have.newest)
		}
		if have.quantity != c.want.quantity || have.frozen != c.want.frozen {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
	}
}

// A resting opening that ended before any list showed it open is remembered, on either market. A market order never rests, and the exchange itself cancels
// an order that may only rest if it would be executed at once.
func TestDeniedOpeningIsRemembered(t *testing.T) {
	t.Parallel()
	limit := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 49_000e8}
	post := limit
	post.PostOnly = true
	market := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		state placement.State
		seen  bool
		want  bool
	}{
		{"a limit order", limit, placement.Canceled, false, true},
		{"one that a list has shown", limit, placement.Canceled, true, false},
		{"one that was refused", limit, placement.Rejected, false, false},
		{"one that may only rest", post, placement.Canceled, false, false},
		{"a market order", market, placement.Canceled, false, false},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		id := w.places(placement.Entry, 8, c.order).ClientOrderID
		p := w.tracker.Placement(id)
		if c.seen {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 8}})
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{State: c.state, OrderID: 8}})
		if have := w.tracker.Symbol(coin).Denied(p); have != c.want {
			t.Errorf("%s: want it remembered %t, have %t", c.name, c.want, have)
		}
	}
}

// A refused sale may have sold units that the wallet lacks if money has come. A purchase, or a sale on another symbol, has not; and it has sold no more than
// the wallet lacks.
func TestPaidRefusedSaleCountsAsSold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		money string
		free  string
		want  exchange.Quantity
	}{
		{"its money has come", saleOf(4), "10200", "0.006", 4},
		{"no money has come", saleOf(4), "10000", "0.006", 0},
		{"less is missing", saleOf(4), "10200", "0.008", 2},
		{"a purchase", exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(200)}, "10200", "0.006", 0},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		w.hasMoney("0.01", "0", "10000")
		w.now += 1_000
		w.refuses(placement.Exit, c.order)
		w.now += 1_000
		w.unread(c.free, c.money)
		symbol := w.tracker.Symbol(coin)
		symbol.last = 50_000e8
		on := w.tracker.inputs(&Desired{}, symbol, w.now)
		if have := on.spotPosition().paidSales(); have != c.want {
			t.Errorf("%s: want %d sold, have %d", c.name, c.want, have)
		}
	}
}
