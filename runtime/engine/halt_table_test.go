package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestWhatAHaltHasStillToTakeAway: orders that open at each level that cancels, all orders and positions where it flattens, and what a person withdrew.
func TestWhatAHaltHasStillToTakeAway(t *testing.T) {
	t.Parallel()
	const none, pause, cancel, flatten = record.LevelNone, record.LevelPause, record.LevelCancel, record.LevelFlatten
	for _, c := range []struct {
		name      string
		level     record.HaltLevel
		order     placement.Purpose // that rests; 0 for none
		elsewhere bool              // on a symbol of no strategy
		held      exchange.Quantity
		withdrawn bool
		left      bool // unfinished at that level, or where it cancels
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
				about(record.Withdrawn{Why: "a test"})
			}
		}
		one.symbol.Position = c.held
		b.record(record.Record{Body: record.Halt{Level: c.level, Why: "a test"}})
		if have := h.unfinished(one, max(c.level, cancel)); have != c.left {
			t.Errorf("%s: want something left %t, have %t", c.name, c.left, have)
		}
		if have := h.pending(); have != c.pending {
			t.Errorf("%s: want it tried again soon %t, have %t", c.name, c.pending, have)
		}
	}
}

// TestAHaltIsEscalatedAndNeverMadeMilder: a severer level is recorded, reported and acted on at once; the same and a milder one change nothing;
// only a rearm ends it, for its scope.
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
			h.halt(&EventHalt{Scope: scope, Level: c.level, Why: "a test"})
			recorded := 0
			for _, r := range h.unwritten[before:] {
				if halt, is := r.Body.(record.Halt); is && halt.Level == c.level && r.Strategy == scope.Strategy && r.Symbol == scope.Symbol {
					recorded++
				}
			}
			if have := h.book.HaltOf(scope).Level; have != c.want || (recorded == 1) != c.recorded || recorded > 1 {
				t.Errorf("%+v: %v: want %v, recorded %t, have %v, %d times", scope, c.level, c.want, c.recorded, have, recorded)
			}
			reported := 0
			for i := range w.out.Notes {
				if note, is := w.out.Notes[i].Fact.(NoteHalt); is && note.Why == "a test" && note.Over == (c.level == none) &&
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
