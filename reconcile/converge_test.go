package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// ended journals the end of a placement.
func (d *desk) ended(id string, state placement.State, filled exchange.Quantity) {
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: state, Filled: filled}})
}

// The breaker counts consecutive endings without a fill.
func TestAFillEndsTheCountOfEndingsWithoutOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	intent := d.one(placement.Entry, nil)
	for i, c := range []struct {
		state  placement.State
		filled exchange.Quantity
		want   int
	}{
		{placement.Rejected, 0, 1}, {placement.Rejected, 0, 2}, {placement.Expired, 0, 2}, {placement.Filled, 20, 0}, {placement.Rejected, 0, 1},
		{placement.Canceled, 5, 0},
	} {
		d.ended(d.send(intent), c.state, c.filled)
		if _, _, empty := d.tracker.Tally(0); empty != c.want {
			t.Errorf("%d, %s with %d filled: want %d endings without a fill in a row, have %d", i, c.state, c.filled, c.want, empty)
		}
	}
}

// The symbol stays unsettled even if position and fills agree.
func TestSymbolIsUnsettledDuringUncertainAcceptance(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	symbol := d.tracker.Symbol(bitcoin)
	if !symbol.settled {
		t.Fatal("want it settled with nothing sent")
	}
	id := d.send(d.one(placement.Entry, nil))
	d.observe(0, nil)
	if residual, _ := symbol.Residual(); residual != 0 || symbol.settled {
		t.Errorf("sent and not answered: want position and fills to agree, and it not settled, have residual %d, settled %t", residual, symbol.settled)
	}
	d.ended(id, placement.Absent, 0)
	if d.observe(0, nil); !symbol.settled {
		t.Error("never sent: want it settled")
	}
}

// stopAt derives with a stop at a price.
func stopAt(d *desk, price string, change func(*Desired)) []Intent {
	return d.derive(func(desired *Desired) {
		desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: exchange.Price(d.price(price))}}
		if desired.Interval = 1_000; change != nil {
			change(desired)
		}
	})
}

// A stop moves by a bridge only where the quantity limit has room for one, otherwise by cancel, confirm,
// place.
func TestStopMovesByBridgeOnlyIfSumAllowsIt(t *testing.T) {
	t.Parallel()
	bridged := func(desired *Desired) { desired.Bridge = true }
	for _, c := range []struct {
		name   string
		change func(*Desired)
		exit   bool // an exit of a part rests
		want   placement.Purpose
	}{
		{"room for it", bridged, false, placement.StopLoss},
		{"bridges are off", nil, false, placement.Cancel},
		{"an exit of a part takes some of the sum", bridged, true, placement.Cancel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.hold(20)
			stop := stopAt(d, "45000", c.change)
			if len(stop) != 1 || !stop[0].Order.ClosePosition {
				t.Fatalf("want a stop of the whole position, have %+v", stop)
			}
			d.acknowledge(d.send(stop[0]), 12)
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Price: d.price("60000"),
				Quantity: 5, ReduceOnly: true}
			if c.exit {
				d.acknowledge(d.send(Intent{Purpose: placement.Exit, Order: order}), 13)
			}
			d.now += 5_000
			moves := stopAt(d, "46000", c.change)
			var about []Intent
			for _, intent := range moves {
				if intent.Purpose == placement.StopLoss || intent.Purpose == placement.Cancel && intent.OrderID == 12 {
					about = append(about, intent)
				}
			}
			if len(about) != 1 || about[0].Purpose != c.want || c.want == placement.StopLoss && (!about[0].Order.ReduceOnly || about[0].Order.Quantity != 20) {
				t.Errorf("want one %s of the stop, have %+v", c.want, moves)
			}
		})
	}
}

// Another botd may have bought on the same symbol, and the stop of the whole position covers that too.
func TestStopMovesOnlyIfReplacementCoversPosition(t *testing.T) {
	t.Parallel()
	stopWithAnotherPurchase(t)
}

func stopWithAnotherPurchase(t testing.TB) {
	d := newDesk(t)
	bridged := func(desired *Desired) { desired.Bridge = true }
	moves := func(when string, want int) []Intent {
		t.Helper()
		var about []Intent
		for _, intent := range stopAt(d, "46000", bridged) {
			if intent.Purpose == placement.StopLoss || intent.Purpose == placement.Cancel {
				about = append(about, intent)
			}
		}
		if len(about) != want {
			t.Fatalf("%s: want %d, have %+v", when, want, about)
		}
		return about
	}
	d.hold(20)
	d.acknowledge(d.send(stopAt(d, "45000", bridged)[0]), 12)
	d.now += 5_000
	d.observe(26, nil, d.stopOpen(12))
	moves("6 more than the fills explain", 0)
	d.now += 1_000
	d.observe(20, nil, d.stopOpen(12))
	bridge := moves("as the fills explain", 1)[0]
	d.acknowledge(d.send(bridge), 13)
	d.now += 1_000
	d.observe(26, nil, d.stopOpen(12))
	moves("6 more beside the bridge", 0)
	d.now += 1_000
	d.observe(20, nil, d.stopOpen(12))
	if have := moves("the bridge covers all", 1)[0]; have.Purpose != placement.Cancel || have.OrderID != 12 {
		t.Errorf("want the stop canceled, have %+v", have)
	}
}

// TestOutgrownBridgeIsCanceled adds to a position while its stop moves: the bridge no longer covers the position.
func TestOutgrownBridgeIsCanceled(t *testing.T) {
	t.Parallel()
	positionOutgrowsBridge(t)
}

func positionOutgrowsBridge(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	bridged := func(desired *Desired) { desired.Bridge = true }
	d.hold(20)
	d.acknowledge(d.send(stopAt(d, "45000", bridged)[0]), 12)
	d.now += 5_000
	d.observe(20, nil, d.stopOpen(12))
	for _, intent := range stopAt(d, "46000", bridged) {
		if intent.Purpose == placement.StopLoss {
			d.acknowledge(d.send(intent), 13)
		}
	}
	d.target(26)
	d.observe(20, nil, d.stopOpen(12))
	id := d.send(stopAt(d, "46000", bridged)[0])
	d.acknowledge(id, 14)
	d.now += 1_000
	d.observe(26, []OrderByID{{OrderID: 14, Known: true, Order: d.order(id, 14, exchange.StatusFilled, 6, 6)}}, d.stopOpen(12))
	for _, intent := range stopAt(d, "46000", bridged) {
		if intent.Purpose == placement.Cancel && intent.OrderID == 13 {
			return
		}
	}
	t.Error("want the bridge canceled, since it covers less than is held")
}

// stopOpen returns the stop with that order id as an open list shows it.
func (d *desk) stopOpen(orderID int64) exchange.Order {
	for p := range d.tracker.Live() {
		if o := p.Order(); p.OrderID() == orderID {
			return exchange.Order{ID: orderID, ClientOrderID: p.ClientOrderID(), Market: o.Market, Symbol: o.Symbol, Side: o.Side, Type: o.Type,
				StopPrice: o.StopPrice, ClosePosition: o.ClosePosition, Status: exchange.StatusNew}
		}
	}
	d.t.Fatalf("order %d is not in the book", orderID)
	return exchange.Order{}
}

// The remainder after a partial exit needs protection.
func TestNoNewStopDuringFullExit(t *testing.T) {
	t.Parallel()
	for target, want := range map[exchange.Quantity]int{0: 0, 1: 1} {
		d := newDesk(t)
		d.hold(20)
		d.target(target)
		stops, exited := 0, exchange.Quantity(0)
		for _, intent := range stopAt(d, "45000", nil) {
			if intent.Purpose == placement.StopLoss {
				stops++
			} else if intent.Purpose == placement.Exit {
				exited += intent.Order.Quantity
			}
		}
		if stops != want || exited != 20-target {
			t.Errorf("to %d of 20: want %d exited and %d stops, have %d and %d", target, 20-target, want, exited, stops)
		}
	}
}

// Meanwhile others own part of the position.
func TestPartialStopMovesOnceACandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		price string
		waits int64
		moves bool
	}{
		{"the same price, at once", "45000", 0, false}, {"the same price, later", "45000", 2_000, false}, {"another, at once", "46000", 999, false},
		{"another, a candle later", "46000", 1_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.hold(20)
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 10}})
			d.observe(30, nil)
			var stop *Intent
			for _, intent := range stopAt(d, "45000", nil) {
				if intent.Purpose == placement.StopLoss {
					stop = &intent
				}
			}
			if stop == nil || stop.Order.ClosePosition || stop.Order.Quantity != 20 {
				t.Fatalf("want a stop of botd's twenty, have %+v", stop)
			}
			d.acknowledge(d.send(*stop), 12)
			d.now += c.waits
			canceled := false
			for _, intent := range stopAt(d, c.price, nil) {
				canceled = canceled || intent.Purpose == placement.Cancel && intent.OrderID == 12
			}
			if canceled != c.moves {
				t.Errorf("want it moved %t, have %t", c.moves, canceled)
			}
		})
	}
}

// A fill of an exit lowers the target, at most to zero, on either side. Otherwise the target would buy the position back.
func TestExitOrderFillsLowerPricedTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, filled, want exchange.Quantity }{{20, 5, 15}, {20, 20, 0}, {20, 25, 0}, {-20, 5, -15}, {-20, 25, 0}} {
		d := newDesk(t)
		d.target(c.target)
		d.observe(0, nil)
		d.derive(nil)
		side := exchange.SideOf(-c.target)
		order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: side, Type: exchange.Limit, Price: d.price("50000"), Quantity: 40,
			ReduceOnly: true}
		id := d.send(Intent{Purpose: placement.ExitOrder, Key: "a", Order: order})
		d.ended(id, placement.Canceled, c.filled)
		if have, priced := d.tracker.Strategy("one").Priced(strategy.Target{Kind: strategy.ByQuantity, Quantity: c.target}); have != c.want || !priced {
			t.Errorf("%d of a target of %d filled: want %d left, have %d, priced %t", c.filled, c.target, c.want, have, priced)
		}
	}
}
