package runtime

import (
	"slices"

	"botd/runtime/engine"
	"botd/strategy"
)

// ask passes the engine's questions to the strategies. Each answer arrives as an event; after Run
// has returned, answers are discarded.
func (d *Driver) ask() {
	for _, id := range d.effects.Abandoned {
		d.config.Asker.Abandon(id)
	}
	for i := range d.effects.Ended {
		d.config.Asker.End(&d.effects.Ended[i])
	}
	for _, ask := range slices.Clone(d.effects.Asks) {
		d.config.Asker.Put(&ask, func(result strategy.Result) {
			select {
			case d.events <- &engine.EventDecision{AskID: ask.ID, Result: result}:
			case <-d.ended:
			}
		})
	}
}
