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

// rest requests one resting buy far from the price.
func rest(quantity exchange.Quantity, price exchange.Price) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.Orders, plan.OrdersSet = append(
			plan.Orders,
			strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: price, Quantity: quantity},
		), true
	}
}

// casesOfState are the cases of fetched state, and what it proves.
var casesOfState = []caseTest{
	{"09 filled and closed before the first read: found in positions/history", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = w.first(&exchange.Uncertain{Reason: "timeout"}, func(exchange.Answer) { // and the position ends before any read
			w.venue.Advance(w.now + 6)
			order := w.market(exchange.Sell, 10, true)
			if _, err := w.venue.Do("one", &order); err != nil {
				t.Error(err)
			}
			w.venue.Advance(w.now + 12)
		})
		w.pass(60_000)
		w.wantSent(1) // latched: the position ended by something other than its plan
		w.wantHeld(0)
		state, evidence := w.ended(0)
		if state != placement.Filled || !strings.Contains(evidence, "closed before the first read") {
			t.Errorf("want filled and closed, inferred; have %s %q", state, evidence)
		}
		if latch := w.engine.Tracker().Strategy("one").Latch(); latch != 1 {
			t.Errorf("want the strategy latched long, have %d", latch)
		}
		w.wantSound()
	}},
	{"10 accepted, then ended with no fill: absent", func(t testing.TB) {
		w := newWorld(t, rest(10, 40_000e8))
		w.network = w.first(&exchange.Uncertain{Reason: "timeout"}, func(answer exchange.Answer) {
			w.venue.Advance(w.now + 6)
			cancel := exchange.Request{Operation: exchange.FuturesCancel, OrderID: answer.Order.ID}
			if _, err := w.venue.Do("one", &cancel); err != nil {
				t.Error(err)
			}
		})
		w.pass(12_000)
		w.wantSent(1)
		w.pass(30_000)
		if state, _ := w.ended(0); state != placement.Absent {
			t.Errorf("want absent, have %s", state)
		}
		w.wantSent(2) // decided again, and it rests
	}},
	{"11 part filled, the rest not listed yet: D covers it", func(t testing.TB) {
		hidden := true
		w := newWorld(t, rest(10, 40_000e8))
		w.mirror = func(answer *exchange.Answer) {
			if hidden && answer.Operation == exchange.FuturesOpenOrders {
				answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			}
		}
		w.network = once(fate{silent: true})
		w.pass(9_000)
		w.wantSent(1)
		hidden = false // it is listed within D
		w.pass(10_000)
		w.wantSent(1)
		if live := slices.Collect(w.engine.Tracker().Live()); len(live) != 1 || live[0].State() != placement.Working {
			t.Errorf("want the order known and working, have %+v", live)
		}
	}},
	{"12 an acknowledged id that GET does not know: fetched until the fence, then quarantine", func(t testing.TB) {
		w := newWorld(t, rest(10, 40_000e8))
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenOrders {
				answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			}
		}
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesOrder {
				return fate{err: &exchange.Refusal{Status: 400, Code: 1, Message: "no such order"}}
			}
			return fate{}
		}
		w.pass(12_000)
		w.wantSound() // never "lost after three"
		w.pass(5_000)
		w.wantState("quarantined")
		w.wantSent(1)
	}},
	{"13 filled goes down, FILLED then OPEN: botd keeps the maximum and counts the event", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(5_000)
		w.wantHeld(10)
		order := w.sent[0]
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenOrders { // a stale replica
				answer.Orders = exchange.FetchedOf(
					[]exchange.Order{{ID: 1, ClientOrderID: order.ClientOrderID, Market: exchange.Futures, Symbol: "BTC-USDT",
						Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10, Filled: 3, Status: exchange.StatusOpen}},
				)
			}
		}
		w.pass(40_000)
		if have := w.symbol().Known(); have != 10 {
			t.Errorf("known: want 10, have %d", have)
		}
		counted := 0
		for _, fact := range facts[NoteStale](w.notes) {
			counted += fact.Count
		}
		if counted == 0 || int64(counted) != w.engine.Tracker().Stale() {
			t.Errorf("want each counted once, have %d reported of %d", counted, w.engine.Tracker().Stale())
		}
		w.wantSent(1)
		w.wantSound()
	}},
	{"14 two orders under one client order id: botd owns both, and cancels the newer one", func(t testing.TB) {
		w := newWorld(t, rest(10, 40_000e8))
		w.network = once(fate{twice: true})
		w.pass(20_000)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 1 {
			t.Errorf("open orders: want 1, have %d\n%s", open, w.story())
		}
		if len(facts[NoteFound](w.notes)) != 1 {
			t.Errorf("want one alarm, have %d", len(facts[NoteFound](w.notes)))
		}
		if live := slices.Collect(w.engine.Tracker().Live()); len(live) != 1 || live[0].Duplicate() || live[0].OrderID() != 1 {
			t.Errorf("want the elder kept, have %+v", live)
		}
	}},
	{"14 both of two filled: both fills are booked, the duplicate is sold", func(t testing.TB) {
		w := newWorld(t, rest(10, 40_000e8))
		w.network = once(fate{twice: true})
		w.pass(3_000)
		w.price("39000") // both fill, listed before
		w.pass(30_000)
		if known := w.symbol().Known(); known != w.held() {
			t.Errorf("want the book at the exchange's %d, have %d\n%s", w.held(), known, w.story())
		}
	}},
	{"15 our prefix and not in the journal: the account halts, nothing is canceled", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(5_000)
		order := exchange.NewOrder{
			Market:        exchange.Futures,
			Symbol:        "BTC-USDT",
			Side:          exchange.Buy,
			Type:          exchange.Limit,
			Price:         40_000e8,
			Quantity:      5,
			ClientOrderID: "bt-zzz-4",
		}
		w.manually(exchange.Request{Operation: exchange.FuturesPlace, Order: order})
		w.pass(20_000)
		if d := w.wantState("halted"); d.Scope != (account.Scope{}) {
			t.Errorf("want the account halted, have %+v", d)
		}
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 1 {
			t.Errorf("want the order left alone, have %d open", open)
		}
	}},
	{"16 the user trades manually: quarantine within L + 20 s", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(60_000)
		w.manually(w.market(exchange.Buy, 7, false))
		w.pass(21_000)
		w.wantState("quarantined")
		w.wantHeld(17)
		w.pass(60_000)
		w.wantSent(1)
	}},
	{"16 by policy it is adopted, and the target sells it", func(t testing.TB) {
		w := newWorld(t, hold(10), foreign("adopt"))
		w.pass(60_000)
		w.manually(w.market(exchange.Buy, 7, false))
		w.pass(40_000)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"16 by policy it is ignored, and an exit leaves it alone", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
		}, foreign("ignore"))
		w.pass(60_000)
		w.manually(w.market(exchange.Buy, 7, false))
		w.pass(40_000)
		w.wantHeld(17)
		w.wantSound()
		if reported := len(facts[NoteIgnored](w.notes)); reported != 1 {
			t.Errorf("want it reported once, have %d times", reported)
		}
		target = 0
		w.pass(20_000)
		w.wantHeld(7)
		w.wantSound()
		w.start() // a restart knows that it is foreign
		w.pass(40_000)
		w.wantHeld(7)
		w.wantSound()
	}},
	{"17 a manual trade within an uncertain opening's quantity is booked as botd's, inferred", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{lost: true})
		w.pass(3_000)
		w.manually(w.market(exchange.Buy, 4, false))
		w.pass(40_000)
		w.wantHeld(10) // 4 bought manually, 6 afterwards
		if known := w.symbol().Known(); known != 10 {
			t.Errorf("known: want 10, have %d", known)
		}
		w.wantSound()
	}},
	{"18 two uncertain orders of opposite sign: the exchange's position is the truth, flagged", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
		})
		w.pass(5_000)
		target = 20
		w.network = every(fate{silent: true}) // the entry, and later the exit
		w.pass(1_500)
		target = 0
		w.pass(12_000)
		w.network = nil
		w.pass(60_000)
		w.wantHeld(0)
		if known := w.symbol().Known(); known != 0 {
			t.Errorf("known: want 0, have %d\n%s", known, w.story())
		}
		w.wantSound()
	}},
	{"21 restarted while uncertain: the fence counts from the journalled time", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{lost: true})
		w.pass(2_000)
		w.network = nil
		w.start()
		w.pass(9_000)
		w.wantSent(0)
		w.pass(10_000)
		w.wantSent(1)
		w.wantHeld(10)
	}},
	{"35 the journal is lost: nothing is adopted, every symbol concerned waits for a person", func(t testing.TB) {
		w := newWorld(t, hold(10), protected, foreign("adopt"))
		w.pass(10_000)
		w.wantHeld(10)
		sent := len(w.sent)
		w.records = nil
		w.start()
		w.pass(60_000)
		w.wantSent(sent)
		w.wantHeld(10)
		w.wantState("quarantined")
		if known := w.symbol().Known(); known != 0 {
			t.Errorf("want nothing adopted, have %d", known)
		}
		if q := w.engine.Quarantines(); len(q) != 1 || q[0].Difference != q[0].Venue || q[0].Venue == 0 || len(q[0].Adopt) == 0 ||
			len(q[0].Ignore) == 0 ||
			q[0].Strategy != "one" {
			t.Errorf("want it listed with its evidence, have %+v", q)
		}
		w.give(&EventResolve{Symbol: bitcoin, Adopt: true, Reason: "it is ours"})
		if q := w.engine.Quarantines(); len(q) != 0 {
			t.Errorf("want none left, have %+v", q)
		}
		w.pass(20_000)
		w.wantSound()
		w.wantSent(sent) // the stop was adopted with the position
		if known := w.symbol().Known(); known != 10 {
			t.Errorf("after resolving: want 10, have %d", known)
		}
	}},
	{"53 an old backup meets a position alone: quarantine, no halt, nothing sent", func(t testing.TB) {
		w := oldBackup(t, 10)
		if d := w.wantState("quarantined"); !strings.Contains(d.Cause, "differs from the fills by 0.01") {
			t.Errorf("want what the backup lacks, have %q", d.Cause)
		}
		if halt := w.engine.Tracker().Halted(); halt.Level != record.LevelNone {
			t.Errorf("want the other symbols traded on, have %+v", halt)
		}
		w.wantSent(2)
		if known := w.symbol().Known(); known != 10 {
			t.Errorf("want nothing adopted, have %d", known)
		}
		w.give(&EventResolve{Symbol: bitcoin, Adopt: true, Reason: "it is ours"})
		w.pass(40_000)
		w.wantSound()
		w.wantSent(2) // the target was reached before the backup lost it
	}},
	{"53 under foreign: adopt, the strategy adopts the position and buys nothing again", func(t testing.TB) {
		w := oldBackup(t, 10, foreign("adopt"))
		w.wantSent(2)
		w.wantHeld(20)
		w.wantSound()
	}},
	{"53 an old backup meets a position and an order: the account halts", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(10_000)
		backup := len(w.records)
		w.manually(w.market(exchange.Buy, 10, false))
		order := exchange.NewOrder{
			Market:        exchange.Futures,
			Symbol:        "BTC-USDT",
			Side:          exchange.Buy,
			Type:          exchange.Limit,
			Price:         40_000e8,
			Quantity:      5,
			ClientOrderID: "bt-1-2",
		}
		w.manually(exchange.Request{Operation: exchange.FuturesPlace, Order: order})
		w.records = w.records[:backup]
		w.start()
		w.pass(120_000)
		if d := w.wantState("halted"); d.Scope != (account.Scope{}) {
			t.Errorf("want the account halted, have %+v", d)
		}
		w.wantSent(1)
		if open := w.venue.OpenOrders("one", exchange.Futures); open != 1 {
			t.Errorf("want the order left alone, have %d open", open)
		}
	}},
	{"38 the side flips by itself: quarantine", func(t testing.TB) {
		w := newWorld(t, hold(10), foreign("adopt"))
		w.pass(20_000)
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenPositions {
				flipped := append([]exchange.Position(nil), answer.Positions.Items()...)
				for i := range flipped {
					flipped[i].Side = exchange.Short
				}
				answer.Positions = exchange.FetchedOf(flipped)
			}
		}
		w.pass(20_000)
		w.wantState("quarantined")
		w.wantSent(1)
	}},
	{"38 two positions on a symbol: quarantine", func(t testing.TB) {
		w := newWorld(t, hold(10), foreign("adopt"))
		w.pass(20_000)
		w.mirror = func(answer *exchange.Answer) {
			if answer.Operation == exchange.FuturesOpenPositions {
				answer.Positions = exchange.FetchedOf(append(answer.Positions.Items(), answer.Positions.Items()...))
			}
		}
		w.pass(20_000)
		w.wantState("quarantined")
		w.wantSent(1)
	}},
}

// No strategy's status would show it.
func TestQuarantineOfUntradedSymbolIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.manually(
		exchange.Request{
			Operation: exchange.FuturesPlace,
			Order: exchange.NewOrder{ClientOrderID: "bt-9-1", Market: exchange.Futures, Symbol: "ETH-USDT",
				Side: exchange.Buy, Type: exchange.Limit, Price: 2_000e8, Quantity: 100},
		},
	)
	w.pass(20_000)
	if reported := len(facts[NoteQuarantine](w.notes)); reported != 1 {
		t.Errorf("want it reported once, have %d times: %+v", reported, w.engine.Degraded())
	}
}

// oldBackup is a world whose journal lacks the second of two orders of the same size, which filled. The
// journal is reset to before that order, and two minutes pass.
func oldBackup(t testing.TB, size exchange.Quantity, options ...option) *world {
	t.Helper()
	target := size
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
	}, options...)
	w.pass(10_000)
	backup := len(w.records)
	target = 2 * size
	w.pass(70_000)
	w.wantSent(2)
	w.records = w.records[:backup]
	w.start()
	w.pass(120_000)
	return w
}
