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

// The engine is woken at the earliest due time. In a backtest and while it stops only some times count.
func TestNextWakeTime(t *testing.T) {
	t.Parallel()
	const far = 1_000_000
	for _, c := range []struct {
		name string
		with func(e *Engine, one *leg, at int64)
		// while it trades; in a backtest; while it cancels and stops; once it has stopped
		trades, feeds, stops, stopped bool
	}{
		{"a failed append", func(e *Engine, _ *leg, at int64) { e.journalMS = at }, true, true, true, true},
		{"stops that were canceled", func(e *Engine, _ *leg, at int64) { e.replaceMS = at }, true, true, true, false},
		{"a round", func(e *Engine, _ *leg, at int64) { e.roundMS = at }, true, true, true, false},
		{"a round's late reads", func(e *Engine, _ *leg, at int64) {
			e.reader.phase, e.reader.lateMS = phaseLists, at
		}, true, true, true, false},
		{"a halt beside a round that hangs", func(e *Engine, _ *leg, at int64) {
			e.reader.phase, e.emergencyMS = phaseLists, at
		}, true, true, true, false},
		{"a halt beside no round", func(e *Engine, _ *leg, at int64) { e.emergencyMS = at }, false, false, false, false},
		{"late reads of no round", func(e *Engine, _ *leg, at int64) { e.reader.lateMS = at }, false, false, false, false},
		{"a tick", func(_ *Engine, one *leg, at int64) { one.schedule.nextMS = at }, true, true, false, false},
		{"the rules", func(e *Engine, _ *leg, at int64) { e.rulesMS = at }, true, false, false, false},
		{"candles", func(_ *Engine, one *leg, at int64) { one.series.pollMS = at }, true, false, false, false},
		{"an answer of a strategy", func(_ *Engine, one *leg, at int64) { one.question.dueMS = at }, true, false, false, false},
		{"a strategy that is asked again", func(_ *Engine, one *leg, at int64) { one.question.retryMS = at }, true, false, false, false},
		{"a funding rate", func(_ *Engine, one *leg, at int64) { one.watched.fundingMS = at }, true, false, false, false},
		{"a funding rate that is being read", func(_ *Engine, one *leg, at int64) {
			one.watched.fundingMS, one.watched.fundingRequested = at, true
		}, false, false, false, false},
		{"an order book", func(_ *Engine, one *leg, at int64) { one.watched.orderBookMS = at }, true, false, false, false},
		{"an order book that is being read", func(_ *Engine, one *leg, at int64) {
			one.watched.orderBookMS, one.watched.orderBookRequested = at, true
		}, false, false, false, false},
	} {
		for mode, due := range map[string]bool{"trades": c.trades, "feeds": c.feeds, "stops": c.stops, "stopped": c.stopped} {
			w := settled(t)
			e, one := w.engine, w.engine.legs[0]
			e.dueTimes = dueTimes{roundMS: w.now + far, replaceMS: never, emergencyMS: never, rulesMS: never}
			e.journalMS, e.reader.phase, e.reader.lateMS = never, 0, never
			one.schedule.nextMS, one.series.pollMS = never, never
			switch mode {
			case "feeds":
				e.config.Feed = true
			case "stops":
				e.closing = record.LevelCancel
			case "stopped":
				e.stopped = true
			}
			c.with(e, one, w.now+77)
			if have := e.NextMS() == w.now+77; have != due {
				t.Errorf("%s, %s: want it woken for that %t, have %d", c.name, mode, due, e.NextMS()-w.now)
			}
		}
	}
	w := settled(t)
	w.engine.legs[0].schedule.nextMS, w.engine.legs[0].question = never, newQuestion()
	if have := w.engine.DecidesMS(); have != never {
		t.Errorf("want nothing decided apart from closes, have %d", have)
	}
	w.engine.legs[0].question.dueMS = 7
	if have := w.engine.DecidesMS(); have != 7 {
		t.Errorf("want what a strategy is to answer, have %d", have)
	}
}

// Placements, unwritten records, and the remaining work of stopping are in flight.
func TestEngineInFlight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(e *Engine)
		want bool
	}{
		{"nothing", func(*Engine) {}, false},
		{"a placement", func(e *Engine) { e.begin(pendingCall{kind: callPlace}) }, true},
		{"a read", func(e *Engine) { e.begin(pendingCall{kind: callRound}) }, false},
		{"a placement that waits for its record", func(e *Engine) { e.sender.queued = []queued{{}} }, true},
		{"a record", func(e *Engine) { e.unwritten = []record.Record{{}} }, true},
		{"it cancels and stops", func(e *Engine) { e.closing = record.LevelCancel }, true},
		{"it has canceled and stopped", func(e *Engine) { e.closing, e.stopped = record.LevelCancel, true }, false},
	} {
		w := settled(t)
		clear(w.engine.calls)
		if c.with(w.engine); w.engine.InFlight() != c.want {
			t.Errorf("%s: want %t", c.name, c.want)
		}
	}
}

// A round also reports blindness if it causes it.
func TestRoundReportsItsReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(30_000)
	if last := facts[NoteRound](w.notes); !last[len(last)-1].Complete || last[len(last)-1].DurationMS != 4*wayMS {
		t.Errorf("want a complete round of two reads after each other, have %+v", last[len(last)-1])
	}
	w.notes = nil
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesAccount {
			return fate{err: errors.New("broken")}
		}
		return fate{}
	}
	w.pass(60_000)
	rounds, blindMS := []int64{}, int64(0)
	for i := range w.notes {
		switch fact := w.notes[i].Fact.(type) {
		case NoteRound:
			rounds = append(rounds, w.notes[i].AtMS)
			if fact.Complete {
				t.Errorf("want no complete round, have %+v", fact)
			}
		case NoteBlind:
			blindMS = w.notes[i].AtMS
		}
	}
	if len(rounds) < 3 || blindMS != rounds[2] {
		t.Errorf("want blindness reported with the third round, of %v, have it at %d", rounds, blindMS)
	}
}

// The reads failed or are late.
func TestRoundWithoutReadsIsIncomplete(t *testing.T) {
	t.Parallel()
	missed := []failure{{wholeMarket, errLate}}
	for _, c := range []struct {
		name         string
		failed, late []failure
		positions    bool
		want         bool
	}{
		{"a read failed", missed, nil, false, false}, {"a read is late", nil, missed, false, false}, {"both", missed, missed, false, false},
		{"positions were read, another failed", missed, nil, true, true}, {"positions were read, another is late", nil, missed, true, true},
		{"positions were read", nil, nil, true, true},
	} {
		w, r := undisturbed(t)
		r.roundReads.phase, r.roundReads.failures, r.roundReads.late, r.roundReads.snapshot.BeganMS = phasePositions, c.failed, c.late, w.engine.nowMS
		if c.positions {
			r.roundReads.snapshot.Positions = exchange.FetchedOf[exchange.Position](nil)
		}
		if have := w.engine.round.finishRound(); have != c.want || r.inProgress() {
			t.Errorf("%s: want it complete %t, have %t", c.name, c.want, have)
		}
	}
}

// The round must have read something.
func TestRemovedStrategyEndsDespiteLateRead(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{true, false} {
		w, r := undisturbed(t)
		r.roundReads.phase, r.roundReads.snapshot.BeganMS, w.engine.legs[0].config.Removed = phasePositions, w.engine.nowMS, true
		if read {
			snapshot := &r.roundReads.snapshot
			snapshot.FuturesOrders, snapshot.Positions = exchange.FetchedOf[exchange.Order](nil), exchange.FetchedOf[exchange.Position](nil)
		}
		r.askForRound(pendingCall{kind: callRound}, exchange.Request{Operation: exchange.FuturesAccount})
		w.engine.emergencyMS = never
		w.engine.nowMS = r.roundReads.lateMS + 1_000
		w.engine.wake()
		if len(w.engine.legs) == 0 != read || r.inProgress() && read {
			t.Errorf("anything read %t: want it ended so, have %d strategies", read, len(w.engine.legs))
		}
	}
}

func TestARemovedStrategyEndsWithARoundAndNotWithinIt(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.engine.legs[0].config.Removed = true
	within := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesOpenPositions { // the list of orders was answered
			if within++; len(w.engine.legs) != 1 {
				t.Errorf("want it there until the round is complete, have %d strategies", len(w.engine.legs))
			}
		}
		return fate{}
	}
	w.pass(40_000)
	if within == 0 || len(w.engine.legs) != 0 {
		t.Errorf("want it ended by a round, have %d strategies after %d", len(w.engine.legs), within)
	}
}

// An order that was found, an adoption, an ignored part, and a quarantine without a strategy are reported.
func TestEvidenceDecisionsAreReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		observed record.Record
		want     Fact
	}{
		{record.Record{Strategy: "one", Symbol: bitcoin, ClientOrderID: "bt-1", Body: record.Found{OrderID: 5, Evidence: "a list"}},
			NoteFound{Evidence: "a list", NoteOrder: NoteOrder{ClientOrderID: "bt-1", OrderID: 5}}},
		{record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 7, Evidence: "a list"}}, NoteAdopted{7, "a list"}},
		{record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 7, Evidence: "a list"}}, NoteIgnored{7, "a list"}},
		{record.Record{Symbol: bitcoin, ClientOrderID: "bt-1", Body: record.Ignored{Quantity: 7, Evidence: "a list"}}, nil},
		{record.Record{Symbol: ether, Body: record.Quarantined{Reason: "a difference"}}, NoteQuarantine{Reason: "a difference"}},
		{record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}}, nil},
		{record.Record{Symbol: bitcoin, ClientOrderID: "bt-1", Body: record.Fill{OrderID: 5}}, nil},
	} {
		w := settled(t)
		w.out.Reset()
		w.engine.round.reportObserved(&c.observed)
		if have := w.out.Notes; (len(have) == 1) != (c.want != nil) || len(have) == 1 && fmt.Sprint(have[0].Fact) != fmt.Sprint(c.want) {
			t.Errorf("%T: want %+v, have %+v", c.observed.Body, c.want, have)
		}
	}
}

// The strategy's own candles come first, then those of the other symbols that it reads.
func TestWarmUpProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seen, others int
		want         string
	}{{2, 3, "warming_up 2 of 3 candles false"}, {3, 2, "warming_up it needs 3 candles of futures ETH-USDT false"}, {3, 3, "running  false"}} {
		w := settled(t)
		one := w.heldCandles(3)
		one.config.Strategy, one.schedule.seen, one.others = &atWarmup{warmup: 3}, c.seen, []*series{w.etherCandles(c.others)}
		state, why, spent := one.progress()
		if have := fmt.Sprint(state, " ", why, " ", spent); have != c.want {
			t.Errorf("%+v: want %q, have %q", c, c.want, have)
		}
	}
}

// The round derives the intent for which the leverage was set.
func TestTheLeverageIsFollowedByARoundSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), func(w *world) { w.config.Strategies[0].Leverage = 7 })
	sets := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesSetLeverage {
			if sets++; w.engine.roundMS != w.now-wayMS+1_000 {
				t.Errorf("want a round in a second, have it in %d ms", w.engine.roundMS-w.now)
			}
		}
		return fate{}
	}
	w.pass(20_000)
	w.wantHeld(10)
	if sets != 1 {
		t.Errorf("want the leverage set once, have %d", sets)
	}
}

func TestUnprotectedTimeCountsInUnreadMarket(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{false, true} {
		w := settled(t, protected)
		one := w.engine.legs[0]
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		see(one.symbol, func(o *seen) { o.Position, one.rounds.readMS = 10, w.engine.nowMS-20_000 })
		r := w.engine.round
		r.reader.roundReads = roundReads{snapshot: reconcile.Snapshot{BeganMS: w.engine.nowMS}}
		if read {
			r.reader.snapshot.Positions = exchange.FetchedOf[exchange.Position](nil)
		}
		w.out.Reset()
		r.actOn(one)
		if one.symbol.UnprotectedSinceMS() != w.engine.nowMS-20_000 || len(facts[NoteUnprotected](w.out.Notes)) != 1 ||
			(one.rounds.readMS == w.engine.nowMS) != read {
			t.Errorf("read %t: want it unprotected since the read before, and reported, have %d, %+v", read, one.symbol.UnprotectedSinceMS(), w.out.Notes)
		}
	}
}

// The duration is reported once, when it ends.
func TestUnprotectedTimeIsReported(t *testing.T) {
	t.Parallel()
	w := settled(t)
	one, p := w.engine.legs[0], w.engine.protection
	see(one.symbol, func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - unprotectedAfterMS })
	w.out.Reset()
	p.reportState(one)
	p.reportState(one)
	w.engine.nowMS += 700
	one.symbol.EndUnprotected(w.engine.nowMS)
	p.reportState(one)
	p.reportState(one)
	have := facts[NoteUnprotected](w.out.Notes)
	if len(have) != 2 || have[0].Ended || have[0].Reason == "" || !have[1].Ended || have[1].ForMS != unprotectedAfterMS+700 ||
		one.symbol.UnprotectedMS() != unprotectedAfterMS+700 {
		t.Errorf("want its begin, and its end after 15.7 s, have %+v, %d ms in all", have, one.symbol.UnprotectedMS())
	}
	see(one.symbol, func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS })
	if one.symbol.EndUnprotected(w.engine.nowMS); one.symbol.UnprotectedMS() != unprotectedAfterMS+700 {
		t.Errorf("want no time added where there was none, have %d", one.symbol.UnprotectedMS())
	}
}

// The positions are current, and their money is not. Limits are evaluated again once everything is read.
func TestEquityWaitsForReadOfMovedMarket(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{false, true} {
		futures, spot := exchange.Quantity(0), exchange.Quantity(0)
		w := twoMarkets(t, &futures, &spot)
		w.pass(20_000)
		if moves {
			futures = 20
		}
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.SpotWallet {
				return fate{err: errors.New("broken")}
			}
			return fate{}
		}
		w.pass(5_000)
		if w.engine.limits.mixed != moves {
			t.Errorf("it moved %t: want the equity of two moments %t", moves, moves)
		}
		w.pass(20_000)
		if w.engine.limits.mixed != moves {
			t.Errorf("it moved %t: want it so until all was read", moves)
		}
		w.network = nil
		w.pass(20_000)
		if w.engine.limits.mixed {
			t.Error("want it over with a whole round")
		}
	}
}

// A round reports a changed position, and start and end of a quarantine and of a latch.
func TestRoundReportsStrategyChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		with  func(w *world, before *symbolBefore)
		quiet bool
		want  string
	}{
		{"nothing has changed", func(*world, *symbolBefore) {}, false, ""},
		{"its position", func(_ *world, before *symbolBefore) { before.position = 5 }, false, "position 0"},
		{"its position, and nobody looks on", func(_ *world, before *symbolBefore) { before.position = 5 }, true, ""},
		{"a quarantine begins", func(w *world, _ *symbolBefore) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
		}, false, "quarantine a difference false"},
		{"a quarantine ends", func(_ *world, before *symbolBefore) { before.quarantine = "a difference" }, false, "quarantine  true"},
		{"a latch begins", func(w *world, _ *symbolBefore) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Latch{Side: -1}})
		}, false, "latch -1 false"},
		{"a latch ends", func(_ *world, before *symbolBefore) { before.latch = 1 }, false, "latch 0 true"},
	} {
		w := settled(t)
		w.engine.config.Quiet = c.quiet
		before := symbolBefore{}
		c.with(w, &before)
		w.out.Reset()
		w.engine.round.reportLeg(w.engine.legs[0], before)
		var have []string
		for i := range w.out.Notes {
			switch fact := w.out.Notes[i].Fact.(type) {
			case NotePosition:
				have = append(have, fmt.Sprint("position ", fact.Quantity))
			case NoteQuarantine:
				have = append(have, fmt.Sprint("quarantine ", fact.Reason, " ", fact.Ended))
			case NoteLatch:
				have = append(have, fmt.Sprint("latch ", fact.Side, " ", fact.Ended))
			}
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// A new strategy is reported once.
func TestAReloadIsJournalledAndWatchesItsLimitsAtOnce(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{"", "abc"} {
		w := settled(t)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Day{StartMS: exchange.Day1.OpenOf(w.now), Equity: exchange.AmountOf(90_000),
			Peak: exchange.AmountOf(90_000), Markets: "futures"}})
		reload := &Reload{ConfigHash: hash, Limits: &risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(5)}},
			Strategies: []*StrategyConfig{w.another("two", ether, hold(0))}}
		w.out.Reset()
		before := len(w.engine.unwritten)
		w.engine.roster.reload(reload)
		hashes := 0
		for _, r := range w.engine.unwritten[before:] {
			if body, is := r.Body.(record.Config); is && body.Hash == hash {
				hashes++
			}
		}
		notes := facts[NoteReload](w.out.Notes)
		if (hashes == 1) != (hash != "") || w.engine.tracker.Watch("").Breach(risk.MaxDrawdown) == nil || len(notes) != 1 ||
			notes[0].Text != "it is new and starts with a warm-up of 0 candles" {
			t.Errorf("hash %q: want it journalled, the new limit watched, and the new strategy reported, have %d, %+v", hash, hashes, notes)
		}
	}
}

// A new version sees each stored candle together with the earlier ones.
func TestNewVersionSeesItsConfiguration(t *testing.T) {
	t.Parallel()
	for _, offloads := range []bool{false, true} {
		w := settled(t)
		w.engine.config.Offload = offloads
		one := w.heldCandles(3)
		config, before := w.config.Strategies[0], one.config
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		stricter := *config.Symbol
		stricter.MinNotional = exchange.AmountOf(77)
		config.Symbol, config.Schedule = &stricter, nil
		var closed []int
		config.Leverage = 4
		config.Strategy = seeing{scripted(hold(0)), func(view *strategy.View) { closed = append(closed, view.Closed()) }}
		w.out.Reset()
		w.engine.roster.replace(one, &config)
		if one.view.Leverage != 4 || !offloads && !slices.Equal(closed, []int{1, 2, 3}) {
			t.Errorf("want its leverage, and one candle more each time, have %d, %v", one.view.Leverage, closed)
		}
		if one.config.Symbol != before.Symbol || one.schedule.nextMS != never ||
			one.decision.candleTarget.Quantity != 10 || one.decision.candleTargetMS != w.engine.nowMS {
			t.Errorf("want the rules that are in force, no tick but at closes, and the target as of now, have %+v, %d, %+v", one.config.Symbol,
				one.schedule.nextMS,
				one.decision.candleTarget)
		}
		if ended := w.out.Ended; offloads != (len(ended) == 1 && ended[0].Name == "one") {
			t.Errorf("off the engine %t: want the old version asked no more, have %+v", offloads, ended)
		}
		if held := one.series.candles.OpenMS[2]; one.question.beforeStartMS != held || offloads && (len(w.out.Asks) != 1 || w.out.Asks[0].Task.From != 0) {
			t.Errorf("off the engine %t: want no decision by candles that were held before, have %d, %+v", offloads, one.question.beforeStartMS, w.out.Asks)
		}
	}
}

// seeing is a strategy that reads each candle.
type seeing struct {
	scripted
	see func(*strategy.View)
}

func (s seeing) Candle(view *strategy.View) { s.see(view) }

// An outcome is taken once it is known, and a halt's lane latches the strategy.
func TestLaneReportsOutcomes(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
	order := LaneOrder{Strategy: "one", SentMS: w.engine.nowMS - 300, DeadlineMS: 9, Before: 10, Order: exchange.NewOrder{Market: exchange.Futures,
		Symbol: "BTC-USDT", Side: exchange.Sell, Quantity: 10, ReduceOnly: true, ClientOrderID: "bt-lane"}}
	state := func(outcome record.Body) placement.State {
		order.Outcome = outcome
		w.engine.dispatcher.applyLane(&EventLane{Orders: []LaneOrder{order}})
		return w.engine.tracker.Placement("bt-lane").State()
	}
	if have := state(nil); have != placement.Sending || w.engine.legs[0].state.Latch() != 1 || w.engine.tracker.Placement("bt-lane").SentMS() != order.SentMS {
		t.Errorf("without an answer: want it sending since it was sent, and the strategy latched, have %s", have)
	}
	if have := state(record.Acknowledged{OrderID: 5}); have != placement.Acknowledged {
		t.Errorf("want the answer taken, have %s", have)
	}
	if have := state(record.Refused{Reason: "no"}); have != placement.Acknowledged {
		t.Errorf("want one answer taken, have %s", have)
	}
	if notes := facts[NotePlaced](w.out.Notes); len(notes) != 1 || notes[0].Reason != "sent by the kill switch's lane" {
		t.Errorf("want it reported once, have %+v", notes)
	}
}

func TestMissingSymbolIsDeclaredSinceStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), func(w *world) { w.config.Missing = []MissingStrategy{{Name: "gone", Symbol: ether}} })
	w.pass(5_000)
	d := w.wantState("failed")
	if d.SinceMS != startMS || d.Scope != (account.Scope{Strategy: "gone", Symbol: ether}) ||
		d.Cause != "the exchange no longer lists futures ETH-USDT" {
		t.Errorf("want it declared, have %+v", d)
	}
}

// An answer or a state that may have changed something triggers a round soon; a person or a decision triggers one immediately.
func TestEventsThatTriggerRound(t *testing.T) {
	t.Parallel()
	const busy = 1_000
	order := func(w *world, of placement.Purpose, err error) {
		id := w.sends(of)
		answer := exchange.Answer{Order: exchange.Order{ID: 5, ClientOrderID: id}}
		w.engine.dispatcher.placed(pendingCall{kind: callPlace, clientID: id, sentMS: w.now}, &EventAnswer{Answer: answer, Err: err})
	}
	refusal := &exchange.Refusal{Status: 400, Code: 7, Message: "no"}
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want int64 // relative to now
	}{
		{"an order is acknowledged", func(w *world, _ *leg) { order(w, placement.Entry, nil) }, busy},
		{"an order is refused", func(w *world, _ *leg) { order(w, placement.Exit, refusal) }, busy},
		{"an order's answer is lost", func(w *world, _ *leg) { order(w, placement.Exit, &exchange.Uncertain{Reason: "timeout"}) }, busy},
		{"an order is canceled", func(w *world, _ *leg) {
			w.engine.dispatcher.canceled(pendingCall{clientID: w.sends(placement.Entry), attempt: &attempt{}}, &EventAnswer{})
		}, busy},
		{"the leverage is set", func(w *world, one *leg) {
			w.engine.dispatcher.leverageSet(pendingCall{symbol: one.symbol, leverage: 7, attempt: &attempt{}}, &EventAnswer{})
		}, busy},
		{"a read that was late is answered", func(w *world, _ *leg) {
			w.engine.reader.lateAnswer(&pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, &EventAnswer{})
		}, busy},
		{"a late read reports that there is no such order", func(w *world, _ *leg) {
			w.engine.reader.lateAnswer(&pendingCall{kind: callOrder, of: exchange.FuturesOrder}, &EventAnswer{Err: refusal})
		}, busy},
		{"a read that was late fails", func(w *world, _ *leg) {
			w.engine.reader.lateAnswer(&pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, &EventAnswer{Err: refusal})
		}, -1},
		{"a strategy hangs", func(w *world, one *leg) { w.engine.tick.declareHung(one, "a test") }, busy},
		{"a strategy answers again", func(w *world, one *leg) {
			one.question.hung = "a test"
			w.engine.tick.answersAgain(one)
		}, busy},
		{"a strategy is not asked before it was read", func(w *world, one *leg) {
			see(one.symbol, func(o *seen) { o.Read = false })
			w.engine.tick.inquire(one)
		}, busy},
		{"the disk is nearly full", func(w *world, _ *leg) { w.engine.permission.disk(&EventDisk{Reason: "a test"}) }, busy},
		{"a limit is passed", func(w *world, _ *leg) { w.engine.limits.breach(nil, "", &risk.CrossedLimit{Rule: risk.MaxDrawdown}) }, busy},
		{"a breach ends", func(w *world, _ *leg) { w.engine.limits.endBreach("", nil, risk.MaxDrawdown, "a test") }, busy},
		{"the breaker's pause is over", func(w *world, _ *leg) {
			w.engine.config.Breaker = BreakerConfig{Uncertain: 5, WithinMS: 600_000, PauseMS: 600_000}
			w.engine.breaker.breaking = true
			w.engine.wake()
		}, busy},
		{"the journal can be written again", func(w *world, _ *leg) {
			w.engine.journalErr = errors.New("full")
			w.engine.sender.journaled(nil)
		}, busy},
		{"a transfer is declared", func(w *world, _ *leg) { w.engine.accounting.transfer(&EventTransfer{}) }, busy},
		{"an order of the kill switch's lane", func(w *world, _ *leg) {
			w.engine.dispatcher.applyLane(&EventLane{Orders: []LaneOrder{{Strategy: "one", Order: exchange.NewOrder{
				Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, ClientOrderID: w.unknownID()}}}})
		}, busy},
		{"the kill switch's lane has sent nothing", func(w *world, _ *leg) { w.engine.dispatcher.applyLane(&EventLane{}) }, -1},
		{"a halt", func(w *world, _ *leg) { w.engine.halts.halt(&EventHalt{Level: record.LevelPause, Reason: "a test"}) }, 0},
		{"a halt that is in force", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelPause, Reason: "a test"}})
			w.engine.halts.halt(&EventHalt{Level: record.LevelPause, Reason: "a test"})
		}, 0},
		{"botd cancels and stops", func(w *world, _ *leg) { w.engine.halts.stop(ShutdownCancel) }, 0},
		{"botd stops", func(w *world, _ *leg) { w.engine.halts.stop(ShutdownLeave) }, -1},
		{"an order is withdrawn", func(w *world, _ *leg) {
			w.engine.manual.withdraw(&EventWithdraw{ClientOrderID: w.sends(placement.Order), Reason: "a test"})
		}, 0},
		{"a quarantine is resolved", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
			w.engine.quarantines.resolve(&EventResolve{Symbol: bitcoin, Adopt: true, Reason: "a test"})
		}, 0},
		{"a reload", func(w *world, _ *leg) { w.engine.roster.reload(&Reload{}) }, 0},
		{"a limit is set", func(w *world, _ *leg) { w.engine.limitsInForce.tighten(&LimitChange{}) }, 0},
		{"a decision", func(w *world, one *leg) {
			one.plan = strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}
			w.engine.tick.adopt(one)
		}, 0},
		{"a decision that nothing opened before", func(w *world, one *leg) {
			one.inForce.outdated = true
			w.engine.tick.decided(one)
		}, 0},
		{"an exchange's rules that have changed", func(w *world, one *leg) {
			changed := *one.symbol.Rules()
			changed.MinNotional = exchange.AmountOf(6)
			w.engine.market.applyRules(&EventAnswer{Answer: exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{&changed})}})
		}, 0},
	} {
		w := settled(t)
		w.engine.roundMS = never
		c.with(w, w.engine.legs[0])
		if want := map[bool]int64{true: never, false: w.engine.nowMS + c.want}[c.want < 0]; w.engine.roundMS != want {
			t.Errorf("%s: want a round in %d ms, have it in %d", c.name, c.want, w.engine.roundMS-w.engine.nowMS)
		}
	}
}
