package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// swing requests the position in the pointer.
func swing(target *exchange.Quantity) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: *target}, "a test")
	}
}

// casesOfExits are the cases of exits, cancels and protection.
var casesOfExits = []caseTest{
	{"19 uncertain entry while exiting: exit now, a late entry is handed to the exit", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target))
		w.pass(5_000)
		target = 20
		w.network = once(fate{lateMS: 9_000}) // it has had no effect yet, and may still arrive
		w.pass(2_000)
		target = 0
		w.network = func(*Call) fate { return fate{} }
		w.pass(3_000)
		w.wantHeld(0) // the known position is closed immediately
		w.pass(60_000)
		w.wantHeld(0) // and so is the late one
		w.wantSound()
	}},
	{"20 exit uncertain: sent again from a fresh position, at most every 2 s", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target))
		w.pass(5_000)
		target = 0
		var times []int64
		ids := map[string]bool{}
		w.network = func(call *Call) fate {
			if order := call.Request.Order; call.Request.Operation.Places() && order.ReduceOnly {
				if ids[order.ClientOrderID] || order.Quantity != 10 {
					t.Errorf("an exit again is a new placement of what is left, have %+v", order)
				}
				ids[order.ClientOrderID], times = true, append(times, w.now)
				return fate{err: &exchange.Uncertain{Reason: "reset"}}
			}
			return fate{}
		}
		w.pass(20_000)
		if len(times) < 5 {
			t.Errorf("want it tried again, have %d tries", len(times))
		}
		for i := 1; i < len(times); i++ {
			if times[i]-times[i-1] < 2_000 {
				t.Errorf("tries %d ms apart", times[i]-times[i-1])
			}
		}
		w.network = nil
		w.pass(60_000)
		w.wantHeld(0)
		w.wantSound()
	}},
	{"22 the clock jumps between decision and send: ended, not sent", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(900)
		w.engine.config.TimeToLiveMS = -1
		w.pass(3_000)
		w.wantSent(0)
		w.engine.config.TimeToLiveMS = 5_000
		w.pass(3_000)
		w.wantSent(1)
		w.wantHeld(10)
	}},
	{"27 an uncertain cancel is sent again, PRE_CANCELED is no end", func(t testing.TB) {
		want := true
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.OrdersSet = true
			if want {
				plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: 40_000e8, Quantity: 10})
			}
		})
		w.pass(5_000)
		want = false
		tries := 0
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesCancel {
				if tries++; tries < 3 {
					return fate{err: &exchange.Unavailable{Reason: "status 503"}}
				}
			}
			return fate{}
		}
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenOrders && tries >= 3 {
				pre := append([]exchange.Order(nil), answer.Orders.Items()...)
				for i := range pre {
					pre[i].Status = exchange.StatusPreCanceled
				}
				answer.Orders = exchange.FetchedOf(pre)
			}
		}
		w.pass(12_000)
		if open := w.venue.OpenOrders("one", exchange.Futures); tries < 3 || open != 0 {
			t.Errorf("want it canceled with the third try, have %d tries and %d open", tries, open)
		}
		if state, _ := w.ended(0); state != placement.Canceled {
			t.Errorf("want canceled, have %s", state)
		}
	}},
	{"28 a cancel is refused since the order is gone: GET reports it was filled", func(t testing.TB) {
		want := true
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.OrdersSet = true
			if want {
				plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: 49_000e8, Quantity: 10})
			}
		})
		w.pass(5_000)
		want = false
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesCancel {
				w.price("48000") // the stop fills while its cancel is in flight
				w.venue.Advance(w.now)
			}
			return fate{}
		}
		w.pass(20_000)
		if state, _ := w.ended(0); state != placement.Filled {
			t.Errorf("want filled, have %s\n%s", state, w.story())
		}
		if known := w.symbol().Known(); known != w.held() || known != 10 {
			t.Errorf("want 10 known and held, have %d and %d", known, w.held())
		}
	}},
	{"28 an old open list still shows a stop that was canceled: GET confirms the cancel", func(t testing.TB) {
		x := &sharedPlan{target: 10, stop: 49_000e8}
		w := newWorld(t, x.plan)
		w.pass(70_000)
		var old exchange.Fetched[exchange.Order]
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenOrders {
				if !old.Done() {
					old = answer.Orders
				}
				answer.Orders = old
			}
		}
		x.stop = 49_500e8
		w.pass(20_000)
		if all := w.stops(); len(all) != 1 || all[0].StopPrice != x.stop || !all[0].ClosePosition {
			t.Errorf("want the stop at its new price alone, have %+v\n%s", all, w.story())
		}
	}},
	{"29 a full exit removes the protection: a closed position has none", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target), protected)
		w.pass(5_000)
		target = 0
		stale := w.venue
		var before exchange.Fetched[exchange.Position]
		w.mirror = func(answer *exchange.Answer) { // positions are a second old
			if answer.Operation == exchange.FuturesOpenPositions && stale == w.venue {
				if len(answer.Positions.Items()) > 0 {
					before = answer.Positions
				} else if before.Done() {
					answer.Positions, before = before, exchange.Fetched[exchange.Position]{}
				}
			}
		}
		w.pass(30_000)
		w.wantHeld(0)
		w.wantSent(3) // entry, stop, exit
		if len(w.refused) > 0 {
			t.Errorf("want nothing refused, have %q", w.refused)
		}
		w.wantSound()
	}},
	{"31 cancel/all is never used: it would take every symbol's stops", func(t testing.TB) {
		w := newWorld(t, rest(10, 40_000e8))
		w.pass(5_000)
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesCancelAll {
				t.Error("cancel/all was sent")
			}
			return fate{}
		}
		w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
		w.pass(10_000)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 0 {
			t.Errorf("want no order left, have %d", open)
		}
	}},
	{"32 leverage uncertain: read, and it must match, before an opening", func(t testing.TB) {
		w := newWorld(t, hold(10), func(w *world) { w.config.Strategies[0].Leverage = 7 })
		lost := 0
		w.network = func(call *Call) fate {
			switch {
			case call.Request.Operation == exchange.FuturesSetLeverage && lost == 0:
				lost++
				return fate{err: &exchange.Unavailable{Reason: "timeout"}}
			case call.Request.Operation.Places() && w.venue.Leverage("one", "BTC-USDT") != 7:
				t.Errorf("an opening went out at leverage %d", w.venue.Leverage("one", "BTC-USDT"))
			}
			return fate{}
		}
		w.pass(10_000)
		w.wantHeld(10)
	}},
	{"36 dust is closed by a closePosition order and not looped on", func(t testing.TB) {
		target := exchange.Quantity(2)
		w := newWorld(t, swing(&target))
		w.pass(5_000)
		w.wantHeld(2)
		w.venue.Symbol(bitcoin).MinNotional = exchange.AmountOf(500) // the minimum of the symbol rose above the position
		w.pass(70_000)
		target = 0
		w.pass(20_000)
		w.wantSent(2)
		w.pass(200_000)
		w.wantSent(3) // a candle later one on the other side of the price, and no more
		for _, order := range w.sent[1:] {
			if !order.ClosePosition {
				t.Errorf("want closePosition orders, have %+v", order)
			}
		}
		w.price("49990")
		w.pass(20_000)
		w.wantHeld(0)
		w.wantSound()
	}},
	{"37 no stable snapshot: after 60 s botd cancels resting openings", func(t testing.TB) {
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.OrdersSet = true
			for i, key := range []string{"a", "b"} {
				plan.Orders = append(
					plan.Orders,
					strategy.DesiredOrder{Key: key, Side: exchange.Buy, Price: exchange.Price(40_000-i) * 1e8, Quantity: 10},
				)
			}
		})
		w.network = nth(2, fate{lost: true})
		w.pass(5_000)
		w.mirror = func(answer *exchange.Answer) { // the position is different in each read
			if answer.Operation == exchange.FuturesOpenPositions {
				answer.Positions = exchange.FetchedOf([]exchange.Position{{ID: 1, Symbol: "BTC-USDT", Side: exchange.Long,
					Remaining: 1 + exchange.Quantity(w.now/wayMS)%7, EntryPrice: exchange.AmountOf(40_000), Leverage: 10}})
			}
		}
		w.pass(60_000)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 1 {
			t.Fatalf("want the first still resting, have %d\n%s", open, w.story())
		}
		w.pass(20_000)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 0 {
			t.Errorf("want it out of the way, have %d open\n%s", open, w.story())
		}
	}},
}

// casesOfStates are the cases of declared states.
var casesOfStates = []caseTest{
	{"23 reads fail: blind after three rounds, nothing opens, stops stay", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target), protected)
		w.pass(5_000)
		w.network = func(call *Call) fate {
			if op := call.Request.Operation; op.Signed() && !op.Changes() {
				return fate{err: &exchange.Unavailable{Reason: "status 503"}}
			}
			return fate{}
		}
		target = 20
		w.pass(40_000)
		w.wantState("blind")
		w.wantSent(2)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 1 {
			t.Errorf("want the stop on the exchange, have %d", open)
		}
		if len(facts[NoteBlind](w.notes)) != 1 {
			t.Errorf("want it reported once, have %d", len(facts[NoteBlind](w.notes)))
		}
		w.network = nil
		w.pass(20_000)
		w.wantHeld(20)
		w.wantSound()
	}},
	{"23 a read that hangs for 30 s is blindness too", func(t testing.TB) {
		w := newWorld(t, hold(0))
		w.pass(5_000)
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesOpenOrders {
				return fate{longMS: 120_000}
			}
			return fate{}
		}
		w.pass(80_000)
		w.wantState("blind")
	}},
	{"23 blindness reports its start and its cause", func(t testing.TB) {
		w := newWorld(t, hold(0))
		w.pass(5_000)
		seen, why := w.engine.Status().SoundMS, "status 503"
		w.network = func(call *Call) fate {
			if op := call.Request.Operation; op.Signed() && !op.Changes() {
				return fate{err: &exchange.Unavailable{Reason: why}}
			}
			return fate{}
		}
		w.pass(60_000)
		why = "connection refused"
		w.pass(20_000)
		if d := w.wantState(
			"blind",
		); d.SinceMS < seen || d.SinceMS > seen+15_000 || !strings.Contains(d.Cause, why) ||
			!strings.Contains(d.Remedy, "nothing opens") {
			t.Errorf("want blind since the last complete round about %d, by the newest fault, and what that means; have %+v", seen, d)
		}
	}},
	{"23 candles that cannot be read are a declared state, while orders are still read", func(t testing.TB) {
		w := newWorld(t, hold(0))
		w.pass(130_000)
		began := w.now
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesCandles {
				return fate{err: &exchange.Unavailable{Reason: "status 503"}}
			}
			return fate{}
		}
		w.pass(80_000) // the next candle is requested within a minute
		w.pass(40_000)
		d := w.wantState("stale")
		if d.Scope.Symbol != bitcoin || d.SinceMS < began || d.SinceMS > began+61_000 || !strings.Contains(d.Cause, "status 503") ||
			w.engine.Blind(bitcoin) {
			t.Errorf("want the symbol stale since its first unanswered question, and nothing blind; have %+v", d)
		}
		w.network = nil
		w.pass(20_000)
		w.wantSound()
	}},
	{"24 no valid snapshot for 120 s after the fence: the strategy halts", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = func(call *Call) fate {
			switch op := call.Request.Operation; {
			case op.Places():
				return fate{lost: true}
			case op == exchange.FuturesOpenPositions && w.engine.Tracker().LiveCount() > 0:
				return fate{err: &exchange.Unavailable{Reason: "status 503"}}
			}
			return fate{}
		}
		w.pass(125_000)
		if slices.ContainsFunc(w.engine.Degraded(), func(d Degraded) bool { return d.State == "halted" }) {
			t.Error("halted too early")
		}
		w.pass(30_000)
		if d := w.wantState("halted"); d.Scope.Strategy != "one" {
			t.Errorf("want the strategy halted, have %+v", d)
		}
		w.network = nil
		w.pass(60_000)
		w.wantSent(0)
		w.give(&EventHalt{Scope: account.Scope{Strategy: "one"}, Reason: "armed"})
		w.pass(30_000)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"33 stopping: nothing new is sent, what is in flight still answers", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{longMS: 3_000})
		w.pass(1_100)
		w.give(&EventStop{})
		if !w.engine.InFlight() {
			t.Error("want the placement waited for")
		}
		w.pass(5_000)
		if w.engine.InFlight() {
			t.Error("want it answered")
		}
		w.wantSent(1)
		w.start()
		w.pass(20_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
}
