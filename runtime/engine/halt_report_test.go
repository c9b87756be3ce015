package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// flatten flattens the account and returns the halt's declared state.
func (w *world) flatten() Degraded {
	w.t.Helper()
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	return w.wantState("halted")
}

func (w *world) wantUnseen(part string) {
	w.t.Helper()
	blind := w.engine.HaltBlind(record.LevelFlatten, account.Scope{}, 0)
	if !strings.Contains(strings.Join(blind, "\n"), part) {
		w.t.Errorf("want a line with %q, have %q", part, blind)
	}
}

func TestHaltReportsBlindSpots(t *testing.T) {
	t.Parallel()
	t.Run("nothing was read since the start", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, hold(10))
		w.wantUnseen("futures BTC-USDT has not been read since the start")
	})
	t.Run("reads fail", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, hold(10))
		w.pass(10_000)
		w.network = silenced(false)
		w.pass(10_000)
		w.wantUnseen("futures BTC-USDT has not been readable since 2027-01-15T08:00")
		w.wantUnseen("status 503")
		w.network = nil
		w.pass(20_000)
		if blind := w.engine.HaltBlind(record.LevelFlatten, account.Scope{}, 0); len(blind) != 0 {
			t.Errorf("want nothing blind once it reads again, have %q", blind)
		}
	})
	t.Run("a placement is uncertain", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, hold(10), patient)
		w.network = once(fate{lost: true})
		w.pass(15_000)
		w.wantUnseen("is uncertain: if it turns out to have opened a position, that is closed too")
	})
	t.Run("a position that no strategy trades", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, hold(10))
		w.manually(exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "ETH-USDT",
			Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 50}})
		w.pass(20_000)
		w.wantUnseen("futures ETH-USDT: a SHORT position that no strategy trades stays open")
		if blind := w.engine.HaltBlind(record.LevelFlatten, account.Scope{Strategy: "one"}, 0); len(blind) != 0 {
			t.Errorf("want nothing of it in a halt of one strategy, have %q", blind)
		}
	})
}

// The journal was lost, or is an older one: botd's own orders rest over units that it does not know. A flatten neither cancels nor sells them, and must not
// report that nothing is left.
func TestHaltReportsOrdersThatTheJournalForgot(t *testing.T) {
	t.Parallel()
	haltReportsForgottenOrders(t)
}

func haltReportsForgottenOrders(t testing.TB) {
	t.Helper()
	lost := "order 2 of this instance's prefix is not in the journal, and the 0.0998 that it sells are neither known to be botd's nor sold " +
		"(quarantined: botd resolve ETH-USDT)"
	old := "order 4 of this instance's prefix is not in the journal, and the 0.0999 that it sells are neither known to be botd's nor sold " +
		"(standing down: another botd may have bought them, botd status names its order)"
	for _, c := range []struct {
		name   string
		saved  int // share of the journal's first records that is left
		market option
		left   exchange.Quantity
		want   string // part of what the halt cannot close; empty for all closed
	}{
		{"futures, the journal was lost", 0, nil, 0, ""},
		{"spot, the journal was lost", 0, onEther, 1_997, lost},
		{"futures, an older journal", 1, nil, 0, ""},
		{"spot, an older journal", 1, onEther, 999, old},
	} {
		target, options := exchange.Quantity(1_000), []option{protected}
		if c.market != nil {
			options = append(options, c.market)
		}
		w := newWorld(t, swing(&target), options...)
		w.pass(10_000)
		backup := len(w.records) * c.saved
		target *= 2
		w.pass(30_000)
		w.records = w.records[:backup]
		w.start()
		w.pass(20_000)
		if before := w.engine.HaltBlind(record.LevelFlatten, account.Scope{}, 0); c.want == old &&
			!strings.Contains(strings.Join(before, "\n"), "0.0999 in the wallet is not known to be botd's and is not sold (standing down") {
			t.Errorf("%s: want the units named before, have %q", c.name, before)
		}
		w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
		w.pass(20_000)
		if w.held() != 0 || w.inEther() != c.left {
			t.Errorf("%s: want %d left, have %d and %d", c.name, c.left, w.held(), w.inEther())
		}
		blind := strings.Join(w.engine.HaltBlind(record.LevelFlatten, account.Scope{}, 0), "\n")
		if !strings.Contains(blind, c.want) || c.want == "" && blind != "" {
			t.Errorf("%s: want %q, have %q", c.name, c.want, blind)
		}
		if blind := w.engine.HaltBlind(record.LevelCancel, account.Scope{}, 0); len(blind) != 0 {
			t.Errorf("%s: a cancel leaves stops, so want nothing, have %q", c.name, blind)
		}
	}
}

func TestAHaltIsDoneOnlyAfterAReadThatFollowedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(60_000)
	if d := w.flatten(); len(d.Blind) != 1 || !strings.Contains(d.Blind[0], "has not been read since the halt") || !strings.Contains(d.Remaining, "to close") {
		t.Errorf("at once: want it not read since the halt, and to close, have %+v", d)
	}
	w.pass(100)
	if d := w.wantState("halted"); len(d.Blind) != 0 || !d.ExitsAccepted || !strings.Contains(d.Remaining, "to close") {
		t.Errorf("once the exit is taken: want it under way, have %+v", d)
	}
	w.pass(3_000)
	if d := w.wantState("halted"); len(d.Blind) != 0 || d.Remaining != "" {
		t.Errorf("then: want it done, have %+v", d)
	}
	w.pass(60_000)
	w.manually(w.market(exchange.Buy, 30, false))
	if d := w.flatten(); len(d.Blind) == 0 {
		t.Errorf("asked again: want it not done by an old read, have %+v", d)
	}
	w.pass(5_000)
	w.wantHeld(0)
	if d := w.wantState("halted"); len(d.Blind) != 0 || d.Remaining != "" {
		t.Errorf("want it done, have %+v", d)
	}
}

// No order can sell dust on spot, so a halt does not wait for it.
func TestAHaltDoesNotWaitForDust(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(30), onEther)
	w.pass(65_000)                     // a second read has confirmed the rules
	w.setSpotPrice("ETH-USDT", "1500") // 4.5 USDT
	w.pass(5_000)
	w.flatten()
	w.pass(3_000)
	if d := w.wantState("halted"); d.Remaining != "" || len(d.Blind) != 0 {
		t.Errorf("want it done, have %+v", d)
	}
}

// ownRules gives the engine a copy of the rules at the start, so the exchange may change its own.
func ownRules(w *world) {
	fresh := *w.config.Strategies[0].Symbol
	w.config.Strategies[0].Symbol = &fresh
}

// A holding that was large enough when it was bought is not dust when the exchange raises its minimum. A halt reports
// it as left, and sells it once the exchange accepts it (exactly-once.md, case 45).
func TestHaltReportsHoldingBelowNewMinimum(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(300), onEther, ownRules, protected)
	w.pass(30_000)
	rules := w.venue.Symbol(w.config.Strategies[0].Symbol.Key())
	held, before := w.heldOf(exchange.Spot, "ETH-USDT"), rules.MinNotional
	rules.MinNotional = exchange.AmountOf(1_000)
	w.pass(70_000)
	w.flatten()
	w.pass(5_000)
	w.wantUnseen("the exchange currently accepts no order below 1000 USDT")
	if d := w.wantState("halted"); d.Remaining == "" || w.heldOf(exchange.Spot, "ETH-USDT") != held || !w.stopped(rules.Key()) {
		t.Errorf("want it left, reported, and stopped as before, have %+v, %d held\n%s", d, w.heldOf(exchange.Spot, "ETH-USDT"), w.story())
	}
	rules.MinNotional = before
	w.pass(10_000)
	if d := w.wantState("halted"); d.Remaining != "" || len(d.Blind) != 0 || w.heldOf(exchange.Spot, "ETH-USDT") > 2 {
		t.Errorf("want it sold once the minimum is as before, have %+v, %d held\n%s", d, w.heldOf(exchange.Spot, "ETH-USDT"), w.story())
	}
}

// No stop can be placed any more, but that does not protect it.
func TestUnprotectedPositionBelowMinimumStaysDeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(300), onEther, ownRules, protected)
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Type.StopLoss() {
			return fate{err: &exchange.Refusal{Status: 400, Code: 2999, Message: "stop orders are off"}}
		}
		return fate{}
	}
	w.pass(30_000)
	w.wantState("unprotected")
	rules := w.venue.Symbol(w.config.Strategies[0].Symbol.Key())
	before := rules.MinNotional
	rules.MinNotional = exchange.AmountOf(1_000)
	w.network = nil
	for range 90 {
		if w.pass(1_000); t.Failed() {
			return
		}
		w.wantState("unprotected")
	}
	rules.MinNotional = before
	w.pass(10_000)
	if !w.stopped(rules.Key()) {
		t.Errorf("want its stop once the exchange takes one\n%s", w.story())
	}
	w.wantSound()
}
