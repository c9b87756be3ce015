package engine

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// A halt cancels opening orders at each level from cancel on, and all orders and positions if it flattens. It also finishes manual
// withdrawals.
func TestHaltRemainder(t *testing.T) {
	t.Parallel()
	const none, pause, cancel, flatten = record.LevelNone, record.LevelPause, record.LevelCancel, record.LevelFlatten
	for _, c := range []struct {
		name      string
		level     record.HaltLevel
		order     placement.Purpose // of a resting order; 0 for none
		elsewhere bool              // on a symbol without a strategy
		held      exchange.Quantity
		withdrawn bool
		left      bool // unfinished at that level, or at a canceling one
		pending   bool
	}{
		{"nothing is halted", none, placement.Order, false, 5, false, true, false},
		{"paused: what rests stays", pause, placement.Order, false, 5, false, true, false},
		{"an order that opens", cancel, placement.Order, false, 0, false, true, true},
		{"a stop stays", cancel, placement.StopLoss, false, 5, false, false, false},
		{"a stop goes where all is closed", flatten, placement.StopLoss, false, 0, false, true, true},
		{"an order of another symbol", flatten, placement.Order, true, 0, false, false, false},
		{"nothing", flatten, 0, false, 0, false, false, false},
		{"a position stays", cancel, 0, false, 5, false, false, false},
		{"a position is closed", flatten, 0, false, 5, false, true, true},
		{"a short one too", flatten, 0, false, -5, false, true, true},
		{"an order that was withdrawn", none, placement.Order, true, 0, true, false, true},
	} {
		b := valued(t, 1, 0)
		h := &halts{base: b, limits: &limits{base: b}}
		one := b.legs[0]
		key := one.symbol.Key()
		if c.elsewhere {
			key.Name = "ETH-USDT"
		}
		if c.order != 0 {
			about := func(body record.Body) {
				b.record(record.Record{Strategy: one.config.Name, Symbol: key, ClientOrderID: "rests", Body: body})
			}
			about(record.Sending{Purpose: c.order, Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, ClientOrderID: "rests",
				Side: exchange.Buy, Type: exchange.Limit, Price: 1, Quantity: 10}})
			about(record.Acknowledged{OrderID: 1})
			if c.withdrawn {
				about(record.Withdrawn{Reason: "a test"})
			}
		}
		see(one.symbol, func(o *seen) { o.Position = c.held })
		b.record(record.Record{Body: record.Halt{Level: c.level, Reason: "a test"}})
		if have := h.unfinished(one, max(c.level, cancel)); have != c.left {
			t.Errorf("%s: want something left %t, have %t", c.name, c.left, have)
		}
		if have := h.pending(); have != c.pending {
			t.Errorf("%s: want it tried again soon %t, have %t", c.name, c.pending, have)
		}
	}
}

// A severer level is recorded, reported and acted on at once. The same and a milder one change nothing. Only a rearm ends the halt, for its
// scope.
func TestAHaltIsEscalatedAndNeverMadeMilder(t *testing.T) {
	t.Parallel()
	const none, pause, cancel, flatten = record.LevelNone, record.LevelPause, record.LevelCancel, record.LevelFlatten
	for _, scope := range []account.Scope{{}, {Strategy: "one"}, {Symbol: bitcoin}} {
		w := newWorld(t, hold(0))
		w.pass(5_000)
		h := w.engine.halts
		for _, c := range []struct {
			level, want record.HaltLevel
			recorded    bool
		}{
			{pause, pause, true}, {pause, pause, false}, {cancel, cancel, true}, {pause, cancel, false}, {flatten, flatten, true}, {cancel, flatten, false},
			{none, none, true}, {none, none, true}, {flatten, flatten, true}, {flatten, flatten, false},
		} {
			w.out.Reset()
			h.out, h.nowMS, h.roundMS, h.emergencyMS = &w.out, w.now, never, never
			before := len(h.unwritten)
			h.halt(&EventHalt{Scope: scope, Level: c.level, Reason: "a test"})
			recorded := 0
			for _, r := range h.unwritten[before:] {
				if halt, is := r.Body.(record.Halt); is && halt.Level == c.level && r.Strategy == scope.Strategy && r.Symbol == scope.Symbol {
					recorded++
				}
			}
			if have := h.tracker.HaltOf(scope).Level; have != c.want || (recorded == 1) != c.recorded || recorded > 1 {
				t.Errorf("%+v: %v: want %v, recorded %t, have %v, %d times", scope, c.level, c.want, c.recorded, have, recorded)
			}
			reported := 0
			for i := range w.out.Notes {
				if note, is := w.out.Notes[i].Fact.(NoteHalt); is && note.Reason == "a test" && note.Ended == (c.level == none) &&
					w.out.Notes[i].Strategy == scope.Strategy && (w.out.Notes[i].Symbol != nil) == (scope.Symbol == bitcoin) {
					reported++
				}
			}
			if (reported == 1) != c.recorded {
				t.Errorf("%+v: %v: want it reported %t, have %+v", scope, c.level, c.recorded, w.out.Notes)
			}
			if h.roundMS != w.now || (h.emergencyMS == w.now+haltRetryMS) != c.recorded {
				t.Errorf("%+v: %v: want a round at once, have %d and %d", scope, c.level, h.roundMS-w.now, h.emergencyMS-w.now)
			}
		}
	}
}

// A halt that cancels or closes anything awaits, for each affected symbol, a read that began with the halt or later.
func TestHaltAwaitsReadOfItsSymbols(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		level       record.HaltLevel
		readMS      int64 // of the second strategy, relative to the halt
		requestedMS int64 // time of a repeated request
		want        bool
	}{
		{"read before it", record.LevelCancel, -1, 0, true},
		{"read as it began", record.LevelCancel, 0, 0, false},
		{"read later", record.LevelCancel, 1, 0, false},
		{"asked for again", record.LevelCancel, 1, 2, true},
		{"asked for again, and read then", record.LevelCancel, 2, 2, false},
		{"it takes nothing away", record.LevelPause, -1, 0, false},
	} {
		b := valued(t, 2, 0)
		h := &halts{base: b, limits: &limits{base: b}, requestedMS: b.nowMS + c.requestedMS}
		b.record(record.Record{Body: record.Halt{Level: c.level, Reason: "a test"}})
		b.legs[0].rounds.readMS, b.legs[1].rounds.readMS = b.nowMS+9, b.nowMS+c.readMS
		if have := h.unread(); have != c.want {
			t.Errorf("%s: want another read awaited %t, have %t", c.name, c.want, have)
		}
	}
}

// The severest of the kill switch, stopping, a breached limit, the strategy's removal, and the requested level counts.
func TestStrategyHaltSeverity(t *testing.T) {
	t.Parallel()
	const none, pause, cancel, flatten = record.LevelNone, record.LevelPause, record.LevelCancel, record.LevelFlatten
	for _, c := range []struct {
		name  string
		with  func(b *base, h *halts, one *leg)
		asked record.HaltLevel
		want  record.HaltLevel
	}{
		{"none", nil, none, none},
		{"the requested level", nil, flatten, flatten},
		{"the kill switch", func(b *base, _ *halts, _ *leg) { b.record(record.Record{Body: record.Halt{Level: pause}}) }, none, pause},
		{"a limit was passed", func(b *base, _ *halts, one *leg) {
			b.record(record.Record{Strategy: one.config.Name, Body: record.Breach{Rule: risk.MaxDrawdown, Reason: "a test"}})
		}, pause, cancel},
		{"a limit of another strategy", func(b *base, _ *halts, _ *leg) {
			b.record(record.Record{Strategy: b.legs[1].config.Name, Body: record.Breach{Rule: risk.MaxDrawdown, Reason: "a test"}})
		}, none, none},
		{"botd cancels and stops", func(_ *base, h *halts, _ *leg) { h.closing = cancel }, pause, cancel},
		{"it was removed, and flattens", func(b *base, _ *halts, one *leg) {
			b.record(record.Record{Strategy: one.config.Name, Symbol: one.symbol.Key(), Body: record.Assigned{OnRemove: removeFlatten}})
			one.config.Removed = true
		}, none, flatten},
		{"it was removed, and leaves", func(_ *base, _ *halts, one *leg) { one.config.Removed = true }, none, none},
		{"it is absent, and would flatten", func(b *base, _ *halts, one *leg) {
			b.record(record.Record{Strategy: one.config.Name, Symbol: one.symbol.Key(), Body: record.Assigned{OnRemove: removeFlatten}})
			one.config.Removed, one.config.Absent = true, true
		}, none, none},
	} {
		b := valued(t, 2, 0)
		h := &halts{base: b, limits: &limits{base: b}}
		for _, leg := range b.legs {
			leg.state = b.tracker.EnsureStrategy(leg.config.Name)
		}
		if c.with != nil {
			c.with(b, h, b.legs[0])
		}
		if have := h.levelOn(b.legs[0], c.asked); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// A flatten latches each strategy whose position it closes, on the side that its plan requests, once, and with the
// reason.
func TestFlattenLatchesStrategies(t *testing.T) {
	t.Parallel()
	target := func(quantity exchange.Quantity) func(w *world) {
		return func(w *world) { w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}) }
	}
	for _, c := range []struct {
		name  string
		level record.HaltLevel
		held  exchange.Quantity
		with  func(w *world)
		side  int
		why   string
	}{
		{"it holds what it desires", record.LevelFlatten, 10, target(10), 1, "its position is being closed by stopping"},
		{"a short one", record.LevelFlatten, -10, target(-10), -1, "its position is being closed by stopping"},
		{"by a person", record.LevelFlatten, 10, func(w *world) {
			target(10)(w)
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelFlatten, Reason: "news"}})
		}, 1, "its position is being closed by news"},
		{"nothing is closed", record.LevelCancel, 10, target(10), 0, ""},
		{"it holds nothing", record.LevelFlatten, 0, target(10), 0, ""},
		{"it desires nothing", record.LevelFlatten, 10, func(*world) {}, 0, ""},
		{"it was removed", record.LevelFlatten, 10, func(w *world) { target(10)(w); w.engine.legs[0].config.Removed = true }, 0, ""},
	} {
		w := settled(t)
		c.with(w)
		if c.held != 0 {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: c.held}})
		}
		w.out.Reset()
		for range 2 {
			w.engine.dispatcher.latchFlattened(w.engine.legs[0], c.level)
		}
		notes := facts[NoteLatch](w.out.Notes)
		if latch := w.engine.legs[0].state.Latch(); latch != c.side || (len(notes) == 1) != (c.side != 0) || len(notes) > 1 ||
			len(notes) == 1 && (notes[0].Side != c.side || notes[0].Reason != c.why || notes[0].Ended) {
			t.Errorf("%s: want it latched at %d, reported once with %q, have %d, %+v", c.name, c.side, c.why, latch, notes)
		}
	}
}

// A shutdown is complete when a round has found nothing left to do and nothing waits for its record.
func TestStopIsDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		closing       record.HaltLevel
		acted, queued int
		held          exchange.Quantity
		want          bool
	}{
		{"nothing is left", record.LevelFlatten, 0, 0, 0, true}, {"it acted", record.LevelFlatten, 1, 0, 0, false},
		{"an order waits for its record", record.LevelFlatten, 0, 1, 0, false}, {"a position is left", record.LevelFlatten, 0, 0, 5, false},
		{"a position stays where it only cancels", record.LevelCancel, 0, 0, 5, true}, {"it does not stop", record.LevelNone, 0, 0, 0, false},
	} {
		b := valued(t, 1, 0)
		h := &halts{base: b}
		b.closing = c.closing
		see(b.legs[0].symbol, func(o *seen) { o.Position, b.roundMS = c.held, b.nowMS })
		h.finishShutdown(c.acted, c.queued)
		if h.stopped != c.want || (b.roundMS == never) != c.want {
			t.Errorf("%s: want it done %t, have %t", c.name, c.want, h.stopped)
		}
	}
}

// Dust is a spot holding worth less than any order, by the rules of the start and by the current ones. A holding below the current minimum
// alone is reported.
func TestDustRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		spot          bool
		held          exchange.Quantity // hundredths of the asset, at 100 USDT
		before, now   int64             // the smallest order, in USDT
		last          exchange.Price
		below, isDust bool
	}{
		{"less than an order", true, 4, 5, 5, 100e8, true, true},
		{"as much as an order", true, 5, 5, 5, 100e8, false, false},
		{"less than an order is now", true, 6, 5, 7, 100e8, true, false},
		{"less than an order was", true, 6, 7, 5, 100e8, false, false},
		{"less than nothing", true, -4, 5, 5, 100e8, true, true},
		{"without a price", true, 4, 5, 5, 0, false, false},
		{"on futures", false, 4, 5, 5, 100e8, false, false},
		{"nothing", true, 0, 5, 5, 100e8, true, true},
	} {
		b := valued(t, 1, 1)
		one := b.legs[0]
		if c.spot {
			one = b.legs[1]
		}
		before, now := *one.symbol.Rules(), *one.symbol.Rules()
		before.MinNotional, now.MinNotional = exchange.AmountOf(c.before), exchange.AmountOf(c.now)
		see(one.symbol, func(o *seen) { one.config.Symbol, o.Rules, o.Last = &before, &now, c.last })
		cent, _ := now.Quantity(exchange.MustAmount("0.01").Decimal())
		held := cent * c.held
		if unsellable(one, held) != c.below || dust(one, held) != c.isDust {
			t.Errorf("%s: want it below the minimum %t, dust %t, have %t, %t", c.name, c.below, c.isDust, unsellable(one, held), dust(one, held))
		}
		want := ""
		if c.below && !c.isDust {
			want = fmt.Sprintf("%s is worth %d USDT: the exchange currently accepts no order below %d USDT", one.symbol.Key(), c.held, c.now)
		}
		if have := minimumText(one, held); have != want {
			t.Errorf("%s: want %q, have %q", c.name, want, have)
		}
		if see(one.symbol, func(o *seen) { o.Rules = nil }); unsellable(one, held) {
			t.Errorf("%s: want nothing reported without rules", c.name)
		}
	}
}
