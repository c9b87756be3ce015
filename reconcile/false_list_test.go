package reconcile

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An old list shows half of one position, and a position of another symbol that has ended since. Together they need nearly the margin in use, but
// the fills need exactly that margin: the list decides about neither.
func TestMarginThatFillsExplainConfirmsNoOldList(t *testing.T) {
	t.Parallel()
	oldListOfTwo(t)
}

func oldListOfTwo(t testing.TB) {
	d, _, orders := guarded(t)
	d.book.foreignPolicy = ForeignIgnore
	ether := d.book.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"})
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
		d.book.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders), Before: exchange.FetchedOf(old),
			Positions: exchange.FetchedOf(old), Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount("100")},
			ClosedOf: []string{"BTC-USDT"}})
	}
	if symbol := d.book.Symbol(bitcoin); symbol.Known() != 20 || symbol.contradicted == "" {
		t.Errorf("want 20 known and it contradicted, have %d known, %q", symbol.Known(), symbol.contradicted)
	}
	if ether.Ignored() != 0 || ether.contradicted == "" {
		t.Errorf("want none of the other symbol left to others and it contradicted, have %d, %q", ether.Ignored(), ether.contradicted)
	}
}

// The outcome of an entry of twenty is unknown, and the list shows ten or none. The margin in use shows the rest, if the account's margin has agreed
// with a list recently, or no position is listed at all.
func TestMarginInUseKeepsAnUnknownEntryUndecided(t *testing.T) {
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
			unknownEntryShown(t, c.agreedMS, c.shown, c.margin, c.known, c.filled)
		})
	}
}

// unknownEntryShown checks how much of an entry of unknown outcome is booked; filled is -1 if the entry stays undecided.
func unknownEntryShown(t testing.TB, agreedMS int64, shown exchange.Quantity, margin string, known, filled exchange.Quantity) {
	d := newDesk(t)
	d.book.foreignPolicy = ForeignIgnore
	if agreedMS >= 0 {
		d.adopt(20)
		d.margined(20, exchange.MustAmount("100"))
		d.adopt(-20)
		d.now += agreedMS
	}
	d.observe(0, nil)
	id := d.send(Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.MarketOrder, Quantity: 20}})
	d.unknown(id)
	for range 40 {
		d.now += 1_000
		list := d.positions(shown)
		d.book.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list,
			Account: &exchange.MarginAccount{PositionMargin: exchange.MustAmount(margin)}, ClosedOf: []string{"BTC-USDT"}})
	}
	if undecided := d.book.Placement(id) != nil; undecided != (filled < 0) || d.book.Symbol(bitcoin).Known() != known {
		t.Errorf("want it undecided %t and %d known, have %t and %d", filled < 0, known, undecided, d.book.Symbol(bitcoin).Known())
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
	d.book.foreignPolicy = ForeignIgnore
	symbol, leftMS := d.book.Symbol(bitcoin), d.now
	d.book.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
	d.now += 30_000
	d.target(20)
	d.observe(5, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.acknowledge(id, 11)
	d.now += 1_000
	d.book.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: 20}})
	row := d.positions(shown).Items()
	row[0].ID, row[0].CreatedMS = 9, leftMS+createdMS
	list := exchange.FetchedOf(row)
	d.book.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: list, Positions: list})
	if symbol.Ignored() != ignored {
		t.Errorf("want %d left to others, have %d", ignored, symbol.Ignored())
	}
	if whole := ignored == 0; whole && (symbol.Position() != 20 || !symbol.settled) {
		t.Errorf("want 20 settled, have %d, %t", symbol.Position(), symbol.settled)
	}
}
