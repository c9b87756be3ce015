package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// unreadOrders fetches a position and an open list, while a read of an order by its id fails.
func (d *desk) unreadOrders(signed exchange.Quantity, orders ...exchange.Order) {
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders), Before: d.positions(signed),
		Positions: d.positions(signed), Unread: []exchange.SymbolKey{bitcoin}})
}

// A stop was canceled in order to move it, and botd was started again, which does not know the cancel. The open list omits the stop, and reads by its id
// fail. On futures the exchange refuses another stop if the first one rests after all.
func TestOmittedStopWithUnreadableEndIsReplaced(t *testing.T) {
	t.Parallel()
	omittedUnreadStop(t)
}

func omittedUnreadStop(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	d.acknowledge(d.send(stopAt(d, "45000", nil)[0]), 12)
	stop := d.stopOpen(12)
	d.now += 5_000
	d.observe(20, nil, stop)
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	d.now += 1_000
	reads := func(waitMS int64, want bool, orders ...exchange.Order) {
		t.Helper()
		d.now += waitMS
		d.unreadOrders(20, orders...)
		intents := stopAt(d, "45000", func(w *Desired) { w.MayOpen = false })
		if have := len(intents) == 1 && intents[0].Purpose == placement.StopLoss && intents[0].Order.ClosePosition; have != want {
			t.Errorf("after %d ms: want another stop %t, have %+v", waitMS, want, intents)
		}
	}
	reads(0, false)
	reads(RepeatMS-1, false)
	reads(1, true)
	reads(1_000, false, stop)
	reads(1_000, false)
	reads(RepeatMS, true)
	d.observe(20, []OrderByID{{OrderID: 12, Known: true, Order: stop}}) // a read by its id shows it
	reads(1_000, false)
}

// A bridge stands next to a stop that moves. Neither is canceled while the list omits the other one and reads by its id fail: it may have ended.
func TestNeitherStopNorBridgeIsCanceledWhileTheOtherMayHaveEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		listed []int64
		price  string            // of the desired stop
		held   exchange.Quantity // the bridge is of twenty
		want   int64             // order that is canceled
	}{
		{"the bridge covers all", []int64{12, 13}, "46000", 20, 12},
		{"the bridge covers all and is omitted", []int64{12}, "46000", 20, 0},
		{"the bridge covers less", []int64{12, 13}, "46000", 26, 13},
		{"the bridge covers less, and the stop is omitted", []int64{13}, "46000", 26, 0},
		{"the stop has its price", []int64{12, 13}, "45000", 20, 13},
		{"the stop has its price and is omitted", []int64{13}, "45000", 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			movingStop(t, c.listed, c.price, c.held, c.want)
		})
	}
}

func movingStop(t testing.TB, listed []int64, price string, held exchange.Quantity, want int64) {
	t.Helper()
	d := newDesk(t)
	bridged := func(desired *Desired) { desired.Bridge, desired.MayOpen = true, false }
	d.hold(20)
	d.acknowledge(d.send(stopAt(d, "45000", bridged)[0]), 12)
	d.now += 5_000
	d.observe(20, nil, d.stopOpen(12))
	d.acknowledge(d.send(stopAt(d, "46000", bridged)[0]), 13)
	d.now += 1_000
	d.observe(20, nil, d.stopOpen(12), d.stopOpen(13))
	if held > 20 {
		d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: held - 20}})
	}
	d.now += 1_000
	var orders []exchange.Order
	for _, id := range listed {
		orders = append(orders, d.stopOpen(id))
	}
	d.unreadOrders(held, orders...)
	canceled := int64(0)
	for _, intent := range stopAt(d, price, bridged) {
		if intent.Purpose == placement.Cancel {
			canceled = intent.OrderID
		}
	}
	if canceled != want {
		t.Errorf("want order %d canceled, have %d", want, canceled)
	}
}

// Only a futures list that was read shows an omission, and the first one counts.
func TestOmissionIsNotedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.acknowledge(d.send(stopAt(d, "45000", nil)[0]), 12)
	id := d.stopOpen(12).ClientOrderID
	want := func(what string, wantMS int64) {
		t.Helper()
		if have := d.tracker.known(id).omittedMS; have != wantMS {
			t.Errorf("%s: want the omission noted at %d, have %d", what, wantMS, have)
		}
	}
	d.now += 1_000
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Positions: d.positions(20), Before: d.positions(20), Unread: []exchange.SymbolKey{bitcoin}})
	want("without a list", 0)
	d.unreadOrders(20)
	firstMS := d.now
	d.now += 1_000
	d.unreadOrders(20)
	want("by two lists", firstMS)
	d.tracker.noteOmitted(id, 0)
	want("once it is shown", 0)
	d.tracker.noteOmitted(id, 1)
	d.tracker.noteOmitted(id, 2)
	want("again", 1)
	d.tracker.noteOmitted("another", 0)
	if _, noted := d.tracker.deliveries["another"]; noted {
		t.Error("want nothing noted about an order that was never omitted")
	}
}
