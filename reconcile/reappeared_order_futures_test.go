package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A futures order whose end was read is taken back only if lists show it for longer than L and its read by id shows it open. An entry is canceled then,
// a stop protects the position again.
func TestOldListTakesNoEndedEntryBack(t *testing.T) {
	t.Parallel()
	open := futuresAnswer(8, exchange.StatusOpen)
	closes := func(side exchange.Side) exchange.NewOrder {
		return exchange.NewOrder{Side: side, Type: exchange.StopMarket, StopPrice: 400_000, ClosePosition: true}
	}
	reduces := exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 400_000, Quantity: 20, ReduceOnly: true}
	for name, c := range map[string]deniedOrder{
		"for L":                      {answer: open, forMS: 1_000},
		"for longer":                 {answer: open, forMS: 1_500, reads: true, want: true},
		"a stop":                     {answer: open, forMS: 1_500, stop: closes(exchange.Sell), reads: true, want: true},
		"a short's stop":             {answer: open, forMS: 1_500, stop: closes(exchange.Buy), reads: true, want: true},
		"a part's stop":              {answer: open, forMS: 1_500, stop: reduces, reads: true, want: true},
		"a conditional entry":        {answer: open, forMS: 1_500, entry: exchange.Sell, reads: true, want: true},
		"the symbol is not read":     {answer: open, forMS: 3_000, unread: true, reads: true},
		"the answer to another read": {answer: OrderByID{OrderID: 9, Known: true, Order: open.Order}, forMS: 3_000, reads: true},
		"its read shows its end":     {answer: futuresAnswer(8, exchange.StatusCanceled), forMS: 3_000, reads: true},
		"its read does not find it":  {answer: OrderByID{OrderID: 8}, forMS: 3_000, reads: true},
		"another order's answer":     {answer: futuresAnswer(9, exchange.StatusOpen), forMS: 3_000, reads: true},
		"no answer":                  {answer: OrderByID{}, forMS: 3_000, reads: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// futuresAnswer answers the read of order 8 with an order.
func futuresAnswer(orderID int64, status exchange.OrderStatus) OrderByID {
	return OrderByID{OrderID: 8, Known: true, Order: exchange.Order{ID: orderID, Market: exchange.Futures, Symbol: "BTC-USDT", Status: status}}
}

type deniedOrder struct {
	answer      OrderByID
	forMS       int64
	stop        exchange.NewOrder // instead of an entry, if set
	entry       exchange.Side     // of a conditional entry, if set
	unread      bool
	reads, want bool // it is read by its id, and taken back
}

func (c deniedOrder) check(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	purpose, order := placement.Order, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 20}
	stop := c.stop.Type != 0
	if stop {
		purpose, order = placement.StopLoss, c.stop
	}
	if c.entry != 0 {
		order = exchange.NewOrder{Side: c.entry, Type: exchange.StopLimit, StopPrice: d.price("40000"), Price: d.price("39900"), Quantity: 20}
	}
	id := d.rests(purpose, 8, order)
	row := d.order(id, 8, exchange.StatusOpen, order.Quantity, 0)
	row.Type, row.ClosePosition = order.Type, order.ClosePosition
	if order.ReduceOnly {
		row.ClosePositionID = 5
	}
	d.observe(0, nil, row)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{OrderID: 8, State: placement.Canceled}})
	var found []record.Found
	for fromMS := d.now; d.now <= fromMS+c.forMS; d.now += 500 {
		snapshot := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf([]exchange.Order{row}), ByID: []OrderByID{c.answer}}
		if c.unread {
			snapshot.Unread = []exchange.SymbolKey{bitcoin}
		}
		for _, observed := range d.tracker.Observe(snapshot) {
			if body, ok := observed.Body.(record.Found); ok {
				found = append(found, body)
			}
		}
	}
	if !c.want {
		ids := d.tracker.MayRest(d.tracker.Symbol(bitcoin))
		if reads := slices.Equal(ids, []int64{8}); len(found) != 0 || reads != c.reads {
			t.Errorf("want it read by its id: %t, and not taken back, have reads of %d, %+v", c.reads, ids, found)
		}
		return
	}
	if len(found) != 1 || found[0].Duplicate == stop || found[0].Purpose != purpose {
		t.Errorf("want it taken back as a %s, and canceled unless it is a stop, have %+v", purpose, found)
	}
	if p := d.tracker.Placement(duplicateID(&row)); p == nil || p.State() != placement.Working {
		t.Errorf("want it working, have %v", p)
	}
	if ids := d.tracker.MayRest(d.tracker.Symbol(bitcoin)); len(ids) != 0 {
		t.Errorf("want no read once it is botd's again, have %d", ids)
	}
}

// One round reads only some of many such orders.
func TestFewEndedOrdersAreReadPerRound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rows := make([]exchange.Order, maxOmitted+1)
	for i := range rows {
		orderID := int64(101 + i)
		id := d.rests(placement.Order, orderID, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 20})
		rows[i] = d.order(id, orderID, exchange.StatusOpen, 20, 0)
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{OrderID: orderID, State: placement.Canceled}})
	}
	for range 4 {
		d.observe(0, nil, rows...)
		d.now += 500
	}
	if ids := d.tracker.MayRest(d.tracker.Symbol(bitcoin)); len(ids) != maxOmitted || ids[0] != 101 {
		t.Errorf("want the %d oldest read, have %d", maxOmitted, ids)
	}
}
