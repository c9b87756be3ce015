// Package simulation runs the whole daemon under seeded faults on virtual time.
//
// One event loop runs the exchange (exchange/sim itself), the network, the disk,
// the clock and the daemon's engine from one seed. For eight virtual minutes faults
// occur; then they stop, and everything must converge in bounded time. The inspector
// checks the invariants after every event, against the exchange's state. The same seed
// gives the same run.
package simulation

import (
	"fmt"
	"io"
	"math"
	"runtime/debug"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
)

const never = math.MaxInt64

// These bound a run.
const (
	startMS     = int64(1_800_000_000_000) // 08:00 UTC
	faultsMS    = 8 * 60_000
	quietMS     = 90_000
	maxEvents   = 60_000 // events that the engine may handle in one run: more is a livelock
	maxAgenda   = 2_000
	priceStepMS = 1_000
)

// bounds are the W, D and L of the simulated network. Most seeds use the first; in the
// second a replica may lag by more than the time between two snapshots.
var bounds = []placement.Bounds{
	{WindowMS: 5_000, VisibilityMS: 6_000, StalenessMS: 3_000},
	{WindowMS: 8_000, VisibilityMS: 3_000, StalenessMS: 7_000},
}

// Options selects a run. All fields but Seed may be zero.
type Options struct {
	Seed    uint64
	CrashAt int       // the process dies at this input or output; 0 leaves crashes to the weather
	Trace   io.Writer // receives a readable trace; nil for none
	Weather *Weather  // instead of the seed's own
	Beyond  *Beyond   // beyond the bounds, judged by the oracle alone; nil for within

	script *script // of a scenario; nil for none
}

// script replaces the draws of the seed in a scenario: the portfolio, the injected faults, and constant prices.
type script struct {
	portfolio func() *portfolio
	injects   func(f Fault, call *flight) bool
	forge     func(call *flight) // changes the exchange's answer
	far       func(least, most int64) int64
	foreign   string
	account   func(*sim.AccountConfig)
	limits    risk.Limits
}

// Violation is a broken invariant.
type Violation struct {
	Rule string `json:"rule"`
	AtMS int64  `json:"at_ms"` // time since the start
	Text string `json:"text"`
	Spot bool   `json:"spot,omitempty"` // beyond the bounds: the symbol is a spot symbol
}

// Result is the result of one run.
type Result struct {
	Seed      uint64
	CrashAt   int
	Hash      uint64 // hash of all scheduled events: the same seed gives the same hash
	Points    int    // inputs and outputs, at each of which the process may die
	Weather   Weather
	Given     bool // the weather was given, not drawn from the seed
	Beyond    *Beyond
	Classes   [ClassEnd]int64 // episodes of each class beyond the bounds; -1 for a disabled class
	Gaps      []int64         // times without a stop by the oracle in ms, shortest first
	Violation *Violation
	Stats     Stats
}

// Command returns the command that reproduces the run with a readable trace.
func (r *Result) Command() string {
	command := fmt.Sprintf("go run ./cmd/botd-sim simulate --seed %d", r.Seed)
	if r.CrashAt > 0 {
		command += fmt.Sprintf(" --crash-at %d", r.CrashAt)
	}
	if r.Beyond != nil {
		command += " --beyond"
		for _, class := range r.Beyond.Only {
			command += " --only " + class.String()
		}
		for _, class := range r.Beyond.Except {
			command += " --except " + class.String()
		}
	}
	if r.Given {
		for fault, strength := range r.Weather {
			if strength != 0 {
				command += fmt.Sprintf(" --fault %s=%v", Fault(fault), strength)
			}
		}
	}
	return command + " --trace"
}

// world is one run.
type world struct {
	options    Options
	seed       uint64
	weather    Weather
	bounds     placement.Bounds // bounds of the network
	configured placement.Bounds // bounds in the configuration of the daemon
	beganMS    int64
	nowMS      int64
	quietMS    int64 // end of the faults
	endMS      int64
	quiet      bool
	delayMS    int64  // maximum time until an accepted order reaches the order book
	foreign    string // policy for positions and orders that botd did not make
	harsh      bool   // times are drawn near their bounds
	ledger     bool   // the daemon keeps a ledger
	poor       bool   // the account has little more than the required margin

	agenda    agenda
	venue     *venue
	inspector *inspector
	judge     *judge
	beyond    *beyond // nil within the bounds
	*process          // process of the current scheduled event; between scheduled events the first one
	processes []*process

	network, storage, market, people, actions draw
	changes                                   draw
	shut                                      bool // limits block every opening
	limits                                    bounded
	outageMS                                  int64

	current *flight // the call being processed
	points  int
	hash    uint64
	stats   Stats
	tracing bool
	failure *Violation
}

// Run runs one seed.
func Run(options Options) Result {
	w := newWorld(options)
	w.run()
	switch {
	case w.failure != nil:
	case w.beyond != nil:
		w.judge.converged()
	default:
		w.inspector.converged()
	}
	w.stats.VirtualMS = w.nowMS - w.beganMS
	if w.tracing && w.failure != nil {
		w.tracef("broken", "%s: %s", w.failure.Rule, w.failure.Text)
	}
	result := Result{Seed: options.Seed, CrashAt: options.CrashAt, Hash: w.hash, Points: w.points, Weather: w.weather, Given: options.Weather != nil,
		Violation: w.failure, Stats: w.stats, Beyond: options.Beyond, Gaps: w.judge.oracle.Gaps()}
	if w.beyond != nil {
		result.Classes = w.beyond.counts()
	}
	return result
}

// run runs the loop. A panic is a failure of the seed, so that the other seeds run all the same.
func (w *world) run() {
	defer func() {
		if cause := recover(); cause != nil && w.failure == nil {
			w.fail("panic", "%v\n%s", cause, debug.Stack())
		}
	}()
	w.loop()
}

func newWorld(options Options) *world {
	began := begins(options.Seed)
	w := &world{
		options: options, seed: options.Seed, beganMS: began, nowMS: began, bounds: bounds[0], quietMS: began + faultsMS, endMS: began + faultsMS + quietMS,
		network: newDraw(options.Seed, 1), storage: newDraw(options.Seed, 2), market: newDraw(options.Seed, 3), people: newDraw(options.Seed, 4),
		tracing: options.Trace != nil, process: &process{disk: newDisk()},
	}
	w.processes = []*process{w.process}
	w.setUp()
	w.put(scheduled{atMS: w.nowMS, kind: happenBoot})
	if options.script == nil {
		w.put(scheduled{atMS: w.nowMS + priceStepMS, kind: happenPrices})
	}
	for f := Outage; f < FaultEnd; f++ {
		w.scheduleFault(f)
	}
	if w.beyond != nil {
		w.beyond.begin()
	}
	return w
}

// setUp draws weather, portfolio, bounds and policies.
func (w *world) setUp() {
	setup := newDraw(w.seed, 5)
	w.weather = drawWeather(&setup)
	w.actions = newDraw(w.seed, 6)
	drawActions(&w.actions, &w.weather)
	w.changes = newDraw(w.seed, 7)
	drawChanges(&w.changes, &w.weather)
	if w.limits = drawLimits(&w.actions); w.options.script != nil {
		w.limits = bounded{account: w.options.script.limits}
	}
	if w.options.Beyond != nil {
		w.beyond = newBeyond(w, w.options.Beyond)
		w.weather = w.beyond.drawMild()
	}
	if w.options.Weather != nil {
		w.weather = *w.options.Weather
	}
	delay, spread := setup.between(0, 200), setup.between(0, 800)
	w.portfolio, w.harsh = newPortfolio(&setup, w.seed), setup.chance(0.3)
	kinds := newDraw(w.seed, 8)
	switch {
	case w.seed >= calendarFrom:
		w.portfolio.mixed(&kinds)
	case w.seed >= assortedFrom:
		w.portfolio.assort(&kinds)
	case w.seed >= libraryFrom:
		w.portfolio.libraries(&kinds)
	case w.seed >= patientFrom:
		w.portfolio.patience(&kinds)
	}
	if setup.chance(0.3) {
		w.bounds = bounds[1]
	}
	if w.beyond != nil && w.beyond.draw.chance(0.5) {
		w.bounds, w.endMS = liveBounds, w.endMS+liveQuietMS
	}
	w.foreign = []string{reconcile.ForeignHalt, reconcile.ForeignHalt, reconcile.ForeignHalt, reconcile.ForeignAdopt, reconcile.ForeignIgnore}[setup.below(5)]
	if w.beyond != nil && w.foreign == reconcile.ForeignIgnore && w.beyond.doubles() {
		w.foreign = reconcile.ForeignAdopt // the judge counts repeated executions by the exchange as botd's
	}
	w.ledger = setup.chance(0.5)
	w.poor = setup.chance(0.15) || w.weather[Liquidation] > 0
	w.calendar(&kinds)
	if w.beyond != nil {
		w.beyond.fit()
	}
	if script := w.options.script; script != nil {
		w.portfolio, w.foreign, w.bounds, w.harsh, w.poor, w.ledger, delay, spread = script.portfolio(), script.foreign, bounds[0], false, false, true, 20, 0
	}
	if w.weather[Remove] > 0 {
		for i := range w.portfolio.roles {
			w.portfolio.roles[i].onRemove = []string{"", "", "flatten", "leave"}[w.changes.below(4)]
		}
	}
	w.delayMS = delay + spread
	w.venue = newVenue(w, w.portfolio.symbols, delay, spread)
	w.portfolio.markets(w, &setup)
	w.fund(&kinds)
	w.daemon = &daemon{w: w}
	w.inspector = newInspector(w)
	w.judge = newJudge(w)
	w.configured = configuredBounds(w.bounds)
}

// loop processes all scheduled events in order.
func (w *world) loop() {
	for w.failure == nil {
		woken, wakeMS := w.wakes()
		next := min(w.agenda.nextMS(), wakeMS)
		if due, ok := w.venue.x.NextMS(); ok {
			next = min(next, max(due, w.nowMS))
		}
		if next > w.endMS {
			w.nowMS = w.endMS
			return
		}
		if next > w.nowMS {
			w.nowMS = next
		}
		if !w.quiet && w.nowMS >= w.quietMS {
			w.endFaults()
		}
		w.venue.advance(w, w.nowMS)
		switch {
		case w.agenda.nextMS() <= w.nowMS:
			h := w.agenda.take()
			w.as(h.process, func() { w.happen(&h) })
		case wakeMS <= w.nowMS:
			w.as(woken, func() { w.daemon.handle(&engine.EventWake{}) })
		}
		w.judge.check()
		if w.beyond == nil {
			w.inspector.judge()
		}
	}
}

// endFaults ends the faults.
func (w *world) endFaults() {
	w.quiet = true
	w.outageMS = 0
	for _, p := range w.processes {
		p.disk.fullMS, p.daemon.pausedMS = 0, min(p.daemon.pausedMS, w.nowMS)
		p.daemon.setClock(0)
	}
	w.restoreRules()
	w.inspector.faultsEnd()
	if w.tracing {
		w.tracef("weather", "the faults end")
	}
}

// happen processes one entry of the agenda.
func (w *world) happen(h *scheduled) {
	d := w.daemon
	switch h.kind {
	case happenArrive:
		w.arrive(h.flight)
		return
	case happenBoot:
		if !d.up && !w.process.retired {
			d.boot()
		}
		return
	case happenPrices:
		w.movePrices()
		return
	case happenFault:
		w.faultDue(h.fault)
		return
	case happenRelease:
		w.release(h)
		return
	case happenClass:
		w.beyond.due(h.class)
		return
	case happenClassOver:
		w.beyond.end(h.episode)
		return
	case happenPoll:
		w.beyond.pollFiles(h.episode)
		return
	}
	if !d.up || h.life != d.life { // it belongs to a process that has ended
		if h.kind == happenAnswer {
			w.venue.unanswered(h.flight)
		}
		return
	}
	if d.pausedMS > w.nowMS {
		h.atMS = d.pausedMS
		w.put(*h)
		return
	}
	switch h.kind {
	case happenDecision:
		d.handle(h.thought)
	case happenSend:
		w.send(h.flight)
	case happenAnswer:
		w.deliver(h.flight)
	case happenCommit:
		w.commit()
	case happenGiveUp:
		w.end("is ended by its supervisor")
	}
}

// fail records the first broken invariant, which ends the run.
func (w *world) fail(rule, format string, values ...any) {
	if w.failure == nil {
		w.failure = &Violation{Rule: rule, AtMS: w.nowMS - w.beganMS, Text: fmt.Sprintf(format, values...)}
	}
}

// tracef writes a line of the trace.
func (w *world) tracef(who, format string, values ...any) {
	at := w.nowMS - w.beganMS
	fmt.Fprintf(w.options.Trace, "%3d:%02d.%03d %-8s %s\n", at/60_000, at/1000%60, at%1000, who, fmt.Sprintf(format, values...))
}

// movePrices moves every symbol's price.
func (w *world) movePrices() {
	w.put(scheduled{atMS: w.nowMS + priceStepMS, kind: happenPrices})
	for _, key := range w.venue.keys {
		w.walk(key, 0)
	}
}

// walk moves a price by a drawn share, or by the given millionths.
func (w *world) walk(key exchange.SymbolKey, millionths int64) {
	symbol := w.venue.held[key].rules
	last, _ := w.venue.x.Price(key)
	if millionths == 0 {
		millionths = w.market.between(-300, 300) + w.portfolio.pull(key, last)
	}
	change := last / 1_000_000 * exchange.Price(millionths)
	if change == 0 {
		change = symbol.PriceTick * exchange.Price(w.market.between(-1, 1))
	}
	price := max(symbol.FloorPrice(last+change), symbol.PriceTick)
	if price != last {
		if err := w.venue.x.SlideTo(key, price); err != nil {
			w.fail("simulation", "price of %s: %v", key, err)
		}
		w.venue.takeFills(w)
		w.inspector.figures.value()
	}
}
