package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

func (w *world) bought() exchange.Amount {
	free, frozen := w.venue.Balance("one", "BTC")
	return free.Add(frozen).Sub(exchange.AmountOf(1))
}

// wantBought expects between 99.8 % and all of a quantity: fees take a part of it.
func (w *world) wantBought(q exchange.Quantity) {
	w.t.Helper()
	rules := w.venue.Symbol(coin)
	most := rules.QuantityAmount(q)
	least := most.MulRate(exchange.RateOne - exchange.RateOne/500)
	if have := rules.QuantityAmount(rules.FloorQuantity(rules.QuantityOf(w.bought()))); have.Less(least) || most.Less(have) {
		w.t.Errorf("bought: want %s to %s, have %s\n%s", least, most, have, w.story())
	}
}

// casesOfSpot are the cases of the spot market, where order history and user trades are evidence on their
// own.
var casesOfSpot = []caseTest{
	{"01 spot: a lost answer is found in the order history, not sent again", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.network = once(fate{silent: true})
		w.pass(15_000)
		w.wantSent(1)
		state, evidence := w.ended(0)
		if state != placement.Filled || !strings.Contains(evidence, "fetched") {
			t.Errorf("want filled, by what was fetched; have %s %q", state, evidence)
		}
		w.pass(60_000)
		w.wantSent(1)
		w.wantBought(2_000)
		w.wantSound()
	}},
	{"01 spot: a lost request is in neither list nor history after the fence", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.network = once(fate{lost: true})
		w.pass(12_000)
		w.wantSent(0)
		w.pass(20_000)
		w.wantSent(1)
		w.wantBought(2_000)
	}},
	{"06 spot: a crash between sending and answer", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.network = once(fate{longMS: 5_000})
		w.pass(1_060)
		w.wantSent(1)
		w.network = nil
		w.start()
		w.pass(60_000)
		w.wantSent(1)
		w.wantBought(2_000)
		w.wantSound()
	}},
	{"12 spot: an acknowledged order in neither list nor history: quarantine after the fence", func(t testing.TB) {
		w := newWorld(t, rest(2_000, 40_000e8), onSpot)
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.SpotOpenOrders || answer.Operation == exchange.SpotOrderHistory {
				answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			}
		}
		w.pass(12_000)
		w.wantSound()
		w.pass(8_000)
		w.wantState("quarantined")
		w.wantSent(1)
	}},
	{"12 spot: user trades by order id prove a fill the history does not show yet", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.SpotOpenOrders || answer.Operation == exchange.SpotOrderHistory {
				answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			}
		}
		w.pass(5_000)
		if known := w.symbol().Known(); known == 0 {
			t.Errorf("want the fill known by its trades\n%s", w.story())
		}
		w.mirror = nil
		w.pass(10_000)
		w.wantSent(1)
		w.wantBought(2_000)
		w.wantSound()
	}},
	{"16 spot: somebody sells what the strategy bought: quarantine", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.pass(60_000)
		w.manually(
			exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
				Type: exchange.Limit, Price: 49_000e8, Quantity: 1_000}},
		)
		w.pass(21_000)
		w.wantState("quarantined")
		w.give(&EventResolve{Symbol: coin, Adopt: true, Reason: "I sold it"})
		w.pass(20_000)
		w.wantSound()
	}},
	{"20 spot: an uncertain exit is not repeated, history decides it", func(t testing.TB) {
		target := exchange.Quantity(2_000)
		w := newWorld(t, swing(&target), onSpot)
		w.pass(10_000)
		target = 0
		w.network = once(fate{silent: true})
		w.pass(30_000)
		w.wantSent(2)
		w.wantBought(0)
		w.wantSound()
	}},
	{"27 spot: a stop's cancel is confirmed before any other exit", func(t testing.TB) {
		target := exchange.Quantity(2_000)
		w := newWorld(t, swing(&target), onSpot, protected)
		w.pass(10_000)
		if open := w.venue.OpenOrders("one", exchange.Spot); open != 1 {
			t.Fatalf("want the stop on the exchange, have %d", open)
		}
		target = 0
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.SpotPlace && w.venue.OpenOrders("one", exchange.Spot) != 0 {
				t.Error("an exit went out while the stop held the asset")
			}
			return fate{}
		}
		w.pass(20_000)
		w.wantBought(0)
		w.wantSound()
		if len(w.refused) > 0 {
			t.Errorf("want nothing refused, have %q", w.refused)
		}
	}},
	{"16 spot: the user sells what botd bought while its stop rests", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot, protected)
		w.pass(10_000)
		w.wantSound()
		w.manually(
			exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
				Type: exchange.Limit, Quantity: 1_000, Price: 40_000e8}},
		)
		w.pass(25_000)
		if d := w.wantState("quarantined"); !strings.Contains(d.Cause, "wallet holds less") {
			t.Errorf("want the wallet named, have %q", d.Cause)
		}
	}},
	{"29 spot: during a partial exit, orders sell at most the position", func(t testing.TB) {
		wanted := exchange.Quantity(2_000)
		w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(wanted)(view, plan) }, onSpot, protected)
		w.pass(10_000)
		w.network = func(call *Call) fate {
			order := call.Request.Order
			if call.Request.Operation.Places() && order.Side == exchange.Sell && order.Type == exchange.Limit {
				return fate{lateMS: 2_500} // it is in flight for a while, and rounds continue
			}
			return fate{}
		}
		sells := func() (sum exchange.Quantity) {
			w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { sum += o.Remaining() })
			return sum
		}
		wanted = 1_000
		for range 80 {
			w.pass(100)
			if have := w.venue.Symbol(coin).QuantityOf(w.bought()); sells() > have+5 {
				t.Fatalf("want never more for sale than the %d held, have %d\n%s", have, sells(), w.story())
			}
		}
		w.pass(30_000)
		w.wantBought(1_000)
	}},
	{"35 spot: what an old backup forgot is found in the history, and reported though a person's halt is in force", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot)
		w.give(&EventHalt{Level: record.LevelPause, Reason: "a person"})
		w.pass(5_000)
		w.manually(
			exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy,
				Type: exchange.Limit, Quantity: 1_000, Price: 60_000e8,
				ClientOrderID: placement.ClientOrderID("t", placement.Start{Epoch: 1_000, Random: "zzzzz"}, 1)}},
		)
		w.start()
		w.pass(5_000)
		if d := w.wantState("quarantined"); !strings.Contains(d.Cause, "not in the journal") {
			t.Errorf("want the order named, have %q", d.Cause)
		}
		w.give(&EventHalt{Reason: "a person"})
		w.pass(10_000)
		w.wantSent(0) // rearmed, and still waiting for a person
	}},
	{"53 spot: an old backup's filled order is found in the history: the account halts", func(t testing.TB) {
		w := oldBackup(t, 1_000, onSpot, foreign("ignore"))
		w.wantBought(2_000)
		if d := w.wantState("halted"); !strings.Contains(d.Cause, "not in the journal") {
			t.Errorf("want the order named, have %q", d.Cause)
		}
		w.wantSent(2)
	}},
}
