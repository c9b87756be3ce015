package engine

import (
	"botd/reconcile/record"
	"botd/strategy"
)

// renewal is the meaning of a decision for a strategy with a latched side.
type renewal uint8

const (
	staysOut   renewal = iota
	idles              // it desires no position: its next desired position is a new signal
	reenters           // its policy allows it to enter again
	suppressed         // it desires the side again, but its policy does not allow it
)

// renewal returns the meaning of the decision in leg.plan for the latch.
func (leg *leg) renewal() renewal {
	latch := leg.state.Latch()
	if latch == 0 || !leg.ended() {
		return staysOut
	}
	target, protected := &leg.plan.Target, leg.state.LatchedByProtection()
	newSignal := leg.plan.SignalMS != 0 && leg.plan.SignalMS >= leg.state.LatchMS() // whatever ended the position, the signal came later
	if leg.plan.SignalMS == 0 && protected {
		newSignal = leg.state.LatchIdle() || leg.decision.silent
	}
	switch {
	case target.Kind == strategy.NoTarget:
		if protected && leg.reentry == strategy.ReentrySignal && !leg.state.LatchIdle() {
			return idles
		}
	case target.Sign() != latch:
	case leg.reentry != strategy.ReentryNever && (newSignal || protected && leg.reentry == strategy.ReentryImmediate):
		return reenters
	case newSignal && (leg.decision.silent || leg.plan.SignalMS != leg.decision.signalMS):
		return suppressed
	}
	return staysOut
}

// ended reports whether nothing reducible remains of the position.
func (leg *leg) ended() bool {
	position, rules := leg.symbol.Known()-leg.symbol.Fees(), leg.symbol.Rules()
	position = position.Abs()
	return rules != nil && (rules.FloorQuantity(position) == 0 || rules.BelowMinimum(leg.symbol.Last(), position))
}

// rememberDecision records the decision in leg.plan before the next decision.
func (leg *leg) rememberDecision() {
	leg.decision.silent, leg.decision.signalMS = leg.plan.Target.Kind == strategy.NoTarget, leg.plan.SignalMS
}

// reenter releases the latch if the strategy's policy allows it: its target is priced again.
func (t *tick) reenter(leg *leg) {
	latch := leg.state.Latch()
	switch leg.renewal() {
	case idles:
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: latch, Idle: true}})
	case reenters:
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Renewed: true}})
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Ended: true, Reason: "the strategy desires this side again"})
		t.roundMS = t.nowMS
	case suppressed:
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: latch, Signal: true, Reason: "a new signal does not enter: " + leg.latchRemedy()})
	}
	leg.rememberDecision()
}

// latchRemedy describes how a latched side opens again.
func (leg *leg) latchRemedy() string {
	switch {
	case leg.reentry == strategy.ReentryNever:
		return "it waits until the strategy desires no position, or the other side (reentry: never)"
	case !leg.state.LatchedByProtection():
		return "it waits until the strategy desires no position, or the other side, or reports a new signal"
	case leg.reentry == strategy.ReentryImmediate:
		return "the next decision for that side enters (reentry: immediate)"
	}
	return "it waits for a new signal, for no position, or for the other side (reentry: signal)"
}
