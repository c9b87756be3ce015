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
	if c.sold {
		frozen, left = "0", 0
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
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Frozen: exchange.MustAmount(frozen)}})}) {
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
	if again != nil && again.Duplicate() != c.sold {
		t.Errorf("want it canceled: %t, have %t", c.sold, again.Duplicate())
	}
}
