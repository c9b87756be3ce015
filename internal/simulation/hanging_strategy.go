package simulation

import (
	"slices"

	"botd/runtime/engine"
	"botd/strategy"
)

// These are the ways in which a strategy does not answer.
const (
	thinksLong  = iota // it answers late, before or after its deadline
	neverThinks        // it hangs, and its process is killed at its deadline
	dies               // its process ends during the request
	returns            // it hangs in the trading process, and returns when the episode ends
	waysToThink
)

// decide makes the strategies answer the engine's requests: at once, unless they hang.
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

// thinks makes a strategy answer with a delay or not at all. It returns false if none hangs.
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
		return true // until its process is killed
	case returns:
		afterMS = e.untilMS - w.nowMS
		fallthrough
	default:
		event.Result = ask.Task.Perform(ask.Strategy)
	}
	w.put(scheduled{atMS: w.nowMS + afterMS, kind: happenDecision, life: w.daemon.life, thought: event})
	return true
}

// killed ends the processes of strategies that have not answered in time. Strategies in the trading process
// answer late themselves: no process can be ended there.
func (b *beyond) killed(abandoned []int64) {
	for _, id := range abandoned {
		if !slices.ContainsFunc(b.w.agenda.entries, func(h scheduled) bool {
			return h.kind == happenDecision && h.process == b.w.process && h.life == b.w.daemon.life && h.thought.AskID == id
		}) {
			b.w.put(scheduled{atMS: b.w.nowMS + 5, kind: happenDecision, life: b.w.daemon.life,
				thought: &engine.EventDecision{AskID: id, Result: strategy.Result{Lost: "it has not answered in time"}}})
		}
	}
}

// Restart resets the check, since all available candles follow again.
func (s *spy) Restart() { s.openMS, s.given = 0, 0 }
