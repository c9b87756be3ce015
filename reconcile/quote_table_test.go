package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// On futures a maker's passive order on the opposite side of the position is not placed, and a resting one is canceled. Of quotes on both
// sides the second waits until the exchange has the first. Other orders are sent: the exchange nets or refuses them, as it documents.
func TestAQuoteNeverOpensAgainstAPosition(t *testing.T) {
	t.Parallel()
	buys := strategy.DesiredOrder{Key: "b", Side: exchange.Buy, Price: 40_000e8, Quantity: 10, PostOnly: true}
	sells := strategy.DesiredOrder{Key: "s", Side: exchange.Sell, Price: 60_000e8, Quantity: 10, PostOnly: true}
	plain := func(o strategy.DesiredOrder) strategy.DesiredOrder { o.PostOnly = false; return o }
	const buy, sell = "order buy limit 10 at 40000 postOnly as b", "order sell limit 10 at 60000 postOnly as s"
	for _, c := range []struct {
		name   string
		held   exchange.Quantity
		orders []strategy.DesiredOrder
		rests  *strategy.DesiredOrder
		open   bool // the exchange has it
		want   string
	}{
		{"nothing is held", 0, []strategy.DesiredOrder{buys}, nil, false, buy},
		{"on the side of what is held", 20, []strategy.DesiredOrder{buys}, nil, false, buy},
		{"on the side of a short position", -20, []strategy.DesiredOrder{sells}, nil, false, sell},
		{"on the other side", 20, []strategy.DesiredOrder{sells}, nil, false, ""},
		{"on the other side of a short position", -20, []strategy.DesiredOrder{buys}, nil, false, ""},
		{"an order that may take, on the other side", 20, []strategy.DesiredOrder{plain(sells)}, nil, false, "order sell limit 10 at 60000 as s"},
		{"both sides: the second waits", 0, []strategy.DesiredOrder{buys, sells}, nil, false, buy},
		{"both sides, the other first", 0, []strategy.DesiredOrder{sells, buys}, nil, false, sell},
		{"the first is being sent", 0, []strategy.DesiredOrder{buys, sells}, &buys, false, ""},
		{"the exchange has the first", 0, []strategy.DesiredOrder{buys, sells}, &buys, true, sell},
		{"one that rests, and a position of its side", 20, []strategy.DesiredOrder{buys}, &buys, true, ""},
		{"one that rests, and a position of the other side", -20, []strategy.DesiredOrder{buys}, &buys, true,
			"cancel 12: the order on the other side has filled"},
	} {
		d := holds(t, c.held)
		if c.rests != nil {
			id := d.send(Intent{Purpose: placement.Order, Key: c.rests.Key, Order: exchange.NewOrder{Market: bitcoin.Market, Symbol: bitcoin.Name,
				Side: c.rests.Side, Type: exchange.Limit, Price: c.rests.Price, Quantity: c.rests.Quantity, PostOnly: c.rests.PostOnly}})
			if c.open {
				d.acknowledge(id, 12)
				d.now += 10_000
				d.observe(c.held, nil, d.order(id, 12, exchange.StatusOpen, 10, 0))
			}
		}
		d.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{OrdersSet: true, Orders: c.orders}}})
		if have := summary(d.derive(nil)); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}
