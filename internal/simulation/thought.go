package simulation

import (
	"slices"

	"botd/runtime/engine"
	"botd/strategy"
)

// Ways in which a strategy does not answer.
const (
	thinksLong  = iota // it answers late, before its deadline or after it
	neverThinks        // it hangs, and its process is killed at its deadline
	dies               // its process ends while it is asked
	returns            // it hangs, in the process that trades, and returns when the episode ends
	waysToThink
)

// decide has the strategies answer what the engine asks: at once, unless they hang.
func (w *world) decide(abandoned []int64, asks []engine.Ask) {
	d := w.daemon
	if w.beyond != nil {
		w.beyond.killed(abandoned)
	}
	for i := range asks {
		ask := &asks[i]
		if !d.up {
			return
		}
		if w.beyond != nil && w.beyond.thinks(ask) {
			continue
		}
		d.handle(&engine.EventDecision{AskID: ask.ID, Result: ask.Task.Perform(ask.Strategy)})
	}
}

// thinks has a strategy answer otherwise than at once. It reports false where none hangs.
func (b *beyond) thinks(ask *engine.Ask) bool {
	w := b.w
	i := slices.IndexFunc(b.episodes, func(e *episode) bool { return e.class == HungStrategy })
	if i < 0 || !b.draw.chance(b.episodes[i].chance) {
		return false
	}
	e, event := b.episodes[i], &engine.EventDecision{AskID: ask.ID}
	way := e.way % waysToThink
	if w.tracing {
		w.tracef("strategy", "%s is asked, and answers otherwise (way %d)", ask.Name, way)
	}
	afterMS := b.draw.between(10, 2*engine.DefaultDeadlineMS)
	switch way {
	case dies:
		event.Result.Lost = "its process ended"
		afterMS /= 10
	case neverThinks:
		return true // until it is killed
	case returns:
		afterMS = e.untilMS - w.nowMS
		fallthrough
	default:
		event.Result = ask.Task.Perform(ask.Strategy)
	}
	w.put(happening{atMS: w.nowMS + afterMS, kind: happenDecision, life: w.daemon.life, thought: event})
	return true
}

// killed has the strategies lose their processes that have not answered in time. Those that answer
// late of themselves do so: no process can be ended there.
func (b *beyond) killed(abandoned []int64) {
	for _, id := range abandoned {
		if !slices.ContainsFunc(b.w.agenda.entries, func(h happening) bool {
			return h.kind == happenDecision && h.process == b.w.process && h.life == b.w.daemon.life && h.thought.AskID == id
		}) {
			b.w.put(happening{atMS: b.w.nowMS + 5, kind: happenDecision, life: b.w.daemon.life,
				thought: &engine.EventDecision{AskID: id, Result: strategy.Result{Lost: "it has not answered in time"}}})
		}
	}
}

// Restart starts over, with all candles that are held.
func (s *spy) Restart() { s.openMS, s.given = 0, 0 }
