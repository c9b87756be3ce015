package backtest

import (
	"fmt"
	"io"
	"strings"

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
	tracker := reconcile.NewTracker(r.config.bounds())
	if !r.config.Ledger {
		tracker = reconcile.NewTrackerWithoutLedger(r.config.bounds())
	}
	r.machine, err = engine.New(r.machineConfig(), tracker)
	return err
}

// machineName names the machine, and for the engine the reason.
func (r *run) machineName() string {
	if r.indirect == "" {
		return "direct"
	}
	return byEngine + r.indirect
}

// byEngine begins the name of the engine as a run's machine.
const byEngine = "engine: "

// EngineReason returns the reason why a run's machine was the engine; engine is false for the direct machine.
func EngineReason(machine string) (why string, engine bool) {
	return strings.CutPrefix(machine, byEngine)
}

// inWords describes a run's machine.
func inWords(machine string) string {
	if why, engine := EngineReason(machine); engine {
		return "by the engine, since the direct machine does not cover " + why
	}
	return "by the direct machine"
}

// machineLine shows the machine of the run, and those of columns that used another one.
func (r *Result) machineLine(w io.Writer) {
	if r.Machine == "" {
		return // of an earlier version
	}
	line := "run " + inWords(r.Machine)
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Machine != "" && c.Machine != r.Machine {
			line += "; " + c.Name + " " + inWords(c.Machine)
		}
	}
	fmt.Fprintln(w, line)
}
