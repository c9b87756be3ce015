package reconcile

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The exchange executed the entry twice, and botd has sold its part.
func TestListedRemainderIsProtectedAtOnce(t *testing.T) {
	t.Parallel()
	for _, shown := range []exchange.Quantity{40, 20} {
		leftOfShown(t, shown, shown == 40)
	}
}

func leftOfShown(t testing.TB, shown exchange.Quantity, want bool) {
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.observe(shown, nil)
	d.target(0)
	id := d.send(d.one(placement.Exit, nil))
	d.acknowledge(id, 21)
	sold := d.order(id, 21, exchange.StatusFilled, 20, 20)
	sold.Side = exchange.Sell
	d.now += 1_000
	d.observe(20, []OrderByID{{OrderID: 21, Known: true, Order: sold}})
	intents := d.derive(func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})
	if have := slices.Contains(purposes(intents), placement.StopLoss); have != want {
		t.Errorf("%d shown before: want a stop %t, have %+v", shown, want, intents)
	}
}

// The exchange executed the entry twice, and no list showed the whole before botd sold its part. Where a read may be 15 s old, the rest does not wait so long
// for its stop: if the exchange has ended the position, it refuses the stop. An uncertain opening may explain the rest.
func TestUnexplainedPositionWaitsTwoSecondsForItsStop(t *testing.T) {
	t.Parallel()
	unexplainedWaits(t)
}

func unexplainedWaits(t testing.TB) {
	t.Helper()
	for _, c := range []struct {
		name        string
		stalenessMS int64
		afterMS     int64
		with        func(d *desk)
		want        bool
	}{
		{"it was sold a second ago", 15_000, 1_000, nil, false},
		{"two seconds ago", 15_000, 2_000, nil, false},
		{"longer ago", 15_000, 2_001, nil, true},
		{"no read is older than a second", 1_000, 1_001, nil, true},
		{"an opening is uncertain", 15_000, 2_001, func(d *desk) { d.uncertain(d.places(placement.Entry, buys)) }, false},
		{"others are ignored", 15_000, 2_001, func(d *desk) { d.tracker.foreignPolicy = ForeignIgnore }, false},
	} {
		d := newDeskWith(t, placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: c.stalenessMS})
		d.hold(20)
		d.now += 60_000
		d.observe(20, nil)
		d.target(0)
		id := d.send(d.one(placement.Exit, nil))
		d.acknowledge(id, 21)
		sold := d.order(id, 21, exchange.StatusFilled, 20, 20)
		sold.Side = exchange.Sell
		d.now += 1_000
		d.observe(20, []OrderByID{{OrderID: 21, Known: true, Order: sold}})
		if c.with != nil {
			c.with(d)
		}
		d.now += c.afterMS
		d.observe(20, nil)
		intents := d.derive(func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
		})
		if have := slices.Contains(purposes(intents), placement.StopLoss); have != c.want {
			t.Errorf("%s: want a stop %t, have %+v", c.name, c.want, intents)
		}
	}
}

// Since a start, position lists have shown what no fill explains, and the open list cannot be read: nothing may come that explains it, so it gets its stop
// (seed 890061313).
func TestUnexplainedPositionIsProtectedWithoutTheOpenList(t *testing.T) {
	t.Parallel()
	shownByPositionsAlone(t)
}

func shownByPositionsAlone(t testing.TB) {
	t.Helper()
	d := newDeskWith(t, placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 15_000})
	id := d.send(Intent{Purpose: placement.Entry, Order: buys})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: placement.Canceled, OrderID: 11}})
	d.now += 60_000
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	firstMS := d.now
	for _, c := range []struct {
		afterMS int64
		want    bool
	}{{0, false}, {1_000, false}, {1_000, false}, {1, true}} {
		d.now += c.afterMS
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Before: d.positions(20), Positions: d.positions(20), Unread: []exchange.SymbolKey{bitcoin}})
		intents := d.derive(func(w *Desired) {
			w.Unread = true
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
		})
		if have := slices.Contains(purposes(intents), placement.StopLoss); have != c.want {
			t.Errorf("%d ms after it was first shown: want a stop %t, have %+v", d.now-firstMS, c.want, intents)
		}
	}
}

// The tracker stores its id, since when it is shown so, and when it was last shown, until fills explain the position or positions/history
// shows its end.
func TestNotesOfUnexplainedPosition(t *testing.T) {
	t.Parallel()
	row := func(id int64, change func(p *exchange.Position)) []exchange.Position {
		return []exchange.Position{ended(id, func(p *exchange.Position) {
			if p.UpdatedMS = 700_000; change != nil {
				change(p)
			}
		})}
	}
	for _, c := range []struct {
		name           string
		known, ignored exchange.Quantity
		shown          exchange.Quantity
		before         int64 // the position stored before
		closed         []exchange.Position
		want           string // its id, since when, last shown at; the last end that was shown
	}{
		{"nothing is explained", 0, 0, 20, 0, nil, "7 1000000 999999; 0"},
		{"less is", 10, 0, 20, 0, nil, "7 1000000 999999; 0"},
		{"it was shown so before", 0, 0, 20, 7, nil, "7 5 999999; 0"},
		{"another was", 0, 0, 20, 6, nil, "7 1000000 999999; 0"},
		{"all of it is explained", 20, 0, 20, 7, nil, "0 5 4; 0"},
		{"one is, which is all", 1, 0, 1, 7, nil, "0 5 4; 0"},
		{"others hold it", 0, 20, 20, 7, nil, "0 5 4; 0"},
		{"none is shown", 0, 0, 0, 7, nil, "7 5 4; 0"},
		{"none is shown of what is known", 10, 0, 0, 7, nil, "7 5 4; 0"},
		{"its end is shown", 0, 0, 0, 7, row(7, nil), "0 5 4; 700000"},
		{"the end of another is", 0, 0, 0, 7, row(8, nil), "7 5 4; 700000"},
		{"it is shown to be smaller", 0, 0, 0, 7, row(7, func(p *exchange.Position) { p.Remaining = 1 }), "7 5 4; 0"},
		{"the end of another symbol's is", 0, 0, 0, 7, row(7, func(p *exchange.Position) { p.Symbol = "ETH-USDT" }), "7 5 4; 0"},
	} {
		d := newDesk(t)
		d.tracker.Apply(&record.Record{AtMS: 1, Symbol: bitcoin, Body: record.Adopted{Quantity: c.known}})
		d.tracker.Apply(&record.Record{AtMS: 1, Symbol: bitcoin, Body: record.Ignored{Quantity: c.ignored}})
		symbol := d.tracker.Symbol(bitcoin)
		if symbol.unexplainedID = c.before; c.before != 0 {
			symbol.unexplainedFromMS, symbol.unexplainedMS = 5, 4
		}
		s := d.shows(symbol, c.shown)
		s.fetched.BeganMS, s.fetched.Closed = d.now-1, c.closed
		s.positionComparison().noteClosed(symbol)
		s.positionComparison().noteUnexplained(symbol)
		have := fmt.Sprintf("%d %d %d; %d", symbol.unexplainedID, symbol.unexplainedFromMS, symbol.unexplainedMS, symbol.closedMS)
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// No fill explained the position.
func TestEmptyListIsNotTrustedForL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unexplainedMS, readBeganMS int64
		want                       bool
	}{{500_000, 500_000, true}, {500_000, 501_000, true}, {500_000, 501_001, false}, {0, 501_001, false}} {
		d := newDesk(t)
		d.tracker.Symbol(bitcoin).unexplainedMS, d.tracker.readBeganMS = c.unexplainedMS, c.readBeganMS
		if have := d.deriving(nil).shownUnexplained(); have != c.want {
			t.Errorf("shown at %d, a list of %d: want %t, have %t", c.unexplainedMS, c.readBeganMS, c.want, have)
		}
	}
}

// No list shows a position any more. The order may protect it while positions/history has not shown its end. The history is requested from
// eleven seconds before, which is L plus the possible clock difference.
func TestStopMayProtectUnexplainedPosition(t *testing.T) {
	t.Parallel()
	const startMS, stopMS = 2_000_000, 1_101_500
	known := func(quantity exchange.Quantity) func(d *desk, s *SymbolState) {
		return func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: 1_000_000, Symbol: bitcoin, Body: record.Adopted{Quantity: quantity}})
		}
	}
	shown := func(atMS int64) func(d *desk, s *SymbolState) {
		return func(_ *desk, s *SymbolState) { s.unexplainedID, s.unexplainedMS = 7, atMS }
	}
	for _, c := range []struct {
		name   string
		sentMS int64
		whole  bool // it closes the whole position
		with   func(d *desk, s *SymbolState)
		want   int64 // since when positions/history is read; -1 if it does not protect such a position
	}{
		{"the list has shown one since the start", startMS + 500, true, shown(startMS + 400), startMS + 400 - 11_000},
		{"the list has shown one after it was sent", startMS + 500, true, shown(startMS + 600), startMS + 600 - 11_000},
		{"the list has shown one in the first seconds", 5_000, true, shown(4_000), 0},
		{"the list has shown one, and a fill was booked since", startMS + 500, true, func(d *desk, s *SymbolState) {
			shown(startMS+400)(d, s)
			sold := d.rests(placement.Exit, 13, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true})
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: sold, Body: record.Ended{OrderID: 13, State: placement.Filled, Filled: 20}})
			known(20)(d, s)
		}, startMS + 400 - 11_000},
		{"an order of a quantity", startMS + 500, false, shown(startMS + 400), startMS + 400 - 11_000}, // the position left the list: no order is needed
		{"a position is known", startMS + 500, true, func(d *desk, s *SymbolState) { shown(startMS+400)(d, s); known(20)(d, s) }, -1},
		{"a position is shown", startMS + 500, true, func(d *desk, s *SymbolState) { shown(startMS+400)(d, s); s.position = 20 }, -1},
		{"no list has shown one", startMS + 500, true, nil, -1},
		{"it was sent before the start", stopMS, true, nil, 0},
		{"it was sent in the moment of the start", startMS, true, nil, -1},
		{"ten seconds after something was booked", stopMS, true, func(d *desk, s *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: stopMS - 10_000, Symbol: bitcoin, Body: record.Adopted{Quantity: 5}})
			d.tracker.Apply(&record.Record{AtMS: stopMS - 10_000, Symbol: bitcoin, Body: record.Adopted{Quantity: -5}})
		}, -1},
		{"more than ten seconds after", stopMS, true, func(d *desk, s *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: stopMS - 10_001, Symbol: bitcoin, Body: record.Adopted{Quantity: 5}})
			d.tracker.Apply(&record.Record{AtMS: stopMS - 10_001, Symbol: bitcoin, Body: record.Adopted{Quantity: -5}})
		}, 0},
		{"one ended in the second in which it was sent", stopMS, true, func(_ *desk, s *SymbolState) { s.closedMS = 1_101_000 }, -1},
		{"one ended before that", stopMS, true, func(_ *desk, s *SymbolState) { s.closedMS = 1_100_999 }, 0},
	} {
		d := newDesk(t)
		if d.now = c.sentMS; c.whole {
			d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
		} else {
			d.resting(12, 5)
		}
		symbol := d.tracker.Symbol(bitcoin)
		d.tracker.bootMS = startMS
		if c.with != nil {
			c.with(d, symbol)
		}
		if since, ask := d.tracker.NeedsPositionHistory(symbol); ask != (c.want >= 0) || since != max(0, c.want) {
			t.Errorf("%s: want since %d, have %d, %t", c.name, c.want, since, ask)
		}
	}
	w := explains(t, 0, 0)
	w.places(placement.StopLoss, 9, exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true, StopPrice: 49_000e8})
	w.tracker.Symbol(coin).unexplainedID = 7
	if _, ask := w.tracker.NeedsPositionHistory(w.tracker.Symbol(coin)); ask {
		t.Error("want no positions/history of spot, which has none")
	}
}

// A list without a position that no fill explained contradicts the earlier one after L, unless a fill was booked since that one was read: it may have ended
// the position.
func TestUnexplainedPositionVanishesAfterStaleness(t *testing.T) {
	t.Parallel()
	for afterMS, want := range map[int64]string{500: "", testSettle.StalenessMS: "", testSettle.StalenessMS + 1: vanishedUnexplained} {
		d := newDesk(t)
		d.observe(10, nil)
		d.now += afterMS
		d.observe(0, nil)
		if have := d.tracker.Symbol(bitcoin).Contradicted(); have != want {
			t.Errorf("after %d ms: want %q, have %q", afterMS, want, have)
		}
	}
	d := newDesk(t)
	d.observe(10, nil)
	sold := d.rests(placement.Exit, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: sold, Body: record.Ended{OrderID: 12, State: placement.Filled, Filled: 20}})
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: 20}})
	d.now += testSettle.StalenessMS + 1
	d.observe(0, nil)
	if have := d.tracker.Symbol(bitcoin).Contradicted(); have != "" {
		t.Errorf("a fill was booked in the same moment: want it trusted, have %q", have)
	}
}

// The exchange liquidates a position that no fill explains.
func TestUnexplainedPositionIsLiquidated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.observePosition(1, 10)
	d.now += 1_000
	d.observePosition(1, 0)
	row := exchange.Position{ID: 1, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 10, Status: exchange.PositionLiquidated}
	if have := d.tracker.Symbol(bitcoin).Liquidation(&Snapshot{Closed: []exchange.Position{row}}); have == nil || have.ID != 1 {
		t.Errorf("want the row of position 1, have %+v", have)
	}
}

// An account that has never reported a margin for positions denies no listed one.
func TestPositionIsAdoptedFromAnAccountThatReportsNoMargin(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.tracker.foreignPolicy = ForeignAdopt
	for range 10 {
		d.now += 1_000
		d.margined(30, exchange.Amount{})
	}
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 30 || symbol.Contradicted() != "" {
		t.Errorf("want 30 known, have %d, contradicted %q", symbol.Known(), symbol.Contradicted())
	}
}

// A reduction on the side of the position that botd holds has reduced another one: botd holds no more than before.
func TestReductionOnTheSideOfAPositionAddsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	id := d.whole(placement.StopLoss, 12, exchange.Buy, "51000")
	d.now += 1_000
	stop := d.order(id, 12, exchange.StatusFilled, 0, 10)
	stop.ClosePosition = true
	d.observe(20, []OrderByID{{OrderID: 12, Known: true, Order: stop}})
	if have := d.tracker.Symbol(bitcoin).Known(); have != 20 {
		t.Errorf("want 20 known, have %d", have)
	}
}
