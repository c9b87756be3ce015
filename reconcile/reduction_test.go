package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A reduction filled against another's position while an opening was live that might have explained it. Once the opening
// has ended, the quantity does not count as a position of botd's.
func TestReductionOpensNoPositionAfterOpeningEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		side  exchange.Side // of the opening
		ends  func(d *desk, opening string, exit, ended OrderByID)
		known exchange.Quantity
	}{
		"it ends in the same snapshot, after the exit's row": {exchange.Buy, func(d *desk, _ string, exit, ended OrderByID) {
			d.observe(0, []OrderByID{exit, ended})
		}, 0},
		"it ends in a later snapshot": {exchange.Buy, endsLater, 0},
		"it sells":                    {exchange.Sell, endsLater, 0},
		"the exchange refuses it": {exchange.Buy, func(d *desk, opening string, exit, _ OrderByID) {
			d.observe(0, []OrderByID{exit})
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: opening, Body: record.Refused{Code: 2019}})
			d.observe(0, nil)
		}, 0},
		"after a start": {exchange.Buy, func(d *desk, opening string, exit, _ OrderByID) {
			d.observe(0, []OrderByID{exit})
			d.ended(opening, placement.Expired, 0)
			d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
			d.observe(0, nil)
		}, 0},
		"it filled in part": {exchange.Buy, func(d *desk, _ string, exit, ended OrderByID) {
			ended.Order.Filled = 5
			d.observe(0, []OrderByID{exit, ended})
		}, 0},
		"it filled more": {exchange.Buy, func(d *desk, _ string, exit, ended OrderByID) {
			ended.Order.Filled, ended.Order.Status = 30, exchange.StatusFilled
			d.observe(10, []OrderByID{exit, ended})
		}, 10},
		"a stop reduces the rest": {exchange.Buy, func(d *desk, _ string, exit, ended OrderByID) {
			d.observe(5, []OrderByID{exit})
			stop := exit
			stop.OrderID, stop.Order.ID, stop.Order.ClientOrderID, stop.Order.Filled = 13, 13, d.whole(placement.StopLoss, 13, exchange.Sell, "49000"), 5
			d.observe(0, []OrderByID{ended, stop})
		}, 0},
		"it filled as much, and a stop then reduces an unexplained position of the other side": {exchange.Buy, fillsAndUnexplainedIsReduced, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			reductionDuringOpening(d, c.side, c.ends)
			if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != c.known {
				t.Errorf("want a position of %d, have %d", c.known, symbol.Known())
			}
		})
	}
}

func endsLater(d *desk, _ string, exit, ended OrderByID) {
	d.observe(0, []OrderByID{exit})
	d.observe(0, []OrderByID{ended})
}

func fillsAndUnexplainedIsReduced(d *desk, _ string, exit, ended OrderByID) {
	ended.Order.Filled, ended.Order.Status = 20, exchange.StatusFilled
	endsLater(d, "", exit, ended)
	stop := exit
	stop.OrderID, stop.Order.ID, stop.Order.ClientOrderID = 13, 13, d.whole(placement.StopLoss, 13, exchange.Buy, "52000")
	stop.Order.Side, stop.Order.Filled = exchange.Buy, 30
	d.observe(0, []OrderByID{stop})
}

// reductionDuringOpening shows an exit of 20 filled while an opening rests, and then what the caller lets happen.
func reductionDuringOpening(d *desk, side exchange.Side, ends func(d *desk, opening string, exit, ended OrderByID)) {
	d.observe(0, nil)
	order := exchange.NewOrder{Side: side, Type: exchange.StopLimit, StopPrice: d.price("51000"), Price: d.price("51100"), Quantity: 30}
	opening := d.rests(placement.Order, 11, order)
	away := exchange.NewOrder{Side: side.Opposite(), Type: exchange.Limit, Price: d.price("60000"), Quantity: 20, ReduceOnly: true}
	exit := d.rests(placement.ExitOrder, 12, away)
	d.now += 1_000
	filled, canceled := d.order(exit, 12, exchange.StatusFilled, 20, 20), d.order(opening, 11, exchange.StatusCanceled, 30, 0)
	filled.Side, canceled.Side = away.Side, side
	ends(d, opening, OrderByID{OrderID: 12, Known: true, Order: filled}, OrderByID{OrderID: 11, Known: true, Order: canceled})
}

func reducesBeforeOpeningEnds(t testing.TB)       { nothingStays(t, endsLater) }
func reducesUnexplainedAfterOpening(t testing.TB) { nothingStays(t, fillsAndUnexplainedIsReduced) }

func nothingStays(t testing.TB, ends func(d *desk, opening string, exit, ended OrderByID)) {
	d := newDesk(t)
	reductionDuringOpening(d, exchange.Buy, ends)
	if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 0 {
		t.Errorf("want no position, have %d", symbol.Known())
	}
}
