package reconcile

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// both requests a stop two percent and a profit four percent away.
func both(w *Desired) {
	w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Share: 4_000_000}}
}

// The exchange accepts one closePosition order of each type on a symbol (rule 8), and reduceOnly orders up to
// the position (rule 5), whoever placed them.
func TestProtectionFitsNextToForeignOrders(t *testing.T) {
	t.Parallel()
	closing := func(id int64, kind exchange.OrderType) exchange.Order {
		return exchange.Order{
			ID:            id,
			Market:        exchange.Futures,
			Symbol:        "BTC-USDT",
			Side:          exchange.Sell,
			Type:          kind,
			ClosePosition: true,
			Status:        exchange.StatusNew,
			StopPrice:     45_000_00,
		}
	}
	part := exchange.Order{
		ID:              92,
		Market:          exchange.Futures,
		Symbol:          "BTC-USDT",
		Side:            exchange.Sell,
		Type:            exchange.Limit,
		ClosePositionID: 7,
		Quantity:        15,
		Price:           60_000_00,
		Status:          exchange.StatusOpen,
	}
	for _, c := range []struct {
		name         string
		others       []exchange.Order
		stop, profit exchange.Quantity // of reduceOnly orders; 0 for one that closes the whole position, -1 for none
	}{
		{"nobody's", nil, 0, 0},
		{"a stop", []exchange.Order{closing(90, exchange.StopMarket)}, 20, 0},
		{"a profit", []exchange.Order{closing(91, exchange.TakeProfitMarket)}, 0, 20},
		{"a stop, and an exit of a part", []exchange.Order{closing(90, exchange.StopMarket), part}, 5, 0},
	} {
		for _, left := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.tracker.foreignPolicy, d.tracker.instance = ForeignIgnore, "t"
				d.hold(20)
				others := slices.Clone(c.others)
				for i := range others {
					if o := &others[i]; left { // it has botd's prefix, and a person left it to its owner
						o.ClientOrderID = fmt.Sprint("bt-1-", o.ID)
						d.tracker.Apply(
							&record.Record{AtMS: d.now, Symbol: bitcoin, ClientOrderID: o.ClientOrderID, Body: record.Ignored{OrderID: o.ID}},
						)
					}
				}
				d.now += 1_000
				d.observe(20, nil, others...)
				if id := d.tracker.ForeignPrefix(); id != "" {
					t.Errorf("%s was left alone by a person, and is no second botd's", id)
				}
				have := map[placement.Purpose]exchange.Quantity{placement.StopLoss: -1, placement.TakeProfit: -1}
				for _, intent := range d.derive(both) {
					have[intent.Purpose] = intent.Order.Quantity
				}
				if have[placement.StopLoss] != c.stop || have[placement.TakeProfit] != c.profit {
					t.Errorf("left %t: want a stop of %d and a profit of %d, have %v", left, c.stop, c.profit, have)
				}
			})
		}
	}
}
