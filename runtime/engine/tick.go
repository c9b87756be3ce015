package engine

import (
	"slices"

	"botd/reconcile/record"
	"botd/strategy"
)

// tick asks strategies: View to Plan.
type tick struct {
	*base
	halts *halts
}

// scheduled runs a tick that is due by the schedule. Ticks that were missed are
// counted and skipped, never replayed.
func (t *tick) scheduled(leg *leg) {
	nominal, missed := leg.nextMS, 0
	for next := leg.config.Schedule.Next(nominal); next <= t.nowMS; next = leg.config.Schedule.Next(next) {
		nominal = next
		missed++
		if missed > 100_000 {
			nominal = t.nowMS
			break
		}
	}
	leg.nextMS = leg.config.Schedule.Next(nominal)
	if missed > 0 {
		t.note(leg.config.Name, leg.config.Symbol, NoteMissed{Count: missed})
	}
	if leg.symbol.Last > 0 && leg.seen >= leg.config.Strategy.Warmup() {
		t.run(leg, nominal)
	}
}

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

// decided takes what the strategy decided. A plan that changes nothing ends here.
func (t *tick) decided(leg *leg) {
	if t.config.Rehearse {
		return
	}
	covered := leg.state.Covers(&leg.plan)
	if !covered {
		// In the journal it would bring every start down: it is derived anew there.
		if why := leg.plan.OutOfBounds(leg.config.Symbol, leg.symbol.Last); why != "" {
			t.fail(leg, why)
			return
		}
	}
	if remembered := leg.plan.Remembered(); len(remembered.Entries()) > 0 {
		if memory, changed := leg.state.Memory().With(remembered); changed {
			t.record(record.Record{Strategy: leg.config.Name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
		}
	}
	if !t.config.Quiet {
		t.note(leg.config.Name, leg.config.Symbol, NoteTick{leg.plan.Reason})
	}
	if !covered {
		t.adopt(leg)
	}
}

// adopt puts the new plan in force, journalled, and asks for a round.
func (t *tick) adopt(leg *leg) {
	merged := leg.state.ClonePlan()
	merged.Merge(&leg.plan)
	latch := leg.state.Latch()
	t.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Plan{Plan: merged}})
	t.note(leg.config.Name, leg.config.Symbol, NoteDecision{merged, leg.plan.Reason, leg.symbol.Last, leg.symbol.Position})
	t.noteLatch(leg, latch)
	t.roundMS = t.nowMS
}

func (t *tick) noteLatch(leg *leg, before int) {
	if leg.state.Latch() != before {
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: leg.state.Latch(), Over: leg.state.Latch() == 0})
	}
}

// lapse latches an entry that was decided more than one candle ago, of several that came at once.
func (t *tick) lapse(leg *leg, before strategy.Target, taken int, nominalMS int64) {
	now := leg.state.Plan().Target
	sign := now.Sign()
	if taken > 1 && sign != 0 && before != now && leg.candleTargetMS < nominalMS && leg.state.Latch() != sign && leg.symbol.Known() == 0 {
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: sign}})
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: sign, Why: "the entry was decided more than one candle ago and lapses"})
	}
}

// fail stops a strategy.
func (t *tick) fail(leg *leg, why string) {
	leg.failed, leg.failedMS, leg.nextMS = why, t.nowMS, never
	leg.question.hung, leg.question.retryMS = "", never
	t.note(leg.config.Name, leg.config.Symbol, NoteStrategyFailed{why})
}
