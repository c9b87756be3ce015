package simulation

import (
	"fmt"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile"
	"botd/runtime/engine"
)

// instance is part of every client_order_id.
const instance = "sim"

// timeToLiveMS is from the journal's record to the first byte.
const timeToLiveMS = 5_000

// daemon is the process under test: the engine, and the driver's work between
// its effects and its events. What it knows dies with it; the disk stays.
type daemon struct {
	w          *world
	life       int // counts starts
	up         bool
	stopping   bool
	low        bool // it was told that its disk is nearly full
	machine    *engine.Engine
	effects    engine.Effects
	roles      []*role
	clockError int64 // its belief of the server's time minus the server's time
	pausedMS   int64 // stands still until then
	wokenMS    int64 // until then answers of before were on their way to it
	bootMS     int64
}

// clock is the server's time as the daemon believes it.
func (d *daemon) clock() int64 { return d.w.nowMS + d.clockError }

// boot starts the process: the journal is replayed, then the engine begins.
// Start-up and recovery after a crash are this one path.
func (d *daemon) boot() {
	w := d.w
	book := reconcile.NewBook(w.settle)
	for i := range w.disk.records {
		replay(book, &w.disk.records[i])
	}
	epoch := max(book.Epoch()+1, w.nowMS/1000)
	if mutant.Built {
		if mutant.Is("forgotten_sending") {
			forgetSending(book)
		}
		if mutant.Is("same_epoch") {
			epoch = 1
		}
	}
	config := engine.Config{
		Instance: instance, Epoch: epoch, Settle: w.settle, Foreign: w.foreign, Ledger: w.ledger, BusyRoundMS: 1_000, IdleRoundMS: 15_000,
		Breaker: w.portfolio.breaker, CloseLagMS: 2_000, TimeToLive: timeToLiveMS, TakerFee: 50_000, Limits: w.accountLimits(),
	}
	if mutant.Is("hurried") {
		config.BusyRoundMS = 1
	}
	d.roles = w.portfolio.start(w)
	for _, r := range d.roles {
		config.Strategies = append(config.Strategies, r.config)
	}
	config.Strategies = append(config.Strategies, w.orphans(book)...)
	machine, err := engine.New(config, book)
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
	w.inspector.booted()
	d.handle(&engine.EventStart{})
}

// handle gives the engine one event and puts its effects on their way: records
// first, so that no placement can overtake its own.
func (d *daemon) handle(event engine.Event) {
	w := d.w
	d.effects.Reset()
	life := d.life
	d.machine.Handle(d.clock(), event, &d.effects)
	w.stats.Events++
	w.hash = mix(w.hash ^ uint64(w.nowMS)<<8 ^ eventNumber(event))
	w.inspector.effects(&d.effects)
	for _, id := range d.effects.Recalls {
		w.recall(id)
	}
	for i := range d.effects.Notes {
		w.note(&d.effects.Notes[i])
	}
	if len(d.effects.Records) > 0 {
		w.write(d.effects.Records, d.effects.Sequence)
	}
	if !d.up || d.life != life {
		return // it crashed while handing over
	}
	for i := range d.effects.Calls {
		w.launch(&d.effects.Calls[i])
	}
	if d.stopping && !d.machine.InFlight() {
		w.end("has stopped")
	}
}

// wakeMS is when the engine wants to be woken, in the server's time.
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

// crash ends the process at once: what was being written is there or not, and
// what was sent is on its way.
func (w *world) crash(why string) {
	if !w.daemon.up {
		return
	}
	w.stats.Faults[Crash]++
	w.end("dies: " + why)
}

// end takes the process away and lets it start again after a while.
func (w *world) end(how string) {
	if w.tracing {
		w.tracef("daemon", "%s", how)
	}
	w.disk.torn(w, w.storage.chance(0.5))
	w.daemon.up, w.daemon.stopping, w.daemon.pausedMS, w.daemon.clockError = false, false, 0, 0
	w.inspector.ended()
	pause := w.storage.between(200, 3_000)
	if !w.quiet && w.options.script == nil && w.storage.chance(0.2) {
		pause = w.storage.between(3_000, 60_000)
	}
	w.agenda.put(happening{atMS: w.nowMS + pause, kind: happenBoot})
}

// point is an input or output: a place where the process may die. It reports
// whether it did.
func (w *world) point() bool {
	if !w.daemon.up {
		return true
	}
	w.points++
	switch {
	case w.points == w.options.CrashAt:
		if w.quiet { // it has as long to come right as after any other fault
			w.endMS = max(w.endMS, w.nowMS+quietMS)
		}
		w.crash(fmt.Sprintf("at point %d, as asked", w.points))
		return true
	case !w.quiet && w.storage.chance(w.weather[Crash]):
		w.crash(fmt.Sprintf("at point %d", w.points))
		return true
	}
	return false
}

// note shows a fact in the trace, and counts those that the summary tells.
func (w *world) note(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteUncertain:
		w.stats.Unknowns++
	case engine.NoteRound:
		if fact.Complete {
			w.inspector.rounded()
		}
		return
	case engine.NoteTick, engine.NoteCandles, engine.NoteApproved:
		return
	case engine.NoteStrategyFailed:
		w.fail("strategy", "strategy %s failed: %s", n.Strategy, fact.Why)
	}
	if w.tracing {
		w.tracef("engine", "%s", noteText(n))
	}
}

// eventNumber is a kind of event in the hash of a run. A number is never given anew: a
// run would no longer equal the same run of an earlier version.
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
	case *engine.EventTighten:
		return 15
	case *engine.EventWithdraw:
		return 16
	case *engine.EventStop:
		return 17
	}
	panic(fmt.Sprintf("simulation: an event that is a %T has no number", event))
}

// describe is a request in a few words.
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
