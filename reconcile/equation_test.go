package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// uncertainBid is an uncertain bid past its fence, next to a resting bid.
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
	d.uncertain(d.send(bid))
	d.now += 60_000
	return d, resting
}

// decided counts the seconds until the uncertain bid has ended.
func (d *desk) decided(position exchange.Quantity, resting exchange.Order) (seconds int) {
	d.t.Helper()
	for d.tracker.AnyUncertain() && seconds < 60 {
		d.now += 1_000
		d.observe(position, nil, resting)
		seconds++
	}
	return seconds
}

// decidedAfterAMove changes the position while the first snapshot is taken.
func decidedAfterAMove(t testing.TB) {
	t.Helper()
	d, resting := uncertainBid(t)
	d.tracker.Observe(
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

// decidedAfterAFill fills a known order in the first snapshot.
func decidedAfterAFill(t testing.TB) {
	t.Helper()
	d, resting := uncertainBid(t)
	resting.Filled = 4
	d.observe(4, nil, resting)
	if want, have := 5, d.decided(4, resting); want != have {
		t.Errorf("want it decided by snapshots three seconds apart when the fill is older than L, in the %dth second, have the %dth", want, have)
	}
}

func TestSnapshotDuringPositionChangeDoesNotCount(t *testing.T) {
	t.Parallel()
	decidedAfterAMove(t)
}

func TestUncertainOrderIsNotDecidedWhileKnownOrdersFill(t *testing.T) {
	t.Parallel()
	decidedAfterAFill(t)
}

// TestUnansweredExitDoesNotWaitForYoungerExits sends an exit ten seconds after another, while the position is still whole. When its
// own fence has passed, the first exit has not filled, unless something else may offset its fill.
func TestUnansweredExitDoesNotWaitForYoungerExits(t *testing.T) {
	t.Parallel()
	exitAfterExit(t)
}

func exitAfterExit(t testing.TB) {
	t.Helper()
	const fenceMS, gapMS = 5_000 + 7_000, 10_000
	exit := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 20, ReduceOnly: true}
	opposite := exit
	opposite.Side = exchange.Buy
	for _, c := range []struct {
		name   string
		shown  exchange.Quantity
		with   func(d *desk) []exchange.Order
		second exchange.NewOrder
		want   int64 // milliseconds from the first exit until it has ended; 0 if it has not ended before the second one's fence
	}{
		{"nothing is missing", 20, nil, exit, fenceMS + stableGapMS},
		{"the second is not answered yet", 20, nil, exchange.NewOrder{}, fenceMS + stableGapMS},
		{"a part is missing", 15, nil, exit, 0},
		{"one of the other side", 20, nil, opposite, 0},
		{"an order rests that may open", 20, func(d *desk) []exchange.Order {
			id := d.rests(placement.Order, 30, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("49000"), Quantity: 3})
			o := d.order(id, 30, exchange.StatusOpen, 3, 0)
			o.Type = exchange.Limit
			return []exchange.Order{o}
		}, exit, 0},
	} {
		d := holds(t, 20)
		var orders []exchange.Order
		if c.with != nil {
			orders = c.with(d)
		}
		began := d.now
		first := d.send(Intent{Purpose: placement.Exit, Order: exit})
		d.uncertain(first)
		have := int64(0)
		for d.now < began+gapMS+fenceMS && have == 0 {
			d.now += 1_000
			if d.now == began+gapMS && c.second.Side != 0 {
				d.uncertain(d.send(Intent{Purpose: placement.Exit, Order: c.second}))
			} else if d.now == began+gapMS {
				d.send(Intent{Purpose: placement.Exit, Order: exit})
			}
			d.observe(c.shown, nil, orders...)
			if p := d.tracker.Placement(first); p == nil || !p.State().OutcomeUncertain() {
				have = d.now - began
			}
		}
		if have != c.want {
			t.Errorf("%s: want it decided after %d ms, have %d", c.name, c.want, have)
		}
		if c.want != 0 && !d.tracker.AnyUncertain() && c.second.Side != 0 {
			t.Errorf("%s: want the second one uncertain still", c.name)
		}
	}
}
