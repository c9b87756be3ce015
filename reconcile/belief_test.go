package reconcile

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The tests of this file cover reads that contradict each other: one read shows or omits a position or order
// while another read of the same thing is missing or differs. Each was a seed beyond the bounds that failed.

// A strategy that sees no position would target one slice, and its position would be sold down to that slice
// once the list is right again. So the strategy keeps seeing the position.
func TestStrategyKeepsPositionThatOneListOmits(t *testing.T) {
	t.Parallel()
	heldWhereAListShowsNone(t)
}

func heldWhereAListShowsNone(t testing.TB) {
	d, protect, orders := guarded(t)
	symbol := d.tracker.Symbol(bitcoin)
	for range 3 {
		d.now += 1_000
		d.observe(0, nil, orders...)
		if symbol.DecisionPosition() != 20 {
			t.Fatalf("want 20 shown while the list alone shows none, have %d", symbol.DecisionPosition())
		}
	}
	d.now += 1_000
	d.observe(10, nil, orders...)
	if symbol.DecisionPosition() != 20 {
		t.Errorf("want 20 shown while the list alone shows 10, have %d", symbol.DecisionPosition())
	}
	if intents := d.derive(protect); len(intents) != 0 {
		t.Errorf("want its orders as they were, have %+v", intents)
	}
	d.observeClosed(0, 7)
	if symbol.DecisionPosition() != 0 {
		t.Errorf("want none shown once a witness shows that it has ended, have %d", symbol.DecisionPosition())
	}
}

// The process died while it sent the stop. The list then shows no position, but nothing confirms the list.
func TestUncertainStopIsReplacedWhenListIsEmpty(t *testing.T) {
	t.Parallel()
	lostStop(t)
}

func lostStop(t testing.TB) {
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	}
	d.uncertain(d.send(d.one(placement.StopLoss, protect)))
	d.now += 3_000
	d.observe(0, nil)
	stop := d.one(placement.StopLoss, protect)
	if !stop.Order.ClosePosition || stop.Order.Side != exchange.Sell {
		t.Errorf("want a stop of the whole position, have %+v", stop)
	}
}

// The exchange refused the stop and accepted the take-profit. The list then shows no position, and positions/history no end of it.
func TestRefusedStopReturnsWithOpenTakeProfit(t *testing.T) {
	t.Parallel()
	stopWithAProfit(t)
}

func stopWithAProfit(t testing.TB) {
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Share: 2_000_000}}
	}
	profit := d.whole(placement.TakeProfit, 12, exchange.Sell, "51000")
	d.now += 3_000
	d.observe(0, nil, exchange.Order{ID: 12, ClientOrderID: profit, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.TakeProfitMarket, ClosePosition: true, Status: exchange.StatusNew})
	stops := 0
	for _, one := range d.derive(protect) {
		if one.Purpose == placement.StopLoss && one.Order.ClosePosition {
			stops++
		}
	}
	if stops != 1 {
		t.Errorf("want a stop of the whole position, have %d", stops)
	}
}

// The position gets its stop although the other list's row and the entry cannot be read.
func TestPositionInEitherListIsProtected(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]bool{"the earlier list shows it": false, "the later list shows it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shownOnce(t, later)
		})
	}
}

func shownOnce(t testing.TB, later bool) {
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	d.acknowledge(d.send(d.one(placement.Entry, nil)), 11)
	d.now += 1_000
	snapshot := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(20),
		Positions: d.positions(0), Unread: []exchange.SymbolKey{bitcoin}, UnreadPositions: []exchange.SymbolKey{bitcoin}}
	if later {
		snapshot.Before, snapshot.Positions = snapshot.Positions, snapshot.Before
	}
	d.tracker.Observe(snapshot)
	if symbol := d.tracker.Symbol(bitcoin); symbol.settled {
		t.Error("want nothing concluded from it")
	}
	d.one(placement.StopLoss, func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	})
}

// A start knows its position, and one list of each snapshot does not show it.
func TestPositionInOneListIsProtectedAfterStart(t *testing.T) {
	t.Parallel()
	shownOnceAfterStart(t)
}

func shownOnceAfterStart(t testing.TB) {
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	d.tracker.Symbol(bitcoin).observation = observation{}
	for _, shown := range [][2]exchange.Quantity{{20, 0}, {0, 20}} {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			Before: d.positions(shown[0]), Positions: d.positions(shown[1]), ClosedOf: []string{"BTC-USDT"}})
		if d.tracker.Symbol(bitcoin).settled {
			t.Error("want nothing concluded from it")
		}
		d.one(placement.StopLoss, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
		})
	}
}

// The exchange executed the entry twice, and botd has sold its own part. One list does not show the remainder.
func TestUnexplainedPositionKeepsStopAgainstOneList(t *testing.T) {
	t.Parallel()
	shownByOneList(t)
}

func shownByOneList(t testing.TB) {
	d, protect, orders := guarded(t)
	d.target(0)
	id := d.send(d.one(placement.Exit, protect))
	d.acknowledge(id, 21)
	sold := d.order(id, 21, exchange.StatusFilled, 20, 20)
	sold.Side = exchange.Sell
	d.now += 1_000
	d.observe(20, []OrderByID{{OrderID: 21, Known: true, Order: sold}}, orders...)
	d.now += 1_000
	d.observe(0, nil, orders...)
	d.none(protect)
	for range testSettle.StalenessMS/1_000 + 1 {
		d.now += 1_000
		d.observe(0, nil, orders...)
	}
	d.none(protect) // however long it takes: no fill can show the end of an unexplained position
	if since, ask := d.tracker.NeedsPositionHistory(d.tracker.Symbol(bitcoin)); !ask || since >= d.now {
		t.Errorf("want positions/history read, have %t since %d", ask, since)
	}
	d.now += 1_000
	d.observeClosed(0, 6, orders...)
	d.none(protect) // the end of another position
	d.now += 1_000
	d.observeClosed(0, 7, orders...)
	if intents := d.derive(protect); len(intents) != 2 || intents[0].Purpose != placement.Cancel || intents[1].Purpose != placement.Cancel {
		t.Errorf("want both orders taken off once positions/history shows its end, have %+v", intents)
	}
	if _, ask := d.tracker.NeedsPositionHistory(d.tracker.Symbol(bitcoin)); ask {
		t.Error("want positions/history read no more")
	}
}

// The entry's fill is not booked, and the entry's row cannot be read.
func TestStopStaysWhileEntryIsUnreadable(t *testing.T) {
	t.Parallel()
	entryUnread(t)
}

func entryUnread(t testing.TB) {
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	d.acknowledge(d.send(d.one(placement.Entry, nil)), 11)
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	}
	reads := func(signed exchange.Quantity, orders ...exchange.Order) {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders), Positions: d.positions(signed),
			Unread: []exchange.SymbolKey{bitcoin}})
	}
	reads(20)
	id := d.send(d.one(placement.StopLoss, protect))
	d.acknowledge(id, 12)
	stop := d.order(id, 12, exchange.StatusNew, 0, 0)
	stop.Side, stop.Type, stop.ClosePosition = exchange.Sell, exchange.StopMarket, true
	for range testSettle.StalenessMS/1_000 + 5 {
		reads(0, stop)
		d.none(protect)
	}
}

// An unexplained position may have ended without any evidence; flattening cancels its stops anyway.
func TestFlattenCancelsStopsOfUnexplainedPosition(t *testing.T) {
	t.Parallel()
	d, protect, orders := guarded(t)
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -20}})
	d.now += 1_000
	d.observe(20, nil, orders...)
	for range testSettle.StalenessMS/1_000 + 2 {
		d.now += 1_000
		d.observe(0, nil, orders...)
	}
	d.none(protect)
	intents, _ := d.tracker.Derive(&Desired{Strategy: d.tracker.Strategy("one").Halted(record.LevelFlatten), Symbol: d.tracker.Symbol(bitcoin),
		Flatten: true}, d.now)
	if len(intents) != 2 || intents[0].Purpose != placement.Cancel {
		t.Errorf("want both orders taken off, have %+v", intents)
	}
}

// The position is unexplained, and nothing was booked in the ten seconds before the stop was sent.
func TestStopFromBeforeStartStaysUntilItsPositionEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		bookedMS int64 // how long before the stop was sent
		closedMS int64 // how long after it was sent, by positions/history; 0 for no row
		want     bool
	}{
		{"nothing shows that it has ended", 10_001, 0, true},
		{"a position ended before it was sent", 10_001, -1_000, true},
		{"a position ended since", 10_001, 1, false},
		{"a position ended a second later", 10_001, 1_000, false},
		{"something was booked shortly before", 10_000, 0, false},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		sentMS := d.now
		d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
		d.tracker.Apply(&record.Record{AtMS: sentMS - c.bookedMS, Symbol: bitcoin, Body: record.Adopted{Quantity: 20}})
		d.tracker.Apply(&record.Record{AtMS: sentMS - c.bookedMS, Symbol: bitcoin, Body: record.Adopted{Quantity: -20}})
		d.now += 60_000
		d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: d.tracker.Epoch() + 1}})
		d.now += 1_000
		snapshot := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Positions: d.positions(0)}
		if c.closedMS != 0 {
			snapshot.Closed = []exchange.Position{{ID: 3, Symbol: "BTC-USDT", Side: exchange.Long, UpdatedMS: sentMS + c.closedMS}}
		}
		d.tracker.Observe(snapshot)
		if have := d.tracker.protectsUnexplained(d.tracker.LiveAt(0), d.tracker.Symbol(bitcoin)); have != c.want {
			t.Errorf("%s: want it kept %t, have %t", c.name, c.want, have)
		}
	}
}

// The exchange accepts no second closePosition order of a type, so a stop of the other side is canceled.
func TestStopOfOppositeSideIsCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		shown exchange.Quantity // by the list, while the fills explain 20
		side  exchange.Side     // of the stop
		want  bool
	}{
		{"of the other side", 20, exchange.Buy, true},
		{"of this side", 20, exchange.Sell, false},
		{"of the other side, and the list shows less", 10, exchange.Buy, true},
		{"of the other side, and the list shows more", 25, exchange.Buy, false},
		{"of the other side, which the list shows", -20, exchange.Buy, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opposite(t, c.shown, c.side, c.want)
		})
	}
}

func opposite(t testing.TB, shown exchange.Quantity, side exchange.Side, want bool) {
	d := holds(t, 20)
	d.whole(placement.StopLoss, 12, side, "51000")
	d.observe(shown, nil)
	canceled := slices.ContainsFunc(d.derive(stopAt2), func(i Intent) bool {
		return i.Purpose == placement.Cancel && strings.Contains(i.Reason, "the other side")
	})
	if canceled != want {
		t.Errorf("want it canceled %t, have %t", want, canceled)
	}
}

// A due exit leaves no room for a bridge, and the exchange may refuse the bridge.
func TestAnExitThatIsDueMovesNoStop(t *testing.T) {
	t.Parallel()
	dueExit(t)
}

func dueExit(t testing.TB) {
	d := holds(t, 20)
	d.whole(placement.StopLoss, 12, exchange.Sell, "48000")
	d.now += int64(exchange.Minute1)
	d.target(0)
	intents := d.derive(func(w *Desired) { stopAt2(w); w.Bridge = true })
	if len(intents) != 1 || intents[0].Purpose != placement.Exit {
		t.Errorf("want the exit alone, have %+v", intents)
	}
}

// A stop's fill beyond the known position has ended an unexplained position. While an unanswered opening may explain the excess, its fill is
// yet to be booked.
func TestReducingFillOpensNoPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known, ignored, filled exchange.Quantity
		opening                bool
		want                   exchange.Quantity // known afterwards
	}{
		"nothing was known":          {0, 0, 20, false, 0},
		"part of it was known":       {5, 0, 20, false, 0},
		"all of it was known":        {20, 0, 20, false, 0},
		"more was known":             {30, 0, 20, false, 10},
		"an opening is not answered": {0, 0, 20, true, -20},
		"others hold part of it":     {5, 15, 20, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reducesBeyond(t, c.known, c.ignored, c.filled, c.opening, c.want)
		})
	}
}

func reducesBeyond(t testing.TB, known, ignored, filled exchange.Quantity, opening bool, want exchange.Quantity) {
	d := newDesk(t)
	d.adopt(known)
	if ignored != 0 {
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: ignored}})
	}
	if opening {
		d.uncertain(d.places(placement.Entry, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
			Type: exchange.MarketOrder, Quantity: 20}))
	}
	id := d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
	d.now += 1_000
	stop := d.order(id, 12, exchange.StatusFilled, 0, filled)
	stop.Side, stop.ClosePosition = exchange.Sell, true
	d.observe(max(0, known-filled), []OrderByID{{OrderID: 12, Known: true, Order: stop}})
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != want || symbol.Ignored() != 0 {
		t.Errorf("want %d known and nothing left to others, have %d, %d", want, symbol.Known(), symbol.Ignored())
	}
}

// One list showed the unexplained position, the next ones do not.
func TestOpeningWaitsForEndOfUnexplainedPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proof func(d *desk)
		opens bool
	}{
		"nothing proves it":                 {func(*desk) {}, false},
		"positions/history shows it closed": {func(d *desk) { d.observeClosed(0, 7) }, true},
		"it shows another one closed":       {func(d *desk) { d.observeClosed(0, 8) }, false},
		"a person decided so":               {func(d *desk) { d.tracker.Symbol(bitcoin).EndContradiction() }, true},
		"a fill was booked since": {func(d *desk) {
			sold := d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true})
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: sold, Body: record.Ended{OrderID: 12, State: placement.Filled, Filled: 20}})
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 20}})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unexplainedVanishes(t, c.proof, c.opens)
		})
	}
}

func unexplainedVanishes(t testing.TB, proof func(d *desk), opens bool) {
	d := holds(t, 5)
	d.adopt(-5)
	d.now += 60_000
	d.observe(0, nil)
	d.now += 1_000
	d.observe(10, nil)
	for range testSettle.StalenessMS/1_000 + 5 {
		d.now += 1_000
		d.observe(0, nil)
	}
	symbol := d.tracker.Symbol(bitcoin)
	if _, ask := d.tracker.NeedsPositionHistory(symbol); !ask || symbol.settled || symbol.contradicted == "" {
		t.Errorf("want positions/history asked for and a state declared, have asked %t, settled %t, %q", ask, symbol.settled, symbol.contradicted)
	}
	proof(d)
	d.now += 1_000
	d.observe(0, nil)
	if symbol.settled != opens {
		t.Errorf("want it settled %t, have %t: %q", opens, symbol.settled, symbol.contradicted)
	}
}

// The list shows none of the position and is not trusted, so no exit is sent for it.
func TestNoPartialExitWhileListOmitsPosition(t *testing.T) {
	t.Parallel()
	partOfNone(t)
}

func partOfNone(t testing.TB) {
	d, protect, orders := guarded(t)
	d.target(10)
	if len(d.derive(protect)) != 1 {
		t.Error("want an exit of ten, which the exchange refuses")
	}
	for range 8 {
		d.now += 1_000
		d.observe(0, nil, orders...)
		d.none(protect)
	}
	d.now += 1_000
	d.observe(20, nil, orders...)
	if intents := d.derive(protect); len(intents) != 1 || intents[0].Purpose != placement.Exit || intents[0].Order.Quantity != 10 {
		t.Errorf("want ten sold once the list shows the twenty, have %+v", intents)
	}
}

// The account has reported margin in use before, and now reports none.
func TestListedPositionWithoutMarginIsRejected(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignAdopt, ForeignIgnore} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			marginOfNone(t, policy)
		})
	}
}

func marginOfNone(t testing.TB, policy string) {
	d, _, _ := guarded(t)
	d.tracker.foreignPolicy = policy
	symbol := d.tracker.Symbol(bitcoin)
	d.margined(20, exchange.MustAmount("100"))
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -20}})
	for range testSettle.StalenessMS/1_000 + 5 {
		d.now += 1_000
		d.margined(20, exchange.Amount{})
	}
	if symbol.Known() != 0 || symbol.Ignored() != 0 || symbol.contradicted == "" {
		t.Errorf("want none known and it contradicted, have %d known, %d ignored, %q", symbol.Known(), symbol.Ignored(), symbol.contradicted)
	}
}

// A list that is older than botd's own sale shows more than the position.
func TestExcessWithoutMarginIsNotForeign(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignAdopt, ForeignIgnore} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			marginOfLess(t, policy)
		})
	}
}

func marginOfLess(t testing.TB, policy string) {
	d, _, _ := guarded(t)
	d.tracker.foreignPolicy = policy
	symbol := d.tracker.Symbol(bitcoin)
	for range testSettle.StalenessMS/1_000 + 5 {
		d.now += 1_000
		d.margined(40, exchange.MustAmount("100")) // margin of 20 steps at 50,000 USDT and 10 times
	}
	if symbol.Known() != 20 || symbol.Ignored() != 0 || symbol.contradicted == "" || symbol.settled {
		t.Errorf("want 20 known and it contradicted, have %d known, %d ignored, %q", symbol.Known(), symbol.Ignored(), symbol.contradicted)
	}
	d.now += 1_000
	d.margined(20, exchange.MustAmount("100"))
	if symbol.contradicted != "" || !symbol.settled {
		t.Errorf("want it over, have %q, settled %t", symbol.contradicted, symbol.settled)
	}
}

// A person reduced the adopted position, botd's own exit ended it, and a restart has forgotten which position the list had
// shown.
func TestRowOpenAtAdoptionIsTheAdoptedPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		openS, closeS int64 // of the row, relative to the adoption
		ended         bool
	}{
		{"open before it and closed after it", -20, 30, true},
		{"closed before it", -20, -15, false},
		{"opened too shortly before it for any clock", -5, 30, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			adoptedThenEnded(t, c.openS*1_000, c.closeS*1_000, c.ended)
		})
	}
}

func adoptedThenEnded(t testing.TB, openMS, closeMS int64, ended bool) {
	d := newDesk(t)
	symbol, adoptedMS := d.tracker.Symbol(bitcoin), d.now
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: 20, Evidence: "made outside botd"}})
	d.target(0)
	d.now += 28_000
	d.observe(20, nil)
	id := d.send(d.one(placement.Exit, nil))
	d.acknowledge(id, 21)
	d.now += 3_000
	d.ended(id, placement.Canceled, 12)
	symbol.futuresEvidence, symbol.seen = futuresEvidence{}, nil // as after a restart
	for range testSettle.StalenessMS/1_000 + 5 {
		d.now += 1_000
		d.ends(&exchange.Position{ID: 7, Side: exchange.Long, Quantity: 20, CreatedMS: adoptedMS + openMS, UpdatedMS: adoptedMS + closeMS})
	}
	if (symbol.Known() == 0) != ended || (symbol.contradicted == "") != ended {
		t.Errorf("want it ended %t, have %d known, %q", ended, symbol.Known(), symbol.contradicted)
	}
}

// The process died while it sent an exit, the position has its stops again, and a wrong wallet shows half of the frozen
// amount.
func TestWalletThatFreezesTooLittleCancelsNoStop(t *testing.T) {
	t.Parallel()
	for name, quarantined := range map[string]bool{"beside an uncertain exit": false, "in a quarantine": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			halfAWallet(t, quarantined)
		})
	}
}

func halfAWallet(t testing.TB, quarantined bool) {
	w, derive := protecting(t)
	if quarantined {
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
	} else {
		w.places(placement.Exit, 0, saleOf(6))
		w.now += 3_000
		w.shows("1.01", "0")
	}
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 1_000
	w.shows("1", "0.01", stop)
	w.now += 1_000
	w.shows("0.999", "0.005", stop)
	if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
		t.Errorf("want the stop to stand, have %+v", intents)
	}
}

// Lists omit ids, and the exchange executed a purchase twice.
func TestEqualRowWithoutIDIsARepetition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*exchange.Order)
		known  exchange.Quantity
	}{
		{"of the same amount, a second later", func(*exchange.Order) {}, 20},
		{"of another amount", func(o *exchange.Order) { o.QuoteAmount = exchange.AmountOf(501) }, 10},
		{"of the same amount, a minute later", func(o *exchange.Order) { o.CreatedMS += 60_000 }, 10},
		{"a sale", func(o *exchange.Order) { o.Side = exchange.Sell }, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repeatedWithoutID(t, c.change, c.known)
		})
	}
}

func repeatedWithoutID(t testing.TB, change func(*exchange.Order), known exchange.Quantity) {
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	own := w.places(placement.Entry, 5, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	own.ClientOrderID, own.QuoteAmount, own.Filled, own.Status = "", exchange.AmountOf(500), 10, exchange.StatusFilled
	again := own
	again.ID, again.CreatedMS = 6, own.CreatedMS+1_000
	change(&again)
	w.now += 1_000
	w.sees("1.02", "0", []exchange.Order{own, again})
	symbol := w.tracker.Symbol(coin)
	if symbol.Known() != known || (symbol.Quarantine() != "") != (known == 20) {
		t.Errorf("want %d known, have %d, quarantined %q", known, symbol.Known(), symbol.Quarantine())
	}
}

// A purchase whose answer was lost has the same amount as another one, sent a second earlier.
func TestRowWithoutIDIsFirstTheLostPurchase(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	row := func(id int64) exchange.Order {
		own := w.places(placement.Entry, id, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
		own.ClientOrderID, own.QuoteAmount, own.Filled, own.Status = "", exchange.AmountOf(500), 10, exchange.StatusFilled
		return own
	}
	first := row(5)
	w.now += 1_000
	w.sees("1.01", "0", []exchange.Order{first})
	second := row(0)
	second.ID = 6
	w.now += 1_000
	w.sees("1.02", "0", []exchange.Order{first, second})
	symbol := w.tracker.Symbol(coin)
	if symbol.Known() != 10 || len(w.tracker.uncertainOn(coin)) != 1 || symbol.Cause() == record.ExecutedBeyond {
		t.Errorf("want it unknown still, have %d known, quarantined %q", symbol.Known(), symbol.Quarantine())
	}
}

// The answer to a purchase was lost, and a person decided that the holding is botd's.
func TestRowWithoutIDDoesNotRepeatAdoptedPurchase(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	own := w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Body: record.Ended{State: placement.Absent, Evidence: "a person decided"}})
	w.apply(record.Record{AtMS: w.now, Symbol: coin, ClientOrderID: own.ClientOrderID, Body: record.Adopted{Quantity: 10, Evidence: "a person decided"}})
	row := own
	row.ID, row.ClientOrderID, row.QuoteAmount, row.Filled, row.Status = 6, "", exchange.AmountOf(500), 10, exchange.StatusFilled
	w.now += 1_000
	w.tracker.idsLeftOut = true
	w.sees("1.01", "0", []exchange.Order{row})
	if symbol := w.tracker.Symbol(coin); symbol.Known() != 10 || symbol.Quarantine() != "" {
		t.Errorf("want 10 known, have %d, quarantined %q", symbol.Known(), symbol.Quarantine())
	}
}

// A refused exit that rests anyway counts as an exit of the plan, and no second exit is placed next to it.
func TestRefusedExitThatIsLiveCountsAsExit(t *testing.T) {
	t.Parallel()
	exitBeyondItsAnswer(t)
}

func exitBeyondItsAnswer(t testing.TB) {
	w, _ := protecting(t)
	order := saleOf(6)
	order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.Exit, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Refused{Reason: "forbidden", Code: 2998}})
	w.now += 1_000
	standing := exchange.Order{ID: 30, ClientOrderID: order.ClientOrderID, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.Limit, Quantity: 6, Price: order.Price, Status: exchange.StatusOpen, CreatedMS: w.now}
	w.shows("1.004", "0.006", standing)
	p := w.tracker.Placement(duplicateID(&standing))
	if p == nil || p.Purpose() != placement.Exit {
		t.Errorf("want the exit that stands held as an exit, have %+v", p)
	}
}

// A moved stop's replacement would have to wait.
func TestNoStopMovesWhereTheExchangeRefusesStops(t *testing.T) {
	t.Parallel()
	movesAfterARefusal(t, false, false)
	movesAfterARefusal(t, true, false)
	movesAfterARefusal(t, false, true)
}

// movesAfterARefusal has the exchange refuse a stop. It then accepts another one, or botd starts again.
func movesAfterARefusal(t testing.TB, accepts, restarts bool) {
	w, derive := protecting(t)
	elsewhere := stopOf(10)
	elsewhere.Price, elsewhere.StopPrice = 45_000e8, 47_000e8
	stop := w.places(placement.StopLoss, 8, elsewhere)
	refused := stopOf(10)
	refused.Market, refused.Symbol, refused.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: refused.ClientOrderID,
		Body: record.Sending{Order: refused, Purpose: placement.StopLoss, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: refused.ClientOrderID, Body: record.Refused{Reason: "system busy", Code: 2999}})
	if !slices.ContainsFunc(w.tracker.RefusedIntents(), func(r account.RefusedIntent) bool { return r.Purpose == placement.StopLoss }) {
		t.Fatal("want the refusal remembered")
	}
	if accepts {
		next := w.places(placement.StopLoss, 9, stopOf(10))
		w.tracker.NoteCancel(next.ClientOrderID, w.now)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: next.ClientOrderID, Body: record.Fill{OrderID: 9}})
		w.apply(record.Record{AtMS: w.now, ClientOrderID: next.ClientOrderID, Body: record.Ended{OrderID: 9, State: placement.Canceled}})
	}
	if rules := w.tracker.Symbol(coin).rules; restarts {
		w.start()
		w.tracker.Symbol(coin).rules = rules
		derive = w.deriver()
	}
	for range 10 {
		w.now += 1_000
		w.shows("1", "0.01", stop)
		if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
			t.Fatalf("want the stop to stand, have %+v", intents)
		}
	}
	for range 60 {
		w.now += 1_000
		w.shows("1", "0.01", stop)
	}
	if intents := derive(); !slices.Contains(purposes(intents), placement.Cancel) {
		t.Errorf("want it moved a minute later, have %+v", intents)
	}
}
