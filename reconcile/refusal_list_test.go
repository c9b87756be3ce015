package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An open list that still shows an order as it was before its end, or before its last fill, may be older than a refused order too: it does not
// confirm the refusal.
func TestListThatShowsEndedOrderDoesNotConfirmRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		market exchange.Market // of the list
		ended  bool
		named  bool // the list contains client order ids
		filled exchange.Quantity
		shown  exchange.Quantity // in the list
		want   int               // refusals that are not confirmed
	}{
		{"it has ended", exchange.Futures, true, true, 0, 0, 1},
		{"it has ended, and the list omits ids", exchange.Futures, true, false, 0, 0, 1},
		{"it has filled further", exchange.Futures, false, true, 6, 4, 1},
		{"it stands", exchange.Futures, false, true, 6, 6, 0},
		{"the list is another market's", exchange.Spot, true, true, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedWithList(t, c.market, c.ended, c.named, c.filled, c.shown, c.want)
		})
	}
}

func refusedWithList(t testing.TB, market exchange.Market, ended, named bool, filled, shown exchange.Quantity, want int) {
	t.Helper()
	d := newDesk(t)
	sends := func(market exchange.Market) exchange.NewOrder {
		order := exchange.NewOrder{Market: market, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: d.price("40000"),
			ClientOrderID: d.tracker.NextClientOrderID("t")}
		d.tracker.Apply(&record.Record{AtMS: d.now, Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.Order, DeadlineMS: d.now + 5_000}})
		return order
	}
	earlier := sends(market)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: earlier.ClientOrderID, Body: record.Fill{OrderID: 12, Filled: filled}})
	if ended {
		d.ended(earlier.ClientOrderID, placement.Canceled, filled)
	}
	d.now += 10_000
	refused := sends(exchange.Futures)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: refused.ClientOrderID, Body: record.Refused{Reason: "busy"}})
	d.now += 1_000
	row := exchange.Order{ID: 12, ClientOrderID: earlier.ClientOrderID, Market: market, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit,
		Quantity: 10, Filled: shown, Price: earlier.Price, Status: exchange.StatusOpen, CreatedMS: d.now - 10_000}
	if !named {
		row.ClientOrderID = ""
	}
	none := exchange.FetchedOf([]exchange.Order(nil))
	read := Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: none, Before: d.positions(0), Positions: d.positions(0)}
	if market == exchange.Spot {
		read.SpotOrders = exchange.FetchedOf([]exchange.Order{row})
	} else {
		read.FuturesOrders = exchange.FetchedOf([]exchange.Order{row})
	}
	d.tracker.Observe(&read)
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("want %d refusals unconfirmed, have %d", want, have)
	}
}

// A list of positions that shows more on the refused opening's side does not confirm the refusal, and neither does a later one without it: one of the
// two is old, and the account's margin decides.
func TestPositionBeyondFillsConfirmsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		shown  exchange.Quantity
		reduce bool // the refused order reduces
		want   int  // refusals that are not confirmed
	}{
		{"on its side", 10, false, 1}, {"a single step on its side", 1, false, 1}, {"on the other side", -10, false, 0}, {"none", 0, false, 0},
		{"on the side of a reduction", 10, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedWithPosition(t, c.shown, c.reduce, c.want)
		})
	}
}

func refusedWithPosition(t testing.TB, shown exchange.Quantity, reduce bool, want int) {
	t.Helper()
	d := newDesk(t)
	d.observe(0, nil)
	d.refusedBid(reduce)
	d.now += 1_000
	d.observe(shown, nil)
	if have := len(d.tracker.Refused()); have != want {
		t.Errorf("want %d refusals unconfirmed, have %d", want, have)
	}
}

// The exchange executed an opening by stop that it refused. The price had passed its stop price on the way, so it rests as a take-profit, and the list
// omits its id.
func TestExecutedRefusedStopIsFoundAsTakeProfit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rest exchange.OrderType
		want bool // it is quarantined
	}{
		{"as it was sent", exchange.StopLimit, true}, {"as a take-profit", exchange.TakeProfitLimit, true},
		{"one that is executed at market", exchange.TakeProfitMarket, false}, {"a limit order", exchange.Limit, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedStopRests(t, c.rest, c.want)
		})
	}
}

func refusedStopRests(t testing.TB, rests exchange.OrderType, want bool) {
	t.Helper()
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	d.observe(0, nil)
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.StopLimit, Price: d.price("50200"),
		StopPrice: d.price("50100"), Quantity: 10}
	id := d.send(Intent{Purpose: placement.Order, Key: "r", Order: order})
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "busy"}})
	d.now += 1_000
	d.observe(0, nil, exchange.Order{ID: 12, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: rests, Price: order.Price,
		StopPrice: order.StopPrice, Quantity: 10, Status: exchange.StatusNew, CreatedMS: d.now - 1_000})
	if have := d.tracker.Symbol(bitcoin).Quarantine() != ""; have != want {
		t.Errorf("want it quarantined %t, have %t", want, have)
	}
}
