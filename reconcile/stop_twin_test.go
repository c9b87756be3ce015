package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Lists without ids show a stop at the price of botd's own, over the same units: a botd with a copy of the journal has placed it. One of the two gives way, so
// that not both sell (seed 885502644).
func TestOneOfTwoTwinStopsIsCanceled(t *testing.T) {
	t.Parallel()
	own := []int64{8}
	four := func(o *exchange.Order) { o.Quantity = 4 }
	nine := func(o *exchange.Order) { o.Quantity = 9 } // else it would be a repetition of botd's own
	for name, c := range map[string]twinStop{
		"with the larger mark, before its time":     {afterMS: excessMS - 1},
		"with the larger mark":                      {afterMS: excessMS, want: own},
		"with the smaller mark, before its time":    {mark: 10e8, afterMS: excessLastMS - 1},
		"with the smaller mark":                     {mark: 10e8, afterMS: excessLastMS, want: own},
		"of equal ones, the younger":                {equal: true, afterMS: excessMS, want: own},
		"of equal ones, the older":                  {equal: true, id: 9, change: nine, free: "0.991", frozen: "0.019", afterMS: excessLastMS - 1},
		"the wallet holds units for both":           {free: "1", afterMS: 60_000},
		"the wallet holds units for a part of both": {free: "0.991", afterMS: 60_000},
		"the wallet freezes units for one":          {free: "1", frozen: "0.01", afterMS: 60_000},
		"at another price":                          {change: func(o *exchange.Order) { o.StopPrice, o.Price = 49_100e8, 46_645e8 }, afterMS: 60_000},
		"with another limit":                        {change: func(o *exchange.Order) { o.Price = 48_000e8 }, afterMS: 60_000},
		"a smaller one":                             {change: four, frozen: "0.014", free: "0.996", afterMS: excessMS, want: own},
		"where lists show ids":                      {shown: true, afterMS: 60_000},
		"while botd stands down":                    {standing: true, afterMS: excessMS},
		"shown for the first time":                  {once: true, afterMS: 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// twinStop is a stop without an id next to botd's own of ten.
type twinStop struct {
	mark         exchange.Price // by which its limit is higher than that of botd's own, less four
	equal        bool           // that difference is zero
	id           int64          // its number; 0 for 7: it is older than botd's own
	change       func(*exchange.Order)
	free, frozen string // empty: the wallet holds units for one, and both are frozen
	shown        bool   // lists show ids
	standing     bool   // ids of other orders have revealed another botd
	once         bool   // only the newest list shows it
	afterMS      int64  // for which both have been shown
	want         []int64
}

func (c twinStop) check(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.Symbol(coin).collar = exchange.RateOne / 20
	w.tracker.idsShown = c.shown
	w.now += 60_000
	own := w.places(placement.StopLoss, 8, stopOf(10))
	if c.standing {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	}
	twin := anothers("", max(c.id, 7), exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	if twin.StopPrice, twin.Price = own.StopPrice, own.Price-4e8+c.mark; c.equal {
		twin.Price = own.Price
	}
	if c.change != nil {
		c.change(&twin)
	}
	if c.free == "" {
		c.free = "0.99"
	}
	if c.frozen == "" {
		c.frozen = "0.02"
	}
	own = unnamed(own)
	for _, gapMS := range []int64{30_000, c.afterMS} {
		w.now += gapMS
		if c.once && gapMS == 30_000 {
			w.sees("1", "0.01", nil, own)
			continue
		}
		w.sees(c.free, c.frozen, nil, own, twin)
	}
	intents := derive()
	if have := canceled(intents); !slices.Equal(have, c.want) {
		t.Errorf("want %v canceled, have %v", c.want, have)
	}
	if have := stopped(intents); have != 0 {
		t.Errorf("want no other stop, have one of %d", have)
	}
}

// A start has no stop, and has forgotten which orders without an id replaced it: those of its form that were open before stand in for it at any price, unless
// the wallet holds units for both (seed 1104052067).
func TestStartLeavesUnitsToStopsThatReplacedItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]formerStops{
		"they cover the position":                    {rows: []exchange.Quantity{4, 6}},
		"they cover a part of it":                    {rows: []exchange.Quantity{4}, want: 6},
		"they cover more: the first ones count":      {rows: []exchange.Quantity{4, 4, 6}, want: 2},
		"one of another form":                        {rows: []exchange.Quantity{10}, change: func(o *exchange.Order) { o.Price = 48_000e8 }, want: 10},
		"one that was created after the start":       {rows: []exchange.Quantity{10}, change: func(o *exchange.Order) { o.CreatedMS += 30_000 }, want: 10},
		"the wallet holds units for both":            {rows: []exchange.Quantity{10}, more: 10, want: 10},
		"a stop of botd's own covers a part":         {rows: []exchange.Quantity{6}, own: 4, want: 6},
		"the newest list shows none of it as frozen": {rows: []exchange.Quantity{10}, unfrozen: true, want: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// formerStops are rows of the form of botd's stops, next to a position of ten and a person's units.
type formerStops struct {
	rows     []exchange.Quantity
	own      exchange.Quantity // of botd's own stop
	change   func(*exchange.Order)
	more     exchange.Quantity // that the wallet holds
	unfrozen bool
	want     exchange.Quantity
}

func (c formerStops) check(t testing.TB) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	var open []exchange.Order
	frozen := c.own
	if c.own != 0 {
		open = append(open, unnamed(w.places(placement.StopLoss, 6, stopOf(c.own))))
	}
	for i, quantity := range c.rows {
		row := anothers("", int64(7+i), exchange.Sell, exchange.StopLimit, quantity, 0, w.now)
		if row.StopPrice, row.Price = 49_100e8, 46_645e8; c.change != nil {
			c.change(&row)
		}
		open, frozen = append(open, row), frozen+quantity
	}
	if c.unfrozen {
		frozen = 0
	}
	w.now += 10_000
	w.start()
	symbol := w.tracker.Symbol(coin)
	symbol.collar = exchange.RateOne / 20
	w.now += 1_000
	held := symbol.rules.QuantityAmount(1_010 + c.more)
	w.sees(held.Sub(symbol.rules.QuantityAmount(frozen)).String(), symbol.rules.QuantityAmount(frozen).String(), nil, open...)
	if have := stopped(w.deriver()()); have != c.want {
		t.Errorf("want a stop of %d, have %d", c.want, have)
	}
}

// Botd's own stop covers four of ten. A twin covers the rest at once, whichever mark it has: a start has forgotten what it stands in for (seed 885502535).
func TestTwinStandsInForAMissingStop(t *testing.T) {
	t.Parallel()
	twinOfAPart(t, 6, "0.01", 0)
	twinOfAPart(t, 5, "0.009", 1)
	twinOfAPart(t, 6, "0.004", 6)
}

func twinOfAPart(t testing.TB, theirs exchange.Quantity, frozen string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	symbol := w.tracker.Symbol(coin)
	symbol.collar = exchange.RateOne / 20
	w.now += 60_000
	own := unnamed(w.places(placement.StopLoss, 8, stopOf(4)))
	twin := anothers("", 7, exchange.Sell, exchange.StopLimit, theirs, 0, w.now)
	twin.StopPrice, twin.Price = own.StopPrice, own.Price+5e8
	w.now += 30_000
	free := exchange.MustAmount("1.01").Sub(exchange.MustAmount(frozen))
	w.sees(free.String(), frozen, nil, own, twin)
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d beside it, have %d", want, have)
	}
	if want != 0 {
		return
	}
	w.now += excessLastMS
	w.sees(free.String(), frozen, nil, own, twin)
	if have := derive(); len(have) != 0 {
		t.Errorf("want nothing while both rest, have %+v", have)
	}
	w.now += 1_000
	w.sees("1.006", "0.004", nil, own)
	w.now += repeatedMS
	w.sees("1.006", "0.004", nil, own)
	if have := stopped(derive()); have != 6 {
		t.Errorf("want a stop of 6 once it has ended, have one of %d", have)
	}
}

// Once a list shows the id of an order that stands in for a stop, it counts as a known order of another botd, and not twice.
func TestNamedReplacementCountsOnce(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	row := anothers(youngers+"1", 7, exchange.Sell, exchange.StopLimit, 6, 0, w.now)
	symbol.foreign = []exchange.Order{row}
	symbol.spot.replaced.orders = []replacementOrder{{7, 6, w.now}}
	if have := w.tracker.sellsUnknown(symbol); have != 6 {
		t.Errorf("want 6 that others may sell, have %d", have)
	}
	symbol.foreign[0].ClientOrderID = ""
	if have := w.tracker.sellsUnknown(symbol); have != 6 {
		t.Errorf("without its id: want 6 that others may sell, have %d", have)
	}
}

// A row without an id may be botd's own stop whose answer is outstanding, and an order that opens is no stop.
func TestTwinIsOneOfAnAnsweredStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		purpose placement.Purpose
		number  int64
		twin    bool
	}{
		"a stop":                 {placement.StopLoss, 8, true},
		"one that is unanswered": {placement.StopLoss, 0, false},
		"an order of the plan":   {placement.Order, 8, false},
	} {
		w, _ := protecting(t)
		symbol := w.tracker.Symbol(coin)
		symbol.collar = exchange.RateOne / 20
		own := w.sends(c.purpose, c.number, stopOf(10))
		row := anothers("", 7, exchange.Sell, exchange.StopLimit, 6, 0, w.now)
		row.StopPrice, row.Price = own.StopPrice, own.Price
		if have := w.tracker.twinOf(symbol, &row) != nil; have != c.twin {
			t.Errorf("%s: want a twin of it %t, have %t", name, c.twin, have)
		}
	}
}

// A twin that covered a part has left the list, long after it was created. The history is read from then on, and what it has sold is not sold again (seed
// 885501687).
func TestSaleOfAnOldTwinIsNotRepeated(t *testing.T) {
	t.Parallel()
	soldByATwin(t, 6, 0)
	soldByATwin(t, 0, 6)
}

func soldByATwin(t testing.TB, sold, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.idsLeftOut = true
	symbol := w.tracker.Symbol(coin)
	symbol.collar = exchange.RateOne / 20
	w.now += 60_000
	own := unnamed(w.places(placement.StopLoss, 8, stopOf(4)))
	twin := anothers("", 7, exchange.Sell, exchange.StopLimit, 6, 0, w.now)
	twin.StopPrice, twin.Price = own.StopPrice, own.Price+5e8
	for range 3 {
		w.now += 30_000
		w.sees("1", "0.01", nil, own, twin)
	}
	if since := symbol.spot.replaced.soldFrom(w.now); since != w.now {
		t.Errorf("want no old sale while it rests, have one from %d", since)
	}
	ended := twin
	ended.Filled, ended.Status = sold, exchange.StatusCanceled
	free := symbol.rules.QuantityAmount(1_006 - sold).String()
	for range 3 {
		w.now += 1_500
		w.sees(free, "0.004", []exchange.Order{ended}, own)
		if since, ask := w.tracker.NeedsOrderHistory(symbol); sold != 0 && (!ask || since > twin.CreatedMS) {
			t.Errorf("want the history read from %d on, have %t from %d", twin.CreatedMS, ask, since)
		}
	}
	if have := stopped(derive()); have != want {
		t.Errorf("%d sold: want a stop of %d, have %d", sold, want, have)
	}
	if sold == 0 {
		w.now += 60_000
		if w.sees(free, "0.004", nil, own); len(symbol.spot.replaced.left) != 0 {
			t.Error("want it forgotten once a later wallet agrees")
		}
	}
}
