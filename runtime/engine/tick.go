package engine

import (
	"botd/reconcile/record"
	"botd/strategy"
)

// tick calls strategies: View to Plan.
type tick struct {
	*base
	halts   *halts
	ruleset *ruleset
}

// scheduled runs a tick that is due by the schedule. Missed ticks are counted and skipped, never
// replayed.
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
		t.note(leg.config.Name, leg.config.Symbol, NoteMissed{missed, "botd was stopped, busy or without candles meanwhile"})
	}
	if leg.symbol.Last() > 0 && leg.seen >= leg.config.Strategy.Warmup() {
		t.run(leg, nominal)
	}
}

func (t *tick) noteLatch(leg *leg, before int) {
	if leg.state.Latch() != before {
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: leg.state.Latch(), Over: leg.state.Latch() == 0})
	}
}

// lapse latches an entry that was decided more than one candle ago, if several candles arrived at
// once.
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
	why = strategy.Clip(why, strategy.MaxCause)
	leg.failed, leg.failedMS, leg.nextMS = why, t.nowMS, never
	leg.question.hung, leg.question.retryMS = "", never
	t.note(leg.config.Name, leg.config.Symbol, NoteStrategyFailed{why})
}
