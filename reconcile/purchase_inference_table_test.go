package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A purchase counts twice if the wallet lacks the money for all of the asset that it gained, and nothing else may have cost money since. A
// purchase of 100 buys 40 at 2,500. What the wallet shows beyond the known holding and fees counts.
func TestPurchaseExecutionCount(t *testing.T) {
	t.Parallel()
	byAmount := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(100)}
	limit := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 40, Price: 2_500e8}
	fills := func(market exchange.Market, name string, afterMS int64) func(w *wallet) {
		return func(w *wallet) {
			order := exchange.NewOrder{Market: market, Symbol: name, Side: exchange.Sell, Type: exchange.Limit, Quantity: 4,
				ClientOrderID: w.tracker.NextClientOrderID("t")}
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.Exit, DeadlineMS: w.now + 5_000}})
			w.apply(record.Record{AtMS: w.now + afterMS, ClientOrderID: order.ClientOrderID,
				Body: record.Ended{State: placement.Filled, OrderID: 60, Filled: 4}})
		}
	}
	rests := func(market exchange.Market, side exchange.Side) func(w *wallet) {
		return func(w *wallet) {
			order := exchange.NewOrder{Market: market, Symbol: "ETH-USDT", Side: side, Type: exchange.Limit, Quantity: 4,
				ClientOrderID: w.tracker.NextClientOrderID("t")}
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.Order, DeadlineMS: w.now + 5_000}})
		}
	}
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		fees  exchange.Quantity // of the known ten
		more  exchange.Quantity // shown by the wallet
		money string            // remains of 1,000
		with  func(w *wallet)
		want  exchange.Quantity
	}{
		{"paid twice, bought twice", byAmount, 0, 80, "800", nil, 2},
		{"paid twice but for two hundredths", byAmount, 0, 80, "804", nil, 2},
		{"paid less than that", byAmount, 0, 80, "804.01", nil, 1},
		{"paid once", byAmount, 0, 80, "900", nil, 1},
		{"bought once, and paid so", byAmount, 0, 40, "900", nil, 1},
		{"bought a little more than once, at a better price", byAmount, 0, 41, "899", nil, 2},
		{"fees have taken some of what was known", byAmount, 2, 80, "804", nil, 2},
		{"fees have taken some, and less was paid", byAmount, 2, 80, "804.01", nil, 1},
		{"what is known to be others' costs nothing", byAmount, 0, 90, "804", func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 10}})
		}, 2},
		{"of a limit order the money is frozen before", limit, 0, 80, "800", nil, 1},
		{"another botd may have bought", byAmount, 0, 80, "800", func(w *wallet) { w.tracker.Symbol(coin).unknownEnded = elders + "1" }, 1},
		{"something on spot filled since the wallet was read", byAmount, 0, 80, "800", fills(exchange.Spot, "ETH-USDT", 0), 1},
		{"something on spot filled before", byAmount, 0, 80, "800", fills(exchange.Spot, "ETH-USDT", -1), 2},
		{"something on futures filled", byAmount, 0, 80, "800", fills(exchange.Futures, "ETH-USDT", 5), 2},
		{"another purchase is under way", byAmount, 0, 80, "800", rests(exchange.Spot, exchange.Buy), 1},
		{"a sale is under way", byAmount, 0, 80, "800", rests(exchange.Spot, exchange.Sell), 2},
		{"a purchase on futures is under way", byAmount, 0, 80, "800", rests(exchange.Futures, exchange.Buy), 2},
		{"after a start what was paid is not known", byAmount, 0, 80, "800", func(w *wallet) { clear(w.tracker.deliveries) }, 1},
	} {
		w := explains(t, 10, c.fees)
		has := func(more exchange.Quantity, money string) *survey {
			s := w.reads(1_010-c.fees+more, 0)
			s.fetched.Balances = exchange.FetchedOf(append(s.fetched.Balances.Items(), exchange.Balance{Asset: "USDT", Free: exchange.MustAmount(money)}))
			w.tracker.observedAccount.note(s.fetched)
			return s
		}
		has(0, "1000")
		sent := w.places(placement.Entry, 0, c.order)
		if c.with != nil {
			c.with(w)
		}
		w.now += 1_000
		if have := has(c.more, c.money).walletEvidence().timesPaid(w.tracker.Placement(sent.ClientOrderID), w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	b := NewTracker(testSettle) // a journal is read before the rules of its symbols are known
	byAmount.Market, byAmount.Symbol, byAmount.ClientOrderID = exchange.Spot, "BTC-USDT", "bt-1-1"
	b.Apply(&record.Record{AtMS: 1, Symbol: coin, ClientOrderID: byAmount.ClientOrderID, Body: record.Sending{Order: byAmount, Purpose: placement.Entry}})
	if b.Placement("bt-1-1") == nil {
		t.Error("want a purchase journalled before its symbol's rules are known")
	}
}

// Stops that were sent after a purchase show that a wallet had shown the holding they protect.
func TestStopsFromBeforeStartProveHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		orderID int64
		agoMS   int64 // how long before the start
		want    exchange.Quantity
	}{
		{"a stop", placement.StopLoss, 9, 10, 7},
		{"a stop that was sent with the purchase", placement.StopLoss, 9, 20, 7},
		{"a stop of before the purchase", placement.StopLoss, 9, 21, 0},
		{"a stop of the moment of the start", placement.StopLoss, 9, 0, 0},
		{"an uncertain stop", placement.StopLoss, 0, 10, 0},
		{"an exit", placement.Exit, 9, 10, 0},
	} {
		w := explains(t, 10, 0)
		bootMS := w.now
		w.now -= c.agoMS
		w.places(c.purpose, c.orderID, stopOf(7))
		w.tracker.bootMS = bootMS
		if have := w.tracker.inheritedSince(w.tracker.Symbol(coin), bootMS-20); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// A booked purchase is not counted twice. A sale beyond the known holding was a sale of the inferred one.
func TestBookedPurchaseIsNoLongerInferred(t *testing.T) {
	t.Parallel()
	fills := func(side exchange.Side, filled exchange.Quantity) func(w *wallet) {
		return func(w *wallet) {
			o := w.places(placement.Order, 9, exchange.NewOrder{Side: side, Type: exchange.Limit, Quantity: 50, Price: 2_500e8})
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: 1}})
			w.tracker.Symbol(coin).spot.unlisted.inferred, w.tracker.Symbol(coin).spot.unlisted.undecided = 8, 15
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: 1 + filled}})
		}
	}
	adopts := func(quantity exchange.Quantity) func(w *wallet) {
		return func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: quantity}})
		}
	}
	for _, c := range []struct {
		name                string
		booked              func(w *wallet)
		inferred, undecided exchange.Quantity // of eight and fifteen
	}{
		{"a purchase", fills(exchange.Buy, 3), 5, 12},
		{"a purchase of more", fills(exchange.Buy, 20), 0, 0},
		{"what was adopted", adopts(3), 5, 12},
		{"what was adopted as sold", adopts(-3), 8, 15},
		{"a sale of what is known", fills(exchange.Sell, 9), 8, 15},
		{"a sale of more than that", fills(exchange.Sell, 13), 8, 11},
		{"a sale of much more: what a wallet shows stays", fills(exchange.Sell, 40), 8, 8},
	} {
		w := explains(t, 10, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.unlisted.inferred, symbol.spot.unlisted.undecided = 8, 15
		c.booked(w)
		if have := &symbol.spot.unlisted; have.inferred != c.inferred || have.undecided != c.undecided {
			t.Errorf("%s: want %d inferred, %d undecided, have %d, %d", c.name, c.inferred, c.undecided, have.inferred, have.undecided)
		}
		if have := symbol.spot.unlisted.vanished(); have != c.undecided-c.inferred {
			t.Errorf("%s: want %d vanished, have %d", c.name, c.undecided-c.inferred, have)
		}
	}
}

// The wallet lacks at least half of the sale's quantity, and is younger than the sale and, by L, than the last fill.
func TestAWalletShowsThatAnUncertainSaleHasSold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		afterMS     int64 // how long after the sale was sent the read begins
		filledMS    int64 // how long before the read the last fill was
		want        bool
	}{
		{"it lacks all of it", 1_000, 1, 60_000, true},
		{"it lacks half of it", 1_005, 1, 60_000, true},
		{"it lacks less", 1_006, 1, 60_000, false},
		{"it is as old as the sale", 1_000, 0, 60_000, false},
		{"it may be as old as the last fill", 1_000, 2_000, 1_000, false},
		{"it is younger than the last fill", 1_000, 2_000, 1_001, true},
	} {
		w := explains(t, 0, 0)
		w.now -= c.filledMS - c.afterMS
		bought := w.buysUnder(5, 10)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 5, Filled: 10}})
		w.now += c.filledMS - c.afterMS
		sale := w.places(placement.Exit, 0, saleOf(10))
		w.now += c.afterMS
		symbol := w.tracker.Symbol(coin)
		s := w.reads(c.baseBalance, 0)
		symbol.position = symbol.heldOnSpot()
		s.unlistedOrders().noteWalletShortfall(w.tracker.Placement(sale.ClientOrderID), symbol)
		if have := w.tracker.known(sale.ClientOrderID).walletShowsSold; have != c.want {
			t.Errorf("%s: want it shown to be sold %t, have %t", c.name, c.want, have)
		}
	}
}

// What is noted about an order is deleted with it, or the notes would grow with each order.
func TestNotesOfEndedOrdersAreDeleted(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	w.reads(1_010, 0)
	for _, order := range []exchange.NewOrder{stopOf(10), {Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(100)}} {
		purpose := placement.Entry
		if order.Side == exchange.Sell {
			purpose = placement.StopLoss
		}
		o := w.places(purpose, 9, order)
		id := o.ClientOrderID
		w.tracker.NoteHandedOut(id, w.now)
		w.tracker.NoteCancel(id, w.now)
		w.tracker.NoteCancelRefused(id, w.now)
		w.tracker.NoteReleased(id, &exchange.Order{ID: 9, Status: exchange.StatusCanceled}, w.now)
		w.tracker.noteUnfrozen(id, true)
		w.tracker.inferEnded(id, w.now)
		w.tracker.noteWalletShowsSold(id)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{State: placement.Canceled, OrderID: 9}})
	}
	if len(w.tracker.deliveries) != 0 {
		t.Errorf("want nothing remembered, have %d", len(w.tracker.deliveries))
	}
}
