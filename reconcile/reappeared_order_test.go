package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A stop has ended, and the open list shows it. Such a list is old unless it stays so for longer than L while the history does not show the end.
func TestOldListTakesNoEndedStopBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]endedStop{
		"for L":                                {forMS: 1_000},
		"for longer":                           {forMS: 3_000, want: true},
		"the history shows its end":            {forMS: 10_000, inHistory: true},
		"the history is not complete":          {forMS: 10_000, partial: true},
		"with an interruption":                 {forMS: 3_000, interrupted: true},
		"filled, and the wallet shows it sold": {forMS: 3_000, filled: 10, sold: true, want: true},
		"filled, and the wallet holds it":      {forMS: 3_000, filled: 10, want: true},
		"the wallet freezes nothing for it":    {forMS: 3_000, unfrozen: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type endedStop struct {
	forMS       int64
	inHistory   bool
	partial     bool
	interrupted bool
	filled      exchange.Quantity
	sold        bool
	unfrozen    bool
	want        bool
}

func (c endedStop) check(t testing.TB) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, "0")
	w.tracker.Symbol(coin).last = 50_000e8
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows("0", "0.01", stop)
	state, row := placement.Canceled, stop
	row.Status = exchange.StatusCanceled
	if c.filled != 0 {
		state, row.Status, row.Filled = placement.Filled, exchange.StatusFilled, c.filled
	}
	w.now += 1_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Ended{OrderID: 8, State: state, Filled: c.filled}})
	frozen, left := "0.01", exchange.Quantity(10)
	free := "0"
	if c.sold {
		frozen, left = "0", 0
	}
	if c.unfrozen {
		free, frozen = frozen, free
	}
	for fromMS := w.now; w.now <= fromMS+c.forMS; w.now += 500 {
		rows, history := []exchange.Order{stop}, []exchange.Order(nil)
		if c.interrupted && w.now == fromMS+c.forMS/2 {
			rows = nil
		}
		if c.inHistory {
			history = append(history, row)
		}
		for _, observed := range w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(rows),
			History: exchange.FetchedOf(history), HistoryWhole: !c.partial,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}})}) {
			if _, found := observed.Body.(record.Found); found && !c.want {
				t.Fatalf("want it not taken back, have %s", observed.Summary())
			}
		}
	}
	var again *account.Placement
	for p := range w.tracker.Live() {
		again = p
	}
	if (again != nil) != c.want {
		t.Fatalf("want it taken back: %t, have %v", c.want, again)
	}
	if known := w.tracker.Symbol(coin).Known(); known != left {
		t.Errorf("want a position of %d, have %d", left, known)
	}
	if canceled := c.sold || c.unfrozen; again != nil && again.Duplicate() != canceled {
		t.Errorf("want it canceled: %t, have %t", canceled, again.Duplicate())
	}
}

// A sale that was shown as filled, and rests with a part of it sold, is the position again as far as the wallet freezes it. Units that a wallet attributed
// to others meanwhile are botd's again.
func TestRestingSaleIsThePositionAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		side             exchange.Side
		kind             exchange.OrderType
		shown            exchange.Quantity // filled, by the row
		frozen, balance  exchange.Quantity
		baseline, held   exchange.Quantity // of others, and botd's other units
		adopted, without exchange.Quantity // what is adopted, and the new baseline; -1 if it stays
		duplicate        bool
	}{
		{"all of it rests", exchange.Sell, exchange.StopLimit, 0, 10, 10, 0, 0, 10, -1, false},
		{"a part has sold", exchange.Sell, exchange.StopLimit, 4, 6, 6, 0, 0, 6, -1, false},
		{"a wallet counted it as another's", exchange.Sell, exchange.StopLimit, 4, 6, 9, 6, 0, 6, 3, false},
		{"others hold as much as before", exchange.Sell, exchange.StopLimit, 4, 6, 9, 3, 0, 6, -1, false},
		{"next to other units of botd's", exchange.Sell, exchange.StopLimit, 4, 6, 14, 6, 5, 6, 3, false},
		{"the wallet lacks a unit", exchange.Sell, exchange.StopLimit, 4, 6, 5, 2, 0, 6, 0, false},
		{"the wallet freezes less", exchange.Sell, exchange.StopLimit, 4, 5, 6, 0, 0, 0, -1, true},
		{"a resting exit", exchange.Sell, exchange.Limit, 4, 6, 6, 0, 0, 6, -1, true},
		{"a purchase", exchange.Buy, exchange.Limit, 4, 6, 6, 0, 0, 0, -1, true},
		{"it sold as much", exchange.Sell, exchange.StopLimit, 10, 0, 0, 0, 0, 0, -1, false},
	} {
		w := holdingNextTo(t, ForeignHalt, "0")
		sold := w.places(placement.StopLoss, 8, stopOf(10))
		w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Ended{OrderID: 8, State: placement.Filled, Filled: 10}})
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: c.held}})
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: c.baseline}})
		symbol, row := w.tracker.Symbol(coin), sold
		known := symbol.Known()
		row.Side, row.Type, row.Filled, row.Status, symbol.frozenUnexplained = c.side, c.kind, c.shown, exchange.StatusOpen, c.frozen
		free := exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: symbol.rules.QuantityAmount(c.balance)}})
		s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, Balances: free})
		w.tracker.observedAccount.beginRead(s.fetched)
		w.tracker.observedAccount.note(s.fetched)
		s.orderRows().restore(symbol, &row)
		p := w.tracker.Placement(duplicateID(&row))
		if p == nil || p.Duplicate() != c.duplicate || p.State() != placement.Working || p.OrderID() != 8 {
			t.Errorf("%s: want it working again, and canceled %t, have %+v", c.name, c.duplicate, p)
			continue
		}
		if stop := c.side == exchange.Sell && c.kind == exchange.StopLimit; stop != (p.Purpose() == placement.StopLoss) && stop {
			t.Errorf("%s: want a stop, have a %s", c.name, p.Purpose())
		}
		if filled := p.Filled(); c.adopted > 0 && filled != c.shown {
			t.Errorf("%s: want %d filled, have %d", c.name, c.shown, filled)
		}
		baseline := c.without
		if baseline < 0 {
			baseline = c.baseline
		}
		if have := symbol.Known() - known; have != c.adopted || symbol.Baseline() != baseline {
			t.Errorf("%s: want %d adopted and %d of others, have %d, %d", c.name, c.adopted, baseline, have, symbol.Baseline())
		}
	}
}

// The engine reads the history from the date of the oldest of these orders, and reports them in a halt.
func TestEndedOrdersThatAreShownAreReported(t *testing.T) {
	t.Parallel()
	var o observation
	if rows := o.ReappearedOrders(); len(rows) != 0 || o.HistoryFrom(700) != 700 || o.FrozenUnexplained() != 0 {
		t.Errorf("want none, have %v", rows)
	}
	o.frozenUnexplained = 6
	for id, createdMS := range []int64{900, 400, 500} {
		o.reappeared = append(o.reappeared, reappearedOrder{row: exchange.Order{ID: int64(id), CreatedMS: createdMS}})
	}
	if rows := o.ReappearedOrders(); len(rows) != 3 || rows[1].ID != 1 || o.HistoryFrom(700) != 400 || o.HistoryFrom(300) != 300 || o.FrozenUnexplained() != 6 {
		t.Errorf("want three, the history from 400, and 6 frozen, have %v, %d, %d", rows, o.HistoryFrom(700), o.FrozenUnexplained())
	}
}

// The wallet freezes units for sales that no list shows: what it freezes beyond all known sales, if that is worth an order.
func TestFrozenUnitsThatNothingSells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		frozen exchange.Quantity
		sale   exchange.Quantity // of a person
		want   exchange.Quantity
	}{{"none", 0, 0, 0}, {"all", 10, 0, 10}, {"a person sells a part", 10, 4, 6}, {"a person sells all", 10, 10, 0}} {
		w := holdingNextTo(t, ForeignHalt, "0")
		symbol := w.tracker.Symbol(coin)
		symbol.frozenUnexplained, symbol.last = 9, 50_000e8
		if c.sale > 0 {
			symbol.foreign = []exchange.Order{{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: c.sale,
				Price: 60_000e8, Status: exchange.StatusOpen}}
		}
		balances := exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: symbol.rules.QuantityAmount(10), Frozen: symbol.rules.QuantityAmount(c.frozen)}})
		s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, Balances: balances})
		w.tracker.observedAccount.beginRead(s.fetched)
		w.tracker.observedAccount.note(s.fetched)
		if s.noteFrozen(); symbol.frozenUnexplained != c.want {
			t.Errorf("%s: want %d frozen for no known sale, have %d", c.name, c.want, symbol.frozenUnexplained)
		}
	}
}
