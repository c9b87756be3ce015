package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// guarded returns a tracker with a position of 20 and its own stop and take-profit on the exchange, orders 12 and 13.
func guarded(t testing.TB) (d *desk, protect func(*Desired), orders []exchange.Order) {
	t.Helper()
	d = newDesk(t)
	d.hold(20)
	protect = func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Share: 4_000_000}}
	}
	for i, intent := range d.derive(protect) {
		id, orderID := d.send(intent), int64(12+i)
		d.acknowledge(id, orderID)
		order := d.order(id, orderID, exchange.StatusOpen, 0, 0)
		order.Side, order.Type, order.StopPrice, order.ClosePosition = exchange.Sell, intent.Order.Type, intent.Order.StopPrice, true
		orders = append(orders, order)
	}
	if len(orders) != 2 {
		t.Fatalf("want a stop and a take-profit, have %+v", orders)
	}
	d.observe(20, nil, orders...)
	return d, protect, orders
}

func TestEmptyPositionListIsContradicted(t *testing.T) {
	t.Parallel()
	d, protect, orders := guarded(t)
	symbol := d.tracker.Symbol(bitcoin)
	for range 8 {
		d.now += 1_000
		d.observe(0, nil, orders...)
		if intents := d.derive(protect); len(intents) != 0 {
			t.Fatalf("want nothing sent and nothing canceled, have %+v", intents)
		}
	}
	if symbol.contradicted == "" || symbol.Known() != 20 || symbol.settled {
		t.Fatalf("want it contradicted with 20 known, have %q, %d, settled %t", symbol.contradicted, symbol.Known(), symbol.settled)
	}
	if symbol.contradictedSinceMS < 1_000_000 || symbol.contradictedSinceMS > d.now-4_000 {
		t.Errorf("want the beginning kept, have %d at %d", symbol.contradictedSinceMS, d.now)
	}
	d.now += 1_000
	d.observe(20, nil, orders...)
	if symbol.contradicted != "" || !symbol.settled || symbol.Known() != 20 {
		t.Errorf("want it over when the list shows the position again, have %q, settled %t", symbol.contradicted, symbol.settled)
	}
	if intents := d.derive(protect); len(intents) != 0 {
		t.Errorf("want its orders as they were, have %+v", intents)
	}
}

func TestWitnessesOfPositionEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(d *desk, orders []exchange.Order)
		closed bool
	}{
		{"nothing but the list", func(d *desk, orders []exchange.Order) { d.observe(0, nil, orders...) }, false},
		{"a row of positions/history", func(d *desk, _ []exchange.Order) { d.observeClosed(0, 7) }, true},
		{"a row of another position, of before", func(d *desk, _ []exchange.Order) { d.observeClosed(0, 3) }, false},
		{"its orders left the list, and GET shows them open", func(d *desk, orders []exchange.Order) {
			d.observe(0, []OrderByID{{OrderID: 12, Known: true, Order: orders[0]}, {OrderID: 13, Known: true, Order: orders[1]}})
		}, false},
		{"its orders left the list, and GET shows them canceled", func(d *desk, orders []exchange.Order) {
			looks := []OrderByID{{OrderID: 12, Known: true, Order: orders[0]}, {OrderID: 13, Known: true, Order: orders[1]}}
			for i := range looks {
				looks[i].Order.Status = exchange.StatusCanceled
			}
			d.observe(0, looks)
		}, true},
		{"one of them was canceled, the other stands", func(d *desk, orders []exchange.Order) {
			answer := OrderByID{OrderID: 12, Known: true, Order: orders[0]}
			answer.Order.Status = exchange.StatusCanceled
			d.observe(0, []OrderByID{answer}, orders[1])
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, _, orders := guarded(t)
			for range 6 {
				d.now += 1_000
				c.end(d, orders)
			}
			known, want := d.tracker.Symbol(bitcoin).Known(), exchange.Quantity(20)
			if c.closed {
				want = 0
			}
			if contradicted := d.tracker.Symbol(bitcoin).contradicted != ""; known != want || contradicted == c.closed {
				t.Errorf("want known %d, have %d, contradicted %t", want, known, contradicted)
			}
			if latch := d.tracker.Strategy("one").Latch() != 0; latch != c.closed {
				t.Errorf("want latched %t, have %t", c.closed, latch)
			}
		})
	}
}

// The stops that ended with one position prove nothing about the next one, which has none yet.
func TestSweepOfEarlierPositionIsNoWitness(t *testing.T) {
	t.Parallel()
	d, protect, orders := guarded(t)
	d.now += 1_000
	d.target(0)
	exit := d.send(d.one(placement.Exit, protect))
	d.acknowledge(exit, 20)
	looks := []OrderByID{{OrderID: 12, Known: true, Order: orders[0]}, {OrderID: 13, Known: true, Order: orders[1]}}
	for i := range looks {
		looks[i].Order.Status = exchange.StatusCanceled
	}
	filled := d.order(exit, 20, exchange.StatusFilled, 20, 20)
	filled.Side = exchange.Sell
	d.now += 1_000
	d.observe(0, append(looks, OrderByID{OrderID: 20, Known: true, Order: filled}))
	d.target(20)
	entry := d.send(d.one(placement.Entry, protect))
	d.acknowledge(entry, 30)
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 30, Known: true, Order: d.order(entry, 30, exchange.StatusFilled, 20, 20)}})
	for range 8 {
		d.now += 1_000
		d.observe(0, nil)
	}
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 20 || symbol.contradicted == "" {
		t.Errorf("want 20 known and contradicted, have %d, %q", symbol.Known(), symbol.contradicted)
	}
}

// A list that shows half of a position lets an exit close only that half. The rest, which no more than that list denies, gets its stop (seed 895069542).
func TestExitOfWhatHalfAListShowsLeavesAStop(t *testing.T) {
	t.Parallel()
	exitOfHalf(t, 10, 0, true)
	exitOfHalf(t, 20, 0, false)
	exitOfHalf(t, 20, 20, false) // in flight
	exitOfHalf(t, 10, 20, false) // in flight, and half of it is filled
	exitOfHalf(t, 10, 10, true)
}

// exitOfHalf lets an exit close a position of 20 without a stop, of which the list shows a part.
func exitOfHalf(t testing.TB, shown, inFlight exchange.Quantity, want bool) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.target(0)
	if inFlight > 0 {
		d.acknowledge(d.send(Intent{Purpose: placement.Exit, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.MarketOrder, Quantity: inFlight, ReduceOnly: true}}), 30)
	}
	d.now += 1_000
	d.observe(shown, nil)
	stopped := slices.ContainsFunc(d.derive(func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	}), func(i Intent) bool { return i.Purpose == placement.StopLoss && i.Order.ClosePosition })
	if stopped != want {
		t.Errorf("%d of 20 shown, %d in flight: want a stop %t, have %t", shown, inFlight, want, stopped)
	}
}

// tradedUnseen lets botd buy 20 while the list shows nothing.
func tradedUnseen(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	for range 4 {
		d.now += 1_000
		d.observe(0, nil)
	}
	if have := d.tracker.Symbol(bitcoin).Traded(exchange.Buy); have != 20 {
		t.Errorf("want the 20 that were bought counted, have %d", have)
	}
}

func TestOwnTradesCountRegardlessOfLists(t *testing.T) {
	t.Parallel()
	tradedUnseen(t)
}

// The list may be older than the exit.
func TestClosedAdoptionIsNotRepeated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignAdopt
	d.hold(20)
	d.target(0)
	symbol := d.tracker.Symbol(bitcoin)
	exited := func(orderID int64, shown, quantity exchange.Quantity) {
		exit := d.send(d.one(placement.Exit, nil))
		d.acknowledge(exit, orderID)
		order := d.order(exit, orderID, exchange.StatusFilled, quantity, quantity)
		d.now += 1_000
		d.observe(shown, []OrderByID{{OrderID: orderID, Known: true, Order: order}})
	}
	exited(20, 0, 20)
	for range 8 {
		if symbol.Known() == 0 {
			d.now += 1_000
			d.observe(-12, nil)
		}
	}
	if symbol.Known() != -12 {
		t.Fatalf("want 12 short adopted, have %d", symbol.Known())
	}
	exited(21, -12, 12)
	if symbol.Known() != 0 {
		t.Errorf("want the older list not adopted at once, have %d known", symbol.Known())
	}
}

// A person's position is not past while the list shows it, and the row of its end is also the end of botd's
// part.
func TestOwnPartEndsWithSharedPosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	symbol := d.tracker.Symbol(bitcoin)
	d.target(12)
	d.observe(0, nil)
	refused := d.send(d.one(placement.Entry, nil))
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: refused, Body: record.Refused{Code: 1}})
	for range 8 {
		d.now += 1_000
		d.observe(6, nil)
	}
	if symbol.Ignored() != 6 {
		t.Fatalf("want 6 left to others, have %d", symbol.Ignored())
	}
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	closedMS := d.now
	d.now += 8_000 // it was liquidated before any list showed botd's part
	d.observe(0, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 12, 12)}})
	for range 8 {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			Before: d.positions(0), Positions: d.positions(0), ClosedOf: []string{"BTC-USDT"},
			Closed: []exchange.Position{{ID: 7, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 18, Status: exchange.PositionLiquidated,
				UpdatedMS: closedMS}}})
	}
	if symbol.Known() != 0 || symbol.Ignored() != 0 {
		t.Errorf("want nothing held, have %d known and %d ignored", symbol.Known(), symbol.Ignored())
	}
}

// After a start nothing shows which position it was, and it is older than botd's part.
func TestSharedPositionEndsByItsRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quantity exchange.Quantity
		closedMS int64 // how long after botd's part was requested
		ended    bool
	}{
		"as large as both":       {18, 500, true},
		"of the other part only": {6, 500, false},
		"closed before":          {18, -2_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.tracker.foreignPolicy = ForeignIgnore
			symbol := d.tracker.Symbol(bitcoin)
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Ignored{Quantity: 6}})
			d.target(12)
			d.observe(6, nil)
			id := d.send(d.one(placement.Entry, nil))
			d.acknowledge(id, 11)
			openedMS := d.now
			d.now += 60_000
			d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
			for range 8 {
				d.now += 1_000
				d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
					ByID:   []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 12, 12)}},
					Before: d.positions(0), Positions: d.positions(0), ClosedOf: []string{"BTC-USDT"},
					Closed: []exchange.Position{{ID: 5, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: c.quantity, Status: exchange.PositionClosed,
						CreatedMS: openedMS - 60_000, UpdatedMS: openedMS + c.closedMS}}})
			}
			if ended := symbol.Known() == 0; ended != c.ended {
				t.Errorf("want it ended %t, have %d known", c.ended, symbol.Known())
			}
		})
	}
}

// margined fetches a position together with the margin that the account reports as in use.
func (d *desk) margined(signed exchange.Quantity, margin exchange.Amount) {
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(signed),
		Positions: d.positions(signed), Account: &exchange.MarginAccount{PositionMargin: margin}})
}

// A list older than the position shows the earlier one, of the same size on the other side. Both need the
// same margin, so none was released: the stop stays.
func TestTheOtherSideOfAPositionReleasesNoMargin(t *testing.T) {
	t.Parallel()
	otherSideListed(t)
}

func otherSideListed(t testing.TB) {
	t.Helper()
	d, protect, _ := guarded(t)
	symbol := d.tracker.Symbol(bitcoin)
	d.margined(20, exchange.MustAmount("100"))
	for range 8 {
		d.now += 1_000
		d.margined(-20, exchange.MustAmount("100"))
		if intents := d.derive(protect); len(intents) != 0 {
			t.Fatalf("want nothing sent and nothing canceled, have %+v", intents)
		}
	}
	if symbol.Known() != 20 || symbol.Ignored() != 0 || symbol.contradicted == "" {
		t.Errorf("want 20 known and contradicted, have %d known, %d ignored, %q", symbol.Known(), symbol.Ignored(), symbol.contradicted)
	}
}

// A refused exit was executed and took a part of the position, whose margin was released. A later list that shows no position is
// unconfirmed: the stop stays.
func TestTheMarginOfAPartConfirmsNoMoreThanThat(t *testing.T) {
	t.Parallel()
	partReleased(t)
}

func partReleased(t testing.TB) {
	t.Helper()
	d, protect, _ := guarded(t)
	symbol := d.tracker.Symbol(bitcoin)
	d.margined(20, exchange.MustAmount("100"))
	d.now += 1_000
	d.margined(12, exchange.MustAmount("60"))
	if symbol.contradicted != "" || symbol.futuresEvidence.by != freedMargin {
		t.Fatalf("want the smaller position confirmed, have %q, %q", symbol.futuresEvidence.by, symbol.contradicted)
	}
	for range 12 {
		d.now += 1_000
		d.margined(0, exchange.MustAmount("60"))
		for _, intent := range d.derive(protect) {
			if intent.Purpose == placement.Cancel {
				t.Fatalf("want no order canceled, have %+v", intent)
			}
		}
	}
	if symbol.Known() != 20 || symbol.contradicted == "" {
		t.Errorf("want 20 known and contradicted, have %d known, %q", symbol.Known(), symbol.contradicted)
	}
}

func TestReleasedMarginConfirmsSmallerPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		before, after       string // margin: 20 steps at 50,000 USDT and 10 times are 100 USDT
		quarantined, doubts bool
	}{
		{"released", "100", "60", true, false},
		{"in use as before", "100", "100", false, true},
		{"the account reports none", "0", "0", false, true},
		{"it never agreed before, and the position is young", "40", "60", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.hold(20)
			d.margined(20, exchange.MustAmount(c.before))
			for range 6 {
				d.now += 1_000
				d.margined(12, exchange.MustAmount(c.after))
			}
			symbol := d.tracker.Symbol(bitcoin)
			if (symbol.Quarantine() != "") != c.quarantined || (symbol.contradicted != "") != c.doubts || symbol.Known() != 20 {
				t.Errorf("want quarantined %t or contradicted %t, have %q and %q, known %d", c.quarantined, c.doubts,
					symbol.Quarantine(), symbol.contradicted, symbol.Known())
			}
			d.target(0)
			if exit := d.one(placement.Exit, nil); exit.Order.Quantity != 12 {
				t.Errorf("want an exit of what the list shows, have %+v", exit.Order)
			}
		})
	}
}

func TestUnlistedEntryGetsStopAndExit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.now += 500
	d.observe(0, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}}) // the list is older
	stop := d.one(placement.StopLoss, func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	})
	if !stop.Order.ClosePosition || stop.Order.Side != exchange.Sell || stop.Order.StopPrice != d.price("49000") {
		t.Errorf("want a closePosition stop 2 %% below, have %+v", stop.Order)
	}
	d.target(0)
	if exit := d.one(placement.Exit, nil); exit.Order.Quantity != 20 || !exit.Order.ReduceOnly {
		t.Errorf("want a reduceOnly exit of 20, have %+v", exit.Order)
	}
}

func TestContradictedPositionIsClosedByItsFills(t *testing.T) {
	t.Parallel()
	d, _, orders := guarded(t)
	for range 4 {
		d.now += 1_000
		d.observe(0, nil, orders...)
	}
	d.target(0)
	if exit := d.one(placement.Exit, nil); exit.Order.Quantity != 20 || !exit.Order.ReduceOnly {
		t.Errorf("want a reduceOnly exit of 20, have %+v", exit.Order)
	}
}

func TestUnexplainedPositionGetsStop(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignHalt, ForeignAdopt} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.tracker.foreignPolicy = policy
			d.observe(0, nil)
			d.now += 60_000
			d.observe(-20, nil)
			protect := func(w *Desired) {
				w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
			}
			stop := d.one(placement.StopLoss, protect)
			if !stop.Order.ClosePosition || stop.Order.Side != exchange.Buy || stop.Order.StopPrice != d.price("51000") {
				t.Errorf("want a closePosition stop 2 %% above, have %+v", stop.Order)
			}
			id := d.send(stop)
			d.acknowledge(id, 12)
			order := d.order(id, 12, exchange.StatusOpen, 0, 0)
			order.Type, order.StopPrice, order.ClosePosition = exchange.StopMarket, stop.Order.StopPrice, true
			for range 4 {
				d.now += 1_000
				d.observe(-20, nil, order)
				d.none(protect)
			}
		})
	}
}

// The list showed a person's position, an older answer did not, the position was adopted, and it ended before the next read. Its
// row ends it; an earlier read that omitted the position does not make the row doubtful.
func TestHiddenAdoptedPositionEndsByItsRow(t *testing.T) {
	t.Parallel()
	adoptedAndHidden(t)
}

func adoptedAndHidden(t testing.TB) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignAdopt
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a test"}})
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{}})
	d.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 2}}) // the journal is not new
	for step := 0; d.tracker.Symbol(bitcoin).Known() == 0; step++ {
		if d.now += 1_000; step == 60 {
			t.Fatal("want what the list shows adopted")
		}
		shown := exchange.Quantity(20)
		if step == 1 {
			shown = 0
		}
		d.observe(shown, nil)
	}
	for range 6 {
		d.now += 1_000
		d.observeClosed(0, 7)
	}
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 0 || symbol.contradicted != "" {
		t.Errorf("want it closed, as its row shows, have %d, %q", symbol.Known(), symbol.contradicted)
	}
}

// Botd had an equal position before, and the margin agreed with the list then. Now the list, which is older than botd's new entry, shows
// only a foreign part of the same size. Nothing was released, and that part gets its stop.
func TestMarginOfEarlierPositionIsNoWitness(t *testing.T) {
	t.Parallel()
	marginOfAnEarlierPosition(t)
}

func marginOfAnEarlierPosition(t testing.TB) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	d.hold(20)
	d.margined(20, exchange.MustAmount("100"))
	d.now += 10_000
	d.target(0)
	exit := d.send(d.one(placement.Exit, nil))
	d.acknowledge(exit, 20)
	filled := d.order(exit, 20, exchange.StatusFilled, 20, 20)
	filled.Side = exchange.Sell
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 20, Known: true, Order: filled}})
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Ignored{Quantity: 20}})
	d.now += 10_000
	d.margined(20, exchange.MustAmount("100"))
	d.target(20)
	entry := d.send(d.one(placement.Entry, nil))
	d.acknowledge(entry, 30)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: entry, Body: record.Ended{State: placement.Filled, Filled: 20}})
	for range 3 {
		d.now += 300
		d.margined(20, exchange.MustAmount("100"))
		if profits := slices.DeleteFunc(d.derive(both), func(i Intent) bool { return i.Purpose != placement.TakeProfit }); len(profits) != 0 {
			t.Errorf("want no profit that takes the room of the stop, have %+v", profits)
		}
		if stop := d.one(placement.StopLoss, both); stop.Order.Quantity != 20 || !stop.Order.ReduceOnly {
			t.Errorf("want a stop of botd's part, have %+v", stop.Order)
		}
	}
}
