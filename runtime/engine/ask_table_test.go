package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/strategy"
)

// heldCandles stores that many candles of the strategy's symbol, the newest closed now.
func (w *world) heldCandles(count int) *leg {
	one := w.engine.legs[0]
	s := w.etherCandles(count)
	one.series.candles, one.series.end = s.candles, count
	return one
}

// A strategy is called with the candles that it has not seen, at most five hundred, with the candle from which on it decides, once per
// candle. A due decision is requested once the strategy has seen all candles that it needs.
func TestQuestionContents(t *testing.T) {
	t.Parallel()
	const due = startMS + 12_345
	for _, c := range []struct {
		name               string
		candles, given     int // stored, and seen before
		seen, warmup       int
		bySchedule, dueNow bool
		with               func(w *world, one *leg)
		want               string // from, to, each, due
		seenNow            int
		left               bool // whether the decision is still due
	}{
		{"all candles, the first time", 5, 0, 0, 3, false, false, nil, "0 5 2 false", 5, false},
		{"all candles, without a warm-up", 5, 0, 0, 0, false, false, nil, "0 5 0 false", 5, false},
		{"those that are new", 5, 3, 3, 3, false, false, nil, "3 5 3 false", 5, false},
		{"the last of the warm-up among them", 5, 1, 1, 3, false, false, nil, "1 5 2 false", 5, false},
		{"no new one", 5, 5, 5, 3, false, false, nil, "5 5 5 false", 5, false},
		{"none at all", 0, 0, 0, 0, false, false, nil, "0 0 0 false", 0, false},
		{"those that were held before it began bring no decision", 5, 0, 0, 3, false, false, func(_ *world, one *leg) {
			one.question.beforeStartMS = one.series.candles.OpenMS[3]
		}, "0 5 4 false", 5, false},
		{"by a schedule candles bring no decision", 5, 0, 0, 3, true, false, nil, "0 5 5 false", 5, false},
		{"a decision that is due", 5, 5, 5, 3, true, true, nil, "5 5 5 true", 5, false},
		{"a decision that is due, with a candle", 5, 4, 4, 3, true, true, nil, "4 5 5 true", 5, false},
		{"not before the warm-up", 5, 5, 5, 6, true, true, nil, "5 5 5 false", 5, true},
		{"with the last candle of the warm-up", 6, 5, 5, 6, true, true, nil, "5 6 6 true", 6, false},
		{"not without a price", 5, 5, 5, 3, true, true, func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Last = 0 }) }, "5 5 5 false", 5, true},
		{"five hundred at once", 501, 0, 0, 0, true, true, nil, "0 500 500 false", 500, true},
		{"the five hundred and first", 501, 500, 500, 0, true, true, nil, "500 501 501 true", 501, false},
		{"not before another symbol's warm-up", 5, 3, 3, 3, false, true, func(w *world, one *leg) { one.others = []*series{w.etherCandles(2)} },
			"3 5 5 false", 5, true},
	} {
		w := settled(t, offload)
		one := w.heldCandles(c.candles)
		one.config.Strategy, one.schedule.seen, one.schedule.lastMS = &atWarmup{scripted: hold(0), warmup: c.warmup}, c.seen, 7
		if !c.bySchedule {
			one.config.Schedule = nil
		}
		q := &one.question
		q.givenMS, q.beforeStartMS, q.atMS = 0, 0, 0
		if c.given > 0 {
			q.givenMS = one.series.candles.OpenMS[c.given-1]
		}
		if c.dueNow {
			q.atMS = due
		}
		if c.with != nil {
			c.with(w, one)
		}
		task := w.engine.tick.task(one)
		have := fmt.Sprint(task.From, task.To, task.Each, task.AtMS == due)
		if have != c.want || one.schedule.seen != c.seenNow || (q.atMS != 0) != c.left || task.AtMS != due && task.AtMS != 0 {
			t.Errorf("%s: want %s, %d seen, due still %t, have %s, %d, %d", c.name, c.want, c.seenNow, c.left, have, one.schedule.seen, q.atMS)
		}
		last := int64(7)
		if task.AtMS != 0 {
			last = due
		}
		if task.Each < task.To {
			last = one.series.candles.CloseMS(task.To - 1)
		}
		if given := one.series.candles.OpenMS; one.schedule.lastMS != last || task.To > 0 && q.givenMS != given[task.To-1] || task.Candles.Len() != c.candles {
			t.Errorf("%s: want its last decision at %d, have %d, given up to %d", c.name, last, one.schedule.lastMS, q.givenMS)
		}
	}
}

// There is one question at a time, with two seconds for the answer plus two milliseconds for each candle. None is sent while botd stops,
// or while the strategy has failed, was removed, or waits to be called again.
func TestQuestionTiming(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want int64 // milliseconds for its answer; -1 if it is not called
	}{
		{"three new candles", func(*world, *leg) {}, 2_006},
		{"its own deadline", func(_ *world, one *leg) { one.config.DeadlineMS = 700 }, 706},
		{"its process is to start", func(_ *world, one *leg) {
			one.question.fresh, one.config.Strategy = true, starting{one.config.Strategy}
		}, 32_006},
		{"its process has started", func(_ *world, one *leg) { one.config.Strategy = starting{one.config.Strategy} }, 2_006},
		{"nothing is new", func(_ *world, one *leg) { one.question.givenMS = one.series.candles.OpenMS[4] }, -1},
		{"nothing is new, and a decision is due", func(w *world, one *leg) {
			one.question.givenMS, one.question.atMS = one.series.candles.OpenMS[4], w.engine.nowMS
		}, 2_000},
		{"it has not answered yet", func(_ *world, one *leg) { one.question.id = 99 }, -1},
		{"it waits to be asked again", func(w *world, one *leg) { one.question.retryMS = w.engine.nowMS + 5 }, -1},
		{"it failed", func(_ *world, one *leg) { one.failure.why = "a bug" }, -1},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true }, -1},
		{"botd has stopped", func(w *world, _ *leg) { w.engine.stopped = true }, -1},
		{"botd cancels and stops", func(w *world, _ *leg) { w.engine.closing = record.LevelCancel }, -1},
		{"its symbol was not read", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Read = false }) }, -1},
	} {
		w := settled(t, offload)
		one := w.heldCandles(5)
		q := &one.question
		q.givenMS, q.id, q.dueMS, q.atMS = one.series.candles.OpenMS[1], 0, never, 0
		c.with(w, one)
		w.out.Reset()
		w.engine.tick.inquire(one)
		if asks := len(w.out.Asks); (asks == 1) != (c.want >= 0) || asks == 1 && (q.dueMS != w.engine.nowMS+c.want || q.fresh || w.out.Asks[0].ID != q.id) {
			t.Errorf("%s: want %d ms for an answer, have %d questions, %d", c.name, c.want, asks, q.dueMS-w.engine.nowMS)
		}
	}
	if q := newQuestion(); (&leg{question: q}).askMS() != never {
		t.Errorf("a strategy that was never asked: want nothing due, have %+v", q)
	}
}

// A decision is put in force unless it came too late, newer candles are there, or botd stops.
func TestStrategyAnswerIsTaken(t *testing.T) {
	t.Parallel()
	decided := strategy.Result{Decided: true, Conditions: []strategy.Condition{{}},
		Plan: strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 30}}}
	byCandle := func(given int) func(w *world, one *leg) {
		return func(_ *world, one *leg) {
			one.config.Schedule, one.question.givenMS = nil, one.series.candles.OpenMS[given-1]
		}
	}
	for _, c := range []struct {
		name   string
		result strategy.Result
		with   func(w *world, one *leg)
		want   string // the plan in force, hung, failed, number of further questions
	}{
		{"a decision", decided, nil, "30   0"},
		{"none", strategy.Result{Plan: decided.Plan}, nil, "0   0"},
		{"a decision that is late", decided, func(_ *world, one *leg) { one.question.dueMS = never }, "0   1"},
		{"by all candles", decided, byCandle(5), "30   0"},
		{"by candles that newer ones followed", decided, byCandle(4), "0   1"},
		{"by none, and one is there", decided, func(_ *world, one *leg) {
			one.config.Schedule, one.question.givenMS, one.series.end = nil, 0, 1
		}, "0   1"},
		{"by none, and none is there", decided, func(_ *world, one *leg) {
			one.config.Schedule, one.question.givenMS, one.series.end = nil, 0, 0
		}, "30   0"},
		{"by a schedule newer candles do not matter", decided, func(_ *world, one *leg) {
			one.question.givenMS = one.series.candles.OpenMS[3]
		}, "30   1"},
		{"botd has stopped", decided, func(w *world, _ *leg) { w.engine.stopped = true }, "0   0"},
		{"botd cancels and stops", decided, func(w *world, _ *leg) { w.engine.closing = record.LevelCancel }, "0   0"},
		{"its process has ended", strategy.Result{Lost: "it was killed"}, nil, "0 it was killed  0"},
		{"it failed", strategy.Result{Failure: "a bug"}, nil, "0  a bug 0"},
	} {
		w := settled(t, offload)
		one := w.heldCandles(5)
		q := &one.question
		q.givenMS, q.atMS, q.id, q.dueMS, q.candlesSince = one.series.candles.OpenMS[4], 0, 77, w.engine.nowMS+500, 3
		if c.with != nil {
			c.with(w, one)
		}
		w.out.Reset()
		w.engine.tick.receiveDecision(&EventDecision{AskID: 78, Result: c.result})
		if len(w.out.Notes)+len(w.out.Asks) > 0 || q.id != 77 {
			t.Errorf("%s: want an answer to another question left to nobody, have %+v", c.name, w.out.Notes)
		}
		w.engine.tick.receiveDecision(&EventDecision{AskID: 77, Result: c.result})
		have := fmt.Sprint(one.state.Plan().Target().Quantity, " ", q.hung, " ", one.failure.why, " ", len(w.out.Asks))
		if have != c.want || q.id == 77 || q.lastAnswered != 77 || len(w.out.Asks) == 0 && q.dueMS != never {
			t.Errorf("%s: want %q, have %q, %+v", c.name, c.want, have, q)
		}
		if inForce := one.state.Plan().Target().Quantity == 30; (len(q.conditions) == 1) != inForce || (q.candlesSince == 0) != inForce {
			t.Errorf("%s: want the conditions of the plan in force, have %+v, %d candles", c.name, q.conditions, q.candlesSince)
		}
	}
}

// Two candles are answered together, and the target is from the first.
func TestEntryOfSeveralCandlesIsLatchedOffEngine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken      int
		bySchedule bool
		target     int64 // how long before the last candle's close the target exists; 0 for since then
		latched    bool
	}{
		"two candles": {2, false, 1, true}, "one candle": {1, false, 1, false}, "of the last of two": {2, false, 0, false},
		"by a schedule": {2, true, 1, false},
	} {
		w := settled(t, offload)
		one := w.heldCandles(5)
		if !c.bySchedule {
			one.config.Schedule = nil
		}
		q := &one.question
		q.givenMS, q.id, q.candlesSince, q.dueMS = one.series.candles.OpenMS[4], 77, c.taken, w.engine.nowMS+500
		one.schedule.lastMS = one.series.candles.CloseMS(4)
		plan := strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 30}}
		w.engine.tick.receiveDecision(&EventDecision{AskID: 77, Result: strategy.Result{Decided: true, Plan: plan, TargetMS: one.schedule.lastMS - c.target}})
		if have := one.state.Latch() == 1; have != c.latched || one.decision.candleTarget != plan.Target ||
			one.decision.candleTargetMS != one.schedule.lastMS-c.target {
			t.Errorf("%s: want it latched %t, have %t, a target since %d", name, c.latched, have, one.schedule.lastMS-one.decision.candleTargetMS)
		}
	}
}

// The delay is a second, doubled each time up to five minutes, until the process has run for ten minutes.
func TestLostProcessBacksOff(t *testing.T) {
	t.Parallel()
	w := settled(t, offload)
	one := w.heldCandles(5)
	ends := func(afterMS, seconds int64) {
		t.Helper()
		w.engine.nowMS += afterMS
		w.engine.tick.restart(one, "it was killed")
		q := &one.question
		if q.retryMS != w.engine.nowMS+seconds*1_000 || q.endedMS != w.engine.nowMS || !q.fresh || q.givenMS != 0 || one.schedule.seen != 0 ||
			q.beforeStartMS != one.series.candles.OpenMS[4] || q.atMS == 0 {
			t.Errorf("want it asked with all candles after %d s, have %d ms, %+v", seconds, q.retryMS-w.engine.nowMS, q)
		}
	}
	for _, seconds := range []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		ends(1_000, seconds)
	}
	ends(answersWellMS, 300)
	ends(answersWellMS+1, 1)
	if have := facts[NoteHung](w.out.Notes); len(have) != 1 || have[0].Reason != "it was killed" {
		t.Errorf("want it reported once, have %+v", have)
	}
}

// At its deadline the strategy is declared hung and the call is abandoned. A strategy whose process has ended is called again at its time.
func TestOverdueQuestionIsAbandoned(t *testing.T) {
	t.Parallel()
	for _, early := range []int64{0, 1} {
		w := settled(t, offload)
		one := w.heldCandles(5)
		q := &one.question
		q.givenMS, q.id, q.atMS, q.retryMS, q.dueMS = 0, 77, 0, never, w.engine.nowMS+early
		w.out.Reset()
		w.engine.tick.overdue()
		if hangs := early == 0; (q.hung == "it has not answered within 2s") != hangs || slices.Equal(w.out.Abandoned, []int64{77}) != hangs ||
			(q.dueMS == never) != hangs || q.id != 77 || hangs && q.hungMS != w.engine.nowMS {
			t.Errorf("%d ms before its deadline: have %+v, abandoned %v", early, q, w.out.Abandoned)
		}
		q.id, q.dueMS, q.retryMS = 0, never, w.engine.nowMS+early
		w.engine.tick.overdue()
		if decided := early == 0; (len(w.out.Asks) == 1) != decided || (q.retryMS == never) != decided {
			t.Errorf("%d ms before its time: have it asked %d times", early, len(w.out.Asks))
		}
	}
}

// A plan must be within all bounds. One that changes nothing is in force already: a price that has risen since does not fail it.
func TestPlanIsPutInForce(t *testing.T) {
	t.Parallel()
	target := strategy.Target{Kind: strategy.ByQuantity, Quantity: 1e9}
	for _, c := range []struct {
		name    string
		inForce strategy.Plan
		plan    strategy.Plan
		with    func(w *world, one *leg)
		want    string // prefix of the failure
		ticks   int    // reported decisions
	}{
		{"a plan", strategy.Plan{}, strategy.Plan{Target: target}, nil, "", 1},
		{"and nobody looks on", strategy.Plan{}, strategy.Plan{Target: target}, func(w *world, _ *leg) { w.engine.config.Quiet = true }, "", 0},
		{"a preview", strategy.Plan{}, strategy.Plan{Target: target}, func(w *world, _ *leg) { w.engine.config.Rehearse = true }, "", 0},
		{"beyond all bounds", strategy.Plan{}, strategy.Plan{Target: target}, func(_ *world, one *leg) {
			see(one.symbol, func(o *seen) {
				o.Last = 1e17
			})
		}, "a target of", 0},
		{"in force since the price was lower", strategy.Plan{Target: target}, strategy.Plan{Target: target}, func(_ *world, one *leg) {
			see(one.symbol, func(o *seen) { o.Last = 1e17 })
		}, "", 1},
		{"a reason without end", strategy.Plan{Target: target}, strategy.Plan{Target: target, Reason: strings.Repeat("x", 1<<16)}, nil, "", 0},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &c.inForce}})
		if c.with != nil {
			c.with(w, one)
		}
		one.plan = c.plan
		one.plan.Remember("n", 7)
		w.out.Reset()
		w.engine.tick.decided(one)
		fails := c.want != "" || one.plan.WordsOutOfBounds() != ""
		if !strings.HasPrefix(one.failure.why, c.want) || (one.failure.why != "") != fails || len(facts[NoteTick](w.out.Notes)) != c.ticks {
			t.Errorf("%s: want it failed with %q and %d decisions reported, have %q, %+v", c.name, c.want, c.ticks, one.failure.why, w.out.Notes)
		}
	}
}

// A record stores changed memory entries and the number of delivered events; without either, nothing is written.
func TestDecisionStoresMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                      string
		changed, decided, watches bool
		want                      string // events seen, for each record
	}{
		{"something new", true, true, false, "0"}, {"nothing new", false, true, false, ""}, {"events", false, true, true, "2000"},
		{"events, and it was not asked", false, false, true, ""}, {"something new, and it was not asked", true, false, true, "0"},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		if c.name == "events" { // as many again as are stored were missed
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{Events: true}})
			for range 1_999 {
				w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, Body: record.Declined{Rule: "margin"}})
			}
		}
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{Events: c.watches}})
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, Body: record.Declined{Rule: "margin"}})
		w.engine.tick.fillView(one)
		var plan strategy.Plan
		plan.Remember("n", 7)
		memory, _ := one.state.Memory().With(plan.Remembered())
		w.engine.tick.remember(one, memory, c.changed, c.decided)
		var have []string
		for _, r := range w.engine.unwritten {
			if body, is := r.Body.(record.Memory); is && r.Strategy == "one" && len(body.Entries) == 1 {
				have = append(have, fmt.Sprint(body.Events))
			}
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// A strategy whose plan requests a position decides again when its scope is rearmed or its opening failed. Until it has decided nothing
// opens.
func TestStrategiesDecideAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(one *leg)
		want bool
	}{
		{"it desires a position", func(*leg) {}, true},
		{"it desires none", func(one *leg) { one.state = emptyBase(1).tracker.Strategy("one") }, false},
		{"it was removed", func(one *leg) { one.config.Removed = true }, false},
		{"it failed", func(one *leg) { one.failure.why = "a bug" }, false},
	} {
		w := settled(t, offload)
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		one := w.engine.legs[0]
		c.with(one)
		one.question.id, one.question.atMS, w.engine.nextAsk = 0, 0, 41
		w.out.Reset()
		w.engine.halts.decideAgain(account.Scope{Strategy: "two"})
		if len(w.out.Asks) != 0 {
			t.Errorf("%s: want nobody asked for another's scope", c.name)
		}
		w.engine.halts.decideAgain(account.Scope{Strategy: "one"})
		if (len(w.out.Asks) == 1) != c.want || one.inForce.outdated != c.want || c.want && one.inForce.newestAsk != 41 {
			t.Errorf("%s: want it asked %t, have %d questions, undecided %t since %d", c.name, c.want, len(w.out.Asks), one.inForce.outdated,
				one.inForce.newestAsk)
		}
		if !c.want {
			continue
		}
		for id, undecided := range map[int64]bool{41: true, 42: false} { // an answer to an older question ends nothing
			one.inForce.outdated, one.question.lastAnswered, one.plan = true, id, strategy.Plan{}
			if w.engine.tick.decided(one); one.inForce.outdated != undecided || w.engine.permission.mayEnter(one) == undecided {
				t.Errorf("%s: after an answer to question %d: want it undecided %t", c.name, id, undecided)
			}
		}
	}
}

// The strategy has not answered the earlier question.
func TestADecisionThatIsDueTwiceIsCountedAsMissed(t *testing.T) {
	t.Parallel()
	for failed, want := range map[string]int{"": 1, "a bug": 0} {
		w := settled(t, offload)
		one := w.engine.legs[0]
		one.question.id, one.question.atMS, one.failure.why = 77, 0, failed
		w.out.Reset()
		w.engine.tick.run(one, 1_000)
		first := len(facts[NoteMissed](w.out.Notes))
		w.engine.tick.run(one, 2_000)
		have := facts[NoteMissed](w.out.Notes)
		if first != 0 || len(have) != want || want == 1 && have[0].Count != 1 || one.question.atMS != 2_000 {
			t.Errorf("failed %q: want %d missed, and the newest due, have %+v, %d", failed, want, have, one.question.atMS)
		}
	}
}

// The driver gets the name of a strategy that answers off the engine and was not removed before.
func TestWithdrawNamesStrategyToDriver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ offloaded, removed, want bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
		w := settled(t)
		one := w.engine.legs[0]
		w.engine.config.Offload, one.config.Removed, one.question.id = c.offloaded, c.removed, 77
		w.out.Reset()
		w.engine.tick.withdraw(one)
		if named := len(w.out.Ended) == 1 && w.out.Ended[0].Name == "one"; named != c.want || one.question.id != 0 || !one.question.fresh {
			t.Errorf("%+v: have %+v, %+v", c, w.out.Ended, one.question)
		}
	}
}

// The note names the side in words, and the strategy decides by it.
func TestTheSideOfASignalIsReported(t *testing.T) {
	t.Parallel()
	for side, want := range map[int]string{-1: "short", 0: "flat", 1: "long"} {
		w := newWorld(t, followSignals, listens)
		w.pass(10_000)
		if err := w.signal("one", side, 7); err != nil {
			t.Fatal(err)
		}
		have := facts[NoteSignal](w.notes)
		if len(have) != 1 || have[0].Text != want+", 1 of its size, as s" || have[0].Err != nil {
			t.Errorf("want %q, have %+v", want, have)
		}
		if side != 0 && w.engine.legs[0].state.Plan().Target().Quantity != exchange.Quantity(10*side) {
			t.Errorf("%s: want it decided at once, have %+v", want, w.engine.legs[0].state.Plan().Target())
		}
	}
}
