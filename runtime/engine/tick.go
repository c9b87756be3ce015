package engine

import (
	"slices"

	"botd/reconcile/record"
)

// tick asks strategies: View to Plan.
type tick struct {
	*base
	halts *halts
}

// scheduled runs a tick that is due by the schedule. Ticks that were missed are
// counted and skipped, never replayed.
func (e *tick) scheduled(r *run) {
	nominal, missed := r.nextMS, 0
	for next := r.config.Schedule.Next(nominal); next <= e.nowMS; next = r.config.Schedule.Next(next) {
		nominal = next
		missed++
		if missed > 100_000 {
			nominal = e.nowMS
			break
		}
	}
	r.nextMS = r.config.Schedule.Next(nominal)
	if missed > 0 {
		e.note(r.config.Name, r.config.Symbol, NoteMissed{Count: missed})
	}
	if r.truth.Last > 0 && r.seen >= r.config.Strategy.Warmup() {
		e.tick(r, nominal)
	}
}

// tick decides: View to Plan.
func (e *tick) tick(r *run, nominalMS int64) {
	if r.failed != "" {
		return
	}
	r.lastMS = nominalMS
	e.decide(r, nominalMS)
	if r.failed == "" {
		e.decided(r)
	}
}

// decide fills the view and asks the strategy.
func (e *tick) decide(r *run, nominalMS int64) {
	e.see(r, nominalMS)
	if e.measure == nil {
		e.guard(r, callDecide)
		return
	}
	done := e.measure(MeasuredCycle, r.config.Name)
	e.guard(r, callDecide)
	done()
}

// decided takes what the strategy wished. A plan that changes nothing ends here.
func (e *tick) decided(r *run) {
	if e.config.Rehearse {
		return
	}
	covered := r.state.Covers(&r.plan)
	if !covered {
		// In the journal it would bring every start down: it is derived anew there.
		if why := r.plan.OutOfBounds(r.config.Symbol, r.truth.Last); why != "" {
			e.fail(r, why)
			return
		}
	}
	if remembered := r.plan.Remembered(); len(remembered.Entries()) > 0 {
		if memory, changed := r.state.Memory().With(remembered); changed {
			e.record(record.Record{Strategy: r.config.Name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
		}
	}
	if !e.config.Quiet {
		e.note(r.config.Name, r.config.Symbol, NoteTick{r.plan.Reason})
	}
	if !covered {
		e.adopt(r)
	}
}

// adopt puts the new wish in force, journalled, and asks for a round.
func (e *tick) adopt(r *run) {
	merged := r.state.ClonePlan()
	merged.Merge(&r.plan)
	latch := r.state.Latch()
	e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: record.Plan{Plan: merged}})
	e.note(r.config.Name, r.config.Symbol, NoteDecision{merged, r.plan.Reason, r.truth.Last, r.truth.Position})
	e.noteLatch(r, latch)
	e.roundMS = e.nowMS
}

func (e *tick) noteLatch(r *run, before int) {
	if r.state.Latch() != before {
		e.note(r.config.Name, r.config.Symbol, NoteLatch{Side: r.state.Latch(), Over: r.state.Latch() == 0})
	}
}

// fail stops a strategy.
func (e *tick) fail(r *run, why string) {
	r.failed, r.failedMS, r.nextMS = why, e.nowMS, never
	e.note(r.config.Name, r.config.Symbol, NoteStrategyFailed{why})
}
