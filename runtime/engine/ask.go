package engine

import (
	"cmp"
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// Bounds of a call to a strategy.
const (
	DefaultDeadlineMS = 2_000          // for an answer
	candleDeadlineMS  = 2              // added for each candle in the call
	candlesPerRead    = 500            // candles per call
	askAgainMS        = 1_000          // wait after a strategy's process has ended; doubled each time
	maxAskAgainMS     = 5 * 60_000     // maximum wait
	answersWellMS     = 10 * 60 * 1000 // time without an end of the process after which the wait is short again
)

// Ask is a call to a strategy. The driver has another goroutine perform it and returns one
// EventDecision; the engine does not wait.
type Ask struct {
	ID       int64
	Name     string
	Strategy strategy.Strategy
	Task     strategy.Task
}

// EndedStrategy is a strategy that is no longer called because it was replaced or removed.
type EndedStrategy struct {
	Name     string
	Strategy strategy.Strategy
}

// EventDecision delivers a strategy's result.
type EventDecision struct {
	AskID  int64
	Result strategy.Result
}

func (*EventDecision) event() {}

// question is the current call to a strategy and the inputs of the next one.
type question struct {
	id           int64 // call in progress; 0 for none
	lastAnswered int64 // the newest answered call
	dueMS        int64 // deadline of the answer; never if no call is in progress or its answer is no longer awaited
	retryMS      int64 // time of the next call after a strategy lost its state; never if none is due

	givenMS       int64 // open time of the newest candle passed on
	fresh         bool  // the strategy must start over
	atMS          int64 // nominal time of a due decision; 0 for none
	candlesSince  int   // candles since the last decision in force
	events        int64 // number of events that the strategy has received when it answers
	beforeStartMS int64 // open time of the newest candle that closed before the strategy began: no decision is requested up to it

	conditions []strategy.Condition // of the last answer
	hung       string               // why the strategy does not answer; empty while it does
	hungMS     int64
	ends       int // number of times its process ended without running for answersWellMS in between
	endedMS    int64
}

func newQuestion() question { return question{dueMS: never, retryMS: never, fresh: true} }

// run calls a strategy at a nominal time.
func (t *tick) run(leg *leg, nominalMS int64) {
	if !t.config.Offload {
		t.decideNow(leg, nominalMS)
		return
	}
	if leg.question.atMS != 0 && leg.failure.why == "" {
		t.note(leg.config.Name, leg.config.Symbol, NoteMissed{1, "the strategy had not answered yet"})
	}
	leg.question.atMS = nominalMS
	t.inquire(leg)
}

// decideAgain calls a strategy at once because its plan relies on something that is no longer true: an
// opening that never existed, a position that a person closed before rearming, or rules that have
// changed. Nothing opens under the old plan until the strategy has decided again.
func (t *tick) decideAgain(leg *leg) {
	if leg.config.Removed || leg.failure.why != "" || leg.state.Plan().Target().Sign() == 0 {
		return
	}
	leg.inForce.outdated, leg.inForce.newestAsk, leg.inForce.revisions = true, t.nextAsk, leg.inForce.revisions+1
	t.run(leg, t.nowMS)
}

// fellShort reports whether an entry has ended with less than its strategy's plan relies on: it is absent, or it was in flight at the decision, or at a
// start, and has filled less than it was sent for, by more than the price and a step explain. What it lacks would be opened together with what was
// decided meanwhile. In a backtest only an absent entry counts, because strategies are called only for their candles there.
func fellShort(leg *leg, p *account.Placement, backtest bool) bool {
	order, rules := p.Order(), leg.symbol.Rules()
	switch {
	case p.Purpose() != placement.Entry || !p.State().Final():
		return false
	case p.State() == placement.Absent:
		return true
	case backtest || order.Type != exchange.MarketOrder || rules == nil || leg.inForce.atMS != 0 && leg.inForce.atMS <= p.SentMS():
		return false
	}
	due := quantityOf(leg.symbol, &order)
	return p.Filled()+due/20+rules.QuantityTick < due
}

// decideNow decides: View to Plan.
func (t *tick) decideNow(leg *leg, nominalMS int64) {
	if leg.failure.why != "" {
		return
	}
	leg.schedule.lastMS = nominalMS
	if !leg.decisionUnchanged() {
		t.decide(leg, nominalMS)
	} else if t.config.Quiet && !leg.inForce.outdated && leg.state.Latch() == 0 {
		return // its plan stays in force
	}
	if leg.failure.why == "" {
		t.decided(leg)
	}
}

// inquireRead calls a strategy that was waiting for its account to be read.
func (t *tick) inquireRead(leg *leg) {
	if t.config.Offload {
		t.inquire(leg)
	}
}

// inquireFirst calls a strategy whose account has been read for the first time since the start. If it decides now, nothing opens under the plan from before
// the start until it has decided: that plan may rely on rules that have changed.
func (t *tick) inquireFirst(leg *leg) {
	newest := t.nextAsk
	if t.inquireRead(leg); t.nextAsk == newest {
		return
	}
	if task := &t.out.Asks[len(t.out.Asks)-1].Task; task.AtMS != 0 || task.Each < task.To {
		leg.inForce.outdated, leg.inForce.newestAsk = true, newest
	}
}

func (leg *leg) deadlineMS() int64 { return cmp.Or(leg.config.DeadlineMS, DefaultDeadlineMS) }

// legOfAsk returns the strategy of the call in progress.
func (t *tick) legOfAsk(id int64) *leg {
	for _, leg := range t.legs {
		if leg.question.id == id {
			return leg
		}
	}
	return nil
}

// overdue declares strategies with overdue answers hung, and calls strategies again whose processes
// have ended.
func (t *tick) overdue() {
	for _, leg := range t.legs {
		q := &leg.question
		if q.dueMS <= t.nowMS {
			q.dueMS = never
			t.out.Abandoned = append(t.out.Abandoned, q.id)
			t.declareHung(leg, fmt.Sprintf("it has not answered within %s", time.Duration(leg.deadlineMS())*time.Millisecond))
		}
		if q.retryMS <= t.nowMS {
			q.retryMS = never
			t.inquire(leg)
		}
	}
}

// restart restarts a strategy whose process has ended: with all available candles, and a decision
// after them.
func (t *tick) restart(leg *leg, cause string) {
	q := &leg.question
	if q.ends++; t.nowMS-q.endedMS > answersWellMS {
		q.ends = 1
	}
	wait := min(int64(maxAskAgainMS), askAgainMS<<min(q.ends-1, 16))
	q.endedMS, q.retryMS = t.nowMS, t.nowMS+wait
	t.begin(leg)
	q.fresh, q.atMS = true, max(q.atMS, t.nowMS)
	t.declareHung(leg, cause)
}

// begin passes all available candles to a strategy before it decides.
func (t *tick) begin(leg *leg) {
	q := &leg.question
	if q.givenMS, leg.schedule.seen = 0, 0; leg.series.end > 0 {
		q.beforeStartMS = leg.series.candles.OpenMS[leg.series.end-1]
	}
}

// declareHung declares that a strategy does not answer. Nothing opens for it; its position, its stop and
// its plan's exits stay.
func (t *tick) declareHung(leg *leg, why string) {
	q := &leg.question
	if q.hung != "" {
		return // the first cause is the relevant one
	}
	q.hung, q.hungMS = why, t.nowMS
	t.note(leg.config.Name, leg.config.Symbol, NoteHung{Reason: why})
	t.requestRoundSoon()
}

// answersAgain ends a strategy's hung state.
func (t *tick) answersAgain(leg *leg) {
	q := &leg.question
	if q.hung == "" {
		return
	}
	q.hung, q.hungMS = "", 0
	t.note(leg.config.Name, leg.config.Symbol, NoteHung{Ended: true})
	t.requestRoundSoon()
}

// withdraw stops calling a strategy that was replaced or removed.
func (t *tick) withdraw(leg *leg) {
	if t.config.Offload && !leg.config.Removed {
		t.out.Ended = append(t.out.Ended, EndedStrategy{leg.config.Name, leg.config.Strategy})
	}
	leg.question = newQuestion()
}

// askMS returns when a call is overdue, or due again.
func (leg *leg) askMS() int64 { return min(leg.question.dueMS, leg.question.retryMS) }

// hungRemedy describes how a hung strategy recovers.
func (leg *leg) hungRemedy() string {
	way := "it is called again when it returns, with the candles it has missed"
	if leg.question.ends > 0 {
		way = "its process is restarted at growing intervals and sees all candles again"
	}
	return way + "; or correct its file, which is reloaded; meanwhile nothing opens for it, its stop stays, and exits and the kill switch continue"
}
