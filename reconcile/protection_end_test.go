package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// An open list may be too old to show that a protective order has ended with its position. If the list of positions shows none, or one
// that was created after the order was sent, the order is read by id.
func TestProtectionOfEndedPositionIsReadByID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		held      exchange.Quantity
		createdMS int64 // after the order was sent
		unread    bool  // since the start
		sends     func(d *desk) string
		want      bool
	}{
		{"the position is older", 10, -60_000, false, wholeStop, false},
		{"as old", 10, 0, false, wholeStop, false},
		{"younger by less than the clock may have stepped", 10, maxClockStepMS, false, wholeStop, false},
		{"younger", 10, maxClockStepMS + 1, false, wholeStop, true},
		{"younger, on the other side", -10, maxClockStepMS + 1, false, wholeStop, true},
		{"there is none", 0, 0, false, wholeStop, true},
		{"nothing was read", 0, 0, true, wholeStop, false},
		{"a profit, and there is none", 0, 0, false, func(d *desk) string {
			return d.whole(placement.TakeProfit, 12, exchange.Sell, "60000")
		}, true},
		{"an exit of a quantity, and there is none", 0, 0, false, func(d *desk) string { return d.resting(12, 10) }, false},
		{"an exit of a quantity, and the position is younger", 10, maxClockStepMS + 1, false, func(d *desk) string { return d.resting(12, 10) }, false},
	} {
		t.Run(c.name, func(t *testing.T) { readByID(t, c.held, c.createdMS, c.unread, c.sends, c.want) })
	}
}

func wholeStop(d *desk) string { return d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }

// readByID sends an order, reads a position that was created a given time later, and lists the order.
func readByID(t testing.TB, held exchange.Quantity, createdMS int64, unread bool, sends func(d *desk) string, want bool) {
	t.Helper()
	d := newDesk(t)
	order := d.order(sends(d), 12, exchange.StatusNew, 0, 0)
	order.Side = exchange.Sell
	list := exchange.FetchedOf([]exchange.Order{order})
	rows := d.positions(held)
	for i := range rows.Items() {
		rows.Items()[i].CreatedMS = d.now + createdMS
	}
	if d.now += 60_000; !unread {
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: list, Before: rows, Positions: rows})
	}
	if have := d.tracker.Vanished(&Snapshot{FuturesOrders: list}); (len(have) == 1) != want {
		t.Errorf("want the listed order read by id %t, have %d orders", want, len(have))
	}
}
