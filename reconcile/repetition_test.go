package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A foreign order without an id repeats an opening of botd's as long as it rests, once it has done so. Where the list shows no id of botd's own order either,
// the time of the other one does not matter.
func TestOrderRepeatsAnOpeningWhileItRests(t *testing.T) {
	t.Parallel()
	const later = repeatedMS + 1
	none := func(*exchange.Order) {}
	for name, c := range map[string]struct {
		shown    bool // botd's own id in the list
		apartMS  int64
		change   func(own *exchange.Order)
		unlisted bool // botd's own order
		before   []int64
		want     []int64
	}{
		"of the same seconds":                    {true, 0, none, false, nil, []int64{50}},
		"of another time":                        {true, later, none, false, nil, nil},
		"of another time, and no id is shown":    {false, later, none, false, nil, []int64{50}},
		"no id is shown of an order of another":  {false, later, none, true, nil, nil},
		"no id is shown of one at another price": {false, later, func(own *exchange.Order) { own.Price++ }, false, nil, []int64{50}},
		"no id is shown of one of another size":  {false, later, func(own *exchange.Order) { own.Quantity++ }, false, nil, nil},
		"its id is shown, at another price":      {true, 0, func(own *exchange.Order) { own.Price++ }, false, nil, nil},
		"it has repeated one":                    {true, later, none, false, []int64{50}, []int64{50}},
		"another order has repeated one":         {true, later, none, false, []int64{51}, nil},
	} {
		d := newDesk(t)
		d.tracker.foreignPolicy = ForeignAdopt
		order := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10}
		row := exchange.Order{ID: 50, Market: exchange.Futures, Symbol: "BTC-USDT", Side: order.Side, Type: order.Type, Price: order.Price, Quantity: 10,
			CreatedMS: d.now + c.apartMS, Status: exchange.StatusOpen}
		own := row
		own.ID, own.CreatedMS = 12, d.now
		c.change(&row)
		if own.ClientOrderID = d.rests(placement.Order, 12, order); !c.shown {
			own.ClientOrderID = ""
		}
		symbol := d.tracker.Symbol(bitcoin)
		symbol.foreign, symbol.repeated = []exchange.Order{row}, c.before
		matched := []*account.Placement{nil, slices.Collect(d.tracker.Live())[0]}
		if c.unlisted {
			matched[1] = nil
		}
		for _, list := range [][]int{{1, 0}, {0, 1}} { // in either order
			symbol.repeated, symbol.repeatedAs = c.before, nil
			rows := []exchange.Order{row, own}
			symbol.noteRepeated([]exchange.Order{rows[list[0]], rows[list[1]]}, []*account.Placement{matched[list[0]], matched[list[1]]})
			if !slices.Equal(symbol.repeated, c.want) {
				t.Errorf("%s: want %v, have %v", name, c.want, symbol.repeated)
			}
		}
		if c.unlisted || c.before != nil {
			continue
		}
		if !c.shown && c.want != nil { // a later one of that size repeats it too, whatever the list shows then
			row.ID = 52
			symbol.foreign = []exchange.Order{row}
			if symbol.noteRepeated(nil, nil); !slices.Equal(symbol.repeated, []int64{52}) {
				t.Errorf("%s: want a later one too, have %v", name, symbol.repeated)
			}
		}
		if d.observe(0, nil, row, own); symbol.Repeats(&row) != (c.want != nil) { // by the list itself
			t.Errorf("%s: want the list to show it as a repetition: %t", name, c.want != nil)
		}
	}
}

// While botd stands down, a stop on spot that somebody else canceled may have made room for a sale of the units that it held.
func TestStopThatAnotherCanceledMayBeSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		purpose  placement.Purpose
		state    placement.State
		orderID  int64
		filled   exchange.Quantity
		alone    bool // botd does not stand down
		canceled bool // by botd
		want     []peerOrder
	}{
		"canceled":           {placement.StopLoss, placement.Canceled, 8, 0, false, false, []peerOrder{{orderID: 8, net: 10}}},
		"a part had sold":    {placement.StopLoss, placement.Canceled, 8, 4, false, false, []peerOrder{{orderID: 8, net: 6}}},
		"all had sold":       {placement.StopLoss, placement.Canceled, 8, 10, false, false, nil},
		"expired":            {placement.StopLoss, placement.Expired, 8, 0, false, false, nil},
		"never acknowledged": {placement.StopLoss, placement.Canceled, 0, 0, false, false, nil},
		"a take-profit":      {placement.TakeProfit, placement.Canceled, 8, 0, false, false, nil},
		"by botd":            {placement.StopLoss, placement.Canceled, 8, 0, false, true, nil},
		"botd is alone":      {placement.StopLoss, placement.Canceled, 8, 0, true, false, nil},
	} {
		w, _ := protecting(t)
		id := w.places(c.purpose, c.orderID, stopOf(10)).ClientOrderID
		w.now += 1_000
		if !c.alone {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
		}
		if c.canceled {
			w.tracker.NoteCancel(id, w.now)
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{State: c.state, OrderID: c.orderID, Filled: c.filled}})
		have := w.tracker.Symbol(coin).unlistedSales
		if len(c.want) != 0 {
			c.want[0].seenMS = w.now
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: want %+v, have %+v", name, c.want, have)
		}
	}
}

// The newest 64 sizes of openings that a list has shown without ids, in addition to another row of that size, are remembered.
func TestNewestRepeatedSizesAreRemembered(t *testing.T) {
	t.Parallel()
	for size, want := range map[exchange.Quantity]bool{1: false, 2: true, maxRemembered + 1: true} {
		d := newDesk(t)
		symbol := d.tracker.Symbol(bitcoin)
		rowOf := func(id int64, size exchange.Quantity) exchange.Order {
			return exchange.Order{ID: id, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"),
				Quantity: size, Status: exchange.StatusOpen, CreatedMS: d.now}
		}
		for n := exchange.Quantity(1); n <= maxRemembered+1; n++ {
			d.now += 2 * repeatedMS
			own := rowOf(int64(100+n), n)
			id := d.rests(placement.Order, own.ID, exchange.NewOrder{Side: own.Side, Type: own.Type, Price: own.Price, Quantity: n})
			theirs := rowOf(int64(500+n), n)
			theirs.CreatedMS += repeatedMS + 1
			d.observe(0, nil, theirs, own)
			d.ended(id, placement.Canceled, 0)
		}
		d.now += 2 * repeatedMS
		again := rowOf(99, size)
		d.observe(0, nil, again)
		if have := symbol.Repeats(&again); have != want {
			t.Errorf("a row of size %d: want it to repeat an opening %t, have %t", size, want, have)
		}
	}
}
