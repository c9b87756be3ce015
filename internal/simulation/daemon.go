package simulation

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// instance is part of every client order id.
const instance = "sim"

// timeToLiveMS is the time allowed from the journal's record to the first byte.
const timeToLiveMS = 5_000

// takerFee is the configured rate for the estimate of spot results: 0.05 %.
const takerFee = 50_000

// daemon is the process under test: the engine, and the driver that turns its effects
// into events. Its memory dies with the process; the disk remains.
type daemon struct {
	w          *world
	life       int // number of starts
	up         bool
	stopping   bool
	low        bool // its disk has been reported nearly full
	machine    *engine.Engine
	effects    engine.Effects
	roles      []*role
	clockError int64 // its estimate of the server's time minus the server's time
	shownMS    int64 // the latest time that its clock has shown, right or wrong
	pausedMS   int64 // the process is suspended until then
	wokenMS    int64 // until then, answers sent during the pause still arrive
	bootMS     int64
}

// clock returns the daemon's estimate of the server's time.
func (d *daemon) clock() int64 { return d.w.nowMS + d.clockError }

// setClock sets the clock's error. Earlier readings stand: the daemon has already taken a candle that had closed by them.
func (d *daemon) setClock(byMS int64) {
	d.shownMS = max(d.shownMS, d.clock())
	d.clockError = byMS
}

// boot starts the process: it replays the journal and starts the engine. Start-up and
// recovery after a crash are the same path.
func (d *daemon) boot() {
	w := d.w
	if w.disk.lostMS > d.bootMS {
		w.disk.records = w.disk.records[:min(w.disk.left, len(w.disk.records))] // the records were lost during the previous life
		if w.disk.left > 0 && w.foreign == reconcile.ForeignIgnore {
			w.foreign = reconcile.ForeignHalt // otherwise a journal without its end is not accepted (botd journal head --accept)
		}
	}
	tracker := reconcile.NewTracker(w.configured)
	if !w.ledger {
		tracker = reconcile.NewTrackerWithoutLedger(w.configured)
	}
	for i := range w.disk.records {
		replay(tracker, &w.disk.records[i])
	}
	epoch, random := max(tracker.Epoch()+1, w.nowMS/1000), mix(w.seed^mix(uint64(d.life))^uint64(w.process.number)<<32)
	if mutant.Built() {
		if mutant.Is("forgotten_sending") {
			forgetSending(tracker)
		}
		if mutant.Is("same_epoch") {
			epoch, random = 1, mix(0)
		}
		if mutant.Is("same_random") {
			random = mix(0)
		}
	}
	config := engine.Config{
		Instance: instance, Epoch: epoch, Random: placement.RandomFrom(random),
		Bounds: w.configured, Foreign: w.foreign, Ledger: w.ledger, BusyRoundMS: 1_000, IdleRoundMS: 15_000, Offload: true, Checkpoint: 50,
		Breaker: w.portfolio.breaker, CloseLagMS: 2_000, TimeToLiveMS: timeToLiveMS, TakerFee: takerFee, Limits: w.accountLimits(),
	}
	if mutant.Is("hurried") {
		config.BusyRoundMS = 1
	}
	d.roles = w.portfolio.start(w)
	for _, r := range d.roles {
		config.Strategies = append(config.Strategies, r.config)
	}
	config.Strategies = append(config.Strategies, w.orphans(tracker)...)
	machine, err := engine.New(config, tracker)
	if err != nil {
		w.fail("start", "the engine does not start: %v", err)
		return
	}
	d.life++
	d.machine, d.up, d.stopping, d.low, d.bootMS = machine, true, false, false, w.nowMS
	w.stats.Starts++
	if w.tracing {
		w.tracef("daemon", "starts for the %d. time with %d records", d.life, len(w.disk.records))
	}
	w.judge.restarted()
	w.inspector.booted()
	d.handle(&engine.EventStart{})
}

// handle gives the engine one event and dispatches its effects, records first, so that no placement precedes its own record.
func (d *daemon) handle(event engine.Event) {
	w := d.w
	d.effects.Reset()
	life := d.life
	d.machine.Handle(d.clock(), event, &d.effects)
	w.stats.Events++
	w.hash = mix(w.hash ^ uint64(w.nowMS)<<8 ^ eventNumber(event))
	if w.beyond == nil {
		w.inspector.effects(&d.effects)
	}
	for _, id := range d.effects.Recalls {
		w.recall(id)
	}
	for i := range d.effects.Notes {
		w.note(&d.effects.Notes[i])
	}
	if len(d.effects.Records) > 0 {
		w.write(d.effects.Records)
	}
	if !d.up || d.life != life {
		return // it crashed while the effects were dispatched
	}
	for i := range d.effects.Calls {
		w.launch(&d.effects.Calls[i])
	}
	w.decide(slices.Clone(d.effects.Abandoned), slices.Clone(d.effects.Asks))
	if d.stopping && !d.machine.InFlight() {
		w.end("has stopped")
	}
}

// wakeMS returns when the engine's next wake is due, in the server's time.
func (d *daemon) wakeMS() int64 {
	if !d.up {
		return never
	}
	next := d.machine.NextMS()
	if next == never {
		return never
	}
	return max(next-d.clockError, d.pausedMS, d.w.nowMS)
}

// crash ends the process at once: a write in progress is durable or lost, and requests
// already sent are in flight.
func (w *world) crash(why string) {
	if !w.daemon.up {
		return
	}
	w.stats.Faults[Crash]++
	w.end("dies: " + why)
}

// end removes the process and schedules its next start.
func (w *world) end(how string) {
	if w.tracing {
		w.tracef("daemon", "%s", how)
	}
	w.disk.torn(w, w.storage.chance(0.5))
	w.daemon.up, w.daemon.stopping, w.daemon.pausedMS = false, false, 0
	w.daemon.setClock(0)
	w.inspector.ended()
	pause := w.storage.between(200, 3_000)
	if !w.quiet && w.options.script == nil && w.storage.chance(0.2) {
		pause = w.storage.between(3_000, 60_000)
	}
	w.put(scheduled{atMS: w.nowMS + pause, kind: happenBoot})
}

// point marks an input or output at which the process may die. It reports whether it died.
func (w *world) point() bool {
	if !w.daemon.up {
		return true
	}
	w.points++
	switch {
	case w.points == w.options.CrashAt:
		if w.quiet { // recovery gets as long as after any other fault
			w.endMS = max(w.endMS, w.nowMS+quietMS)
		}
		w.crash(fmt.Sprintf("at point %d, as requested", w.points))
		return true
	case !w.quiet && w.storage.chance(w.weather[Crash]):
		w.crash(fmt.Sprintf("at point %d", w.points))
		return true
	}
	return false
}

// note writes a note to the trace, and counts those in the summary.
func (w *world) note(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteUncertain:
		w.stats.Uncertain++
	case engine.NoteRound:
		if fact.Complete && w.beyond == nil {
			w.inspector.rounded(fact.Late == 0)
			if fact.Late == 0 {
				w.inspector.figures.rounded(fact.DurationMS)
			}
		}
		return
	case engine.NoteTick, engine.NoteCandles, engine.NoteApproved:
		return
	case engine.NoteStrategyFailed:
		w.fail("strategy", "strategy %s failed: %s", n.Strategy, fact.Reason)
	}
	if w.tracing {
		w.tracef("engine", "%s", noteText(n))
	}
}

// eventNumber returns the number of an event kind in the hash of a run. Numbers are
// never reused: the same run would hash differently in two versions.
func eventNumber(event engine.Event) uint64 {
	switch event.(type) {
	case *engine.EventStart:
		return 1
	case *engine.EventWake:
		return 2
	case *engine.EventAnswer:
		return 5
	case *engine.EventJournaled:
		return 6
	case *engine.EventHalt:
		return 7
	case *engine.EventDisk:
		return 9
	case *engine.EventResolve:
		return 10
	case *engine.EventReload:
		return 13
	case *engine.EventSetLimits:
		return 15
	case *engine.EventWithdraw:
		return 16
	case *engine.EventStop:
		return 17
	case *engine.EventDecision:
		return 18
	}
	panic(fmt.Sprintf("simulation: an event that is a %T has no number", event))
}

// describe returns a short text for a request.
func (w *world) describe(r *exchange.Request) string {
	if !r.Operation.Places() {
		text := r.Operation.String()
		if r.Symbol != "" {
			text += " " + r.Symbol
		}
		if r.OrderID != 0 {
			text += fmt.Sprintf(" %d", r.OrderID)
		}
		if r.Leverage != 0 {
			text += fmt.Sprintf(" %dx", r.Leverage)
		}
		return text
	}
	return r.Operation.String() + " " + orderText(w.venue.held[r.Order.Key()].rules, &r.Order)
}
