package engine

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"botd/reconcile/record"
	"botd/strategy"
)

// Bounds of a question to a strategy.
const (
	DefaultDeadlineMS = 2_000          // of an answer
	candleDeadlineMS  = 2              // and for each candle that it brings
	askedAtOnce       = 500            // candles of one question
	askAgainMS        = 1_000          // after a strategy's process has ended; doubled each time
	askAgainMostMS    = 5 * 60_000     // at most
	answersWellMS     = 10 * 60 * 1000 // since the last end: the wait is short again
)

// Ask is a question to a strategy. The driver has somebody else answer it, by one
// EventDecision in its own time: the engine waits for nothing.
type Ask struct {
	ID       int64
	Name     string
	Strategy strategy.Strategy
	Task     strategy.Task
}

// EndedStrategy is a strategy that is not asked any more: it was replaced or removed.
type EndedStrategy struct {
	Name     string
	Strategy strategy.Strategy
}

// EventDecision brings what a strategy returned.
type EventDecision struct {
	AskID  int64
	Result strategy.Result
}

func (*EventDecision) event() {}

// question is what a strategy is asked, and what it is to be asked next.
type question struct {
	id       int64 // under way; 0 for none
	answered int64 // the newest that was answered
	dueMS    int64 // when it must be answered; never while none is under way, or nobody waits for the answer
	retryMS  int64 // when a strategy that lost its state is asked again; never while that is not due

	givenMS int64 // the opening of the newest candle given
	fresh   bool  // it must start over
	atMS    int64 // a decision is due at this nominal time; 0 for none
	taken   int   // candles since the last decision in force
	events  int64 // how many the strategy has seen when it answers
	heldMS  int64 // up to this candle no decision is asked for: it was held before the strategy began

	conditions []strategy.Condition // of the last answer
	hung       string               // why the strategy does not answer; empty while it does
	hungMS     int64
	ends       int // of its process, without ten sound minutes in between
	endedMS    int64
}

func newQuestion() question { return question{dueMS: never, retryMS: never, fresh: true} }

// run asks a strategy at a nominal time.
func (t *tick) run(leg *leg, nominalMS int64) {
	if !t.config.Offload {
		t.decideNow(leg, nominalMS)
		return
	}
	if leg.question.atMS != 0 && leg.failed == "" {
		t.note(leg.config.Name, leg.config.Symbol, NoteMissed{1, "the strategy had not answered yet"})
	}
	leg.question.atMS = nominalMS
	t.inquire(leg)
}

// decideAgain asks a strategy at once, since its plan counts on what did not come about:
// an opening that is absent, or a position that a person has closed and armed again. Until it has
// decided nothing opens by the old plan.
func (t *tick) decideAgain(leg *leg) {
	if leg.config.Removed || leg.failed != "" || leg.state.Plan().Target.Sign() == 0 {
		return
	}
	leg.undecided, leg.askedMost = true, t.nextAsk
	t.run(leg, t.nowMS)
}

// decideNow decides: View to Plan.
func (t *tick) decideNow(leg *leg, nominalMS int64) {
	if leg.failed != "" {
		return
	}
	leg.lastMS = nominalMS
	t.decide(leg, nominalMS)
	if leg.failed == "" {
		t.decided(leg)
	}
}

// inquireRead asks a strategy what waited for its account to be read.
func (t *tick) inquireRead(leg *leg) {
	if t.config.Offload {
		t.inquire(leg)
	}
}

// inquire asks a strategy what it is to be asked, unless it is thinking still, or has nothing to
// think about. Before the account was read it would decide on a position of nothing that may be
// none: what is held from before the start. A round that reads it is due then.
func (t *tick) inquire(leg *leg) {
	q := &leg.question
	if !leg.symbol.Read {
		t.soon()
		return
	}
	if q.id != 0 || q.retryMS != never || leg.failed != "" || leg.config.Removed || t.halts.stopped || t.halts.closing != record.LevelNone {
		return
	}
	task := t.task(leg)
	if task.From == task.To && task.AtMS == 0 {
		return
	}
	t.nextAsk++
	q.id, q.dueMS = t.nextAsk, t.nowMS+leg.deadlineMS()+int64(task.To-task.From)*candleDeadlineMS
	if q.fresh {
		q.dueMS += strategy.StartMS(leg.config.Strategy)
	}
	q.fresh = false
	t.out.Asks = append(t.out.Asks, Ask{ID: q.id, Name: leg.config.Name, Strategy: leg.config.Strategy, Task: task})
}

// task is the next question to a strategy.
func (t *tick) task(leg *leg) strategy.Task {
	q, s := &leg.question, leg.series
	from, warmup := 0, leg.config.Strategy.Warmup()
	if q.givenMS > 0 {
		from = sort.Search(s.end, func(i int) bool { return s.candles.OpenMS[i] > q.givenMS })
	}
	to := max(from, min(leg.reached(), from+askedAtOnce))
	task := strategy.Task{Candles: *s.candles.Slice(0, s.end), From: from, To: to, Each: to, Fresh: q.fresh, Target: leg.candleTarget,
		Price: s.price, PriceMS: s.priceMS}
	leg.view.Others = leg.othersNow()
	sound := leg.lacking() == nil
	if leg.config.Schedule == nil && sound {
		after := sort.Search(to, func(i int) bool { return s.candles.OpenMS[i] > q.heldMS })
		task.Each = min(to, max(from, after, from+warmup-leg.seen-1))
	}
	if leg.seen += to - from; to > 0 {
		q.givenMS = s.candles.OpenMS[to-1]
	}
	task.Before = leg.view.Snapshot()
	t.refreshView(leg, t.nowMS)
	if to == s.end && leg.symbol.Last > 0 && leg.seen >= warmup && sound {
		task.AtMS, q.atMS = q.atMS, 0
		leg.lastMS = max(leg.lastMS, task.AtMS)
	}
	if task.Each < to {
		leg.lastMS = s.candles.CloseMS(to - 1)
	}
	task.View, q.events = leg.view.Snapshot(), leg.events
	return task
}

func (leg *leg) deadlineMS() int64 {
	if leg.config.DeadlineMS > 0 {
		return leg.config.DeadlineMS
	}
	return DefaultDeadlineMS
}

// answered takes what a strategy returned. A decision by candles to which newer ones have come
// is superseded: the next answer follows at once. A halt does not touch a plan, only what it may
// send; while botd stops, no plan changes.
func (t *tick) answered(event *EventDecision) {
	leg := t.legAsked(event.AskID)
	if leg == nil {
		return // the strategy was replaced or removed meanwhile
	}
	q, result := &leg.question, &event.Result
	late := q.dueMS == never
	q.id, q.dueMS, q.answered = 0, never, event.AskID
	switch {
	case t.halts.stopped || t.halts.closing != record.LevelNone:
		return
	case result.Lost != "":
		t.lost(leg, result.Lost)
		return
	case result.Failure != "":
		t.fail(leg, result.Failure)
		return
	}
	t.answersAgain(leg)
	if result.TargetMS != 0 {
		leg.candleTarget, leg.candleTargetMS = result.Plan.Target, result.TargetMS
	}
	reached := leg.reached()
	superseded := leg.config.Schedule == nil && reached > 0 && q.givenMS < leg.series.candles.OpenMS[reached-1]
	switch {
	case !result.Decided || superseded:
	case late:
		q.atMS = t.nowMS // it decided on what was true too long ago
	default:
		q.conditions, leg.plan, leg.events = result.Conditions, result.Plan, q.events
		t.takeDecision(leg)
	}
	t.inquire(leg)
}

// takeDecision puts a decision in force, as far as it is not too old to enter.
func (t *tick) takeDecision(leg *leg) {
	before, taken := leg.state.Plan().Target, leg.question.taken
	leg.question.taken = 0
	t.decided(leg)
	if leg.config.Schedule == nil {
		t.lapse(leg, before, taken, leg.lastMS)
	}
}

// decided takes what the strategy decided. A plan that changes nothing ends here.
func (t *tick) decided(leg *leg) {
	if t.config.Rehearse {
		return
	}
	if leg.undecided && (leg.question.answered > leg.askedMost || !t.config.Offload) {
		leg.undecided, t.roundMS = false, t.nowMS
	}
	t.putInForce(leg, true)
}

// putInForce takes the new plan and what it remembers; asked says whether that came of the strategy.
func (t *tick) putInForce(leg *leg, asked bool) {
	// In the journal it would bring every start down: it is derived again there.
	covered := leg.state.Covers(&leg.plan)
	why := leg.plan.WordsOutOfBounds()
	if why == "" && !covered {
		why = leg.plan.OutOfBounds(leg.config.Symbol, leg.symbol.Last)
	}
	memory, changed := leg.state.Memory().With(leg.plan.Remembered())
	if why == "" && changed {
		why = memory.OutOfBounds()
	}
	if why != "" {
		t.fail(leg, why)
		return
	}
	t.remember(leg, memory, changed, asked)
	if asked && !t.config.Quiet {
		t.note(leg.config.Name, leg.config.Symbol, NoteTick{leg.plan.Reason})
	}
	if asked {
		t.report(leg)
	}
	if !covered {
		t.adopt(leg)
	}
	if asked { // an exit that follows the price asks for nothing, and that is no decision to hold nothing
		t.reenter(leg)
	}
}

// remember journals what the strategy remembers, and, where it was asked, that it has seen what
// happened: one record.
func (t *tick) remember(leg *leg, memory strategy.Memory, changed, asked bool) {
	events, missed, _ := leg.state.Events()
	seen := int64(0)
	if asked {
		seen = leg.events
	}
	if changed || asked && len(events)+missed > 0 {
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Memory{Entries: slices.Clone(memory.Entries()), Events: seen}})
	}
}

// adopt puts the new plan in force, journalled, and asks for a round.
func (t *tick) adopt(leg *leg) {
	merged := leg.state.ClonePlan()
	merged.Merge(&leg.plan)
	latch := leg.state.Latch()
	t.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Plan{Plan: merged}})
	planned := t.emitted + int64(len(t.unwritten))
	t.note(leg.config.Name, leg.config.Symbol, NoteDecision{merged, leg.plan.Reason, leg.symbol.Last, leg.symbol.Position})
	t.noteLatch(leg, latch)
	t.roundMS, leg.plannedMS, leg.planned = t.nowMS, t.nowMS, planned
}

// legAsked is the strategy that a question under way is for.
func (t *tick) legAsked(id int64) *leg {
	for _, leg := range t.legs {
		if leg.question.id == id {
			return leg
		}
	}
	return nil
}

// overdue declares the strategies hung whose answers are, and has strategies asked again whose
// processes have ended.
func (t *tick) overdue() {
	for _, leg := range t.legs {
		q := &leg.question
		if q.dueMS <= t.nowMS {
			q.dueMS = never
			t.out.Abandoned = append(t.out.Abandoned, q.id)
			t.hang(leg, fmt.Sprintf("it has not answered within %s", time.Duration(leg.deadlineMS())*time.Millisecond))
		}
		if q.retryMS <= t.nowMS {
			q.retryMS = never
			t.inquire(leg)
		}
	}
}

// lost has a strategy start over whose process has ended: with all candles that are held, and a
// decision when it has seen them.
func (t *tick) lost(leg *leg, cause string) {
	q := &leg.question
	if q.ends++; t.nowMS-q.endedMS > answersWellMS {
		q.ends = 1
	}
	wait := min(int64(askAgainMostMS), askAgainMS<<min(q.ends-1, 16))
	q.endedMS, q.retryMS = t.nowMS, t.nowMS+wait
	t.begin(leg)
	q.fresh, q.atMS = true, max(q.atMS, t.nowMS)
	t.hang(leg, cause)
}

// begin has a strategy see all candles that are held, before it decides.
func (t *tick) begin(leg *leg) {
	q := &leg.question
	if q.givenMS, leg.seen = 0, 0; leg.series.end > 0 {
		q.heldMS = leg.series.candles.OpenMS[leg.series.end-1]
	}
}

// hang declares that a strategy does not answer. Nothing opens for it; its position, its stop and
// its plan's exits stay.
func (t *tick) hang(leg *leg, why string) {
	q := &leg.question
	if q.hung != "" {
		return // the first cause is the one to look for
	}
	q.hung, q.hungMS = why, t.nowMS
	t.note(leg.config.Name, leg.config.Symbol, NoteHung{Why: why})
	t.soon()
}

// answersAgain ends that a strategy is hung.
func (t *tick) answersAgain(leg *leg) {
	q := &leg.question
	if q.hung == "" {
		return
	}
	q.hung, q.hungMS = "", 0
	t.note(leg.config.Name, leg.config.Symbol, NoteHung{Over: true})
	t.soon()
}

// withdraw has a strategy asked no more: it was replaced or removed.
func (t *tick) withdraw(leg *leg) {
	if t.config.Offload && !leg.config.Removed {
		t.out.Ended = append(t.out.Ended, EndedStrategy{leg.config.Name, leg.config.Strategy})
	}
	leg.question = newQuestion()
}

// askMS is when a question is overdue, or due again.
func (leg *leg) askMS() int64 { return min(leg.question.dueMS, leg.question.retryMS) }

// hungWayOut says what ends that a strategy is hung.
func (leg *leg) hungWayOut() string {
	way := "it is asked again when it returns, with the candles it has missed"
	if leg.question.ends > 0 {
		way = "its process is started again by itself, ever more seldom, and sees all candles again"
	}
	return way + "; or mend its file, which is taken over; meanwhile nothing opens for it, its stop stays, exits and the kill switch go on"
}
