package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// observeRow fetches a list of positions with one position, opened by the exchange at a time, and a positions/history that shows no end.
func (d *desk) observeRow(id int64, signed exchange.Quantity, createdMS int64) {
	rows := d.positions(signed).Items()
	rows[0].ID, rows[0].CreatedMS = id, createdMS
	list := exchange.FetchedOf(rows)
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list,
		ClosedOf: []string{"BTC-USDT"}})
}

// Another botd, or a person, closed botd's position and opened one on the other side, and positions/history omits the end of botd's. A symbol has one
// position, so a list that shows a later one shows that end. An exit or a stop of the ended position would be refused, again and again.
func TestLaterPositionShowsEndOfEarlierOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		id        int64
		signed    exchange.Quantity
		createdMS int64
		ended     bool
	}{
		{"opened later", 9, -40, 2_000, true},
		{"opened later, of the same side and smaller", 9, 10, 2_000, true},
		{"opened before", 5, -40, 500, false},
		{"opened in the same second", 9, -40, 1_000, false},
		{"the same one, of less", 8, 10, 1_000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shownLaterPosition(t, c.id, c.signed, c.createdMS, c.ended)
		})
	}
}

func shownLaterPosition(t testing.TB, id int64, signed exchange.Quantity, createdMS int64, ended bool) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.observeRow(8, 20, 1_000)
	d.now += 1_000
	d.observeRow(id, signed, createdMS)
	symbol := d.tracker.Symbol(bitcoin)
	if have := !symbol.Unwitnessed(); have != ended {
		t.Errorf("want the end of botd's position shown %t, have %t", ended, have)
	}
	d.target(-20)
	exits := false
	for _, intent := range d.derive(nil) {
		exits = exits || intent.Purpose == placement.Exit
	}
	if signed < 0 && exits == ended {
		t.Errorf("want an exit of the earlier position %t, have %t", !ended, exits)
	}
}

// A position of 20 was closed and one of 25 opened, before any of these fills was read, and the openings were read first. The list shows neither, and the
// row of the first one is no evidence about the second.
func TestRowOfSmallerPositionIsNoWitness(t *testing.T) {
	t.Parallel()
	rowOfSmallerPosition(t)
}

func rowOfSmallerPosition(t testing.TB) {
	t.Helper()
	d, protect, orders := guarded(t)
	d.target(25)
	entry := d.send(d.one(placement.Entry, protect))
	d.acknowledge(entry, 30)
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 30, Known: true, Order: d.order(entry, 30, exchange.StatusFilled, 5, 5)}}, orders...)
	for range 8 {
		d.now += 1_000
		d.observeClosed(0, 7, orders...)
	}
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 25 || symbol.contradicted == "" {
		t.Errorf("want 25 known and contradicted, have %d, %q", symbol.Known(), symbol.contradicted)
	}
}

// A person closed a position of 20 that botd had opened, while an uncertain opening kept that undecided, and opened one on the other side, which an
// exit of botd's reduced by 8. The row of 20 shows the end of all that botd has opened.
func TestReductionOfAnothersPositionOpensNothing(t *testing.T) {
	t.Parallel()
	reducedAnothers(t)
}

func reducedAnothers(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.uncertain(d.send(Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.MarketOrder, Quantity: 4}}))
	exit := d.send(Intent{Purpose: placement.Exit, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.MarketOrder, Quantity: 8, ReduceOnly: true}})
	d.acknowledge(exit, 31)
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 31, Known: true, Order: d.order(exit, 31, exchange.StatusFilled, 8, 8)}})
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.Known() != 28 || symbol.Opened() != 20 {
		t.Errorf("want 28 known and 20 opened, have %d and %d", symbol.Known(), symbol.Opened())
	}
	d.now += 1_000
	if d.observeClosed(0, 7); symbol.Unwitnessed() {
		t.Error("want the end of the position shown by its row")
	}
}

// The list has shown botd's position, with the id 8, opened by the exchange at 1 s.
func TestPositionIsLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(symbol *SymbolState)
		want bool
	}{
		{"a later one", func(*SymbolState) {}, true},
		{"a later one of one step", func(symbol *SymbolState) { symbol.position = 1 }, true},
		{"none", func(symbol *SymbolState) { symbol.position = 0 }, false},
		{"the same one", func(symbol *SymbolState) { symbol.positionID = 8 }, false},
		{"an earlier one", func(symbol *SymbolState) { symbol.createdMS = 999 }, false},
		{"botd's has been opened since", func(symbol *SymbolState) { symbol.futuresEvidence.shownOf-- }, false},
	} {
		d := newDesk(t)
		d.hold(20)
		d.now += 1_000
		d.observeRow(8, 20, 1_000)
		symbol := d.tracker.Symbol(bitcoin)
		symbol.position, symbol.positionID, symbol.createdMS = -40, 9, 2_000
		c.with(symbol)
		if have := (positionComparison{}).shownLater(symbol); have != c.want {
			t.Errorf("%s: want it later %t, have %t", c.name, c.want, have)
		}
	}
}
