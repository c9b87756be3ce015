package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// entry is an intent to buy ten steps of futures BTC-USDT.
func (w *world) entry() *reconcile.Intent {
	return &reconcile.Intent{Strategy: "one", Purpose: placement.Entry, Last: w.symbol().Last(), Reason: "a test", Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}}
}

// exit is an intent to sell the position of ten.
func (w *world) exit() *reconcile.Intent {
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
	see(w.symbol(), func(o *seen) { o.Position = 10 })
	intent := w.entry()
	intent.Purpose, intent.Order.Side, intent.Order.ReduceOnly = placement.Exit, exchange.Sell, true
	return intent
}

// The rules are read again, sooner if a reduction was refused. A backtest has the rules of its candles.
func TestRefusalBySymbolRulesRereadsThem(t *testing.T) {
	t.Parallel()
	untraded := func(w *world) {
		rules := *w.symbol().Rules()
		rules.Tradable = false
		see(w.symbol(), func(o *seen) { o.Rules = &rules })
	}
	for _, c := range []struct {
		name   string
		intent func(w *world) *reconcile.Intent
		with   func(w *world)
		want   int64 // from now; -1 for never
	}{
		{"an opening", (*world).entry, untraded, rulesSoonMS},
		{"an exit", (*world).exit, untraded, rulesUrgentMS},
		{"they are read sooner anyway", (*world).entry, func(w *world) { untraded(w); w.engine.rulesMS = w.engine.nowMS + 500 }, 500},
		{"in a backtest", (*world).exit, func(w *world) { untraded(w); w.engine.config.Feed = true }, -1},
		{"another rule refuses it", (*world).entry, func(w *world) { see(w.symbol(), func(o *seen) { o.Last = 1 }) }, -1},
		{"it is approved", (*world).entry, func(*world) {}, -1},
	} {
		w := settled(t)
		intent := c.intent(w)
		w.engine.rulesMS = never
		c.with(w)
		w.out.Reset()
		approved := w.engine.dispatcher.dispatch(w.engine.legs[0], intent)
		if want := map[bool]int64{true: never, false: w.engine.nowMS + c.want}[c.want < 0]; w.engine.rulesMS != want {
			t.Errorf("%s: want the rules read in %d ms, have it in %d", c.name, c.want, w.engine.rulesMS-w.engine.nowMS)
		}
		if queued := len(w.engine.sender.queued) == 1; queued != approved || approved != (c.name == "it is approved") {
			t.Errorf("%s: have it approved %t, queued %t: %+v", c.name, approved, queued, facts[NoteRejection](w.out.Notes))
		}
	}
}

// The same refusal is not reported again. Another one is, and so is the same one after the intent had disappeared.
func TestARefusalIsReportedOnceUntilItIsOver(t *testing.T) {
	t.Parallel()
	w := settled(t)
	d, one := w.engine.dispatcher, w.engine.legs[0]
	limited := func(most string) {
		w.engine.gate = risk.NewGate(risk.Limits{MaxPosition: exchange.MustAmount(most)})
	}
	for i, c := range []struct {
		most          string
		want, intents int // refusals, and intents, reported so far
	}{{"0.001", 1, 1}, {"0.001", 1, 1}, {"0.002", 2, 2}, {"1", 2, 3}, {"0.002", 3, 4}} {
		limited(c.most)
		d.dispatch(one, w.entry())
		for _, p := range slices.Collect(w.engine.tracker.Live()) { // an approved order must not block the next one
			w.engine.tracker.Apply(&record.Record{ClientOrderID: p.ClientOrderID(), Body: record.Ended{State: placement.Expired}})
		}
		if refused, intents := len(facts[NoteRejection](w.out.Notes)), len(facts[NoteIntent](w.out.Notes)); refused != c.want || intents != c.intents {
			t.Errorf("step %d: want %d refusals and %d intents reported, have %d and %d", i, c.want, c.intents, refused, intents)
		}
	}
	for _, fact := range facts[NoteRejection](w.out.Notes) {
		if fact.Rejection == nil || len(fact.Verdicts) == 0 || fact.Intent.Purpose != placement.Entry {
			t.Errorf("want the refusal with the result of each rule, have %+v", fact)
		}
	}
}

// While the journal fails, everything but a cancel is blocked, as is an intent that the exchange has just refused.
func TestIntentsBlockedBeforeCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world)
		want string // whether the exit and the cancel are sent
	}{
		{"nothing", func(*world) {}, "true true"},
		{"the journal fails", func(w *world) { w.engine.journalErr = errors.New("full") }, "false true"},
		{"the exit was refused", func(w *world) {
			w.engine.backoffs.count(attemptOf(w.exit()), 7, "no", false, w.engine.nowMS)
		}, "false true"},
	} {
		w := settled(t)
		id := w.sends(placement.Order)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: 5}})
		cancel := &reconcile.Intent{Strategy: "one", Purpose: placement.Cancel, ClientID: id, OrderID: 5,
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT"}}
		exit := w.exit()
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10 - w.symbol().Known()}})
		c.with(w)
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10 - w.symbol().Known()}})
		d, one := w.engine.dispatcher, w.engine.legs[0]
		w.out.Reset()
		if have := fmt.Sprint(d.dispatch(one, exit), d.dispatch(one, cancel)); have != c.want {
			t.Errorf("%s: want exit and cancel to go %s, have %s", c.name, c.want, have)
		}
		if w.engine.tracker.CancelMS(id) != w.engine.nowMS || len(w.out.Calls) != 1 || w.out.Calls[0].Priority != PriorityExit ||
			w.out.Calls[0].Request != (exchange.Request{Operation: exchange.FuturesCancel, Symbol: "BTC-USDT", OrderID: 5}) {
			t.Errorf("%s: want the cancel sent and noted, have %+v", c.name, w.out.Calls)
		}
	}
}

// The record contains what the order reserves at the worse of two prices, its deadline, and its priority.
func TestApprovedOrderRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		of        placement.Purpose
		order     exchange.NewOrder
		last      exchange.Price
		reserved  string
		operation exchange.Operation
		priority  Priority
	}{
		{"an entry at market", placement.Entry, exchange.NewOrder{Market: exchange.Futures, Quantity: 10}, 50_000e8, "500", exchange.FuturesPlace,
			PriorityOpening},
		{"at a price above the last", placement.Order, exchange.NewOrder{Market: exchange.Futures, Quantity: 10, Price: 60_000e8}, 50_000e8, "600",
			exchange.FuturesPlace, PriorityOpening},
		{"at a price below the last", placement.Order, exchange.NewOrder{Market: exchange.Futures, Quantity: 10, Price: 40_000e8}, 50_000e8, "500",
			exchange.FuturesPlace, PriorityOpening},
		{"for an amount", placement.Entry, exchange.NewOrder{Market: exchange.Spot, QuoteAmount: exchange.AmountOf(77)}, 50_000e8, "77",
			exchange.SpotPlace, PriorityOpening},
		{"an exit", placement.Exit, exchange.NewOrder{Market: exchange.Futures, Quantity: 10}, 50_000e8, "500", exchange.FuturesPlace, PriorityExit},
		{"a stop", placement.StopLoss, exchange.NewOrder{Market: exchange.Spot, Quantity: 2_000, Price: 49_000e8}, 50_000e8, "1000",
			exchange.SpotPlace, PriorityExit},
	} {
		w := settled(t)
		see(w.engine.tracker.Track(coin), func(o *seen) { o.Rules = w.venue.Symbol(coin) })
		c.order.Symbol = "BTC-USDT"
		before := w.engine.emitted + int64(len(w.engine.unwritten))
		w.engine.limitsVersion = 8
		w.engine.dispatcher.place(reconcile.Intent{Strategy: "one", Purpose: c.of, Key: "k", Order: c.order, Last: c.last, Before: 3})
		r := w.engine.unwritten[len(w.engine.unwritten)-1]
		body, _ := r.Body.(record.Sending)
		q := w.engine.sender.queued[0]
		id := r.ClientOrderID
		if body.Reserved.String() != c.reserved || body.DeadlineMS != w.engine.nowMS+5_000 || body.Key != "k" || body.Before != 3 || body.Purpose != c.of ||
			body.Order.ClientOrderID != id || id == "" || r.Strategy != "one" {
			t.Errorf("%s: want %s reserved for five seconds, have %+v", c.name, c.reserved, r)
		}
		if q.call.Request.Operation != c.operation || q.call.Priority != c.priority || q.call.DeadlineMS != body.DeadlineMS || q.sequence != before+1 ||
			q.purpose.kind != callPlace || q.purpose.clientID != id || q.purpose.sentMS != w.engine.nowMS || q.limitsVersion != 8 {
			t.Errorf("%s: want it queued behind its record, have %+v", c.name, q)
		}
	}
}

// The failure is a disk state if the disk was nearly full when it began or continued, but not if the journal's files are lost.
func TestJournalFailureState(t *testing.T) {
	t.Parallel()
	low, lost, room := &EventDisk{Reason: "the disk is nearly full"}, &EventDisk{Reason: "the journal was replaced", Lost: true}, &EventDisk{}
	failed, written := &EventJournaled{Err: errFull}, &EventJournaled{}
	for _, c := range []struct {
		name   string
		events []Event
		want   string // declared states
	}{
		{"it fails", []Event{failed}, "journal"},
		{"the disk is nearly full", []Event{low}, "disk"},
		{"it fails on a nearly full disk", []Event{low, failed}, "disk"},
		{"it fails, and the disk has room", []Event{low, failed, room}, "disk"},
		{"it went on to fail while the disk was nearly full", []Event{failed, low, failed, room}, "disk"},
		{"its files are lost", []Event{lost, failed}, "journal, journal"},
		{"its files were lost", []Event{lost, failed, room}, "journal"},
		{"it can be written again", []Event{low, failed, room, written}, ""},
		{"it fails again with room on the disk", []Event{low, failed, room, written, failed}, "journal"},
	} {
		w := settled(t)
		for _, event := range c.events {
			w.out.Reset()
			w.engine.out = &w.out
			w.engine.route(event)
		}
		var have []string
		for _, d := range w.engine.Degraded() {
			have = append(have, d.State)
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %q declared, have %q", c.name, c.want, have)
		}
	}
}

// A failed write ends every placement that waits for its record. A successful one sends the placements whose records it contains.
func TestJournalFailureEndsQueuedPlacements(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		w := settled(t)
		d, s := w.engine.dispatcher, w.engine.sender
		d.place(*w.entry())
		w.engine.writing = len(w.engine.unwritten)
		d.place(*w.entry())
		first, second := s.queued[0].purpose.clientID, s.queued[1].purpose.clientID
		w.out.Reset()
		before := w.engine.emitted
		if fails {
			s.journaled(errFull)
			s.journaled(errFull)
			if len(s.queued)+len(w.out.Calls) != 0 || w.engine.journalMS != w.engine.nowMS+journalRetryMS || w.engine.emitted != before {
				t.Errorf("want nothing sent, and the next try in a second, have %+v, %d ms", w.out.Calls, w.engine.journalMS-w.engine.nowMS)
			}
			for _, id := range []string{first, second} {
				if p := w.engine.tracker.Placement(id); p != nil && !p.State().Final() {
					t.Errorf("want %s ended, have it %s", id, p.State())
				}
			}
			if have := facts[NoteJournal](w.out.Notes); len(have) != 1 || have[0].Records == 0 || !errors.Is(have[0].Err, errFull) ||
				w.engine.journalSinceMS != w.engine.nowMS || have[0].Ended {
				t.Errorf("want it reported once, have %+v", have)
			}
			w.engine.writing = 2
			s.journaled(nil)
			if have := facts[NoteJournal](w.out.Notes); len(have) != 2 || !have[1].Ended || have[1].Records != 2 {
				t.Errorf("want the end reported, with the records that were written, have %+v", have)
			}
			continue
		}
		s.journaled(nil)
		if len(w.out.Calls) != 1 || w.out.Calls[0].Request.Order.ClientOrderID != first || len(s.queued) != 1 || s.queued[0].purpose.clientID != second {
			t.Errorf("want the first sent alone, have %+v", w.out.Calls)
		}
		if p := w.engine.calls[w.out.Calls[0].ID]; p.leftMS != w.engine.nowMS || w.engine.writing != 0 || len(s.sent) != 1 {
			t.Errorf("want when it left noted, have %+v", p)
		}
		if len(facts[NotePlaced](w.out.Notes)) != 1 || len(facts[NoteJournal](w.out.Notes)) != 0 {
			t.Errorf("want it reported, have %+v", w.out.Notes)
		}
	}
}

// The answer sets its state, delays an intent after a refusal, and trips the breaker if the placement was rate limited. The cases run with
// and without a list that has shown the order.
func TestPlacementAnswerEffects(t *testing.T) {
	t.Parallel()
	refusal := &exchange.Refusal{Status: 400, Code: 7, Message: "no"}
	for _, c := range []struct {
		name     string
		order    exchange.Order
		err      error
		seen     bool
		state    placement.State
		waits    int
		breaking bool
	}{
		{"taken", exchange.Order{ID: 5}, nil, false, placement.Acknowledged, 0, false},
		{"without an id", exchange.Order{}, nil, false, placement.Uncertain, 0, false},
		{"of another order", exchange.Order{ID: 5, ClientOrderID: "other"}, nil, false, placement.Uncertain, 0, false},
		{"refused", exchange.Order{}, refusal, false, placement.Refused, 1, false},
		{"refused, and seen", exchange.Order{}, refusal, true, placement.Working, 0, false},
		{"lost", exchange.Order{}, &exchange.Uncertain{Reason: "timeout"}, false, placement.Uncertain, 0, false},
		{"lost, and seen", exchange.Order{}, &exchange.Uncertain{Reason: "timeout"}, true, placement.Working, 0, false},
		{"rate limited", exchange.Order{}, &exchange.Uncertain{Reason: exchange.ReasonRateLimited}, false, placement.Uncertain, 0, true},
		{"never sent", exchange.Order{}, &exchange.Unavailable{Reason: "too late"}, false, placement.Expired, 0, false},
		{"lost with a refusal within", exchange.Order{}, &exchange.Uncertain{Reason: "what", Err: refusal}, false, placement.Uncertain, 0, false},
	} {
		w := settled(t, func(w *world) {
			w.config.Breaker = BreakerConfig{Uncertain: 5, WithinMS: 600_000, PauseMS: 600_000, EmptyEndings: 3, EmptyPauseMS: 45_000}
		})
		id := w.sends(placement.Order)
		if c.seen {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 5}})
		}
		p := w.engine.tracker.Placement(id)
		w.out.Reset()
		w.engine.dispatcher.placed(pendingCall{kind: callPlace, clientID: id, sentMS: w.engine.nowMS - 40},
			&EventAnswer{Answer: exchange.Answer{Order: c.order}, Err: c.err})
		if p.State() != c.state || len(w.engine.backoffs.all) != c.waits || w.engine.tracker.Breaking(w.engine.nowMS) != c.breaking {
			t.Errorf("%s: want it %s, %d intents to wait, a pause %t, have %s, %d", c.name, c.state, c.waits, c.breaking, p.State(),
				len(w.engine.backoffs.all))
		}
		for _, fact := range facts[NoteAcknowledged](w.out.Notes) {
			if fact.DurationMS != 40 || fact.OrderID != 5 {
				t.Errorf("%s: want how long it took, have %+v", c.name, fact)
			}
		}
		for _, fact := range facts[NoteSettled](w.out.Notes) {
			if fact.DurationMS != 40 || fact.Evidence != "never sent: too late" {
				t.Errorf("%s: want how long it took, have %+v", c.name, fact)
			}
		}
	}
	w := settled(t)
	w.out.Reset()
	w.engine.dispatcher.placed(pendingCall{kind: callPlace, clientID: "of nobody"}, &EventAnswer{})
	if len(w.out.Notes)+len(w.engine.unwritten) != 0 {
		t.Errorf("want an answer about no order left to nobody, have %+v", w.out.Notes)
	}
}

func TestAcknowledgedStopEndsUnprotectedState(t *testing.T) {
	t.Parallel()
	for of, want := range map[placement.Purpose]int64{placement.StopLoss: 300, placement.TakeProfit: 0} {
		for _, err := range []error{nil, &exchange.Uncertain{Reason: "timeout"}} {
			w := settled(t)
			id := w.sends(of)
			see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - 300 })
			w.engine.dispatcher.placed(pendingCall{clientID: id}, &EventAnswer{Answer: exchange.Answer{Order: exchange.Order{ID: 5}}, Err: err})
			ends := want != 0 && err == nil
			if have := w.symbol(); (have.UnprotectedSinceMS() == 0) != ends || (have.UnprotectedMS() == 300) != ends {
				t.Errorf("%s, %v: want it over %t, have it since %d, %d ms", of, err, ends, have.UnprotectedSinceMS(), have.UnprotectedMS())
			}
		}
	}
}

// exitsUnread counts the exits of a spot position whose market cannot be read.
func exitsUnread(t testing.TB, name string, with func(w *world), want int) {
	w := newWorld(t, hold(2_000), onSpot)
	w.pass(20_000)
	w.engine.out = &w.out
	w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Flat()}}})
	with(w)
	w.out.Reset()
	if have := w.engine.dispatcher.actUnread(w.engine.legs[0]); have != want || len(w.engine.sender.queued) != want {
		t.Errorf("%s: want %d exits to go, have %d", name, want, have)
	}
}

func quarantinedFor(cause record.QuarantineCause) func(w *world) {
	return func(w *world) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a difference", Cause: cause}})
	}
}

// If the journal may lack a sale, only the wallet shows it: exits wait until the wallet has been read.
func TestUnreadableSpotMarketBlocksExits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world)
		want int // number of exits sent
	}{
		{"nothing is missing", func(*world) {}, 1},
		{"another botd trades the account", func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: exchange.Spot, Symbol: "BTC-USDT"}}
			})
		}, 0},
		{"its symbol waits for a person", quarantinedFor(record.QuarantineCause(0)), 1},
		{"its symbol waits for a person, and the wallet is not read either", func(w *world) {
			quarantinedFor(record.QuarantineCause(0))(w)
			w.engine.tracker.Observe(&reconcile.Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}}})
		}, 0},
		{"its symbol waits for a person, since the journal was lost", quarantinedFor(record.JournalLost), 0},
		{"more was executed than ordered", quarantinedFor(record.ExecutedBeyond), 1},
	} {
		exitsUnread(t, c.name, c.with, c.want)
	}
}

// While another botd trades the account, the wallet shows which units no stop holds, though the open list cannot be read.
func TestStopIsPlacedStandingDownWhileTheOpenListCannotBeRead(t *testing.T) {
	t.Parallel()
	for free, want := range map[string]int{"1.01": 1, "1": 0, "": 0} {
		stopsUnread(t, free, want)
	}
}

func stopsUnread(t testing.TB, free string, want int) {
	t.Helper()
	w := newWorld(t, hold(1_000), onSpot, protected)
	w.pass(60_000)
	stop := w.live(placement.StopLoss, "")
	w.engine.tracker.NoteCancel(stop.ClientOrderID(), w.now)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: stop.ClientOrderID(),
		Body: record.Ended{State: placement.Canceled, OrderID: stop.OrderID()}})
	see(w.symbol(), func(o *seen) {
		o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: exchange.Spot, Symbol: "BTC-USDT"}}
	})
	read := &reconcile.Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}}}
	if free != "" {
		read.Balances = exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free)}})
	}
	w.engine.tracker.Observe(read)
	w.engine.out = &w.out
	w.out.Reset()
	if have := w.engine.dispatcher.actUnread(w.engine.legs[0]); have != want || len(w.engine.sender.queued) != want {
		t.Errorf("%q is free: want %d stops to go, have %d", free, want, have)
	}
}

// A rehearsal does not replace a canceled stop. Neither does a removed strategy, whose protection stays unchanged until a halt.
func TestACanceledStopIsReplacedByAStrategyThatActs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		with    func(w *world, leg *leg)
		replace bool
	}{
		{"it acts", func(*world, *leg) {}, true},
		{"in a rehearsal", func(w *world, _ *leg) { w.engine.config.Rehearse = true }, false},
		{"it is removed", func(_ *world, leg *leg) { leg.config.Removed = true }, false},
	} {
		w := newWorld(t, hold(1_000), onSpot, protected)
		w.pass(60_000)
		stop := w.live(placement.StopLoss, "")
		w.engine.tracker.Apply(&record.Record{AtMS: w.engine.nowMS, Strategy: "one", Symbol: coin, ClientOrderID: stop.ClientOrderID(),
			Body: record.Ended{State: placement.Canceled, OrderID: stop.OrderID()}})
		w.out.Reset()
		w.engine.out = &w.out
		leg := w.engine.legs[0]
		c.with(w, leg)
		w.engine.dispatcher.replace(leg)
		replaced := w.engine.tracker.AnyLive(func(p *account.Placement) bool { return p.Purpose() == placement.StopLoss })
		if replaced != c.replace {
			t.Errorf("%s: want the stop replaced %t, have %t", c.name, c.replace, replaced)
		}
	}
}
