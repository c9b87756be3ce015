package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// An uncertain exit ended the position before its entry was booked, and positions/history shows that. Orders that reduce or protect
// would be refused.
func TestWitnessedEndCountsWhileListIsUnreadable(t *testing.T) {
	t.Parallel()
	for _, witnessed := range []bool{true, false} {
		endedBeforeItsEntryWasBooked(t, witnessed)
	}
}

func endedBeforeItsEntryWasBooked(t testing.TB, witnessed bool) {
	t.Helper()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	entry, sentMS := d.send(d.one(placement.Entry, nil)), d.now
	d.now += 2_000
	d.observe(20, nil)
	d.target(0)
	d.uncertain(d.send(d.one(placement.Exit, nil)))
	d.acknowledge(entry, 11)
	d.now += 100
	row := exchange.Position{ID: 7, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 20, Status: exchange.PositionClosed, CreatedMS: sentMS, UpdatedMS: d.now}
	closed := []exchange.Position{}
	if witnessed {
		closed = append(closed, row)
	}
	filled := []OrderByID{{OrderID: 11, Known: true, Order: d.order(entry, 11, exchange.StatusFilled, 20, 20)}}
	none := exchange.FetchedOf[exchange.Position](nil)
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), ByID: filled,
		Before: none, Positions: none, ClosedOf: []string{"BTC-USDT"}, Closed: closed})
	d.now += 100
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Unread: []exchange.SymbolKey{{Market: exchange.Futures}}})
	stops := slices.Contains(purposes(d.derive(func(w *Desired) {
		w.Unread, w.MayOpen = true, false
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})), placement.StopLoss)
	if stops == witnessed {
		t.Errorf("witnessed %t: want a stop %t, have it %t", witnessed, !witnessed, stops)
	}
}

// On spot a stop whose answer was lost is live next to its replacement, and the history shows both. A person's units
// would be sold.
func TestExtraStopIsCanceledWithoutOpenList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		stops []exchange.Quantity
		shown int // number of stops shown
		want  int // number of cancels
	}{
		{"both are shown", []exchange.Quantity{10, 10}, 2, 1},
		{"one of them was never shown", []exchange.Quantity{10, 10}, 1, 0},
		{"together they are for what is held", []exchange.Quantity{4, 6}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stopTooMany(t, c.stops, c.shown, c.want)
		})
	}
}

func stopTooMany(t testing.TB, quantities []exchange.Quantity, shown, want int) {
	t.Helper()
	w, _ := protecting(t)
	var rows []exchange.Order
	for i, quantity := range quantities {
		rows = append(rows, w.places(placement.StopLoss, int64(8+i), stopOf(quantity)))
	}
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, History: exchange.FetchedOf(rows[:shown]), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0.99"), Frozen: exchange.MustAmount("0.02")}}),
		Unread:   []exchange.SymbolKey{{Market: exchange.Spot}}})
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: w.tracker.Symbol(coin), Interval: exchange.Minute1, Unread: true,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	if have := len(intents); have != want {
		t.Errorf("want %d canceled, have %+v", want, intents)
	}
}

// The wallet freezes what the lost exit sells, and has a person's units free. An exit of those would be executed, too.
func TestLostExitIsNotRepeatedWithManualUnits(t *testing.T) {
	t.Parallel()
	repeatsDuringALostOne(t, "0.009", "0.01", 0)
	repeatsDuringALostOne(t, "0.019", "0", 10)
}

func repeatsDuringALostOne(t testing.TB, free, frozen string, want exchange.Quantity) {
	t.Helper()
	w := newWallet(t)
	w.tracker.Symbol(coin).last = 50_000e8
	target := func(quantity exchange.Quantity) {
		w.apply(record.Record{Strategy: "one", Symbol: coin,
			Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}}}})
	}
	target(10)
	w.observe("0.009")
	w.now += 60_000
	w.buys(10)
	for range 4 {
		w.now += 1_000
		w.observe("0.019")
	}
	target(0)
	w.places(placement.Exit, 0, saleOf(10))
	w.now += 3_000
	w.shows(free, frozen)
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: w.tracker.Symbol(coin), Interval: exchange.Minute1,
		Collar: exchange.RateOne / 20}, w.now)
	have := exchange.Quantity(0)
	for i := range intents {
		if intents[i].Purpose == placement.Exit {
			have += intents[i].Order.Quantity
		}
	}
	if have != want {
		t.Errorf("%s free, %s frozen: want %d sold again, have %+v", free, frozen, want, intents)
	}
}

// The open list cannot be read while an uncertain exit may still hold the asset. What the wallet freezes is for stops that the exchange has
// acknowledged, so that no stop is canceled for the exit; what it freezes beyond them is for the exit.
func TestStopStaysDespiteLostExitWithoutOpenList(t *testing.T) {
	t.Parallel()
	lostExitUnread(t, "1", "0.01", 0)
	lostExitUnread(t, "0.997", "0.013", 1)
}

func lostExitUnread(t testing.TB, free, frozen string, want int) {
	t.Helper()
	w, _ := protecting(t)
	first := w.places(placement.StopLoss, 8, stopOf(7))
	w.places(placement.Exit, 0, saleOf(3))
	w.now += 2_000
	w.shows("1.003", "0.007", first)
	second := w.places(placement.StopLoss, 9, stopOf(3))
	w.now += 5_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, History: exchange.FetchedOf([]exchange.Order{first, second}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}}),
		Unread:   []exchange.SymbolKey{{Market: exchange.Spot}}})
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: w.tracker.Symbol(coin), Interval: exchange.Minute1, Unread: true,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	if have := len(intents); have != want {
		t.Errorf("%s free, %s frozen: want %d canceled, have %+v", free, frozen, want, intents)
	}
}
