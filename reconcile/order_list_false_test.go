package reconcile

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// An old list shows half of one position, and a position of another symbol that has ended since. Together they need nearly the margin in use, but
// the fills need exactly that margin: the list decides about neither.
func TestMarginThatFillsExplainConfirmsNoOldList(t *testing.T) {
	t.Parallel()
	oldListOfTwo(t)
}

func oldListOfTwo(t testing.TB) {
	d, _, orders := guarded(t)
	d.tracker.foreignPolicy = ForeignIgnore
	ether := d.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"})
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "ETH-USDT", Base: "ETH", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.01"), QuantityTick: decimal.RequireFromString("0.01"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		t.Fatal(err)
	}
	ether.rules, ether.leverage, ether.last = rules, 10, 2_500_00
	d.margined(20, exchange.MustAmount("100")) // twenty at 50,000 and 10 times
	old := d.positions(10).Items()
	old = append(old, exchange.Position{ID: 8, Symbol: "ETH-USDT", Side: exchange.Long, Remaining: 16, Quantity: 16, EntryPrice: exchange.AmountOf(2_500),
		Leverage: 10, Status: exchange.PositionOpen}) // needs 40
	for range 3 * testSettle.StalenessMS / 1_000 {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders), Before: exchange.FetchedOf(old),
			Positions: exchange.FetchedOf(old), Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount("100")},
			ClosedOf: []string{"BTC-USDT"}})
	}
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 20 || symbol.contradicted == "" {
		t.Errorf("want 20 known and it contradicted, have %d known, %q", symbol.Known(), symbol.contradicted)
	}
	if ether.Ignored() != 0 || ether.contradicted == "" {
		t.Errorf("want none of the other symbol left to others and it contradicted, have %d, %q", ether.Ignored(), ether.contradicted)
	}
}

// The outcome of an entry of twenty is uncertain, and the list shows ten or none. The margin in use shows the rest, if the account's margin has agreed
// with a list recently, or no position is listed at all.
func TestMarginInUseKeepsAnUncertainEntryUndecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		agreedMS      int64 // before the entry was sent; -1 for never
		shown         exchange.Quantity
		margin        string
		known, filled exchange.Quantity
	}{
		{"half is shown", 60_000, 10, "100", 0, -1},
		{"half is shown, and the margin is that of half", 0, 10, "50", 10, 10},
		{"half is shown, and less than half of the rest uses margin", 0, 10, "74.99", 10, 10},
		{"half is shown, and half of the rest uses margin", 0, 10, "75", 0, -1},
		{"half is shown, and the margin has never agreed", -1, 10, "100", 10, 10},
		{"half is shown, and the margin agreed long ago", 60_001, 10, "100", 10, 10},
		{"half is shown, and no margin is reported", 0, 10, "0", 10, 10},
		{"none is shown", -1, 0, "100", 0, -1},
		{"none is shown, and none uses margin", 0, 0, "0", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			uncertainEntryShown(t, c.agreedMS, c.shown, c.margin, c.known, c.filled)
		})
	}
}

// uncertainEntryShown checks how much of an uncertain entry is booked; filled is -1 if the entry stays undecided.
func uncertainEntryShown(t testing.TB, agreedMS int64, shown exchange.Quantity, margin string, known, filled exchange.Quantity) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	if agreedMS >= 0 {
		d.adopt(20)
		d.margined(20, exchange.MustAmount("100"))
		d.adopt(-20)
		d.now += agreedMS
	}
	d.observe(0, nil)
	id := d.send(Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.MarketOrder, Quantity: 20}})
	d.uncertain(id)
	for range 40 {
		d.now += 1_000
		list := d.positions(shown)
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list,
			Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount(margin)}, ClosedOf: []string{"BTC-USDT"}})
	}
	if undecided := d.tracker.Placement(id) != nil; undecided != (filled < 0) || d.tracker.Symbol(bitcoin).Known() != known {
		t.Errorf("want it undecided %t and %d known, have %t and %d", filled < 0, known, undecided, d.tracker.Symbol(bitcoin).Known())
	}
}

// The outcome of an exit of twenty, or of a stop of the whole position, is uncertain, and the list shows ten or none. The account still uses the margin of
// more: the list does not show that it reduced the position.
func TestMarginInUseKeepsAnUncertainExitUndecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		whole    bool // a closePosition stop
		agreedMS int64
		margin   string
		known    exchange.Quantity
	}{
		{"all of it uses margin", false, 0, "100", 20},
		{"of a stop of the whole position", true, 0, "100", 20},
		{"half of what is lacking uses margin", false, 0, "75", 20},
		{"less than half uses margin", false, 0, "74.99", 10},
		{"the margin is that of what is shown", false, 0, "50", 10},
		{"of a stop, the margin is that of what is shown", true, 0, "50", 10},
		{"the margin agreed long ago", false, 60_001, "100", 10},
		{"no margin is reported", false, 0, "0", 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			uncertainExitShown(t, c.whole, c.agreedMS, c.margin, c.known)
		})
	}
}

// uncertainExitShown checks how much of the position is left.
func uncertainExitShown(t testing.TB, whole bool, agreedMS int64, margin string, known exchange.Quantity) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	d.hold(20)
	d.margined(20, exchange.MustAmount("100"))
	d.now += agreedMS
	exit := Intent{Purpose: placement.Exit, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true}}
	if whole {
		exit.Purpose, exit.Order.Type, exit.Order.Quantity, exit.Order.ReduceOnly = placement.StopLoss, exchange.StopMarket, 0, false
		exit.Order.StopPrice, exit.Order.ClosePosition = d.price("49000"), true
	}
	id := d.send(exit)
	d.uncertain(id)
	for range 40 {
		d.now += 1_000
		list := d.positions(10)
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list,
			Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount(margin)}, ClosedOf: []string{"BTC-USDT"}})
	}
	if undecided := d.tracker.Placement(id) != nil; undecided != (known == 20) || d.tracker.Symbol(bitcoin).Known() != known {
		t.Errorf("want it undecided %t and %d known, have %t and %d", known == 20, known, undecided, d.tracker.Symbol(bitcoin).Known())
	}
}

// The list showed half of a position that was executed twice, and botd sold that half: fills and list agree that nothing is left. The account still uses
// the margin of the rest, whose stop stays until positions/history shows an end.
func TestStopStaysWhileTheAccountUsesMarginThatNoListShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, margin string
		ends         bool // positions/history shows the end of a position
		stays        bool
	}{
		{"the least quantity uses margin", "5", false, true},
		{"none uses margin", "0", false, false},
		{"positions/history shows its end", "5", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soldWhatHalfAListShows(t, c.margin, c.ends, c.stays)
		})
	}
}

func soldWhatHalfAListShows(t testing.TB, margin string, ends, stays bool) {
	d, protect, orders := guarded(t)
	d.margined(20, exchange.MustAmount("100"))
	d.target(0)
	id := d.send(d.one(placement.Exit, protect))
	d.acknowledge(id, 21)
	sold := d.order(id, 21, exchange.StatusFilled, 20, 20)
	sold.Side = exchange.Sell
	snapshot := &Snapshot{FuturesOrders: exchange.FetchedOf(orders), Positions: d.positions(0),
		ByID: []OrderByID{{OrderID: 21, Known: true, Order: sold}}, Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount(margin)}}
	for range testSettle.StalenessMS/1_000 + 2 {
		d.now += 1_000
		snapshot.BeganMS, snapshot.EndedMS = d.now, d.now
		d.tracker.Observe(snapshot)
		if _, ask := d.tracker.NeedsPositionHistory(d.tracker.Symbol(bitcoin)); ask != (margin != "0" && snapshot.Closed == nil) {
			t.Fatalf("want positions/history read %t, have %t", !ask, ask)
		}
		if ends {
			snapshot.Closed, snapshot.ClosedOf = []exchange.Position{{ID: 7, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 20,
				Status: exchange.PositionClosed, UpdatedMS: d.now}}, []string{"BTC-USDT"}
		}
	}
	if intents := d.derive(protect); (len(intents) == 0) != stays {
		t.Errorf("want the stop to stay %t, have %+v", stays, intents)
	}
}

// An old list left a part to others. Botd's next position was opened later, and its fills explain all of it: the part has ended.
func TestPartLeftToOthersEndsWithItsPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		createdMS      int64 // relative to the time at which the part was left to others
		shown, ignored exchange.Quantity
	}{
		{"the whole position is botd's", 30_000, 20, 0},
		{"opened too shortly afterwards for any clock", 10_000, 20, 5},
		{"opened before", -30_000, 20, 5},
		{"others hold a part of it too", 30_000, 25, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			partOfAnEarlierPosition(t, c.createdMS, c.shown, c.ignored)
		})
	}
}

func partOfAnEarlierPosition(t testing.TB, createdMS int64, shown, ignored exchange.Quantity) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	symbol, leftMS := d.tracker.Symbol(bitcoin), d.now
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
	d.now += 30_000
	d.target(20)
	d.observe(5, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.now += 1_000
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: 20}})
	row := d.positions(shown).Items()
	row[0].ID, row[0].CreatedMS = 9, leftMS+createdMS
	list := exchange.FetchedOf(row)
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list})
	if symbol.Ignored() != ignored {
		t.Errorf("want %d left to others, have %d", ignored, symbol.Ignored())
	}
	if whole := ignored == 0; whole && (symbol.Position() != 20 || !symbol.settled) {
		t.Errorf("want 20 settled, have %d, %t", symbol.Position(), symbol.settled)
	}
}

// The outcome of an order of another symbol is uncertain, so that a snapshot reads the list of positions twice. One of the two omits what an entry has
// opened, each time.
func TestPositionOfTwoDifferingListsIsProtected(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]bool{"the earlier list shows it": false, "the later list shows it": true} {
		for _, unread := range []bool{false, true} { // the read of the entry by its id fails
			t.Run(fmt.Sprintf("%s, unread %t", name, unread), func(t *testing.T) {
				t.Parallel()
				shownByOneOfTwo(t, 20, later, unread)
			})
		}
		t.Run(name+", of an earlier position", func(t *testing.T) {
			t.Parallel()
			shownByOneOfTwo(t, -5, later, false)
		})
	}
}

func shownByOneOfTwo(t testing.TB, shown exchange.Quantity, later, unread bool) {
	t.Helper()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.now += 1_000
	snapshot := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(shown),
		Positions: d.positions(0), ByID: []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}}}
	if later {
		snapshot.Before, snapshot.Positions = snapshot.Positions, snapshot.Before
	}
	if unread {
		snapshot.ByID, snapshot.Unread = nil, []exchange.SymbolKey{bitcoin}
	}
	d.tracker.Observe(snapshot)
	if symbol := d.tracker.Symbol(bitcoin); symbol.settled || symbol.contradicted != "" {
		t.Errorf("want nothing concluded from them, have settled %t, %q", symbol.settled, symbol.contradicted)
	}
	d.one(placement.StopLoss, func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	})
}
