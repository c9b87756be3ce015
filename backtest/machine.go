package backtest

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// machine decides and trades on the events of a run. It is the engine that trades live, or the direct machine, which
// does the same in simple cases.
type machine interface {
	Handle(nowMS int64, event engine.Event, out *engine.Effects)
	NextMS() int64
	Trails(key exchange.SymbolKey) (stop, from exchange.Price, trails bool)
	DecidesMS() int64
	Status() engine.Status
}

// put creates the run's machine.
func (r *run) put() (err error) {
	if r.indirect = r.config.indirect(); r.indirect == "" {
		r.direct = newDirect(r)
		r.machine = r.direct
		return nil
	}
	book := reconcile.NewBook(r.config.settle())
	if !r.config.Ledger {
		book = reconcile.NewBookWithoutLedger(r.config.settle())
	}
	r.machine, err = engine.New(r.machineConfig(), book)
	return err
}

// machineName names the machine, and for the engine the reason.
func (r *run) machineName() string {
	if r.indirect == "" {
		return "direct"
	}
	return "engine: " + r.indirect
}
