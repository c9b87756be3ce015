package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// uncertainBid is a bid of unknown fate, past its fence, beside one that rests.
func uncertainBid(t testing.TB) (d *desk, resting exchange.Order) {
	t.Helper()
	d = newDesk(t)
	d.observe(0, nil)
	bid := Intent{
		Purpose: placement.Order,
		Order: exchange.NewOrder{
			Market:   exchange.Futures,
			Symbol:   "BTC-USDT",
			Side:     exchange.Buy,
			Type:     exchange.Limit,
			Quantity: 10,
			Price:    d.price("49000"),
		},
	}
	id := d.send(bid)
	d.acknowledge(id, 11)
	resting = d.order(id, 11, exchange.StatusOpen, 10, 0)
	resting.Type = exchange.Limit
	d.unknown(d.send(bid))
	d.now += 60_000
	return d, resting
}

// decided counts the seconds until the unknown one has ended.
func (d *desk) decided(position exchange.Quantity, resting exchange.Order) (seconds int) {
	d.t.Helper()
	for d.book.Unknowns() && seconds < 60 {
		d.now += 1_000
		d.observe(position, nil, resting)
		seconds++
	}
	return seconds
}

// decidedAfterAMove has the position move while the first snapshot is taken.
func decidedAfterAMove(t testing.TB) {
	t.Helper()
	d, resting := uncertainBid(t)
	d.book.Observe(
		&Snapshot{
			BeganMS:       d.now,
			EndedMS:       d.now,
			FuturesOrders: exchange.FetchedOf([]exchange.Order{resting}),
			Before:        d.positions(0),
			Positions:     d.positions(4),
			ClosedOf:      []string{"BTC-USDT"},
		},
	)
	if want, have := 4, d.decided(4, resting); want != have {
		t.Errorf("want it decided by snapshots three seconds apart after that, in the %dth second, have the %dth", want, have)
	}
}

// decidedAfterAFill has a known order fill in the first snapshot.
func decidedAfterAFill(t testing.TB) {
	t.Helper()
	d, resting := uncertainBid(t)
	resting.Filled = 4
	d.observe(4, nil, resting)
	if want, have := 5, d.decided(4, resting); want != have {
		t.Errorf("want it decided by snapshots three seconds apart when the fill is older than L, in the %dth second, have the %dth", want, have)
	}
}

func TestASnapshotInWhichThePositionMovedDoesNotCount(t *testing.T) {
	t.Parallel()
	decidedAfterAMove(t)
}

func TestAnUnknownIsNotDecidedWhileKnownOrdersFill(t *testing.T) {
	t.Parallel()
	decidedAfterAFill(t)
}
