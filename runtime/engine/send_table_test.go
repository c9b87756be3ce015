package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// The kill switch recalls an exit that was handed out a second ago and is not answered. An exit that may still be queued blocks the
// next one, and so does one that may have left less than two seconds ago: it may have been queued for the request budget until it was recalled.
func TestKillSwitchRecallsUnsentExits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		purpose          placement.Purpose
		sentMS, leftMS   int64 // ms ago; it waits for its record if it has not left
		recalled         string
		answered         bool
		recalls, mayWait bool
	}{
		{"sent less than a second ago", placement.Exit, 999, 999, "", false, false, false},
		{"sent a second ago", placement.Exit, 1_000, 1_000, "", false, true, true},
		{"handed out less than a second ago", placement.Exit, 5_000, 999, "", false, false, true},
		{"it waits for its record", placement.Exit, 1_000, -1, "", false, false, true},
		{"called back less than two seconds ago", placement.Exit, 5_000, 1_999, "before", false, false, true},
		{"called back two seconds ago", placement.Exit, 5_000, 2_000, "before", false, false, false},
		{"an opening", placement.Entry, 5_000, 5_000, "", false, false, false},
		{"answered", placement.Exit, 5_000, 5_000, "", true, false, false},
	} {
		w := settled(t)
		s := w.engine.sender
		w.now = w.engine.nowMS - c.sentMS
		id := w.sends(c.purpose)
		if c.answered {
			w.acknowledged(id, 5)
		}
		call := int64(0)
		if c.leftMS >= 0 {
			call = w.engine.begin(pendingCall{kind: callPlace, clientID: id, leftMS: w.engine.nowMS - c.leftMS, recalled: c.recalled})
		}
		w.engine.begin(pendingCall{kind: callCancel, clientID: id, leftMS: w.engine.nowMS})
		w.out.Reset()
		waits := s.recallLate(bitcoin)
		if recalls := slices.Equal(w.out.Recalls, []int64{call}); waits != c.mayWait || recalls != c.recalls {
			t.Errorf("%s: want it called back %t, the next one kept back %t, have %v, %t", c.name, c.recalls, c.mayWait, w.out.Recalls, waits)
		}
		if p := w.engine.calls[call]; c.recalls && (p.recalled != "the kill switch sends it again" || p.leftMS != w.engine.nowMS) {
			t.Errorf("%s: want the reason and the time noted, have %+v", c.name, p)
		}
	}
}

// The order is withdrawn after its time to live, if botd stops, and, if it opens, if any declared state began meanwhile.
func TestLateRecordWithdrawsOrder(t *testing.T) {
	t.Parallel()
	halt := func(w *world, _ *queued) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelPause}})
	}
	for _, c := range []struct {
		name        string
		with        func(w *world, q *queued)
		entry, exit string // prefix of the reason for not sending; empty if it is sent
	}{
		{"nothing", func(*world, *queued) {}, "", ""},
		{"botd has stopped", func(w *world, _ *queued) { w.engine.stopped = true }, "botd is stopping", "botd is stopping"},
		{"botd cancels and stops", func(w *world, _ *queued) { w.engine.closing = record.LevelCancel }, "botd is stopping", ""},
		{"at the end of its time", func(w *world, q *queued) { q.call.DeadlineMS = w.engine.nowMS }, "", ""},
		{"its time is over", func(w *world, q *queued) { q.call.DeadlineMS = w.engine.nowMS - 1 }, "its time to live had passed",
			"its time to live had passed"},
		{"a halt", halt, "trading was halted meanwhile", ""},
		{"the breaker", func(w *world, _ *queued) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Breaker{UntilMS: w.now + 1_000}})
		}, "the breaker was tripped meanwhile", ""},
		{"reads fail", func(w *world, _ *queued) { w.blindedOn(bitcoin, 3) }, "reads failed meanwhile", ""},
		{"a quarantine", func(w *world, _ *queued) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
		}, "the symbol was quarantined meanwhile", ""},
		{"a position lacks its stop", func(w *world, _ *queued) {
			see(w.symbol(), func(o *seen) {
				o.UnprotectedSinceMS = w.engine.nowMS - unprotectedAfterMS
			})
		},
			"its position is unprotected meanwhile", ""},
		{"a read is not trusted", func(w *world, _ *queued) {
			see(w.symbol(), func(o *seen) {
				o.Contradicted = "a witness"
			})
		}, "the position was contradicted meanwhile", ""},
		{"another limit", func(_ *world, q *queued) { q.limitsVersion-- }, "the configuration changed meanwhile", ""},
		{"another plan", func(_ *world, q *queued) { q.revisions-- }, "its strategy decided again meanwhile", ""},
		{"the strategy ended", func(_ *world, q *queued) { q.intent.Strategy = "none" }, "the configuration changed meanwhile", ""},
		{"the disk is nearly full", func(w *world, _ *queued) { w.engine.permission.low = "full" }, "the journal's disk was nearly full", ""},
		{"a limit was passed", func(w *world, _ *queued) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Breach{Rule: risk.MaxDrawdown, Reason: "a test"}})
		}, "a limit was crossed meanwhile", ""},
		{"a position of the other side", func(w *world, _ *queued) {
			see(w.symbol(), func(o *seen) {
				o.Position = -1
			})
		}, "a position on the other side was opened meanwhile", ""},
		{"a position of its side", func(w *world, _ *queued) { see(w.symbol(), func(o *seen) { o.Position = 1 }) }, "", ""},
		{"another order is not answered", func(w *world, _ *queued) { w.sends(placement.Entry) },
			"another placement on the symbol is in flight or became uncertain meanwhile", ""},
	} {
		w := settled(t)
		p := w.engine.permission
		queuedFor := func(purpose placement.Purpose) *queued {
			q := &queued{intent: *w.entry(), limitsVersion: w.engine.limitsVersionOf("one")}
			q.intent.Purpose, q.call.DeadlineMS = purpose, w.engine.nowMS+5_000
			q.intent.Order.ClientOrderID = "bt-own"
			return q
		}
		entry, exit := queuedFor(placement.Entry), queuedFor(placement.StopLoss)
		if c.name == "the strategy ended" {
			exit.intent.Purpose, exit.intent.Strategy = placement.Exit, "none"
		}
		c.with(w, entry)
		if exit.call.DeadlineMS = entry.call.DeadlineMS; c.name == "another order is not answered" {
			entry.intent.Order.ClientOrderID = w.sends(placement.Entry)
		}
		for purpose, want := range map[*queued]string{entry: c.entry, exit: c.exit} {
			if have := p.withdrawn(purpose); !strings.HasPrefix(have, want) || want == "" && have != "" {
				t.Errorf("%s: %s: want %q, have %q", c.name, purpose.intent.Purpose, want, have)
			}
		}
	}
}

// An opening is against a position of the other side in the list, or in botd's fills while a list that shows none is not trusted.
func TestOpeningOpposesPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), guarded)
	w.pass(10_000)
	for _, trusted := range []bool{true, false} {
		if !trusted {
			w.mirror = empty(exchange.FuturesOpenPositions)
			w.pass(20_000)
			w.wantState("contradicted")
		}
		if (w.symbol().Position() == 10) != trusted || opposes(w.symbol(), exchange.Buy) || !opposes(w.symbol(), exchange.Sell) {
			t.Errorf("the list is trusted %t, and shows %d: want a sale against it, and no purchase", trusted, w.symbol().Position())
		}
	}
}

// A strategy may not open while a declared state blocks it, nor if it has failed, hangs, was removed, or must
// decide again.
func TestStrategyMayOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want bool
	}{
		{"nothing is against it", func(*world, *leg) {}, true},
		{"the disk is nearly full", func(w *world, _ *leg) { w.engine.permission.low = "full" }, false},
		{"botd stops", func(w *world, _ *leg) { w.engine.closing = record.LevelCancel }, false},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true }, false},
		{"it failed", func(_ *world, one *leg) { one.failure.why = "a bug" }, false},
		{"it hangs", func(_ *world, one *leg) { one.question.hung = "no answer" }, false},
		{"it is to decide again", func(_ *world, one *leg) { one.inForce.outdated = true }, false},
		{"a limit was passed", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Breach{Rule: risk.MaxDrawdown, Reason: "a test"}})
		}, false},
		{"it is halted", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Halt{Level: record.LevelPause}})
		}, false},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		c.with(w, one)
		if have := w.engine.permission.mayEnter(one); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// A nearly full disk, its end, and the loss of the journal's files are reported once each.
func TestJournalDiskReports(t *testing.T) {
	t.Parallel()
	w := settled(t)
	p := w.engine.permission
	for i, c := range []struct {
		event   EventDisk
		reports int
		over    bool
	}{
		{EventDisk{}, 0, false}, {EventDisk{Reason: "full"}, 1, false}, {EventDisk{Reason: "fuller"}, 1, false},
		{EventDisk{Reason: "gone", Lost: true}, 2, false},
		{EventDisk{Reason: "gone", Lost: true}, 2, false}, {EventDisk{}, 3, true}, {EventDisk{}, 3, true},
	} {
		w.engine.nowMS++
		before := p.lowMS
		p.disk(&c.event)
		notes := facts[NoteJournal](w.out.Notes)
		if len(notes) != c.reports || len(notes) > 0 && (notes[len(notes)-1].Ended != c.over) || p.low != c.event.Reason || p.lost != c.event.Lost {
			t.Errorf("step %d: want %d reports, the last over %t, have %+v", i, c.reports, c.over, notes)
		}
		if changed := p.lowMS != before; changed != (i == 1 || i == 3 || i == 5) || changed && p.lowMS != w.engine.nowMS {
			t.Errorf("step %d: want when it changed noted, have %d", i, p.lowMS)
		}
	}
}

// A strategy whose plan is newer than the opening decides again, but not after an exit or while botd stops.
func TestUnsentOpeningRequestsNewDecision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		planned int64 // the sequence of its plan, relative to the order's
		with    func(w *world)
		want    bool
	}{
		{"its plan is newer", placement.Entry, 1, func(*world) {}, true},
		{"its plan is older", placement.Entry, -1, func(*world) {}, false},
		{"an exit", placement.Exit, 1, func(*world) {}, false},
		{"an order with a key", placement.Order, 1, func(*world) {}, false},
		{"botd has stopped", placement.Entry, 1, func(w *world) { w.engine.stopped = true }, false},
		{"botd cancels and stops", placement.Entry, 1, func(w *world) { w.engine.closing = record.LevelCancel }, false},
	} {
		w := settled(t, offload)
		one := w.engine.legs[0]
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		q := queued{sequence: 50, intent: *w.entry()}
		q.intent.Purpose, q.intent.Order.ClientOrderID = c.purpose, w.sends(c.purpose)
		one.inForce.sequence = q.sequence + c.planned
		c.with(w)
		w.engine.sender.neverSent(&q, "a test")
		r := w.engine.unwritten[len(w.engine.unwritten)-1]
		if body, is := r.Body.(record.Ended); !is || body.State != placement.Expired || body.Evidence != "a test: never sent" ||
			one.inForce.outdated != c.want {
			t.Errorf("%s: want it ended and the strategy asked again %t, have %+v, %t", c.name, c.want, r, one.inForce.outdated)
		}
	}
	// If only an answer shows that the opening was not sent, the time of the plan decides.
	for after, want := range map[int64]bool{1: true, 0: false} {
		w := settled(t, offload)
		one := w.engine.legs[0]
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		id := w.sends(placement.Entry)
		one.inForce.atMS = w.engine.nowMS + after
		w.engine.dispatcher.placed(pendingCall{clientID: id, sentMS: w.engine.nowMS}, &EventAnswer{Err: &exchange.Unavailable{Reason: "too late"}})
		if one.inForce.outdated != want {
			t.Errorf("planned %d ms after it was sent: want it asked again %t", after, want)
		}
	}
}

// The text for a note is the exchange's message, or else the error's text.
func TestTheErrorOfACallInShort(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"no": &exchange.Refusal{Status: 400, Code: 7, Message: "no"}, "broken": errors.New("broken")} {
		if have := errorText(err); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}
