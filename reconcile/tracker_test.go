package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

var testSettle = placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}

func TestTargetIsEnteredOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.none(nil) // nothing opens before the first snapshot
	d.observe(0, nil)
	entry := d.one(placement.Entry, nil)
	if entry.Order.Quantity != 20 || entry.Order.Side != exchange.Buy || entry.Order.ReduceOnly {
		t.Fatalf("want a buy of 20, have %+v", entry.Order)
	}
	id := d.send(entry)
	d.none(nil) // in flight: it is not sent a second time
	d.acknowledge(id, 11)
	d.none(nil)
	d.observe(20, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}})
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 20 || !symbol.settled {
		t.Fatalf("want known 20 and settled, have %d, %v", symbol.Known(), symbol.settled)
	}
	d.none(nil)
}

func TestPartFillsAreCarriedOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.observe(8, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusCanceled, 20, 8)}})
	if rest := d.one(placement.Entry, nil); rest.Order.Quantity != 12 {
		t.Fatalf("want the rest of 12, have %d", rest.Order.Quantity)
	}
}

func TestAFlipIsAnExitSettledThenAnOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(-20)
	exit := d.one(placement.Exit, nil)
	if !exit.Order.ReduceOnly || exit.Order.Quantity != 20 || exit.Order.Side != exchange.Sell {
		t.Fatalf("want a reduceOnly sell of 20, have %+v", exit.Order)
	}
	id := d.send(exit)
	d.none(nil)
	d.acknowledge(id, 12)
	filled := d.order(id, 12, exchange.StatusFilled, 20, 20)
	filled.Side = exchange.Sell
	d.observe(0, []OrderByID{{OrderID: 12, Known: true, Order: filled}})
	if entry := d.one(placement.Entry, nil); entry.Order.Side != exchange.Sell || entry.Order.Quantity != 20 || entry.Order.ReduceOnly {
		t.Fatalf("want an opening sell of 20, have %+v", entry.Order)
	}
}

func TestAPositionThatAPersonClosesLatchesTheTarget(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.observe(0, nil)
	d.none(nil)   // not explained yet: nothing opens
	for range 2 { // longer than L, and then positions/history confirms it
		d.now += 1_000
		d.observeClosed(0, 7)
	}
	if d.tracker.Strategy("one").Latch() != 1 || d.tracker.Symbol(bitcoin).Known() != 0 {
		t.Fatalf("want latched long and known 0, have %d and %d", d.tracker.Strategy("one").Latch(), d.tracker.Symbol(bitcoin).Known())
	}
	d.now += 60_000
	d.observe(0, nil)
	d.none(nil)
	d.target(0) // the target was zero: the latch is released
	d.target(20)
	d.one(placement.Entry, nil)
}

func TestProtectionIsPlacedInTheRoundOfThePosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Share: 4_000_000}}
	}
	intents := d.derive(protect)
	if len(intents) != 2 {
		t.Fatalf("want a stop and a profit, have %+v", intents)
	}
	stop, profit := intents[0].Order, intents[1].Order
	if stop.Type != exchange.StopMarket || !stop.ClosePosition || stop.StopPrice != d.price("49000") || stop.Side != exchange.Sell ||
		stop.WorkingType != exchange.ContractPrice {
		t.Errorf("want a closePosition stop at 49000, have %+v", stop)
	}
	if profit.Type != exchange.TakeProfitMarket || profit.StopPrice != d.price("52000") {
		t.Errorf("want a profit at 52000, have %+v", profit)
	}
	d.send(intents[0])
	d.send(intents[1])
	d.none(protect)
}

func TestAStopThatFillsLatches(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	}
	id := d.send(d.one(placement.StopLoss, protect))
	d.acknowledge(id, 41)
	stop := d.order(id, 41, exchange.StatusFilled, 0, 20)
	stop.Side = exchange.Sell
	d.observe(0, []OrderByID{{OrderID: 41, Known: true, Order: stop}})
	d.none(protect)
	if d.tracker.Strategy("one").Latch() != 1 {
		t.Fatal("want the long side latched")
	}
}

func TestAStopPriceAlreadyPassedExitsAtMarket(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.tracker.Symbol(bitcoin).last = d.price("48000")
	exit := d.one(placement.StopLoss, func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	})
	if exit.Order.Type != exchange.MarketOrder || !exit.Order.ReduceOnly || exit.Order.Quantity != 20 {
		t.Fatalf("want a reduceOnly market exit of 20, have %+v", exit.Order)
	}
}

func TestATargetByEquityIsPricedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}})
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil)) // 10000 / 50000 = 0.2
	d.acknowledge(id, 11)
	d.observe(200, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 200, 200)}})
	d.tracker.Symbol(bitcoin).last = d.price("25000")
	d.none(nil)
	one := d.tracker.Strategy("one")
	if want, have := exchange.Quantity(200), quantityOf(one.Priced(one.Plan().Target())); want != have {
		t.Fatalf("want %d, have %d", want, have)
	}
}

func TestATargetThatComesBackIsPricedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	whole := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}}
	d.want(whole)
	d.observe(0, nil)
	d.one(placement.Entry, nil)
	d.want(&strategy.Plan{Target: strategy.Flat()})
	d.want(whole)
	d.tracker.Symbol(bitcoin).last = d.price("25000")
	if entry := d.one(placement.Entry, nil); entry.Order.Quantity != 400 {
		t.Fatalf("want 0.4 at half the price, have %d", entry.Order.Quantity)
	}
}

func TestLeverageComesBeforeAnyOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	if lever := d.one(placement.Leverage, func(w *Desired) { w.Leverage = 3 }); lever.Leverage != 3 {
		t.Fatalf("want 3, have %d", lever.Leverage)
	}
}

func TestAKeyedOrderIsReplacedByCancelConfirmPlace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	desired := strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: d.price("40000"), Quantity: 10}
	d.want(&strategy.Plan{Orders: []strategy.DesiredOrder{desired}, OrdersSet: true})
	d.observe(0, nil)
	id := d.send(d.one(placement.Order, nil))
	d.acknowledge(id, 51)
	d.observe(4, nil, d.order(id, 51, exchange.StatusOpen, 10, 4))
	d.none(nil)
	desired.Price = d.price("41000")
	d.want(&strategy.Plan{Orders: []strategy.DesiredOrder{desired}, OrdersSet: true})
	if cancel := d.one(placement.Cancel, nil); cancel.OrderID != 51 {
		t.Fatalf("want order 51 canceled, have %+v", cancel)
	}
	d.tracker.NoteCancel(id, d.now)
	d.none(nil) // not confirmed yet
	d.observe(4, []OrderByID{{OrderID: 51, Known: true, Order: d.order(id, 51, exchange.StatusCanceled, 10, 4)}})
	if again := d.one(placement.Order, nil); again.Order.Quantity != 6 || again.Order.Price != d.price("41000") {
		t.Fatalf("want the remainder of 6 at 41000, have %+v", again.Order)
	}
}

func TestRefusedKeyedOrderIsDelayed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	desired := strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: d.price("40000"), Quantity: 10, PostOnly: true}
	d.want(&strategy.Plan{Orders: []strategy.DesiredOrder{desired}, OrdersSet: true})
	d.observe(0, nil)
	for n, refuse := range []func(id string){
		func(id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: placement.Rejected}})
		},
		func(id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "no"}})
		},
	} {
		id := d.send(d.one(placement.Order, nil))
		refuse(id)
		if _, _, empty := d.tracker.Tally(0); empty != n {
			t.Errorf("want %d endings without a fill that count: post-only is refused when it would match; have %d", n, empty)
		}
		d.observe(0, nil)
		d.none(nil)
		d.now += refusedKeyWaitMS - 1
		d.observe(0, nil)
		d.none(nil)
		d.now++
		d.observe(0, nil)
	}
	d.one(placement.Order, nil)
}

func TestReplayingTheRecordsGivesTheSameTracker(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var journal []record.Record
	apply := func(r record.Record) { d.tracker.Apply(&r); journal = append(journal, r) }
	d.target(20)
	d.observe(0, nil)
	entry := d.one(placement.Entry, nil)
	order := entry.Order
	order.ClientOrderID = "bt-1-1"
	apply(
		record.Record{
			AtMS:          d.now,
			Strategy:      "one",
			Symbol:        bitcoin,
			ClientOrderID: "bt-1-1",
			Body:          record.Sending{Order: order, Purpose: placement.Entry, DeadlineMS: d.now + 5000},
		},
	)
	apply(record.Record{ClientOrderID: "bt-1-1", Body: record.Acknowledged{OrderID: 9}})
	apply(record.Record{ClientOrderID: "bt-1-1", Body: record.Fill{OrderID: 9, Filled: 7}})
	again := NewTracker(testSettle)
	for i := range journal {
		again.Apply(&journal[i])
	}
	again.Apply(&record.Record{Body: record.Boot{Epoch: 2}})
	if have := again.Symbol(bitcoin).Known(); have != 7 {
		t.Errorf("known: want 7, have %d", have)
	}
	if p := again.Placement("bt-1-1"); p == nil || p.State() != placement.Working || p.OrderID() != 9 || p.Filled() != 7 {
		t.Errorf("placement: want working, order 9, filled 7, have %+v", p)
	}
}

func TestPlacementInFlightAtCrashIsUncertain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 2}})
	if have := d.tracker.Placement(id).State(); have != placement.Uncertain {
		t.Fatalf("want uncertain, have %s", have)
	}
}

func TestFillsNeverGoBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.observe(9, nil, d.order(id, 11, exchange.StatusOpen, 20, 9))
	d.observe(9, nil, d.order(id, 11, exchange.StatusOpen, 20, 3)) // a stale replica
	if have := d.tracker.Symbol(bitcoin).Known(); have != 9 {
		t.Fatalf("want 9, have %d", have)
	}
}

func TestNoOpeningDuringExitInPlaceOfStop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.observe(10, []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 10, 10)}})
	d.target(20)
	d.tracker.Symbol(bitcoin).last = d.price("40000")
	stop := d.one(placement.StopLoss, func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})
	if stop.Order.Type != exchange.MarketOrder || !stop.Order.ReduceOnly {
		t.Fatalf("want the exit at market, have %+v", stop.Order)
	}
}

func TestEntryClosedBeforeFirstReadSettlesFlat(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.uncertain(id)
	created := d.now
	d.now += 60_000
	for range 4 {
		d.now += 1_000
		d.tracker.Observe(
			&Snapshot{
				BeganMS:       d.now,
				EndedMS:       d.now,
				FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
				Before:        d.positions(0),
				Positions:     d.positions(0),
				ClosedOf: []string{
					"BTC-USDT",
				},
				Closed: []exchange.Position{
					{ID: 9, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 10, CreatedMS: created, EntryPrice: exchange.AmountOf(50_000)},
				},
			},
		)
	}
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.Known() != 0 || d.tracker.LiveCount() != 0 || !symbol.settled {
		t.Fatalf("want the entry and its end booked, have known %d, live %d, settled %t", symbol.Known(), d.tracker.LiveCount(), symbol.settled)
	}
}

func TestOpeningWaitsForDesiredLeverage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(30)
	d.tracker.Symbol(bitcoin).leverage = 5
	d.one(placement.Leverage, nil)
	d.target(10)
	intents := d.derive(nil) // a reducing order does not wait
	if len(intents) != 2 || intents[1].Purpose != placement.Exit {
		t.Fatalf("want the leverage and the exit, have %+v", intents)
	}
}

func quantityOf(q exchange.Quantity, _ bool) exchange.Quantity { return q }

// The position was read as botd's, and a part of it is left to others from now on.
func TestIgnoredPartSettlesAfterNextRead(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	if !symbol.settled {
		t.Fatal("want it settled first")
	}
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
	if symbol.settled || symbol.position != 15 {
		t.Errorf("want 15 of it botd's and not settled, have %d, settled %t", symbol.position, symbol.settled)
	}
	d.now += 1_000
	if d.observe(25, nil); !symbol.settled || symbol.position != 20 {
		t.Errorf("want 20 of it botd's and settled once it was read, have %d, settled %t", symbol.position, symbol.settled)
	}
}
