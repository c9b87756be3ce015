package engine

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// checkRecalled requires that every opening in flight that must not be sent any more was recalled, whatever the newest
// event concerned. An effect of time alone may wait.
func checkRecalled(t testing.TB, e *Engine) {
	t.Helper()
	for _, o := range e.sender.sent {
		p, under := e.calls[o.call.ID]
		why := e.permission.withdrawn(o.queued)
		if timeAlone := e.nowMS-e.sender.examinedMS < recallAllMS && (e.nowMS > o.call.DeadlineMS || e.readHealth.hangs()); timeAlone {
			continue
		}
		if under && p.recalled == "" && why != "" {
			t.Fatalf("opening %s on %s must not go any more (%s), and was not called back", p.clientID, o.symbol.Key(), why)
		}
	}
}

// An answer to a placement triggers an examination of its own symbol's openings, but a lost answer may trip the breaker of
// the whole account.
func TestBreakerRecallsOpeningsOnOtherSymbols(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uncertain int // uncertain placements that trip the breaker; 0 for none
		recalls   int
	}{
		"a lost answer":                           {0, 0},
		"a lost answer that trips the breaker":    {1, 1},
		"a lost answer before there are too many": {2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, &wanting{target: 10}, &wanting{target: 10})
			b.engine.config.Breaker = BreakerConfig{Uncertain: c.uncertain, WithinMS: 600_000, PauseMS: 600_000}
			b.pass(1_000)
			if len(b.placed) != 2 {
				t.Fatalf("want an opening on each symbol, have %+v", b.placed)
			}
			b.give(&EventAnswer{CallID: b.placed[0].ID, Err: &exchange.Uncertain{Reason: "a test"}})
			want := []int64{b.placed[1].ID}[:c.recalls]
			if !slices.Equal(want, b.recalls) {
				t.Errorf("called back: want %v, have %v", want, b.recalls)
			}
		})
	}
}

// The events in between may concern anything. An opening that was recalled or answered is not recalled again.
func TestExpiredOpeningsAreRecalledWithinTenthOfSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ago      int64 // time since all were examined
		answered bool
		recalls  int
		left     int // openings that may have to be recalled
	}{{"99 ms ago", 99, false, 0, 1}, {"100 ms ago", 100, false, 1, 0}, {"answered", 100, true, 0, 0}} {
		w := settled(t)
		s := w.engine.sender
		q := &queued{intent: *w.entry(), limitsVersion: w.engine.limitsVersionOf("one")}
		q.call.ID, q.call.DeadlineMS = w.engine.begin(pendingCall{kind: callPlace, clientID: "bt-own"}), w.engine.nowMS-1
		if c.answered {
			delete(w.engine.calls, q.call.ID)
		}
		s.sent, s.examined, s.examinedMS, s.local = []opening{{w.symbol(), q}}, s.emitted+int64(len(s.unwritten)), w.engine.nowMS-c.ago, true
		w.out.Reset()
		s.recall()
		if len(w.out.Recalls) != c.recalls || len(s.sent) != c.left {
			t.Errorf("%s: want %d called back, have %d, %d left", c.name, c.recalls, len(w.out.Recalls), len(s.sent))
		}
	}
}

// A checkpoint follows the event's last record, and may be durable before the next event.
func TestStatesAreJournalledBetweenOpenings(t *testing.T) {
	t.Parallel()
	for every := int64(1); every <= 4; every++ {
		w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
			plan.OrdersSet = true
			plan.Orders = []strategy.DesiredOrder{{Key: "b", Side: exchange.Buy, Price: 40_000e8, Quantity: 100}}
		}, func(w *world) { w.config.Checkpoint = every })
		w.pass(60_000)
		states := 0
		for i := range w.records {
			if w.records[i].Kind() == record.KindCheckpoint {
				states++
			}
		}
		if states < 2 || len(w.sent) != 1 {
			t.Errorf("every %d records: want states journalled and one order sent, have %d and %d", every, states, len(w.sent))
		}
	}
}
