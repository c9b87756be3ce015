package backtest

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// machine decides and trades on what a run plays to it: the engine that trades live, or the direct
// machine, which does the same where little can happen.
type machine interface {
	Handle(nowMS int64, event engine.Event, out *engine.Effects)
	NextMS() int64
	Trails(key exchange.SymbolKey) (stop, from exchange.Price, trails bool)
	DecidesMS() int64
	Status() engine.Status
}

// put gives the run its machine.
func (r *run) put() (err error) {
	if r.indirect = r.config.indirect(); r.indirect == "" {
		r.direct = newDirect(r)
		r.machine = r.direct
		return nil
	}
	r.machine, err = engine.New(r.machineConfig(), reconcile.NewBook(r.config.settle()))
	return err
}

// machineName says which machine it was, and why not the other one.
func (r *run) machineName() string {
	if r.indirect == "" {
		return "direct"
	}
	return "engine: " + r.indirect
}
