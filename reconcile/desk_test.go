package reconcile

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// desk is a tracker with one futures strategy, which a test drives step by step.
type desk struct {
	t       testing.TB
	tracker *Tracker
	now     int64
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	return newDeskWith(t, testSettle)
}

func newDeskWith(t testing.TB, bounds placement.Bounds) *desk {
	t.Helper()
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, tracker: NewTracker(bounds), now: 1_000_000}
	symbol := d.tracker.Track(bitcoin)
	symbol.rules, symbol.leverage = rules, 10
	symbol.last = d.price("50000")
	d.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 1}})
	return d
}

func (d *desk) price(text string) exchange.Price {
	p, err := d.tracker.Symbol(bitcoin).rules.Price(decimal.RequireFromString(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// want puts a plan in force.
func (d *desk) want(plan *strategy.Plan) {
	d.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: plan}})
}

func (d *desk) target(quantity exchange.Quantity) {
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}})
}

// derive returns what the plan needs, with the pricing record applied.
func (d *desk) derive(change func(*Desired)) []Intent {
	desired := &Desired{Strategy: d.tracker.Strategy("one"), Symbol: d.tracker.Symbol(bitcoin), MayOpen: true, Equity: exchange.AmountOf(10_000),
		Interval: exchange.Minute1, Collar: exchange.RateOne / 20, Leverage: 10}
	if change != nil {
		change(desired)
	}
	intents, priced := d.tracker.Derive(desired, d.now)
	if priced != nil {
		d.tracker.Apply(priced)
	}
	return intents
}

// one derives and expects exactly one intent, of that purpose.
func (d *desk) one(purpose placement.Purpose, change func(*Desired)) Intent {
	d.t.Helper()
	intents := d.derive(change)
	if len(intents) != 1 || intents[0].Purpose != purpose {
		d.t.Fatalf("want one %s, have %+v", purpose, intents)
	}
	return intents[0]
}

func (d *desk) none(change func(*Desired)) {
	d.t.Helper()
	if intents := d.derive(change); len(intents) != 0 {
		d.t.Fatalf("want nothing, have %+v", intents)
	}
}

// send journals an intent and returns its client order id.
func (d *desk) send(intent Intent) string {
	order := intent.Order
	order.ClientOrderID = d.tracker.NextClientOrderID("t")
	d.tracker.Apply(
		&record.Record{
			AtMS:          d.now,
			Strategy:      "one",
			Symbol:        bitcoin,
			ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: intent.Purpose, Key: intent.Key, DeadlineMS: d.now + 5_000,
				Funds: d.tracker.FundsBefore(d.tracker.Track(order.Key()), intent.Purpose.Opens())},
		},
	)
	return order.ClientOrderID
}

func (d *desk) acknowledge(id string, orderID int64) {
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: orderID}})
}

func (d *desk) uncertain(id string) {
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Uncertain{Reason: "timeout"}})
}

// positions is a positions list with one position, or none for zero.
func (d *desk) positions(signed exchange.Quantity) exchange.Fetched[exchange.Position] {
	if signed == 0 {
		return exchange.FetchedOf[exchange.Position](nil)
	}
	side := exchange.Long
	if signed < 0 {
		side = exchange.Short
	}
	return exchange.FetchedOf(
		[]exchange.Position{{ID: 7, Symbol: "BTC-USDT", Side: side, Remaining: max(signed, -signed), Quantity: max(signed, -signed),
			EntryPrice: exchange.AmountOf(50_000), Leverage: 10, Status: exchange.PositionOpen}},
	)
}

// observe fetches open orders, orders by id and a position. It is a full snapshot if the earlier positions
// list is included.
func (d *desk) observe(signed exchange.Quantity, looks []OrderByID, orders ...exchange.Order) []record.Record {
	return d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders),
		Before: d.positions(signed), Positions: d.positions(signed), ByID: looks, ClosedOf: []string{"BTC-USDT"}})
}

// observeClosed fetches a position, and a positions/history row of a long position with that id.
func (d *desk) observeClosed(signed exchange.Quantity, id int64, orders ...exchange.Order) {
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders),
		Before: d.positions(signed), Positions: d.positions(signed), ClosedOf: []string{"BTC-USDT"},
		Closed: []exchange.Position{{ID: id, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 20, Status: exchange.PositionClosed}}})
}

func (d *desk) order(id string, orderID int64, status exchange.OrderStatus, quantity, filled exchange.Quantity) exchange.Order {
	side := exchange.Buy
	if p := d.tracker.Placement(id); p != nil {
		side = p.Side()
	}
	return exchange.Order{
		ID:            orderID,
		ClientOrderID: id,
		Market:        exchange.Futures,
		Symbol:        "BTC-USDT",
		Side:          side,
		Type:          exchange.MarketOrder,
		Quantity:      quantity,
		Filled:        filled,
		Status:        status,
	}
}

// hold brings the tracker to a settled own position.
func (d *desk) hold(quantity exchange.Quantity) {
	d.t.Helper()
	d.target(quantity)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.observe(quantity, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, quantity, quantity)}})
	d.none(nil)
}
