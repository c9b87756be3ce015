package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// ends fetches an empty positions list and a row of positions/history.
func (d *desk) ends(row *exchange.Position) {
	none := exchange.FetchedOf[exchange.Position](nil)
	row.Symbol, row.Status = "BTC-USDT", exchange.PositionClosed
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
		Before: none, Positions: none, ClosedOf: []string{"BTC-USDT"}, Closed: []exchange.Position{*row}})
}

// The position was opened before botd owned part of it, by a clock that is behind. Its last fill was booked
// after its end, and a restart has forgotten its id.
func TestUncertainExitIsDecidedByRowOfItsPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		change  func(row *exchange.Position, sentMS int64)
		decided bool
	}{
		{"closed since the exit, by a clock four seconds behind", func(row *exchange.Position, sentMS int64) { row.UpdatedMS = sentMS - 4_000 }, true},
		{"more of it was there than botd's part", func(row *exchange.Position, _ int64) { row.Quantity = 40 }, true},
		{"closed long before the exit", func(row *exchange.Position, sentMS int64) { row.UpdatedMS = sentMS - 11_000 }, false},
		{"a smaller position", func(row *exchange.Position, _ int64) { row.Quantity = 19 }, false},
		{"a position on the other side", func(row *exchange.Position, _ int64) { row.Side = exchange.Short }, false},
		{"the rest of an open position", func(row *exchange.Position, _ int64) { row.Remaining = 20 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.hold(20)
			d.target(0)
			exit, sentMS := d.send(d.one(placement.Exit, nil)), d.now
			d.uncertain(exit)
			d.now += 2_000
			symbol := d.tracker.Symbol(bitcoin)
			d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
			symbol.seen = nil
			for range 30 {
				d.now += 1_000
				row := exchange.Position{ID: 7, Side: exchange.Long, Quantity: 20, CreatedMS: sentMS - 60_000, UpdatedMS: sentMS}
				c.change(&row, sentMS)
				d.ends(&row)
			}
			p, known := d.tracker.Placement(exit), symbol.Known()
			if decided := p == nil && known == 0; decided != c.decided {
				t.Errorf("want decided %t, have %t with %d known", c.decided, decided, known)
			}
			if contradicted := symbol.contradicted != ""; contradicted && c.decided {
				t.Errorf("want it trusted, have %q", symbol.contradicted)
			}
		})
	}
}

// The exit ended the position, a person opened one on the other side, and botd's stop closed that one before the exit was decided. A restart has forgotten
// the earlier reads. What the stop reduced was never botd's, so the exit explains the rest.
func TestUncertainExitIsDecidedNextToForeignPosition(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		quantity exchange.Quantity
		decided  bool
	}{{20, true}, {19, false}} { // the size of the exit, or another position's
		d := newDesk(t)
		d.hold(20)
		d.target(0)
		exit, sentMS := d.send(d.one(placement.Exit, nil)), d.now
		d.uncertain(exit)
		d.now += 2_000
		stop := d.send(Intent{Purpose: placement.StopLoss, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
			Type: exchange.StopMarket, ClosePosition: true, StopPrice: 51_000_00}})
		d.acknowledge(stop, 21)
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: stop, Strategy: "one", Symbol: bitcoin,
			Body: record.Ended{State: placement.Filled, Filled: 20}})
		d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
		symbol := d.tracker.Symbol(bitcoin)
		symbol.seen = nil
		for range 30 {
			d.now += 1_000
			d.ends(&exchange.Position{ID: 7, Side: exchange.Long, Quantity: row.quantity, CreatedMS: sentMS - 60_000, UpdatedMS: sentMS})
		}
		if decided := d.tracker.Placement(exit) == nil && symbol.Known() == 0; decided != row.decided || symbol.Quarantine() != "" {
			t.Errorf("want it decided %t by a row of %d, have %t with %d known, quarantine %q", row.decided, row.quantity, decided, symbol.Known(),
				symbol.Quarantine())
		}
	}
}

// The position was adopted long after it was opened, and ended before another read.
func TestAdoptedPositionEndsByRowOfListedPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  int64
		want exchange.Quantity
	}{{8, 0}, {7, 20}, {5, 20}} {
		d := newDesk(t)
		d.tracker.foreignPolicy = ForeignAdopt
		symbol := d.tracker.Symbol(bitcoin)
		d.hold(20)
		d.target(0)
		exit := d.send(d.one(placement.Exit, nil))
		d.acknowledge(exit, 20)
		d.now += 2_000
		d.observe(0, []OrderByID{{OrderID: 20, Known: true, Order: d.order(exit, 20, exchange.StatusFilled, 20, 20)}})
		d.now += 2_000
		d.observe(0, nil)
		createdMS := d.now
		for range 8 {
			if symbol.Known() == 0 {
				d.now += 1_000
				d.observePosition(8, 20)
			}
		}
		if symbol.Known() != 20 {
			t.Fatalf("want 20 adopted, have %d", symbol.Known())
		}
		for range 8 {
			d.now += 1_000
			d.ends(&exchange.Position{ID: c.row, Side: exchange.Long, Quantity: 20, CreatedMS: createdMS, UpdatedMS: d.now})
		}
		if symbol.Known() != c.want {
			t.Errorf("want %d known with row %d, have %d", c.want, c.row, symbol.Known())
		}
	}
}

// The list showed the position and its end while the entry's answer was in flight.
func TestPositionThatEndsBeforeBookingIsNotPast(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	entry, sentMS := d.send(d.one(placement.Entry, nil)), d.now
	d.now += 1_000
	d.observe(20, nil)
	d.now += 1_000
	d.observe(0, nil)
	d.acknowledge(entry, 11)
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 11, Known: true, Order: d.order(entry, 11, exchange.StatusFilled, 20, 20)}})
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.Known() != 20 {
		t.Fatalf("want the fill booked, have %d", symbol.Known())
	}
	for range 8 {
		d.now += 1_000
		d.ends(&exchange.Position{ID: 7, Side: exchange.Long, Quantity: 20, CreatedMS: sentMS + 10, UpdatedMS: sentMS + 1_500})
	}
	if symbol.Known() != 0 || symbol.contradicted != "" {
		t.Errorf("want its row to end it, have %d known, %q", symbol.Known(), symbol.contradicted)
	}
}

// The journal dates its entry later than the exchange does, and lacks its exit.
func TestEarlierPositionEndsByRowOfAnotherClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(row *exchange.Position, sentMS int64)
		closed bool
	}{
		{"opened five seconds before the entry was sent", func(*exchange.Position, int64) {}, true},
		{"opened long before", func(row *exchange.Position, sentMS int64) { row.CreatedMS = sentMS - 12_000 }, false},
		{"closed too soon to be another one than that of before", func(row *exchange.Position, sentMS int64) { row.UpdatedMS = sentMS + 9_000 }, false},
		{"on the other side", func(row *exchange.Position, _ int64) { row.Side = exchange.Short }, false},
		{"the rest of an open one", func(row *exchange.Position, _ int64) { row.Remaining = 20 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(20)
			d.observe(0, nil)
			entry, sentMS := d.send(d.one(placement.Entry, nil)), d.now
			d.acknowledge(entry, 11)
			d.now += 300_000
			d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
			d.observe(0, []OrderByID{{OrderID: 11, Known: true, Order: d.order(entry, 11, exchange.StatusFilled, 20, 20)}})
			symbol := d.tracker.Symbol(bitcoin)
			for range 30 {
				d.now += 1_000
				row := exchange.Position{ID: 7, Side: exchange.Long, Quantity: 20, CreatedMS: sentMS - 5_000, UpdatedMS: sentMS + 90_000}
				c.change(&row, sentMS)
				d.ends(&row)
			}
			if closed := symbol.Known() == 0; closed != c.closed || closed && symbol.contradicted != "" {
				t.Errorf("want closed %t, have %d known, %q", c.closed, symbol.Known(), symbol.contradicted)
			}
		})
	}
}

// A person opened a position, botd's order filled into it, and the person closed all of it before a list was
// read.
func TestAPositionThatBotdJoinedUnseenEndsByItsRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(row *exchange.Position, sentMS int64)
		closed bool
	}{
		{"as large as all, closed since", func(*exchange.Position, int64) {}, true},
		{"smaller than what botd opened", func(row *exchange.Position, _ int64) { row.Quantity = 19 }, false},
		{"closed before botd asked for it", func(row *exchange.Position, sentMS int64) { row.UpdatedMS = sentMS - 1 }, false},
		{"on the other side", func(row *exchange.Position, _ int64) { row.Side = exchange.Short }, false},
		{"the rest of an open one", func(row *exchange.Position, _ int64) { row.Remaining = 20 }, false},
		{"one of before, which a list had shown as ended", func(row *exchange.Position, _ int64) { row.ID = 7 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			joinedUnseen(t, c.change, c.closed)
		})
	}
}

// The entry's answer was lost, a list showed the position, and it got its stop. A list that omits it ends nothing: the stop stays
// until the entry is decided.
func TestStopStaysWhileEntryIsUncertain(t *testing.T) {
	t.Parallel()
	stopOfUncertainEntry(t)
}

func stopOfUncertainEntry(t testing.TB) {
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	entry := d.send(d.one(placement.Entry, nil))
	d.uncertain(entry)
	d.now += 1_000
	d.observe(20, nil)
	stop := d.one(placement.StopLoss, stopAt2)
	id := d.send(stop)
	d.acknowledge(id, 12)
	order := d.order(id, 12, exchange.StatusOpen, 0, 0)
	order.Side, order.Type, order.StopPrice, order.ClosePosition = exchange.Sell, exchange.StopMarket, stop.Order.StopPrice, true
	for second := range 8 {
		d.now += 1_000
		if second == 4 { // a restart forgets what lists have shown
			d.tracker.Symbol(bitcoin).unexplainedID, d.tracker.Symbol(bitcoin).unexplainedMS = 0, 0
		}
		d.observe(0, nil, order)
		if intents := d.derive(stopAt2); len(intents) != 0 {
			t.Fatalf("%d: want nothing canceled, have %+v", d.now, intents)
		}
	}
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: entry, Body: record.Ended{State: placement.Absent}})
	d.now += 1_000
	d.observe(0, nil, order)
	d.target(0)
	if cancel := d.one(placement.Cancel, stopAt2); cancel.OrderID != 12 {
		t.Errorf("the entry was absent: want the stop canceled, have %+v", cancel)
	}
}

// joinedUnseen expects the joined position to be closed, or not, depending on a row that differs.
func joinedUnseen(t testing.TB, change func(row *exchange.Position, sentMS int64), want bool) {
	d := newDesk(t)
	d.hold(20) // position 7, which ends
	d.target(0)
	exit := d.send(d.one(placement.Exit, nil))
	d.acknowledge(exit, 10)
	sold := d.order(exit, 10, exchange.StatusFilled, 20, 20)
	sold.Side = exchange.Sell
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 10, Known: true, Order: sold}})
	d.now += 60_000
	d.target(20)
	d.observe(0, nil)
	entry, sentMS := d.send(d.one(placement.Entry, nil)), d.now
	d.acknowledge(entry, 12)
	d.now += 4_000
	d.observe(0, []OrderByID{{OrderID: 12, Known: true, Order: d.order(entry, 12, exchange.StatusFilled, 20, 20)}})
	symbol := d.tracker.Symbol(bitcoin)
	for range 30 {
		d.now += 1_000
		row := exchange.Position{ID: 8, Side: exchange.Long, Quantity: 80, CreatedMS: sentMS - 5_000, UpdatedMS: sentMS + 3_000}
		change(&row, sentMS)
		d.ends(&row)
	}
	if closed := symbol.Known() == 0; closed != want || closed == (symbol.contradicted != "") {
		t.Errorf("want closed %t, have %d known, %q", want, symbol.Known(), symbol.contradicted)
	}
}
