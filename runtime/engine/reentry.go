package engine

import (
	"botd/reconcile/record"
	"botd/strategy"
)

// renewal is what a decision means for a strategy of which a side is latched.
type renewal uint8

const (
	staysOut   renewal = iota
	asksNot            // it asks for no position: what it asks for next is a new signal
	reenters           // its policy lets it enter again
	suppressed         // it asks again, and its policy does not let it
)

// renewal says what the decision in leg.plan means for the latch.
func (leg *leg) renewal() renewal {
	latch := leg.state.Latch()
	if latch == 0 || !leg.ended() {
		return staysOut
	}
	target, protected := &leg.plan.Target, leg.state.LatchedByProtection()
	newSignal := leg.plan.SignalMS != 0 && leg.plan.SignalMS >= leg.state.LatchMS() // whatever ended the position: the signal is newer
	if leg.plan.SignalMS == 0 && protected {
		newSignal = leg.state.LatchIdle() || leg.silent
	}
	switch {
	case target.Kind == strategy.NoTarget:
		if protected && leg.reentry == strategy.ReentrySignal && !leg.state.LatchIdle() {
			return asksNot
		}
	case target.Sign() != latch:
	case leg.reentry != strategy.ReentryNever && (newSignal || protected && leg.reentry == strategy.ReentryImmediate):
		return reenters
	case newSignal && (leg.silent || leg.plan.SignalMS != leg.signalMS):
		return suppressed
	}
	return staysOut
}

// ended reports whether nothing is left of the position that could be reduced.
func (leg *leg) ended() bool {
	held, rules := leg.symbol.Known()-leg.symbol.Fees(), leg.symbol.Rules
	held = max(held, -held)
	return held == 0 || rules != nil && (rules.FloorQuantity(held) == 0 || rules.Notional(leg.symbol.Last, held).Less(rules.MinNotional))
}

// takeLastDecision takes what the decision in leg.plan asked for, before the next one.
func (leg *leg) takeLastDecision() {
	leg.silent, leg.signalMS = leg.plan.Target.Kind == strategy.NoTarget, leg.plan.SignalMS
}

// reenter releases the latch where the strategy's policy says so: its target is priced again.
func (t *tick) reenter(leg *leg) {
	latch := leg.state.Latch()
	switch leg.renewal() {
	case asksNot:
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: latch, Idle: true}})
	case reenters:
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Renewed: true}})
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Over: true, Why: "the strategy asks again for the side"})
		t.roundMS = t.nowMS
	case suppressed:
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: latch, Signal: true, Why: "a new signal does not enter: " + leg.latchWayOut()})
	}
	leg.takeLastDecision()
}

// latchWayOut says what opens a latched side again.
func (leg *leg) latchWayOut() string {
	switch {
	case leg.reentry == strategy.ReentryNever:
		return "it waits until the strategy desires no position, or the other side (reentry: never)"
	case !leg.state.LatchedByProtection():
		return "it waits until the strategy desires no position, or the other side, or says that its signal is new"
	case leg.reentry == strategy.ReentryImmediate:
		return "the next decision that asks for the side enters (reentry: immediate)"
	}
	return "it waits for a new signal, for no position, or for the other side (reentry: signal)"
}
