package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// guarded protects the strategy's position by a stop and a take-profit.
func guarded(w *world) {
	w.config.Strategies[0].Protection = strategy.Protection{
		Set:        true,
		StopLoss:   strategy.Distance{Share: exchange.RateOne / 50},
		TakeProfit: strategy.Distance{Share: exchange.RateOne / 25},
	}
}

// empty returns an empty list.
func empty(operation exchange.Operation) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		if answer.Operation != operation {
			return
		}
		answer.Positions = exchange.FetchedOf[exchange.Position](nil)
		if operation == exchange.SpotWallet {
			answer.Positions, answer.Balances = exchange.Fetched[exchange.Position]{}, exchange.FetchedOf[exchange.Balance](nil)
		}
	}
}

// aged returns the list of positions as it was that long ago.
func (w *world) aged(ms int64) func(*exchange.Answer) {
	type shown struct {
		atMS int64
		list exchange.Fetched[exchange.Position]
	}
	var all []shown
	return func(answer *exchange.Answer) {
		if answer.Operation != exchange.FuturesOpenPositions {
			return
		}
		all = append(all, shown{w.now, answer.Positions})
		answer.Positions = exchange.FetchedOf[exchange.Position](nil)
		for _, one := range all {
			if one.atMS <= w.now-ms {
				answer.Positions = one.list
			}
		}
	}
}

// resting counts the open closePosition orders on the exchange.
func (w *world) resting() int { return w.venue.OpenOrders("one", exchange.Futures) }

// cancels counts the cancels sent.
func (w *world) cancels() func() int {
	before, n := w.network, 0
	w.network = func(call *Call) fate {
		if o := call.Request.Operation; o == exchange.FuturesCancel || o == exchange.SpotCancel {
			n++
		}
		if before != nil {
			return before(call)
		}
		return fate{}
	}
	return func() int { return n }
}

// casesOfBelief are the cases of wrong lists.
var casesOfBelief = []caseTest{
	{"39 the position list is empty while a position is held: contradicted, and nothing is sent or canceled", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.pass(10_000)
		w.wantSent(3)
		canceled := w.cancels()
		w.mirror = empty(exchange.FuturesOpenPositions)
		w.pass(20_000)
		w.wantState("contradicted")
		if open := w.resting(); open != 2 || canceled() != 0 {
			t.Errorf("want both protective orders open and none canceled, have %d and %d", open, canceled())
		}
		if n := len(facts[NoteContradicted](w.notes)); n != 1 {
			t.Errorf("want it reported once, have %d times", n)
		}
		w.pass(60_000) // longer than any bound
		w.wantState("contradicted")
		w.wantSent(3)
		w.mirror = nil
		w.pass(3_000)
		w.wantSound()
		w.wantSent(3)
		if known, open := w.symbol().Known(), w.resting(); known != 10 || open != 2 {
			t.Errorf("want 10 with both orders, have %d and %d", known, open)
		}
	}},
	{"39 it is empty at a restart: contradicted, not closed", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.pass(10_000)
		canceled := w.cancels()
		w.mirror = empty(exchange.FuturesOpenPositions)
		w.start()
		w.pass(20_000)
		w.wantState("contradicted")
		if open := w.resting(); open != 2 || canceled() != 0 {
			t.Errorf("want both protective orders open and none canceled, have %d and %d", open, canceled())
		}
		status := w.engine.Status()
		if shown := status.Symbols[0]; status.Strategies[0].Position != 10 || shown.Position != 0 || shown.Unshown != 10 {
			t.Errorf("want the 10 that botd acts on in the status, have %d and %+v", status.Strategies[0].Position, shown)
		}
		if left := w.engine.OpenLeft(); len(left) == 0 || !strings.HasPrefix(left[0], "position futures BTC-USDT 0.01") {
			t.Errorf("want the position among what stays open, have %q", left)
		}
		w.mirror = nil
		w.pass(3_000)
		w.wantSound()
		w.wantSent(3)
	}},
	{"39 the list is 6 s old when the entry fills: its stop is placed at once", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.mirror = w.aged(6_000)
		w.pass(4_000)
		w.wantSent(3)
		if open := w.resting(); open != 2 {
			t.Errorf("want a stop and a take-profit, have %d", open)
		}
		w.pass(20_000)
		w.wantSent(3)
		w.wantSound()
		w.wantHeld(10)
	}},
	{"39 a contradicted position is closed by the kill switch", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.pass(10_000)
		w.mirror = empty(exchange.FuturesOpenPositions)
		w.pass(4_000)
		w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
		w.pass(5_000)
		w.wantHeld(0)
		w.mirror = nil
		w.pass(5_000)
		if known := w.symbol().Known(); known != 0 {
			t.Errorf("known: want 0, have %d\n%s", known, w.story())
		}
	}},
	{"39 a person may accept the list: the position is closed", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(10_000)
		w.mirror = empty(exchange.FuturesOpenPositions)
		w.pass(20_000)
		q := w.engine.Quarantines()
		if len(q) != 1 || !strings.Contains(q[0].Cause, "neither") || len(q[0].Adopt) == 0 {
			t.Fatalf("want it listed with its evidence, have %+v", q)
		}
		w.give(&EventResolve{Symbol: bitcoin, Adopt: true, Reason: "it was closed"})
		if known := w.symbol().Known(); known != 0 {
			t.Errorf("known: want 0, have %d", known)
		}
		w.wantSent(1)
	}},
	{"16 closed manually: positions/history shows it, it is adopted, latched, and not bought back", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.pass(10_000)
		w.manually(w.market(exchange.Sell, 10, true))
		w.pass(15_000)
		if latch, known := w.engine.Tracker().Strategy("one").Latch(), w.symbol().Known(); latch != 1 || known != 0 {
			t.Errorf("want it adopted and latched, have known %d, latch %d\n%s", known, latch, w.story())
		}
		w.wantState("adopted")
		w.pass(60_000)
		w.wantSent(1)
		w.wantSound()
	}},
	{"16 sold in part manually under adopt: its margin was released, and it is not bought back", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded, foreign("adopt"))
		w.pass(10_000)
		w.manually(w.market(exchange.Sell, 4, true))
		w.pass(60_000)
		w.wantHeld(6)
		w.wantSent(3)
		w.wantSound()
		if known := w.symbol().Known(); known != 6 {
			t.Errorf("known: want 6, have %d\n%s", known, w.story())
		}
	}},
	{"41 a refused entry was executed: quarantined, with a stop", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.network = w.first(&exchange.Refusal{Status: 400, Code: 1, Message: "no"}, nil)
		w.pass(6_000)
		if open := w.resting(); open != 1 {
			t.Errorf("want a stop within seconds, have %d\n%s", open, w.story())
		}
		w.wantState("quarantined")
		w.pass(60_000)
		w.wantSent(2)
		w.wantHeld(10)
	}},
	{"41 an entry was executed twice: quarantined, with a stop over all of it", func(t testing.TB) {
		w := newWorld(t, hold(10), guarded)
		w.network = once(fate{twice: true})
		w.pass(6_000)
		w.wantHeld(20)
		w.wantState("quarantined")
		if open := w.resting(); open != 2 {
			t.Errorf("want a stop and a take-profit over the position, have %d\n%s", open, w.story())
		}
		w.price("48000")
		w.pass(5_000)
		w.wantHeld(0)
	}},
	{"40 the wallet is empty for 40 s, under each policy: contradicted, nothing bought, the stop stays", func(t testing.TB) {
		for _, policy := range []string{"halt", "adopt", "ignore"} {
			w := newWorld(t, hold(2_000), onSpot, protected, foreign(policy))
			w.pass(20_000)
			sent := len(w.sent)
			w.mirror = empty(exchange.SpotWallet)
			w.pass(40_000)
			w.wantState("contradicted")
			w.wantSent(sent)
			if open := w.venue.OpenOrders("one", exchange.Spot); open != 1 {
				t.Errorf("%s: want the stop on the exchange, have %d", policy, open)
			}
			w.mirror = nil
			w.pass(20_000)
			w.wantSound()
			w.wantSent(sent)
		}
	}},
	{"40 the wallet is 6 s old when the entry fills, under each policy: bought once, with a stop", func(t testing.TB) {
		for _, policy := range []string{"halt", "adopt", "ignore"} {
			w := newWorld(t, hold(2_000), onSpot, protected, foreign(policy))
			shown, sinceMS := exchange.Fetched[exchange.Balance]{}, int64(0)
			w.mirror = func(answer *exchange.Answer) {
				switch {
				case answer.Operation != exchange.SpotWallet:
				case len(w.sent) == 0:
					shown = answer.Balances
				default:
					if sinceMS == 0 {
						sinceMS = w.now
					}
					if w.now < sinceMS+6_000 {
						answer.Balances = shown
					}
				}
			}
			w.pass(60_000)
			w.wantSent(2)
			w.wantSound()
		}
	}},
	{"16 spot: what a person sold is adopted, latched, and not bought back", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot, foreign("adopt"))
		w.pass(60_000)
		w.manually(
			exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
				Type: exchange.Limit, Price: 49_000e8, Quantity: 1_000}},
		)
		w.pass(18_000)
		if latch, known := w.engine.Tracker().Strategy("one").Latch(), w.symbol().Known(); latch != 1 || known > 1_001 {
			t.Errorf("want it adopted and latched, have known %d, latch %d\n%s", known, latch, w.story())
		}
		w.pass(60_000)
		w.wantSent(1)
		w.wantSound()
	}},
	{"41 spot: a refused purchase was executed: found in the history, quarantined, with a stop", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot, protected)
		w.network = w.first(&exchange.Refusal{Status: 400, Code: 1, Message: "no"}, nil)
		w.pass(20_000)
		w.wantState("quarantined")
		w.pass(40_000)
		w.wantSent(2)
		if open := w.venue.OpenOrders("one", exchange.Spot); open != 1 {
			t.Errorf("want a stop over it, have %d\n%s", open, w.story())
		}
	}},
	{"41 spot: a part exit was executed twice: the plan sells no more, and buys nothing back", func(t testing.TB) {
		target := exchange.Quantity(3_000)
		w := newWorld(t, swing(&target), onSpot, protected)
		w.pass(10_000)
		target = 2_000
		w.network = func(call *Call) fate {
			return fate{twice: call.Request.Operation.Places() && call.Request.Order.Type == exchange.Limit}
		}
		w.pass(60_000)
		w.wantState("quarantined")
		w.wantBought(1_000)
	}},
	{"41 spot: a refused part exit was executed: nothing more is sold", func(t testing.TB) {
		target := exchange.Quantity(3_000)
		w := newWorld(t, swing(&target), onSpot, protected)
		w.pass(10_000)
		target = 2_000
		refused := false
		w.network = func(call *Call) fate {
			if call.Request.Operation.Places() && call.Request.Order.Type == exchange.Limit && !refused {
				refused = true
				w.do(call)
				return fate{err: &exchange.Refusal{Status: 400, Code: 1, Message: "no"}}
			}
			return fate{}
		}
		w.pass(60_000)
		w.wantState("quarantined")
		w.wantBought(2_000)
	}},
	{"41 spot: a purchase was executed twice: found in the history, quarantined, and sold down to the target", func(t testing.TB) {
		w := newWorld(t, hold(2_000), onSpot, protected)
		w.network = once(fate{twice: true})
		w.pass(60_000)
		w.wantState("quarantined")
		if bought := w.venue.Symbol(coin).QuantityOf(w.bought()); bought > 2_100 {
			t.Errorf("want it back at the target, have %d\n%s", bought, w.story())
		}
		if open := w.venue.OpenOrders("one", exchange.Spot); open != 1 {
			t.Errorf("want a stop over it, have %d\n%s", open, w.story())
		}
	}},
}

// TestEmptyWalletIsContradictedWithinAMinute has the wallet return wrong balances after a
// fill, when nothing else is in flight. Rounds must not wait for the idle time until the wallet is trusted
// to be newer than the fill.
func TestEmptyWalletIsContradictedWithinAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), protected, onEther, patient)
	bought(w)
	w.pass(40_000)
	w.mirror = empty(exchange.SpotWallet)
	w.pass(60_000)
	w.wantState("contradicted")
}
