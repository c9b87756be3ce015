package engine

import (
	"errors"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

var errFull = errors.New("database or disk is full")

// filled answers the first placement and fills it.
func (b *bench) filled(quantity exchange.Quantity) {
	b.t.Helper()
	call := b.placed[len(b.placed)-1]
	order := exchange.Order{ID: 77, ClientOrderID: call.Request.Order.ClientOrderID, Market: exchange.Futures, Symbol: call.Request.Order.Symbol,
		Side: call.Request.Order.Side, Type: call.Request.Order.Type, Quantity: quantity, Filled: quantity, Status: exchange.StatusFilled}
	b.position += quantity * exchange.Quantity(order.Side.Sign())
	b.looks[order.ID] = order
	b.give(&EventAnswer{CallID: call.ID, Answer: exchange.Answer{Operation: exchange.FuturesPlace, Order: order}})
	b.pass(3_000)
}

func TestStopWritesFactsOnceDiskHasRoom(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.pass(1_000)
	b.journal = errFull
	b.give(&EventAnswer{CallID: b.placed[0].ID, Answer: exchange.Answer{Operation: exchange.FuturesPlace, Order: exchange.Order{ID: 5}}})
	b.give(&EventStop{})
	b.pass(3_000)
	if !b.engine.InFlight() {
		t.Fatal("a fact that is in memory only is in flight: the driver has to wait for it")
	}
	b.journal = nil
	b.pass(2_000)
	if last := b.records[len(b.records)-1]; last.Kind() != record.KindAcknowledged {
		t.Errorf("want the acknowledgment written while stopping, have %s last", last.Kind())
	}
	if b.engine.InFlight() {
		t.Error("all is written and answered: nothing is in flight")
	}
}

func TestFailedJournalStopsIntentsWithoutMemoryGrowth(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.journal = errFull
	b.pass(10_000)
	queued := len(b.engine.unwritten)
	b.pass(600_000)
	if have := len(b.engine.unwritten); have != queued {
		t.Errorf("records that wait: want %d as ten minutes ago, have %d", queued, have)
	}
	notes := facts[NoteJournal](b.notes)
	if len(notes) != 1 || notes[0].Ended || !errors.Is(notes[0].Err, errFull) || b.engine.Status().JournalErr == nil {
		t.Errorf("want the failure reported once with its cause, have %+v", notes)
	}
	b.journal = nil
	b.pass(2_000)
	if len(facts[NoteJournal](b.notes)) != 2 || len(b.placed) != 1 {
		t.Errorf("want its end reported and the order placed, have reported %d times and %d orders", len(facts[NoteJournal](b.notes)), len(b.placed))
	}
}

func TestOnANearlyFullDiskExitsGoAndEntriesDoNot(t *testing.T) {
	t.Parallel()
	w := &wanting{target: 10}
	b := newBench(t, w)
	b.pass(1_000)
	b.filled(10)
	b.give(&EventDisk{Reason: "the disk is full"})
	w.target = 20
	b.pass(20_000)
	if len(b.placed) != 1 {
		t.Fatalf("opened on a nearly full disk: %+v", b.placed[1:])
	}
	if b.engine.Status().DiskLow == "" || len(facts[NoteJournal](b.notes)) != 1 {
		t.Error("want it in the status, and reported once")
	}
	w.target = 0
	b.pass(2_000)
	if len(b.placed) != 2 || !b.placed[1].Request.Order.ReduceOnly {
		t.Fatalf("want an exit, have %+v", b.placed[1:])
	}
	b.filled(10)
	w.target = 10
	b.pass(5_000)
	b.give(&EventDisk{})
	b.pass(5_000)
	if len(b.placed) != 3 {
		t.Errorf("want it to open again when there is room, have %d placements", len(b.placed))
	}
}

func TestLateOpeningIsWithdrawnByDeclaredState(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]func(*bench){
		"the disk is nearly full": func(b *bench) { b.give(&EventDisk{Reason: "the disk is full"}) },
		"a limit is passed": func(b *bench) {
			b.engine.tracker.Apply(&record.Record{Strategy: "BTC-USDT", AtMS: b.now, Body: record.Breach{Rule: "max_drawdown", Reason: "lost too much"}})
		},
		"a limit of the account is passed": func(b *bench) {
			b.engine.tracker.Apply(&record.Record{AtMS: b.now, Body: record.Breach{Rule: "max_daily_loss", Reason: "lost too much", UntilMS: b.now + 60_000}})
		},
		"the configuration is another": func(b *bench) {
			b.give(&EventReload{Reload: &Reload{Limits: &risk.Limits{MaxGrossExposure: 1}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, &wanting{target: 10})
			b.slow = true
			b.pass(2_500)
			if live := slices.Collect(b.engine.Tracker().Live()); len(live) != 1 || len(b.placed) != 0 {
				t.Fatalf("want an entry that waits for the disk, have %+v", live)
			}
			begins(b)
			b.slow = false
			b.give(b.late[0])
			if len(b.placed) != 0 || b.engine.Tracker().LiveCount() != 0 {
				t.Errorf("want the entry ended as never sent, have %+v", b.placed)
			}
		})
	}
}

// An entry waits for the disk while the rules change. The strategy has decided again by the new ones before the entry's record is durable.
func TestLateOpeningIsWithdrawnIfItsStrategyDecidesAgain(t *testing.T) {
	t.Parallel()
	lateUnderOldRules(t)
}

func lateUnderOldRules(t testing.TB) {
	w := &wanting{target: 10}
	b := newBench(t, w)
	b.slow = true
	b.pass(2_500)
	if b.engine.Tracker().LiveCount() != 1 || len(b.placed) != 0 {
		t.Fatalf("want an entry that waits for the disk, have %+v", b.placed)
	}
	w.target = 6
	rules := *b.engine.legs[0].symbol.Rules()
	rules.MinNotional = rules.MinNotional.Div(2)
	b.engine.out = &b.out
	b.engine.market.applyRules(&EventAnswer{Answer: exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{&rules})}})
	b.slow = false
	b.give(b.late[0])
	b.pass(3_000)
	if len(b.placed) != 1 || b.placed[0].Request.Order.Quantity != 6 {
		t.Errorf("want 6 bought by the new plan alone, have %+v", b.placed)
	}
}

// Between its record and its first byte it may be queued for the request budget, and an exit must not wait
// for it.
func TestAnOpeningThatWaitsInTheClientIsCalledBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begins func(*bench, *wanting)
		why    string
	}{
		"a halt":  {func(b *bench, _ *wanting) { b.give(&EventHalt{Level: record.LevelPause, Reason: "a test"}) }, "trading was halted meanwhile"},
		"an exit": {func(b *bench, w *wanting) { w.target = 0; b.pass(1_500) }, "another placement on the symbol is in flight or became uncertain meanwhile"},
		"another limit": {func(b *bench, _ *wanting) {
			b.give(&EventReload{Reload: &Reload{Limits: &risk.Limits{MaxGrossExposure: 1}}})
		}, "the configuration changed meanwhile"},
		"a reload that is not about it": {func(b *bench, _ *wanting) { b.give(&EventReload{Reload: &Reload{Limits: &risk.Limits{}}}) }, ""},
		"botd is ending":                {func(b *bench, _ *wanting) { b.give(&EventStop{Shutdown: "leave"}) }, "botd is stopping"},
		"nothing":                       {func(b *bench, _ *wanting) { b.pass(1_500) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &wanting{target: 10}
			b := newBench(t, w)
			b.pass(1_000)
			b.filled(10)
			w.target = 20
			b.pass(1_500)
			if len(b.placed) != 2 || !b.engine.InFlight() {
				t.Fatalf("want an entry under way, have %+v", b.placed)
			}
			entry := b.placed[1]
			c.begins(b, w)
			want := []int64{entry.ID}
			if c.why == "" {
				want = nil
			}
			if !slices.Equal(want, b.recalls) {
				t.Fatalf("called back: want %v, have %v", want, b.recalls)
			}
			if c.why == "" {
				return
			}
			b.give(&EventAnswer{CallID: entry.ID, Err: &exchange.Unavailable{Operation: entry.Request.Operation, Reason: "it was recalled"}})
			if !slices.ContainsFunc(b.records, func(r record.Record) bool {
				return r.ClientOrderID == entry.Request.Order.ClientOrderID &&
					r.Body == record.Body(record.Ended{State: placement.Expired, Evidence: "never sent: " + c.why})
			}) {
				t.Errorf("want the entry ended, never sent: %s; have %+v", c.why, b.records[len(b.records)-1])
			}
			b.pass(5_000)
			if !slices.Equal(want, b.recalls) {
				t.Errorf("want it called back once, have %v", b.recalls)
			}
		})
	}
}

func TestLateOpeningIsWithdrawnByYoungerExit(t *testing.T) {
	t.Parallel()
	w := &wanting{target: 10}
	b := newBench(t, w)
	b.pass(1_000)
	b.filled(10)
	b.slow, w.target = true, 20
	b.pass(1_500)
	live := slices.Collect(b.engine.Tracker().Live())
	if len(live) != 1 || live[0].Purpose() != placement.Entry || len(b.placed) != 1 {
		t.Fatalf("want an entry that waits for the disk, have %+v", live)
	}
	entry := live[0].ClientOrderID()
	w.target = 0
	b.pass(1_500)
	b.slow = false
	b.give(b.late[0])
	if len(b.placed) != 2 || !b.placed[1].Request.Order.ReduceOnly {
		t.Fatalf("want the exit alone, which would eat the entry's fill: have %+v", b.placed[1:])
	}
	if !slices.ContainsFunc(b.records, func(r record.Record) bool {
		ended, ok := r.Body.(record.Ended)
		return ok && r.ClientOrderID == entry && ended.State == placement.Expired
	}) {
		t.Error("want the entry ended as never sent")
	}
}

// The kill switch repeats an unanswered exit after two seconds. A slow disk takes none of them: the first byte leaves when the
// record is durable.
func TestLateExitHasFullDeadlineFromFirstByte(t *testing.T) {
	t.Parallel()
	b := newBench(t, &wanting{target: 10})
	b.pass(1_000)
	b.filled(10)
	b.slow = true
	b.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	b.pass(2_700)
	if len(b.placed) != 1 {
		t.Fatalf("want the exit to wait for its record, have %+v", b.placed[1:])
	}
	b.slow = false
	b.give(b.late[0])
	for range 19 {
		if b.pass(100); len(b.placed) > 2 {
			t.Fatalf("want nothing sent beside the exit within two seconds, have %+v", b.placed[1:])
		}
	}
	b.pass(3_000)
	if len(b.placed) < 3 || b.recalls[0] != b.placed[1].ID {
		t.Errorf("want it called back and sent again, have %d placements, called back %v", len(b.placed), b.recalls)
	}
}

// The first request was accepted, as a list shows. The answer is the second one's, a refusal.
func TestRefusalOfDuplicateRequestIsIgnored(t *testing.T) {
	t.Parallel()
	refusedTwice(t)
}

func refusedTwice(t testing.TB) {
	b := newBench(t, &wanting{target: 10})
	b.pass(1_000)
	call := b.placed[0]
	order := call.Request.Order
	b.orders = append(b.orders, exchange.Order{ID: 77, ClientOrderID: order.ClientOrderID, Market: exchange.Futures, Symbol: order.Symbol, Side: order.Side,
		Type: order.Type, Quantity: order.Quantity, Status: exchange.StatusOpen})
	b.pass(2_000)
	b.give(&EventAnswer{CallID: call.ID, Err: &exchange.Refusal{Status: 400, Code: 2030, Message: "the balance is not enough"}})
	b.pass(2_000)
	if p := b.engine.Tracker().Placement(order.ClientOrderID); p == nil || p.OrderID() != 77 || p.State() != placement.Working {
		t.Errorf("want the order that stands held, have %+v", p)
	}
}
