package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The row has the order's symbol and side, is not older, and has an effect. Under another id it must also have the same size.
func TestRowMayBeUncertainOrder(t *testing.T) {
	t.Parallel()
	const sentMS = 1_000_000
	futures := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10}
	spot := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	for _, c := range []struct {
		name   string
		order  exchange.NewOrder
		change func(o *exchange.Order)
		want   bool
	}{
		{"without an id", futures, func(o *exchange.Order) { o.ClientOrderID = "" }, true},
		{"without an id, of another quantity", futures, func(o *exchange.Order) { o.ClientOrderID, o.Quantity = "", 3 }, true},
		{"without an id, of the whole position", futures, func(o *exchange.Order) { o.ClientOrderID, o.ClosePosition = "", true }, false},
		{"without an id, on spot", spot, func(o *exchange.Order) { o.ClientOrderID, o.ClosePosition = "", true }, true},
		{"under another id", futures, nil, true},
		{"under another id, of another quantity", futures, func(o *exchange.Order) { o.Quantity = 3 }, false},
		{"under another id, of the whole position", futures, func(o *exchange.Order) { o.ClosePosition = true }, false},
		{"under another id, a stop", futures, func(o *exchange.Order) { o.Type = exchange.StopMarket }, false},
		{"under another id, at market", futures, func(o *exchange.Order) { o.Type = exchange.MarketOrder }, true},
		{"by amount, of any quantity", spot, func(o *exchange.Order) { o.Quantity = 3 }, true},
		{"by amount, of another type", spot, func(o *exchange.Order) { o.Type = exchange.Limit }, false},
		{"of another symbol", futures, func(o *exchange.Order) { o.Symbol = "ETH-USDT" }, false},
		{"of another market", futures, func(o *exchange.Order) { o.Market = exchange.Spot }, false},
		{"of the other side", futures, func(o *exchange.Order) { o.Side = exchange.Sell }, false},
		{"as old as it may be dated", futures, func(o *exchange.Order) { o.CreatedMS = sentMS - createdSlackMS }, true},
		{"older", futures, func(o *exchange.Order) { o.CreatedMS = sentMS - createdSlackMS - 1 }, false},
		{"ended without a fill", futures, func(o *exchange.Order) { o.Status = exchange.StatusCanceled }, false},
		{"ended with one", futures, func(o *exchange.Order) { o.Status, o.Filled = exchange.StatusCanceled, 1 }, true},
	} {
		row := exchange.Order{ID: 9, ClientOrderID: "another", Market: c.order.Market, Symbol: "BTC-USDT", Side: exchange.Buy, Type: c.order.Type,
			Quantity: c.order.Quantity, Status: exchange.StatusOpen, CreatedMS: sentMS}
		if c.change != nil {
			c.change(&row)
		}
		if have := couldBe(&row, c.order, sentMS); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The canceled order's fills are botd's. A stale row of the ended order is counted as stale.
func TestAnOrderUnderAnIdThatWasUsedIsCanceled(t *testing.T) {
	t.Parallel()
	ends := func(state placement.State, orderID int64) func(d *desk, id string) {
		return func(d *desk, id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: state, OrderID: orderID}})
		}
	}
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		order   exchange.NewOrder
		before  func(d *desk, id string)
		orderID int64 // of the row
		filled  exchange.Quantity
		want    string // the duplicate, stale answers
	}{
		{"beside one that stands", placement.Order, buys, func(d *desk, id string) { d.acknowledge(id, 11) }, 12, 4, "a duplicate of 4, known 4, 0 stale"},
		{"its own row, ended", placement.Order, buys, ends(placement.Canceled, 11), 11, 0, "none, known 0, 1 stale"},
		{"another, when it has ended", placement.Order, buys, ends(placement.Canceled, 11), 12, 4, "a duplicate of 4, known 4, 0 stale"},
		{"taken not to be there, and is", placement.Order, buys, ends(placement.Absent, 0), 12, 4, "a duplicate of 4, known 4, 0 stale"},
		{"refused, and stands", placement.Order, buys, func(d *desk, id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "no"}})
		}, 12, 4, "a duplicate of 4, known 4, 0 stale"},
		{"a stop that was refused, and stands", placement.StopLoss, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
			Type: exchange.StopMarket, ClosePosition: true, StopPrice: 1e8}, func(d *desk, id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "no"}})
		}, 12, 0, "one that stands of 0, known 0, 0 stale"},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		id := d.places(c.purpose, c.order)
		c.before(d, id)
		row := d.order(id, c.orderID, exchange.StatusOpen, c.order.Quantity, c.filled)
		row.Type, row.ClosePosition, row.StopPrice = c.order.Type, c.order.ClosePosition, c.order.StopPrice
		open := []exchange.Order{row}
		if p := d.tracker.Placement(id); p != nil && p.OrderID() != 0 {
			open = append(open, d.order(id, p.OrderID(), exchange.StatusOpen, c.order.Quantity, 0))
		}
		for range 2 { // the second time it is known
			d.now += 1_000
			d.observe(c.filled, nil, open...)
		}
		what := "none"
		if p := d.tracker.Placement(duplicateID(&row)); p != nil {
			if what = "one that stands"; p.Duplicate() {
				what = "a duplicate"
			}
			what += fmt.Sprintf(" of %d", p.Filled())
			if p.Strategy() != "one" || p.OrderID() != c.orderID {
				t.Errorf("%s: want it as strategy one's order %d, have %s, %d", c.name, c.orderID, p.Strategy(), p.OrderID())
			}
			second := fmt.Sprintf("cancel %d: a second order under one client order id", c.orderID)
			if cancels := summary(d.derive(nil)); strings.Contains(cancels, second) != p.Duplicate() {
				t.Errorf("%s: want a duplicate canceled, have %q", c.name, cancels)
			}
		}
		have := fmt.Sprintf("%s, known %d, %d stale", what, d.tracker.Symbol(bitcoin).Known(), d.tracker.Stale()/2)
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// A list shows the position of the whole symbol. One that changed its side by itself is quarantined, and of two the one that fills explain
// is taken.
func TestListedPositions(t *testing.T) {
	t.Parallel()
	position := func(id int64, side exchange.Side, quantity exchange.Quantity) exchange.Position {
		p := exchange.Position{ID: id, Symbol: "BTC-USDT", Side: exchange.Long, Remaining: quantity, Quantity: quantity,
			EntryPrice: exchange.AmountOf(id), Leverage: 3, LiqPrice: exchange.AmountOf(2)}
		if side == exchange.Sell {
			p.Side = exchange.Short
		}
		return p
	}
	other := position(4, exchange.Buy, 9)
	other.Symbol = "ETH-USDT"
	for _, c := range []struct {
		name          string
		list          []exchange.Position
		want          string // position, id, entry price, settled
		quarantinedBy string
	}{
		{"as it was", []exchange.Position{position(7, exchange.Buy, 20)}, "20 7 7 true", ""},
		{"another id", []exchange.Position{position(8, exchange.Buy, 20)}, "20 8 8 true", ""},
		{"beside another symbol's", []exchange.Position{other, position(7, exchange.Buy, 20)}, "20 7 7 true", ""},
		{"smaller", []exchange.Position{position(7, exchange.Buy, 15)}, "15 7 7 false", ""},
		{"on the other side under its id", []exchange.Position{position(7, exchange.Sell, 20)}, "-20 7 7 false",
			"the position changed its side without an order of botd's"},
		{"on the other side under another", []exchange.Position{position(8, exchange.Sell, 20)}, "-20 8 8 false", ""},
		{"two, the fills explain the first", []exchange.Position{position(8, exchange.Buy, 20), position(9, exchange.Buy, 5)}, "20 8 8 false", ""},
		{"two, the fills explain the second", []exchange.Position{position(8, exchange.Buy, 5), position(9, exchange.Buy, 20)}, "20 9 9 false", ""},
		{"two, the first was shown", []exchange.Position{position(7, exchange.Buy, 5), position(9, exchange.Buy, 6)}, "5 7 7 false", ""},
		{"two, neither", []exchange.Position{position(8, exchange.Buy, 5), position(9, exchange.Buy, 6)}, "6 9 9 false", ""},
		{"two, one of them over", []exchange.Position{position(8, exchange.Buy, 0), position(9, exchange.Buy, 20)}, "20 9 9 true", ""},
	} {
		d := holds(t, 20)
		d.now += 60_000
		list := exchange.FetchedOf(c.list)
		take := func(before exchange.Fetched[exchange.Position]) {
			d.now += 500
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: before,
				Positions: list})
		}
		take(d.positions(3)) // the position changed while the snapshot was taken: nothing is concluded
		symbol := d.tracker.Symbol(bitcoin)
		twice := strings.HasPrefix(c.name, "two, ") && c.name != "two, one of them over"
		if !twice && (symbol.position != 20 || symbol.positionID != 7) {
			t.Errorf("%s, moved: want the one that was known, have %d of %d", c.name, symbol.position, symbol.positionID)
		}
		version := d.tracker.Version()
		take(list)
		have := fmt.Sprintf("%d %d %s %t", symbol.position, symbol.positionID, symbol.entryPrice, symbol.settled)
		if why := symbol.Quarantine(); have != c.want || why != c.quarantinedBy {
			t.Errorf("%s: want %s and %q, have %s and %q", c.name, c.want, c.quarantinedBy, have, why)
		}
		if same := d.tracker.Version() == version; same != (c.want == "20 7 7 true") && !twice {
			t.Errorf("%s: want a round because of it %t, have %t", c.name, c.want != "20 7 7 true", !same)
		}
		for range 3 {
			take(list)
		}
		if why := symbol.Quarantine(); twice != (why == "the exchange shows two positions on one symbol") {
			t.Errorf("%s, lasting: want a person to look at two positions %t, have %q", c.name, twice, why)
		}
	}
}

// Openings are allowed while only the fill of an acknowledged resting opening is missing since the symbol was settled.
func TestOpeningsBetweenRounds(t *testing.T) {
	t.Parallel()
	bid := strategy.DesiredOrder{Key: "b", Side: exchange.Buy, Price: 40_000e8, Quantity: 10}
	for _, c := range []struct {
		name  string
		after func(d *desk)
		want  bool
	}{
		{"settled", nil, true},
		{"a resting opening is sent", func(d *desk) { d.places(placement.Order, buys) }, false},
		{"it is acknowledged", func(d *desk) { d.acknowledge(d.places(placement.Order, buys), 11) }, true},
		{"it is not, and a snapshot shows all else", func(d *desk) { d.places(placement.Order, buys); d.observe(0, nil) }, false},
		{"it is acknowledged after such a snapshot", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.observe(0, nil)
			d.acknowledge(id, 11)
		}, true},
		{"the snapshot was of a read that failed", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(0),
				Positions: d.positions(0), Unread: []exchange.SymbolKey{bitcoin}})
			d.acknowledge(id, 11)
		}, false},
		{"the snapshot was of no orders", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Before: d.positions(0), Positions: d.positions(0)})
			d.acknowledge(id, 11)
		}, false},
		{"the snapshot was of no positions", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil)})
			d.acknowledge(id, 11)
		}, false},
		{"the position is another", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.observe(3, nil)
			d.acknowledge(id, 11)
		}, false},
		{"a person must look", func(d *desk) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: "a test"}})
			id := d.places(placement.Order, buys)
			d.observe(0, nil)
			d.acknowledge(id, 11)
		}, false},
		{"it had not settled before", func(d *desk) {
			d.observe(5, nil)
			d.acknowledge(d.places(placement.Order, buys), 11)
		}, false},
		{"an entry is acknowledged", func(d *desk) { d.acknowledge(d.places(placement.Entry, buys), 11) }, false},
		{"an entry is not answered", func(d *desk) {
			id := d.places(placement.Entry, buys)
			d.observe(0, nil)
			d.acknowledge(id, 11)
		}, false},
		{"it is uncertain", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.uncertain(id)
			d.observe(0, nil)
			d.acknowledge(id, 11)
		}, false},
		{"another symbol's is uncertain", func(d *desk) { d.uncertain(d.places(placement.Order, ethers)); d.observe(0, nil) }, true},
		{"it fills", func(d *desk) {
			id := d.places(placement.Order, buys)
			d.acknowledge(id, 11)
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 11, Filled: 4}})
		}, false},
		{"it is refused", func(d *desk) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Order, buys), Body: record.Refused{Reason: "no"}})
		}, false},
		{"a start", func(d *desk) {
			d.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 2}})
			d.tracker.Symbol(bitcoin).read = true
		}, false},
		{"it was forgotten", func(d *desk) {
			d.tracker.Symbol(bitcoin).Forget()
			d.tracker.Symbol(bitcoin).read, d.tracker.Symbol(bitcoin).last = true, d.price("50000")
			d.tracker.Symbol(bitcoin).leverage = 10
		}, false},
	} {
		for _, onlyOpeningsPending := range []bool{true, false} {
			d := newDesk(t)
			d.want(&strategy.Plan{Orders: []strategy.DesiredOrder{bid}, OrdersSet: true})
			d.observe(0, nil)
			if c.after != nil {
				c.after(d)
			}
			have := strings.Contains(summary(d.derive(func(w *Desired) { w.BetweenRounds = onlyOpeningsPending })), "order buy limit 10 at 40000 as b")
			if want := c.want && (onlyOpeningsPending || c.after == nil || c.name == "another symbol's is uncertain"); have != want {
				t.Errorf("%s, between rounds %t: want it placed %t, have %t", c.name, onlyOpeningsPending, want, have)
			}
		}
	}
}
