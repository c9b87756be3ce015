package reconcile

import (
	"math"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// No list shows an opening that the exchange refused and executed, but the account's margin is in use for it.
func TestMarginInUseConfirmsNoRefusal(t *testing.T) {
	t.Parallel()
	const needs = 40 // of the refused opening: 10 at 40,000, by a leverage of 10
	for _, c := range []struct {
		name   string
		before int64 // the margin in use before it was sent
		orders int64 // and afterwards, for orders
		holds  int64 // and for positions
		with   func(d *desk) []exchange.Order
		reduce bool
		want   int // refusals that are not confirmed
	}{
		{"for an order", 0, needs, 0, nil, false, 1},
		{"for a position", 0, 0, needs, nil, false, 1},
		{"half of it", 0, needs / 2, 0, nil, false, 1},
		{"less than half of it", 0, needs/2 - 1, 0, nil, false, 0},
		{"none", 0, 0, 0, nil, false, 0},
		{"as before", needs, needs, 0, nil, false, 0},
		{"for another opening", 0, needs, 0, func(d *desk) []exchange.Order { return []exchange.Order{d.bid()} }, false, 0},
		{"for that and another opening", 0, 2 * needs, 0, func(d *desk) []exchange.Order { return []exchange.Order{d.bid()} }, false, 1},
		{"for another opening, or that is canceled", 0, needs, 0, func(d *desk) []exchange.Order {
			bid := d.bid()
			d.canceled(bid.ClientOrderID)
			return []exchange.Order{bid}
		}, false, 1},
		{"for that and a person's opening", 0, 2 * needs, 0, func(d *desk) []exchange.Order { return []exchange.Order{d.person(false)} }, false, 1},
		{"for a person's opening", 0, needs, 0, func(d *desk) []exchange.Order { return []exchange.Order{d.person(false)} }, false, 0},
		{"a person's reduction needs none", 0, needs, 0, func(d *desk) []exchange.Order { return []exchange.Order{d.person(true)} }, false, 1},
		{"a reduction was refused", 0, needs, 0, nil, true, 0},
		{"a person's opening is beyond all bounds", 0, needs, 0, func(d *desk) []exchange.Order {
			order := d.person(false)
			order.Quantity = math.MaxInt64
			return []exchange.Order{order}
		}, false, 0},
		{"beyond all bounds", 0, math.MaxInt64, 0, nil, false, 0},
		{"after a margin beyond all bounds", math.MaxInt64, needs, 0, nil, false, 0},
		{"of a symbol without rules", 0, needs, 0, func(d *desk) []exchange.Order {
			order := d.person(false)
			order.Symbol = "ETH-USDT"
			return []exchange.Order{order}
		}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedBeforeMargin(t, c.before, c.orders, c.holds, c.with, c.reduce, c.want)
		})
	}
}

func refusedBeforeMargin(t testing.TB, before, orders, positions int64, with func(*desk) []exchange.Order, reduce bool, want int) {
	t.Helper()
	d := newDesk(t)
	d.readsMargin(before, 0)
	var list []exchange.Order
	if with != nil {
		list = with(d)
	}
	d.refusedBid(reduce)
	d.readsMargin(orders, positions, list...)
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("want %d refusals unconfirmed, have %d", want, have)
	}
}

// The listed positions need their part of that margin, at their own leverage. What a position without rules needs is unknown.
func TestMarginOfListedPositionsIsNotThatOfARefusedOpening(t *testing.T) {
	t.Parallel()
	one := inEther()
	unknown, closed := one, one
	unknown.Symbol, closed.Remaining, closed.Symbol = "SOL-USDT", 0, "SOL-USDT"
	for _, c := range []struct {
		name      string
		orders    int64 // the margin in use for orders
		holds     int64 // and for positions
		positions []exchange.Position
		with      func(d *desk) []exchange.Order
		want      int // refusals that are not confirmed
	}{
		{"a position of a symbol that could not be read needs it", 0, 40, []exchange.Position{{ID: 9, Symbol: "XRP-USDT", Side: exchange.Long, Remaining: 1,
			Quantity: 1, EntryPrice: exchange.AmountOf(40_000), Leverage: 1, Status: exchange.PositionOpen}}, nil, 0},
		{"a position needs it", 0, 40, []exchange.Position{one}, nil, 0},
		{"a position needs half of it", 40, 40, []exchange.Position{one}, nil, 1},
		{"a position without rules", 40, 40, []exchange.Position{unknown}, nil, 0},
		{"a position without rules, beside another opening", 80, 0, []exchange.Position{unknown},
			func(d *desk) []exchange.Order { return []exchange.Order{d.bid()} }, 0},
		{"a position that does not use it", 0, 0, []exchange.Position{one}, nil, 1},
		{"a position that uses half of it", 0, 20, []exchange.Position{one}, nil, 1},
		{"a position that uses more than half of it", 0, 21, []exchange.Position{one}, nil, 0},
		{"one that has ended", 40, 0, []exchange.Position{closed}, nil, 1},
		{"an opening at a leverage that is not known", 80, 0, nil, func(d *desk) []exchange.Order {
			order := d.person(false)
			order.Symbol = "ETH-USDT"
			d.tracker.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}).leverage = 0
			return []exchange.Order{order}
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedWithListed(t, c.orders, c.holds, c.positions, c.with, c.want)
		})
	}
}

// inEther needs 40, as much as the refused opening.
func inEther() exchange.Position {
	return exchange.Position{ID: 8, Symbol: "ETH-USDT", Side: exchange.Long, Remaining: 1, Quantity: 1, EntryPrice: exchange.AmountOf(40_000), Leverage: 1,
		Status: exchange.PositionOpen}
}

func refusedWithListed(t testing.TB, orders, holds int64, positions []exchange.Position, with func(*desk) []exchange.Order, want int) {
	t.Helper()
	d := newDesk(t)
	for _, base := range []string{"ETH", "XRP"} {
		other, rules := d.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: base + "-USDT"}), *d.tracker.Symbol(bitcoin).rules
		rules.Name, rules.Base = base+"-USDT", base
		other.rules, other.leverage = &rules, 10
	}
	d.readsMargin(0, 0)
	var list []exchange.Order
	if with != nil {
		list = with(d)
	}
	d.refusedBid(false)
	d.now += 1_000
	rows := exchange.FetchedOf(positions)
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(list), Before: rows, Positions: rows,
		Unread:  []exchange.SymbolKey{{Market: exchange.Futures, Name: "XRP-USDT"}},
		Account: &exchange.MarginAccount{OrderMargin: exchange.AmountOf(orders), PositionMargin: exchange.AmountOf(holds)}})
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("want %d refusals unconfirmed, have %d", want, have)
	}
}

// A start compares the margin in use with what it was before the refused opening was sent (seeds 885300112, 892700544).
func TestStartKnowsMarginBeforeRefusedOpening(t *testing.T) {
	t.Parallel()
	long := testSettle.WindowMS + testSettle.VisibilityMS + testSettle.StalenessMS
	for _, c := range []struct {
		before, after int64 // the margin in use for orders
		laterMS       int64 // the start
		want          int   // refusals that are not confirmed
	}{{0, 40, 0, 1}, {40, 40, 0, 0}, {40, 80, 0, 1}, {0, 0, 0, 0}, {0, 40, long, 1}, {0, 40, long + 1, 0}} {
		refusedBeforeStart(t, c.before, c.after, c.laterMS, c.want)
	}
}

func refusedBeforeStart(t testing.TB, before, after, laterMS int64, want int) {
	t.Helper()
	d := newDesk(t)
	d.readsMargin(before, 0)
	d.refusedBid(false)
	d.now += laterMS
	d.restores()
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	d.readsMargin(after, 0)
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("%d before, %d after a start %d ms later: want %d refusals unconfirmed, have %d", before, after, laterMS, want, have)
	}
}

// If it lasts for longer than L, the symbol is contradicted until it ends or a person decides that the lists are right.
func TestLastingMarginOfRefusedOpeningIsContradicted(t *testing.T) {
	t.Parallel()
	marginLasts(t)
}

func marginLasts(t testing.TB) {
	t.Helper()
	for name, end := range map[string]func(d *desk){
		"it ends": func(d *desk) { d.readsMargin(0, 0) },
		"resolved": func(d *desk) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{}})
			d.readsMargin(40, 0)
		},
	} {
		d := newDesk(t)
		d.readsMargin(0, 0)
		d.refusedBid(false)
		for spent := int64(0); spent <= testSettle.StalenessMS+2_000; spent += 1_000 {
			d.readsMargin(40, 0)
		}
		symbol := d.tracker.Symbol(bitcoin)
		if symbol.contradicted != heldMargin || symbol.settled {
			t.Fatalf("%s: want it contradicted by the margin, and not settled, have %q, %t", name, symbol.contradicted, symbol.settled)
		}
		end(d)
		d.readsMargin(0, 0)
		if symbol.contradicted != "" || len(d.tracker.Refused()) != 0 || !symbol.settled {
			t.Errorf("%s: want that to end, have %q and %d refusals", name, symbol.contradicted, len(d.tracker.Refused()))
		}
	}
}

// readsMargin fetches an account with margin in use for orders and positions, an empty list of positions, and an open list.
func (d *desk) readsMargin(orders, positions int64, list ...exchange.Order) {
	d.now += 1_000
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(list), Before: d.positions(0), Positions: d.positions(0),
		Account: &exchange.MarginAccount{WalletBalance: exchange.AmountOf(10_000), OrderMargin: exchange.AmountOf(orders),
			PositionMargin: exchange.AmountOf(positions)}})
}

// bid returns an opening of botd's that rests at 40,000.
func (d *desk) bid() exchange.Order {
	id := d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10})
	row := d.order(id, 12, exchange.StatusOpen, 10, 0)
	row.Price = d.price("40000")
	d.readsMargin(0, 0, row)
	return row
}

// person returns an order of a person's at 40,000.
func (d *desk) person(reduces bool) exchange.Order {
	order := d.order("", 90, exchange.StatusOpen, 10, 0)
	order.Type, order.Price = exchange.Limit, d.price("40000")
	if reduces {
		order.ClosePositionID = 7
	}
	return order
}

// refusedBid is an opening of botd's that the exchange refuses, or a reduction.
func (d *desk) refusedBid(reduce bool) {
	purpose := placement.Order
	if reduce {
		purpose = placement.ExitOrder
	}
	id := d.send(Intent{Purpose: purpose, Key: "r", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Price: d.price("40000"), Quantity: 10, ReduceOnly: reduce}})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "busy"}})
}
