package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// stopPassed has a position of 20 whose stop's price was passed. The market exit in the stop's place has been
// sent, and its id is returned.
func stopPassed(t *testing.T) (*desk, string) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.tracker.Symbol(bitcoin).last = d.price("48000")
	urgent := d.one(placement.StopLoss, stopAt2)
	if urgent.Order.Type != exchange.MarketOrder {
		t.Fatalf("want an exit at market, have %+v", urgent.Order)
	}
	return d, d.send(urgent)
}

// stopAt2 requests a stop two percent away.
func stopAt2(w *Desired) {
	w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
}

func TestPlanExitWaitsForExitInPlaceOfStop(t *testing.T) {
	t.Parallel()
	d, id := stopPassed(t)
	d.target(0)
	d.now += 10_000
	d.none(stopAt2) // it has no answer yet
	d.uncertain(id)
	d.now += RepeatMS - 1
	d.none(stopAt2) // the exit is uncertain
	d.now++
	if exit := d.one(placement.Exit, stopAt2); exit.Order.Quantity != 20 || !exit.Order.ReduceOnly {
		t.Errorf("want an exit of 20 two seconds after the loss of its answer, have %+v", exit.Order)
	}
}

func TestExitInPlaceOfStopReplacesPartialExit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(15)
	d.one(placement.Exit, nil) // its quantity is settled, and none of it is in flight
	d.tracker.Symbol(bitcoin).last = d.price("48000")
	if urgent := d.one(
		placement.StopLoss,
		stopAt2,
	); urgent.Order.Type != exchange.MarketOrder || urgent.Order.Quantity != 20 ||
		!urgent.Order.ReduceOnly {
		t.Errorf("want one exit, of all 20, have %+v", urgent.Order)
	}
}

func TestPartialExitWaitsForExitInPlaceOfStop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(15)
	d.one(placement.Exit, nil) // its quantity is settled, and none of it is in flight
	d.tracker.Symbol(bitcoin).last = d.price("48000")
	intents := d.derive(stopAt2)
	urgent := intents[len(intents)-1]
	if urgent.Purpose != placement.StopLoss || urgent.Order.Type != exchange.MarketOrder {
		t.Fatalf("want an exit at market in the name of the stop, have %+v", intents)
	}
	id := d.send(urgent)
	d.none(nil)
	d.uncertain(id)
	for range 5 { // a repetition could exit more than the plan requests
		d.now += RepeatMS
		d.none(nil)
	}
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Strategy: "one", Symbol: bitcoin, Body: record.Ended{State: placement.Absent}})
	if exit := d.one(placement.Exit, nil); exit.Order.Quantity != 5 {
		t.Errorf("want a reduction of 5 when it has ended, have %+v", exit.Order)
	}
}

func TestRestingExitWaitsForExitInPlaceOfStop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}, ExitsSet: true,
		Exits: []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: d.price("52000"), Quantity: 20}}})
	id := d.send(d.one(placement.ExitOrder, nil))
	d.acknowledge(id, 12)
	d.tracker.Symbol(bitcoin).last = d.price("48000")
	if cancel := d.one(placement.Cancel, stopAt2); cancel.OrderID != 12 {
		t.Fatalf("want the resting exit out of the way, have %+v", cancel)
	}
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Strategy: "one", Symbol: bitcoin, Body: record.Ended{State: placement.Canceled}})
	if exit := d.one(placement.StopLoss, stopAt2); exit.Order.Type != exchange.MarketOrder || exit.Order.Quantity != 20 {
		t.Errorf("want the exit at market alone, have %+v", exit.Order)
	}
}

// The exit's fill is not booked, since the request for it hangs.
func TestUnbookedExitDoesNotDelayStop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.now += 60_000
	d.observe(20, nil)
	d.target(10)
	id := d.send(d.one(placement.Exit, nil))
	d.acknowledge(id, 12)
	protects := func(desired *Desired) {
		desired.Unread = true
		desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	}
	for _, held := range []exchange.Quantity{20, 10} {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Positions: d.positions(held),
			Unread: []exchange.SymbolKey{bitcoin}})
		stops := 0
		for _, intent := range d.derive(protects) {
			if intent.Purpose == placement.StopLoss {
				stops++
			}
		}
		if stops != 1 {
			t.Errorf("with %d held: want one stop, have %d", held, stops)
		}
	}
}

// A process ended while its exit was in flight, and the next process's plan requests no exit. The position has its stop after two
// seconds, not after the fence.
func TestStopIsPlacedWhileEarlierExitIsUncertain(t *testing.T) {
	t.Parallel()
	stopWithUncertainExit(t)
}

func stopWithUncertainExit(t testing.TB) {
	d := newDesk(t)
	d.hold(20)
	d.target(0)
	exit := d.send(d.one(placement.Exit, nil))
	d.uncertain(exit)
	d.target(20)
	for _, c := range []struct {
		afterMS int64
		want    int
	}{{1_000, 0}, {1_000, 1}} {
		d.now += c.afterMS
		d.observe(20, nil)
		stops := slices.DeleteFunc(d.derive(stopAt2), func(i Intent) bool { return i.Purpose != placement.StopLoss })
		if len(stops) != c.want || c.want == 1 && !stops[0].Order.ClosePosition {
			t.Errorf("%d: want %d stops of the whole position, have %+v", d.now, c.want, stops)
		}
	}
}

// The stop's price was passed, and the position is being sold. A smaller target requests no further sale until the result is known.
func TestNoSecondSpotExitDuringExitInPlaceOfStop(t *testing.T) {
	t.Parallel()
	exitInPlaceOfAStop(t)
}

func exitInPlaceOfAStop(t testing.TB) {
	for _, target := range []exchange.Quantity{5, 0} {
		w, derive := protecting(t)
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin,
			Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: target}}}})
		w.places(placement.StopLoss, 9, saleOf(5))
		w.now += 500
		w.shows("1.01", "0")
		for _, intent := range derive() {
			if intent.Purpose == placement.Exit {
				t.Errorf("a target of %d: want no exit beside it, have %+v", target, intent)
			}
		}
	}
}

// The exchange refused an exit of a part, and no list shows whether it executed the exit anyway. The part is not sold a second time; an exit of the whole
// position, which the exchange caps, is sent.
func TestRefusedExitOfAPartWaitsForARead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		unread bool
		held   exchange.Quantity // by the list, if that is read
		target exchange.Quantity
		want   exchange.Quantity // of the next exit
	}{
		{"a part, unread", true, 20, 10, 0},
		{"the whole position, unread", true, 20, 0, 20},
		{"a part, not executed", false, 20, 10, 10},
		{"a part, executed", false, 10, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			partAfterRefusal(t, c.unread, c.held, c.target, c.want)
		})
	}
}

func partAfterRefusal(t testing.TB, unread bool, held, target, want exchange.Quantity) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.now += 60_000
	d.observe(20, nil)
	d.target(10)
	id := d.send(d.one(placement.Exit, nil))
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	d.target(target)
	snapshot := Snapshot{FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(held), Positions: d.positions(held),
		ClosedOf: []string{"BTC-USDT"}}
	if unread {
		snapshot.Unread = []exchange.SymbolKey{bitcoin}
	}
	for range 60 {
		d.now += 1_000
		fetched := snapshot
		fetched.BeganMS, fetched.EndedMS = d.now, d.now
		d.tracker.Observe(&fetched)
	}
	reduced := exchange.Quantity(0)
	for _, intent := range d.derive(nil) {
		if intent.Purpose == placement.Exit {
			reduced += intent.Order.Quantity
		}
	}
	if reduced != want {
		t.Errorf("want an exit of %d, have %d", want, reduced)
	}
}

// The exchange refuses an exit of half a position and executes it. A list of positions that is older shows all of it, but the account uses the margin of
// half of it only, before a start and after it.
func TestOldListRepeatsNoRefusedExitThatReleasedItsMargin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		restarts bool
		margin   string
		laterMS  int64
		want     exchange.Quantity
	}{
		{"the margin of half", false, "50", 1_000, 0},
		{"the margin of half, where a list has shown the exit", false, "50", 0, 0},
		{"the margin of half, after a start", true, "50", 1_000, 0},
		{"the margin of all", false, "100", 1_000, 10},
		{"the margin of all, after a start", true, "100", 1_000, 10},
		{"little less than all", false, "80", 1_000, 10},
		{"the margin of half, a minute later", false, "50", 60_000, 0},
		{"no margin is reported, a minute later", false, "", 60_000, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedExitReleased(t, c.restarts, c.margin, c.laterMS, c.want)
		})
	}
}

func refusedExitReleased(t testing.TB, restarts bool, margin string, laterMS int64, want exchange.Quantity) {
	d := newDesk(t)
	d.hold(20)
	d.now += 60_000
	d.margined(20, exchange.AmountOf(100))
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}})
	id := d.send(d.one(placement.Exit, nil))
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	if restarts {
		d.restores()
		d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	}
	if d.now += laterMS; laterMS == 0 {
		d.now += 1_000
		d.margined(10, exchange.MustAmount(margin))
	}
	for range 2 {
		d.now += 1_000
		if margin == "" {
			d.observe(20, nil)
			continue
		}
		d.margined(20, exchange.MustAmount(margin))
	}
	reduced := exchange.Quantity(0)
	for _, intent := range d.derive(nil) {
		reduced += intent.Order.Quantity
	}
	if reduced != want {
		t.Errorf("want an exit of %d, have %d", want, reduced)
	}
}

// An exit that the exchange refuses again and again displaces no refused opening from what a start remembers.
func TestRefusedExitsDisplaceNoRefusedOpening(t *testing.T) {
	t.Parallel()
	refusedOpeningAndExits(t)
}

func refusedOpeningAndExits(t testing.TB) {
	d := newDesk(t)
	d.hold(20)
	opening := d.places(placement.Entry, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: 5})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: opening, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	for range 40 {
		d.now += 1_000
		id := d.places(placement.Exit, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.MarketOrder,
			Quantity: 10, ReduceOnly: true})
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	}
	d.restores()
	if refused := d.tracker.Refused(); len(refused) != 2 || !refused[0].Opens() {
		t.Errorf("want the opening and the newest exit remembered, have %d refusals", len(refused))
	}
}

// Before the next read the refused part may be sold again: how often is up to the engine's pause between attempts. While reads fail it waits, unless the
// exit is of the whole position or nothing was refused.
func TestExitOfAPartIsRepeatedUnlessReadsFail(t *testing.T) {
	t.Parallel()
	part := strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}
	whole := strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1)} // worth less than a step
	for name, c := range map[string]struct {
		target  strategy.Target
		refused bool
		unread  bool
		want    exchange.Quantity
	}{
		"a part was refused":                           {part, true, false, 10},
		"a part was refused, and reads fail":           {part, true, true, 0},
		"nothing was refused, and reads fail":          {part, false, true, 10},
		"all of it was refused, and reads fail":        {whole, true, true, 20},
		"all of it was refused, and reads do not fail": {whole, true, false, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.hold(20)
			d.want(&strategy.Plan{Target: c.target})
			if exit := d.one(placement.Exit, nil); c.refused {
				d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.send(exit), Body: record.Refused{Code: 2999, Reason: "system busy"}})
			}
			reduced := exchange.Quantity(0)
			for _, intent := range d.derive(func(w *Desired) { w.Unread = c.unread }) {
				reduced += intent.Order.Quantity
			}
			if reduced != c.want {
				t.Errorf("want an exit of %d, have %d", c.want, reduced)
			}
		})
	}
}

// Only the refusal of an exit leaves open what is left of the position: a refused opening delays no exit of a part.
func TestRefusedOpeningDelaysNoPartialExit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.now += 60_000
	d.observe(20, nil)
	d.target(10)
	d.one(placement.Exit, nil) // the target is priced
	id := d.places(placement.Entry, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: 5})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	for range 60 {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(20),
			Positions: d.positions(20), Unread: []exchange.SymbolKey{bitcoin}})
	}
	if exit := d.one(placement.Exit, nil); exit.Order.Quantity != 10 {
		t.Errorf("want an exit of 10, have %+v", exit.Order)
	}
}

// TestDustIsClosedThoughProtectionHasNotArrived has a stop and a take-profit of uncertain outcome that no list shows. Neither may be taken
// for the order that closes the remainder.
func TestDustIsClosedThoughProtectionHasNotArrived(t *testing.T) {
	t.Parallel()
	dustWithoutProtection(t)
}

func dustWithoutProtection(t testing.TB) {
	t.Helper()
	d := holds(t, 1)
	d.target(0)
	cheap(d)
	for purpose, kind := range map[placement.Purpose]exchange.OrderType{
		placement.StopLoss: exchange.StopMarket, placement.TakeProfit: exchange.TakeProfitMarket} {
		d.uncertain(d.send(Intent{Purpose: purpose, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: kind,
			StopPrice: d.price("3900"), ClosePosition: true}}))
	}
	if have := summary(d.derive(nil)); have != "" {
		t.Errorf("a moment after: want nothing, since both may arrive, have %q", have)
	}
	d.now += 10_000
	d.observe(1, nil)
	if have := summary(d.derive(nil)); have != "stop_loss sell stop_market stop 3999.9 whole as dust: the target is flat; too small for an order of its own" {
		t.Errorf("want the remainder closed, have %q", have)
	}
}
