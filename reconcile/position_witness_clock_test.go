package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Botd's clock is four seconds ahead of the exchange's, and the position is liquidated before a list shows it. By
// botd's clock the row is older than the entry; by the exchange's date of the opening order it is not.
func TestPositionDatedByFastClockEndsByItsRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		restarted bool
		change    func(row *exchange.Position, createdMS int64)
		closed    bool
	}{
		{"within the second", false, func(*exchange.Position, int64) {}, true},
		{"and a start has forgotten the order's date", true, func(*exchange.Position, int64) {}, true},
		{"a position of before", false, func(row *exchange.Position, createdMS int64) { row.CreatedMS = createdMS - 1_000 }, false},
		{"a position of before, after a start", true, func(row *exchange.Position, createdMS int64) { row.CreatedMS = createdMS - 1_000 }, false},
		{"on the other side", false, func(row *exchange.Position, _ int64) { row.Side = exchange.Short }, false},
		{"the rest of an open one", true, func(row *exchange.Position, _ int64) { row.Remaining = 20 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			openedByAClockAhead(t, c.restarted, c.change, c.closed)
		})
	}
}

func openedByAClockAhead(t testing.TB, restarted bool, change func(row *exchange.Position, createdMS int64), closed bool) {
	t.Helper()
	d := newDesk(t)
	d.target(20)
	d.now += 60_000
	d.observe(0, nil)
	entry := d.send(d.one(placement.Entry, nil))
	d.acknowledge(entry, 11)
	order := d.order(entry, 11, exchange.StatusFilled, 20, 20)
	order.CreatedMS = d.now - 4_000
	d.now += 1_000
	d.observe(0, []OrderByID{{OrderID: 11, Known: true, Order: order}})
	if restarted {
		d.now += 1_000
		d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	}
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.Known() != 20 {
		t.Fatalf("want the fill booked, have %d", symbol.Known())
	}
	for range 8 {
		d.now += 1_000
		row := exchange.Position{ID: 7, Side: exchange.Long, Quantity: 20, CreatedMS: order.CreatedMS, UpdatedMS: order.CreatedMS}
		change(&row, order.CreatedMS)
		d.ends(&row)
	}
	if have := symbol.Known() == 0; have != closed || closed && symbol.contradicted != "" {
		t.Errorf("want closed %t, have %d known, %q", closed, symbol.Known(), symbol.contradicted)
	}
}
