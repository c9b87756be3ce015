package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
)

// TestAForeignOpeningCountsUntilAReadShowsItsEnd shows a futures order that botd did not make in one open list and omits it from the next: no single list
// ends it.
func TestAForeignOpeningCountsUntilAReadShowsItsEnd(t *testing.T) {
	t.Parallel()
	byID := func(orderID int64, known bool, status exchange.OrderStatus) OrderByID {
		return OrderByID{OrderID: orderID, Known: known, Order: exchange.Order{ID: orderID, Market: exchange.Futures, Symbol: "BTC-USDT", Status: status}}
	}
	for what, c := range map[string]struct {
		order        func(*exchange.Order) // changes the foreign order
		answers      []OrderByID
		reads, stays bool // the omitted order is read by its id, and counts after the next list
	}{
		"no read by its id":           {nil, nil, true, true},
		"a read shows it open":        {nil, []OrderByID{byID(71, true, exchange.StatusNew)}, true, true},
		"a read shows it canceled":    {nil, []OrderByID{byID(71, true, exchange.StatusCanceled)}, true, false},
		"a read does not find it":     {nil, []OrderByID{byID(71, false, exchange.StatusNew)}, true, false},
		"a read of another order":     {nil, []OrderByID{byID(72, true, exchange.StatusCanceled)}, true, true},
		"another order is not found":  {nil, []OrderByID{byID(72, false, exchange.StatusNew)}, true, true},
		"one that closes a position":  {func(o *exchange.Order) { o.ClosePosition = true }, nil, false, false},
		"one that reduces a position": {func(o *exchange.Order) { o.ClosePositionID = 5 }, nil, false, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			order := d.order("", 71, exchange.StatusNew, 20, 0)
			if order.Type = exchange.Limit; c.order != nil {
				c.order(&order)
			}
			d.observe(0, nil, order)
			symbol, omits := d.tracker.Symbol(bitcoin), &Snapshot{FuturesOrders: exchange.FetchedOf[exchange.Order](nil)}
			if listed := d.tracker.OmittedForeign(symbol, &Snapshot{FuturesOrders: exchange.FetchedOf([]exchange.Order{order})}); listed != nil {
				t.Errorf("while the list shows it: want no read, have %d", listed)
			}
			if ids := d.tracker.OmittedForeign(symbol, omits); (len(ids) == 1 && ids[0] == 71) != c.reads || len(ids) > 1 {
				t.Errorf("when a list omits it: want it read by its id %v, have %d", c.reads, ids)
			}
			d.observe(0, c.answers)
			if stays := symbol.ForeignCount() == 1; stays != c.stays {
				t.Errorf("want it to count %v, have %+v", c.stays, symbol.Foreign())
			}
		})
	}
}

// TestFewOmittedOrdersAreReadPerRound lets the list omit more orders than one round reads.
func TestFewOmittedOrdersAreReadPerRound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	orders := make([]exchange.Order, 11)
	for i := range orders {
		orders[i] = d.order("", int64(101+i), exchange.StatusNew, exchange.Quantity(20+i), 0)
		orders[i].Type = exchange.Limit
	}
	d.observe(0, nil, orders...)
	symbol := d.tracker.Symbol(bitcoin)
	omits := &Snapshot{FuturesOrders: exchange.FetchedOf(orders[:2])}
	if ids := d.tracker.OmittedForeign(symbol, omits); !slices.Equal(ids, []int64{103, 104, 105, 106, 107, 108, 109, 110}) {
		t.Errorf("want the eight oldest that the list omits, have %d", ids)
	}
	if ids := d.tracker.OmittedForeign(symbol, &Snapshot{}); ids != nil {
		t.Errorf("without a list: want no read, have %d", ids)
	}
	d.observe(0, nil, orders[:2]...)
	if symbol.ForeignCount() != 11 {
		t.Errorf("want all to count until they are read, have %d", symbol.ForeignCount())
	}
	symbol.SetRules(nil)
	if ids := d.tracker.OmittedForeign(symbol, omits); ids != nil {
		t.Errorf("a symbol without rules: want no read, have %d", ids)
	}
	d.observe(0, nil, orders[:2]...)
	if symbol.ForeignCount() != 2 {
		t.Errorf("a symbol without rules: want what the list shows, have %d", symbol.ForeignCount())
	}
}

// TestAnUnreadableRowIsNotOmitted shows the foreign order in a row that cannot be read, before or after a readable one.
func TestAnUnreadableRowIsNotOmitted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	order := d.order("", 71, exchange.StatusNew, 20, 0)
	order.Type = exchange.Limit
	unread := []UnreadOrder{{Market: exchange.Futures, Open: true, Row: exchange.UnreadableRow{ID: 71, Symbol: "BTC-USDT", Reason: "its type is unknown"}}}
	symbol := d.tracker.Symbol(bitcoin)
	d.observe(0, nil, order)
	if ids := d.tracker.OmittedForeign(symbol, &Snapshot{FuturesOrders: exchange.FetchedOf[exchange.Order](nil), UnreadOrders: unread}); ids != nil {
		t.Errorf("its row is there, though unreadable: want no read by its id, have %d", ids)
	}
	read := func(unread []UnreadOrder) {
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), UnreadOrders: unread,
			Before: d.positions(0), Positions: d.positions(0), ClosedOf: []string{"BTC-USDT"}})
	}
	if read(unread); symbol.ForeignCount() != 1 {
		t.Errorf("want its unreadable row to count once, have %+v", symbol.Foreign())
	}
	if ids := d.tracker.OmittedForeign(symbol, &Snapshot{FuturesOrders: exchange.FetchedOf[exchange.Order](nil)}); ids != nil {
		t.Errorf("a list omits an unreadable row: want no read by its id, since nobody knows whether it opens, have %d", ids)
	}
	if read(nil); symbol.ForeignCount() != 0 {
		t.Errorf("a list omits an unreadable row: want it gone, have %+v", symbol.Foreign())
	}
}

// TestASpotOrderThatTheListOmitsIsGone checks that the rule applies only to futures: on spot the wallet confirms a list.
func TestASpotOrderThatTheListOmitsIsGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	key := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	symbol := d.tracker.Track(key)
	symbol.SetRules(d.tracker.Symbol(bitcoin).Rules())
	order := d.order("", 71, exchange.StatusNew, 20, 0)
	order.Market, order.Type = exchange.Spot, exchange.Limit
	read := func(orders ...exchange.Order) {
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, SpotOrders: exchange.FetchedOf(orders)})
	}
	if read(order); symbol.ForeignCount() != 1 {
		t.Fatalf("want the order to count, have %+v", symbol.Foreign())
	}
	if ids := d.tracker.OmittedForeign(symbol, &Snapshot{FuturesOrders: exchange.FetchedOf[exchange.Order](nil)}); ids != nil {
		t.Errorf("want no read by its id, have %d", ids)
	}
	if read(); symbol.ForeignCount() != 0 {
		t.Errorf("want it gone, have %+v", symbol.Foreign())
	}
}
