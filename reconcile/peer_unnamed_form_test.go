package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// On futures a stop without an id at the price of one of botd's own is another botd's. Anything else at that price may be a person's.
func TestFuturesStopAtThePriceOfBotdsOwnRevealsAnUnnamedPeer(t *testing.T) {
	t.Parallel()
	stops := func(d *desk) { d.whole(placement.StopLoss, 1, exchange.Sell, "49000") }
	for name, c := range map[string]struct {
		sends  func(d *desk)
		change func(*exchange.Order)
		lists  int // that have shown the id of another order of botd's
		want   bool
	}{
		"as botd's own":                        {stops, func(*exchange.Order) {}, 0, true},
		"in a list that has shown ten ids":     {stops, func(*exchange.Order) {}, 10, false},
		"under an id":                          {stops, func(o *exchange.Order) { o.ClientOrderID = "by hand" }, 0, false},
		"at another price":                     {stops, func(o *exchange.Order) { o.StopPrice++ }, 0, false},
		"of a short position":                  {stops, func(o *exchange.Order) { o.Side = exchange.Buy }, 0, false},
		"of another type":                      {stops, func(o *exchange.Order) { o.Type = exchange.StopLimit }, 0, false},
		"no stop, at the price of botd's stop": {stops, func(o *exchange.Order) { o.Type = exchange.TakeProfitMarket }, 0, false},
		"a take-profit at the price of one of botd's own": {func(d *desk) { d.whole(placement.TakeProfit, 1, exchange.Sell, "49000") },
			func(o *exchange.Order) { o.Type = exchange.TakeProfitMarket }, 0, false},
		"next to one that is not answered": {func(d *desk) {
			d.send(Intent{Purpose: placement.StopLoss, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell,
				Type: exchange.StopMarket, StopPrice: d.price("49000"), ClosePosition: true}})
		}, func(*exchange.Order) {}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			futuresStopOfAnother(t, c.sends, c.change, c.lists, c.want)
		})
	}
}

func futuresStopOfAnother(t testing.TB, sends func(d *desk), change func(*exchange.Order), lists int, want bool) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	sends(d)
	bid := d.rests(placement.Order, 3, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 3})
	resting := d.order(bid, 3, exchange.StatusOpen, 3, 0)
	for range lists {
		d.now += 1_000
		d.observe(20, nil, resting)
	}
	row := exchange.Order{ID: 30, Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: d.price("49000"),
		ClosePosition: true, Status: exchange.StatusOpen}
	change(&row)
	d.now += 1_000
	d.observe(20, nil, row)
	if have := d.tracker.HasUnnamedPeer(); have != want {
		t.Errorf("want another botd known %t, have %t", want, have)
	}
}

// On spot the limit counts too: a person's stop may have the stop price of botd's.
func TestSpotStopWithAnotherLimitRevealsNoUnnamedPeer(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.tracker.Symbol(coin).SetCollar(exchange.RateOne / 20)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	row := anothers("", 20, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
	row.StopPrice, row.Price = own.StopPrice, 48_000e8
	w.now += 1_000
	if w.shows("0.993", "0.017", own, row); w.tracker.HasUnnamedPeer() {
		t.Error("want a person's stop to reveal no botd")
	}
}

// An exit of a spot position is left to the other botd for a time that depends on both marks or, without marks, on whose order is the newer one. The other
// botd does not wait for one that it cannot have recognized: by a stop, or a purchase by amount, since its own order.
func TestExitYieldsToAnUnnamedPeer(t *testing.T) {
	t.Parallel()
	byAmount := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	limit := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 40_000e8}
	type sent struct {
		purpose placement.Purpose
		orderID int64
		order   exchange.NewOrder
	}
	for _, c := range []struct {
		name   string
		random string         // of this start: no mark, or the largest one, 46.5
		raised exchange.Price // by which the other's limit is above that at the collar
		sent   []sent         // afterwards
		want   int64
	}{
		{"nothing sent since", "00000", 0, nil, yieldMS},
		{"a stop, and equal marks", "00000", 0, []sent{{placement.StopLoss, 21, stopOf(4)}}, 3 * yieldMS},
		{"a purchase by amount, and equal marks", "00000", 0, []sent{{placement.Entry, 21, byAmount}}, 3 * yieldMS},
		{"a purchase by quantity, which has no form", "00000", 0, []sent{{placement.Order, 21, limit}}, yieldMS},
		{"an exit, which has none", "00000", 0, []sent{{placement.Exit, 21, saleOf(4)}}, yieldMS},
		{"a stop that the exchange has placed before the other's", "00000", 0, []sent{{placement.StopLoss, 19, stopOf(4)}}, yieldMS},
		{"the answer to an earlier stop follows that to a later one", "00000", 0,
			[]sent{{placement.StopLoss, 22, stopOf(4)}, {placement.StopLoss, 18, stopOf(4)}}, 3 * yieldMS},
		{"the smaller mark", "00000", 20e8, []sent{{placement.StopLoss, 21, stopOf(4)}}, 0},
		{"the smaller mark, and nothing sent since", "00000", 20e8, nil, yieldMS},
		{"the larger mark", "zzzzz", 20e8, []sent{{placement.StopLoss, 21, stopOf(4)}}, 2 * yieldMS},
	} {
		w, _ := protecting(t)
		w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 9, Random: c.random}})
		symbol := w.tracker.Symbol(coin)
		symbol.SetCollar(exchange.RateOne / 20)
		row := anothers("", 20, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
		row.StopPrice, row.Price = 49_000e8, 46_550e8+c.raised
		w.now += 1_000
		w.shows("1.003", "0.007", row)
		for _, one := range c.sent {
			w.places(one.purpose, one.orderID, one.order)
		}
		if have := w.tracker.YieldMS(symbol, 5_000_000); have != 5_000_000+c.want {
			t.Errorf("%s: want an exit left to the other botd for %d ms, have %d", c.name, c.want, have-5_000_000)
		}
	}
}

// The marks are compared once, under the rules of that time: a price tick that grows makes neither smaller.
func TestGrownPriceTickDoesNotChangeWhoYields(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	symbol.SetCollar(exchange.RateOne / 20)
	row := anothers("", 20, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
	row.StopPrice, row.Price = 49_000e8, 46_550e8
	w.now += 1_000
	w.shows("1.003", "0.007", row)
	grown := *symbol.Rules()
	grown.PriceTick = 100e8
	symbol.SetRules(&grown)
	w.now += 1_000
	w.shows("1.003", "0.007", row)
	w.places(placement.StopLoss, 21, stopOf(4))
	if have := w.tracker.YieldMS(symbol, 5_000_000); have != 5_000_000+3*yieldMS {
		t.Errorf("want an exit left to the other botd for %d ms, as with equal marks, have %d", 3*yieldMS, have-5_000_000)
	}
}

// As soon as a stop is canceled for an exit, another botd may sell what it held. If another botd is known, the exit waits until a wallet can show its sale.
func TestExitAfterACanceledStopWaitsLongerForAnUnnamedPeer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unnamed bool
		afterMS int64
		want    exchange.Quantity
	}{
		"alone":                               {false, ExitReleaseMS, 10},
		"another botd, at once":               {true, ExitReleaseMS, 0},
		"another botd, just before 2.5 s":     {true, 2_499, 0},
		"another botd, after 2.5 s":           {true, 2_500, 10},
		"alone, a moment before that is over": {false, ExitReleaseMS - 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitsAfterRelease(t, c.unnamed, c.afterMS, c.want)
		})
	}
}

func exitsAfterRelease(t testing.TB, unnamed bool, afterMS int64, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.Symbol(coin).SetCollar(exchange.RateOne / 20)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.targets(0, nil)
	row := anothers("", 20, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
	if row.StopPrice, row.Price = 49_000e8, 48_000e8; unnamed {
		row.Price = 46_550e8
	}
	w.now += 60_000
	w.shows("1", "0.017", stop, row)
	if have := canceled(derive()); !slices.Equal(have, []int64{8}) {
		t.Fatalf("want the stop canceled for the exit, have %v", have)
	}
	w.answersCancel(stop)
	if w.now += afterMS; soldBy(derive()) != want {
		t.Errorf("%d ms after the answer: want an exit of %d, have %d", afterMS, want, soldBy(derive()))
	}
}
