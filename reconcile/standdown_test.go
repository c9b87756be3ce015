package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestStandingDownProtectsWhatNothingProtectsAndLeavesWhatStands holds what is derived
// while another botd trades under the same prefix (case 15, finding 5) against what
// stands: each used to cancel the other's stop, or place one beside it, for ever.
func TestStandingDownProtectsWhatNothingProtectsAndLeavesWhatStands(t *testing.T) {
	t.Parallel()
	const other = "bt-00000100000-" // a start this journal does not know
	closing := func(id string, kind exchange.OrderType, price exchange.Price) exchange.Order {
		return exchange.Order{ID: 90, ClientOrderID: id, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: kind,
			ClosePosition: true, Status: exchange.StatusNew, StopPrice: price}
	}
	opening := exchange.Order{ID: 91, ClientOrderID: other + "2", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Quantity: 5, Price: 40_000_00, Status: exchange.StatusOpen}
	for _, c := range []struct {
		name   string
		own    exchange.Price // of the stop that this journal holds; 0 for none
		others []exchange.Order
		want   []placement.Purpose
	}{
		{"nothing stands", 0, []exchange.Order{opening}, []placement.Purpose{placement.StopLoss, placement.TakeProfit}},
		{"the other's stop", 0, []exchange.Order{closing(other+"1", exchange.StopMarket, 45_000_00)}, []placement.Purpose{placement.TakeProfit}},
		{"the other's profit", 0, []exchange.Order{closing(other+"1", exchange.TakeProfitMarket, 60_000_00)}, []placement.Purpose{placement.StopLoss}},
		{"its own stop, which would move", 45_000_00, []exchange.Order{opening}, []placement.Purpose{placement.TakeProfit}},
		{"both stops, one on its way elsewhere", 45_000_00, []exchange.Order{closing(other+"1", exchange.StopMarket, 46_000_00)},
			[]placement.Purpose{placement.TakeProfit}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.book.Instance = "t"
			d.hold(20)
			orders := slices.Clone(c.others)
			if c.own != 0 {
				stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
					StopPrice: c.own, ClosePosition: true, WorkingType: exchange.ContractPrice}
				id := d.send(Intent{Purpose: placement.StopLoss, Order: stop})
				d.acknowledge(id, 41)
				standing := closing(id, exchange.StopMarket, c.own)
				standing.ID = 41
				orders = append(orders, standing)
			}
			d.now += 2 * int64(exchange.Minute1)
			d.observe(20, nil, orders...)
			if d.book.StandsDown() == "" {
				t.Fatal("want an order under this prefix that the journal does not know to stand it down")
			}
			var have []placement.Purpose
			for _, intent := range d.derive(func(w *Desired) { both(w); w.Entries = false }) {
				have = append(have, intent.Purpose)
			}
			if !slices.Equal(c.want, have) {
				t.Errorf("want %v, have %v", c.want, have)
			}
		})
	}
}

// TestStandingDownLastsUntilAPersonArms goes on when the other's order has gone, and
// under a severer halt.
func TestStandingDownLastsUntilAPersonArms(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.book.Instance = "t"
	for _, step := range []struct {
		record record.Halt
		id     string
		want   bool
	}{
		{record.Halt{Level: record.LevelCancel, Why: "news"}, "", false},
		{record.Halt{Level: record.LevelPause, Why: "a second botd"}, "bt-00000100000-1", true},
		{record.Halt{Level: record.LevelFlatten, Why: "out"}, "", true},
		{record.Halt{}, "", false},
	} {
		d.book.Apply(&record.Record{AtMS: d.now, ClientOrderID: step.id, Body: step.record})
		if have := d.book.StandsDown() != ""; have != step.want {
			t.Errorf("after %+v %s: want standing down %t, have %t", step.record, step.id, step.want, have)
		}
	}
}

// TestStandingDownAdoptsNothing: what another botd made is a person's to judge,
// whatever the policy for what others make.
func TestStandingDownAdoptsNothing(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignHalt, ForeignAdopt, ForeignIgnore} {
		d := newDesk(t)
		d.book.Instance, d.book.Foreign = "t", policy
		d.hold(20)
		foreign := exchange.Order{ID: 90, ClientOrderID: "bt-00000100000-1", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.StopMarket, ClosePosition: true, Status: exchange.StatusNew, StopPrice: 45_000_00}
		for range 20 {
			d.now += 5_000
			for _, r := range d.observe(40, nil, foreign) {
				if kind := r.Kind(); kind == record.KindAdopted || kind == record.KindIgnored {
					t.Errorf("%s: want nothing adopted or ignored, have %s", policy, r.Summary())
				}
			}
		}
		if d.book.Symbol(bitcoin).Quarantine() == "" {
			t.Errorf("%s: want the symbol quarantined", policy)
		}
	}
}
