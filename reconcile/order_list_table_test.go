package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A failed read concerns one symbol of its market, or the whole market.
func TestFailedReadConcernsSymbolOrMarket(t *testing.T) {
	t.Parallel()
	ether := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	for _, c := range []struct {
		unread exchange.SymbolKey
		key    exchange.SymbolKey
		want   bool
	}{
		{coin, coin, true}, {coin, ether, false}, {coin, bitcoin, false}, {exchange.SymbolKey{Market: exchange.Spot}, coin, true},
		{exchange.SymbolKey{Market: exchange.Spot}, bitcoin, false},
	} {
		s := &Snapshot{Unread: []exchange.SymbolKey{c.unread}}
		if have := s.isUnread(c.key); have != c.want {
			t.Errorf("of %s a read failed: want %s concerned %t, have %t", c.unread, c.key, c.want, have)
		}
	}
	w := explains(t, 10, 0)
	s := w.reads(1_010, 0, exchange.Order{ID: 9}, exchange.Order{ID: 3}, exchange.Order{ID: 7})
	for id, want := range map[int64]bool{3: true, 7: true, 9: true, 8: false, 0: false} {
		if have := s.spotList.shows(id); have != want {
			t.Errorf("a list that is not sorted: want order %d shown %t, have %t", id, want, have)
		}
	}
}

// A history whose read failed does not show that an order has not ended, but a row of it does.
func TestFailedHistoryShowsNoEndOnlyByARow(t *testing.T) {
	t.Parallel()
	open, ended := exchange.Order{ID: 8, Status: exchange.StatusOpen}, exchange.Order{ID: 8, Status: exchange.StatusCanceled}
	for _, c := range []struct {
		name   string
		rows   []exchange.Order
		unread []exchange.SymbolKey
		part   bool // the history is not complete
		want   bool
	}{
		{"no row", nil, nil, false, true},
		{"no row, and its read failed", nil, []exchange.SymbolKey{coin}, false, false},
		{"an open row", []exchange.Order{open}, nil, false, true},
		{"an open row, and another read failed", []exchange.Order{open}, []exchange.SymbolKey{coin}, false, true},
		{"an ended row", []exchange.Order{open, ended}, nil, false, false},
		{"another order's row, and its read failed", []exchange.Order{{ID: 9, Status: exchange.StatusOpen}}, []exchange.SymbolKey{coin}, false, false},
		{"a part", []exchange.Order{open}, nil, true, false},
	} {
		s := &Snapshot{History: exchange.FetchedOf(c.rows), HistoryWhole: !c.part, Unread: c.unread}
		if have := s.showsNoEnd(coin, 8); have != c.want {
			t.Errorf("%s: want no end shown %t, have %t", c.name, c.want, have)
		}
	}
}

// Either row may be listed first. The other row is a duplicate.
func TestOlderRowOfUncertainIDIsThePlacement(t *testing.T) {
	t.Parallel()
	for _, orderIDs := range [][]int64{{12, 11}, {11, 12}} {
		d := newDesk(t)
		d.observe(0, nil)
		id := d.places(placement.Order, buys)
		d.uncertain(id)
		var rows []exchange.Order
		for _, orderID := range orderIDs {
			rows = append(rows, d.order(id, orderID, exchange.StatusOpen, 10, 0))
		}
		rows = append(rows, d.order("another", 5, exchange.StatusOpen, 10, 0)) // older, and not the placement's
		for range 2 {
			d.now += 1_000
			d.observe(0, nil, rows...)
			if have := d.tracker.Placement(id).OrderID(); have != 11 {
				t.Errorf("%v: want order 11 to be it, have %d", orderIDs, have)
			}
		}
		if other := d.tracker.Placement(id + "#12"); other == nil || !other.Duplicate() || other.Evidence() != "a second order with client order id "+id {
			t.Errorf("%v: want order 12 a duplicate, have %+v", orderIDs, other)
		}
	}
}

// An older list shows an ended order without its client order id. The row is a stale answer, or a foreign order if botd's order was judged
// absent, unless a person left it to its owner.
func TestEndedOrderListedWithoutID(t *testing.T) {
	t.Parallel()
	ends := func(state placement.State) func(d *desk, id string) {
		return func(d *desk, id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: state, OrderID: 12}})
		}
	}
	for _, c := range []struct {
		name   string
		before func(d *desk, id string)
		named  bool
		status exchange.OrderStatus
		want   string // stale answers, foreign orders, orders left to their owner
	}{
		{"it was canceled", ends(placement.Canceled), false, exchange.StatusOpen, "1 0 0"},
		{"it was canceled, and shows its id", ends(placement.Canceled), true, exchange.StatusOpen, "1 0 0"},
		{"it was taken not to be there", ends(placement.Absent), false, exchange.StatusOpen, "0 1 0"},
		{"a person left it to its maker", func(d *desk, id string) {
			ends(placement.Absent)(d, id)
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, ClientOrderID: id, Body: record.Ignored{OrderID: 12}})
		}, false, exchange.StatusOpen, "0 0 1"},
		{"it ends in the open list", func(*desk, string) {}, true, exchange.StatusCanceled, "1 0 0"},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		id := d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10})
		row := d.order(id, 12, c.status, 10, 0)
		c.before(d, id)
		if !c.named {
			row = unnamed(row)
		}
		d.now += 1_000
		d.observe(0, nil, row)
		symbol := d.tracker.Symbol(bitcoin)
		if have := fmt.Sprint(d.tracker.Stale(), len(symbol.foreign), len(symbol.leftToOwner)); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// The order is read by id until its fence. After that it needs manual resolution.
func TestAcknowledgedOrderUnknownToExchange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		afterMS int64 // relative to its fence
		with    func(d *desk, id string)
		want    string
	}{
		{"before its fence", -1, nil, "acknowledged false"},
		{"at its fence", 0, nil, "uncertain true"},
		{"of uncertain outcome already", 0, (*desk).uncertain, "uncertain false"},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		id := d.rests(placement.Entry, 12, buys)
		if c.with != nil {
			c.with(d, id)
		}
		d.now = d.tracker.Placement(id).Fence(testSettle) + c.afterMS
		d.tracker.survey(&Snapshot{BeganMS: d.now, EndedMS: d.now}).orderRows().observeByID(OrderByID{OrderID: 12})
		why := "acknowledged order " + id + " is not known to the exchange"
		symbol := d.tracker.Symbol(bitcoin)
		have, looks := fmt.Sprint(d.tracker.Placement(id).State(), symbol.Quarantine() == why), symbol.Quarantine() != ""
		if have != c.want || looks != (symbol.Quarantine() == why) {
			t.Errorf("%s: want %s, have %s, %q", c.name, c.want, have, symbol.Quarantine())
		}
	}
}

// The excess fill of a duplicate is botd's. If the duplicate was judged to have ended, its booked quantity counts already. A stop
// that filled more than is known has closed an unexplained position.
func TestExcessFillOfDuplicateIsBooked(t *testing.T) {
	t.Parallel()
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.StopMarket, ClosePosition: true, StopPrice: 1e8}
	for _, c := range []struct {
		name      string
		order     exchange.NewOrder
		state     placement.State
		orderID   int64
		booked    exchange.Quantity
		want      exchange.Quantity // known afterwards, of a row that shows four filled
		duplicate bool
		evidence  string
	}{
		{"taken not to be there", buys, placement.Absent, 0, 3, 4, true, "order %s is open on the exchange although it was considered ended"},
		{"taken to be gone", buys, placement.Absent, 11, 3, 4, true, "order %s is open on the exchange although it was considered ended"},
		{"ended as another", buys, placement.Canceled, 11, 3, 7, true, "a second order with client order id %s"},
		{"a stop that was taken not to be there", stop, placement.Absent, 0, 0, 0, true, "order %s is open on the exchange although it was considered ended"},
		{"a stop that ended as another", stop, placement.Canceled, 11, 0, 0, true, "a second order with client order id %s"},
		{"a stop that was refused", stop, placement.Refused, 0, 0, 0, false, "order %s is open on the exchange although it was considered ended"},
	} {
		d := newDesk(t)
		purpose := placement.Order
		if c.order.ClosePosition {
			purpose = placement.StopLoss
		}
		id := d.places(purpose, c.order)
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: c.state, OrderID: c.orderID, Filled: c.booked}})
		row := d.order(id, 12, exchange.StatusOpen, 10, 4)
		row.Type, row.ClosePosition, row.StopPrice = c.order.Type, c.order.ClosePosition, c.order.StopPrice
		d.shows(d.tracker.Symbol(bitcoin), 0).orderRows().observeDuplicate(&row)
		p := d.tracker.Placement(id + "#12")
		if p == nil || p.Duplicate() != c.duplicate || p.Evidence() != fmt.Sprintf(c.evidence, id) || d.tracker.Symbol(bitcoin).Known() != c.want {
			t.Errorf("%s: want %d known, a duplicate %t, have %d, %+v", c.name, c.want, c.duplicate, d.tracker.Symbol(bitcoin).Known(), p)
			continue
		}
		d.ended(id+"#12", placement.Canceled, 4)
		stale := d.tracker.Stale()
		if d.shows(d.tracker.Symbol(bitcoin), 0).orderRows().observeDuplicate(&row); d.tracker.Placement(id+"#12") != nil || d.tracker.Stale() != stale+1 {
			t.Errorf("%s: want a list that still shows it taken as an old one", c.name)
		}
	}
	for purpose, duplicate := range map[placement.Purpose]bool{placement.StopLoss: false, placement.ExitOrder: true} { // of two stops the younger one goes
		w := explains(t, 10, 0)
		row := w.places(purpose, 9, stopOf(10))
		w.apply(record.Record{AtMS: w.now, ClientOrderID: row.ClientOrderID, Body: record.Fill{OrderID: 9}})
		row.ID = 8
		w.reads(1_000, 10).orderRows().observeDuplicate(&row)
		if p := w.tracker.Placement(row.ClientOrderID + "#8"); p == nil || p.Duplicate() != duplicate {
			t.Errorf("an older %s on spot: want it a duplicate %t, have %+v", purpose, duplicate, p)
		}
	}
}

// The order is known by its id, and nothing else is concluded.
func TestAcceptedOrderNotYetInBook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answer  func(d *desk, id string)
		state   placement.State
		orderID int64
		seen    bool
	}{
		{"acknowledged", func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Acknowledged, 12, false},
		{"uncertain", (*desk).uncertain, placement.Working, 12, true},
	} {
		d := newDesk(t)
		id := d.places(placement.Order, buys)
		c.answer(d, id)
		row := d.order(id, 12, exchange.StatusCreated, 10, 0)
		d.tracker.survey(&Snapshot{BeganMS: d.now, EndedMS: d.now}).orderRows().observeOrder(d.tracker.Placement(id), &row)
		if p := d.tracker.Placement(id); p.State() != c.state || p.OrderID() != c.orderID || p.Seen() != c.seen {
			t.Errorf("%s: want it %s as %d, seen %t, have %s as %d, %t", c.name, c.state, c.orderID, c.seen, p.State(), p.OrderID(), p.Seen())
		}
	}
	d := newDesk(t)
	d.places(placement.Order, buys) // without an id
	if p := d.tracker.withOrderID(exchange.Futures, 0); p != nil {
		t.Errorf("want no order without an id found by it, have %s", p.ClientOrderID())
	}
}

// On spot the paid amount is booked from the rows; futures rows show no average price.
func TestPaidAmountIsBookedFromRows(t *testing.T) {
	t.Parallel()
	w := explains(t, 0, 0)
	row := w.buysUnder(5, 10)
	row.Filled, row.Status, row.AveragePrice = 10, exchange.StatusFilled, exchange.AmountOf(2_400)
	w.sees("1.01", "0", []exchange.Order{row})
	if have := w.tracker.Symbol(coin).MeanPrice(); have != exchange.AmountOf(2_400) {
		t.Errorf("want a mean of 2,400, have %s", have)
	}
	d := newDesk(t)
	id := d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10})
	open := d.order(id, 12, exchange.StatusOpen, 10, 4)
	open.AveragePrice = exchange.AmountOf(9)
	if d.observe(4, nil, open); !d.tracker.Placement(id).Price().IsZero() || d.tracker.Placement(id).Filled() != 4 {
		t.Errorf("want four filled at no known price, have %d at %s", d.tracker.Placement(id).Filled(), d.tracker.Placement(id).Price())
	}
}

// Each execution is booked once. A sale of a holding that was just bought counts against that purchase.
func TestPurchaseExecutionsAreBookedBeforeSales(t *testing.T) {
	t.Parallel()
	w := explains(t, 0, 0)
	bought, sold := w.buysUnder(5, 10), w.places(placement.Exit, 6, saleOf(4))
	s := w.reads(1_006, 0, bought, sold)
	s.fetched.History, s.fetched.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
	s.fetched.Trades = []Traded{{OrderID: 6, Filled: 4, Price: exchange.AmountOf(2_500)}, {OrderID: 5, Filled: 10, Price: exchange.AmountOf(2_500)}}
	fills := func(records []record.Record) (count int) {
		for _, r := range records {
			if r.Kind() == record.KindFill && r.ClientOrderID != "" {
				count++
			}
		}
		return count
	}
	first := fills(w.tracker.Observe(s.fetched))
	again := fills(w.tracker.Observe(s.fetched))
	if known := w.tracker.Symbol(coin).Known(); known != 6 || first < 2 || again != 0 {
		t.Errorf("want six left, by two fills, and none when it is read again, have %d by %d and %d", known, first, again)
	}
}

// A sale of more than the known holding waits while an uncertain purchase may have bought the excess, but not on a symbol that needs
// manual resolution.
func TestSaleWaitsForUncertainPurchase(t *testing.T) {
	t.Parallel()
	purchase := func(orderID int64) func(w *wallet) { return func(w *wallet) { w.buysUnder(orderID, 5) } }
	for _, c := range []struct {
		name   string
		booked exchange.Quantity // booked of the sale
		filled exchange.Quantity // shown by the row
		with   func(w *wallet)
		want   bool
	}{
		{"of more", 0, 11, purchase(0), true},
		{"of as much", 0, 10, purchase(0), false},
		{"of more than is left", 4, 11, purchase(0), true},
		{"of as much as is left", 4, 10, purchase(0), false},
		{"the purchase is acknowledged", 0, 11, purchase(8), true},
		{"the purchase is being sent", 0, 11, func(w *wallet) {
			w.sends(placement.Order, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 2_500e8})
		}, true},
		{"the purchase is shown", 0, 11, func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: w.buysUnder(8, 5).ClientOrderID, Body: record.Fill{OrderID: 8}})
		}, false},
		{"a sale is not answered", 0, 11, func(w *wallet) { w.places(placement.Exit, 0, saleOf(5)) }, false},
		{"of another symbol", 0, 11, func(w *wallet) { w.sendsElsewhere(exchange.Buy) }, false},
		{"no purchase is under way", 0, 11, nil, false},
		{"a person must look", 0, 11, func(w *wallet) { purchase(0)(w); quarantined("a test")(w) }, false},
	} {
		w := explains(t, 10, 0)
		sale := w.places(placement.Exit, 9, saleOf(20))
		if c.booked != 0 {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: c.booked}})
		}
		if c.with != nil {
			c.with(w)
		}
		if have := w.reads(1_000, 0).tracker.precedesPurchase(w.tracker.Placement(sale.ClientOrderID), c.filled); have != c.want {
			t.Errorf("%s: want it to wait %t, have %t", c.name, c.want, have)
		}
	}
}

// Once its fence has passed, the order was never accepted, unless an unexplained row could be it or the wallet has moved as the order would
// have moved it.
func TestUnlistedSpotOrderIsResolved(t *testing.T) {
	t.Parallel()
	purchase := func(w *wallet) exchange.Order { return w.buysUnder(0, 10) }
	acknowledged := func(w *wallet) exchange.Order { return w.buysUnder(9, 10) }
	moved := "the wallet has changed as the uncertain placement %s would have changed it, and no list shows the cause"
	lost := "acknowledged order %s is not known to the exchange"
	other := exchange.Order{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Filled: 10,
		Status: exchange.StatusFilled, CreatedMS: 2_000_000}
	for _, c := range []struct {
		name        string
		sends       func(w *wallet) exchange.Order
		afterMS     int64 // relative to its fence
		baseBalance exchange.Quantity
		with        func(w *wallet, s *Snapshot, own exchange.Order)
		state       string
		why         string
	}{
		{"it was never taken", purchase, 0, 1_010, nil, "ended", ""},
		{"before its fence", purchase, -1, 1_010, nil, "uncertain", ""},
		{"the wallet has moved", purchase, 0, 1_020, nil, "uncertain", moved},
		{"the wallet has moved, and another order rests", purchase, 0, 1_020, func(w *wallet, s *Snapshot, _ exchange.Order) {
			rests := w.buysUnder(8, 3)
			w.apply(record.Record{AtMS: w.now, ClientOrderID: rests.ClientOrderID, Body: record.Fill{OrderID: 8}})
			s.SpotOrders = exchange.FetchedOf([]exchange.Order{rests})
		}, "uncertain", ""},
		{"a row could be it", purchase, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) {
			s.History = exchange.FetchedOf([]exchange.Order{other})
		}, "uncertain", "order 70, which no placement claims, could be the uncertain placement %s"},
		{"a person's sale could not", purchase, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) {
			sale := other
			sale.Side = exchange.Sell
			s.History = exchange.FetchedOf([]exchange.Order{sale})
		}, "ended", ""},
		{"one of botd's own that has ended could not", purchase, 0, 1_010, func(w *wallet, s *Snapshot, _ exchange.Order) {
			before := w.buysUnder(70, 10)
			w.apply(record.Record{AtMS: 1, ClientOrderID: before.ClientOrderID, Body: record.Ended{State: placement.Canceled, OrderID: 70}})
			row := other
			row.ClientOrderID, row.Filled, row.Status = before.ClientOrderID, 0, exchange.StatusOpen
			s.History = exchange.FetchedOf([]exchange.Order{row})
		}, "ended", ""},
		{"the history is not whole", purchase, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) { s.HistoryWhole = false }, "uncertain", ""},
		{"the open list was not read", purchase, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) {
			s.SpotOrders = exchange.Fetched[exchange.Order]{}
		}, "uncertain", ""},
		{"a row of its symbol cannot be read", purchase, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) { s.Unread = []exchange.SymbolKey{coin} },
			"uncertain", ""},
		{"the exchange had it", func(w *wallet) exchange.Order {
			o := acknowledged(w)
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Uncertain{Reason: "a test"}})
			return o
		}, 0, 1_010, nil, "uncertain", ""},
		{"acknowledged, and in no list", acknowledged, 0, 1_010, nil, "uncertain", lost},
		{"acknowledged, and the history shows another", acknowledged, 0, 1_010, func(_ *wallet, s *Snapshot, _ exchange.Order) {
			s.History = exchange.FetchedOf([]exchange.Order{{ID: 3}})
		}, "uncertain", lost},
		{"acknowledged, before its fence", acknowledged, -1, 1_010, nil, "acknowledged", ""},
		{"acknowledged, and listed", acknowledged, 0, 1_010, func(_ *wallet, s *Snapshot, own exchange.Order) {
			s.SpotOrders = exchange.FetchedOf([]exchange.Order{own})
		}, "acknowledged", ""},
		{"acknowledged, and in the history as open", acknowledged, 0, 1_010, func(_ *wallet, s *Snapshot, own exchange.Order) {
			s.History = exchange.FetchedOf([]exchange.Order{own})
		}, "acknowledged", ""},
		{"being sent", func(w *wallet) exchange.Order {
			return w.sends(placement.Order, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8})
		}, 0, 1_010, nil, "sending", ""},
	} {
		w := explains(t, 10, 0)
		w.tracker.Symbol(coin).sinceFill = persistence{}
		own := c.sends(w)
		w.now = w.tracker.Placement(own.ClientOrderID).Fence(testSettle) + c.afterMS
		s := w.reads(c.baseBalance, 0)
		s.fetched.History, s.fetched.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
		if c.with != nil {
			c.with(w, s.fetched, own)
		}
		s.orderRows().observeHistory()
		have := "ended"
		if p := w.tracker.Placement(own.ClientOrderID); p != nil {
			have = p.State().String()
		}
		why := c.why
		if why != "" && c.name != "" {
			why = fmt.Sprintf(why, own.ClientOrderID)
		}
		if have != c.state || w.tracker.Symbol(coin).Quarantine() != why {
			t.Errorf("%s: want it %s, %q, have %s, %q", c.name, c.state, why, have, w.tracker.Symbol(coin).Quarantine())
		}
	}
}

// The purchase turns out to be absent, and the waiting sale is booked, in the same read.
func TestWaitingSaleIsBookedOncePurchaseIsAbsent(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	w.tracker.Symbol(coin).sinceFill = persistence{}
	purchase := w.buysUnder(0, 5)
	sale := w.places(placement.Exit, 9, saleOf(13))
	sale.Filled, sale.Status = 13, exchange.StatusFilled
	w.now = w.tracker.Placement(purchase.ClientOrderID).Fence(testSettle)
	s := w.reads(1_000, 0)
	s.fetched.History, s.fetched.HistoryWhole = exchange.FetchedOf([]exchange.Order{sale}), true
	s.orderRows().observeHistory()
	if w.tracker.Placement(purchase.ClientOrderID) != nil || w.tracker.Placement(sale.ClientOrderID) != nil || w.tracker.Symbol(coin).Known() != 0 {
		t.Errorf("want both ended and nothing held, have %d known", w.tracker.Symbol(coin).Known())
	}
}
