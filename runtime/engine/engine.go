// Package engine runs one account as a state machine of ticks and rounds: events in, effects out.
//
// Handle takes an event with its time and returns the effects. The engine has no clock, no I/O and
// no goroutine, so the live daemon, the backtest and the simulation drive the same code. A tick
// decides: View to Plan. A round converges: settle, derive, check, journal, place.
package engine

import (
	"fmt"
	"math"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

const never = math.MaxInt64

// Engine is one account's engine: its parts, and the routing of events to them. It is not safe for
// concurrent use; its driver owns it.
type Engine struct {
	*base
	*reporter    // the engine's state for display
	*previews    // previews of the next actions, without any effect
	*manual      // a person's actions on one order or one position
	*quarantines // a person's decisions about quarantined symbols

	market        *market        // candles, prices, rules and funding rates
	tick          *tick          // decides: View to Plan
	reader        *reader        // reads lists, orders, positions and prices for a round
	round         *round         // converges: settles, acts, and schedules the next
	dispatcher    *dispatcher    // derives, has checked, journals and places
	sender        *sender        // placements on their way to the exchange
	permission    *permission    // whether openings may be sent
	halts         *halts         // the kill switch
	readHealth    *readHealth    // whether reads fail
	breaker       *breaker       // the circuit breaker of unanswered and empty orders
	protection    *protection    // how long positions lack their stops
	backoffs      *backoffs      // the waits of refused intents
	limitsInForce *limitsInForce // puts limits in force
	limits        *limits        // the limits that follow equity
	results       *results       // the result of each strategy
	accounting    *accounting    // the ledger's readings
	roster        *roster        // the set of strategies
}

// New creates an engine over a tracker replayed from the journal.
func New(config Config, tracker *reconcile.Tracker) (*Engine, error) {
	if config.Epoch <= tracker.Epoch() {
		return nil, fmt.Errorf("epoch %d is not above the journal's %d", config.Epoch, tracker.Epoch())
	}
	if !placement.IsRandom(config.Random) {
		return nil, fmt.Errorf("random part %q of client order ids: want %d characters of a-z and 0-9", config.Random, placement.RandomLength)
	}
	tracker.Configure(reconcile.Settings{Instance: config.Instance, Foreign: config.Foreign, SpotFee: config.TakerFee})
	config.Offload = config.Offload && !config.Rehearse
	b := &base{config: config, gate: risk.NewGate(config.Limits), legBySymbol: map[exchange.SymbolKey]*leg{},
		dueTimes: dueTimes{roundMS: never, replaceMS: never, rulesMS: never}, outbox: newOutbox(tracker)}
	b.outbox.checkpoint, b.outbox.checkpointed, b.outbox.account = config.Checkpoint, -config.Replayed, config.Account
	e := assemble(b)
	for i := range config.Strategies {
		if _, err := e.roster.add(&config.Strategies[i]); err != nil {
			return nil, err
		}
	}
	e.limitsInForce.enforce()
	for _, leg := range e.legs {
		if err := e.roster.watchFor(leg); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// assemble creates the parts, each after the parts that it uses.
func assemble(b *base) *Engine {
	rejections := newRejections()
	e := &Engine{base: b, quarantines: &quarantines{b}, tick: &tick{b}, limits: &limits{base: b}, breaker: &breaker{base: b},
		readHealth: &readHealth{outbox: b.outbox, readingMS: never}, backoffs: &backoffs{outbox: b.outbox, feed: b.config.Feed}}
	e.protection = &protection{outbox: b.outbox, feed: b.config.Feed, backoffs: e.backoffs, rejections: rejections}
	e.accounting = &accounting{base: b, limits: e.limits}
	e.results = &results{base: b, limits: e.limits, accounting: e.accounting}
	e.limitsInForce = &limitsInForce{base: b, limits: e.limits, results: e.results, written: b.config.Limits}
	e.halts = &halts{base: b, limits: e.limits, tick: e.tick}
	e.market = &market{base: b, limits: e.limits, tick: e.tick, strict: map[exchange.SymbolKey]int64{}}
	e.permission = &permission{base: b, readHealth: e.readHealth, protection: e.protection, conditions: conditions()}
	e.sender = &sender{base: b, permission: e.permission, tick: e.tick}
	e.dispatcher = &dispatcher{base: b, readHealth: e.readHealth, breaker: e.breaker, permission: e.permission, sender: e.sender,
		rejections: rejections, backoffs: e.backoffs}
	e.reader = newReader(b, e.limits, e.market)
	e.round = &round{base: b, readHealth: e.readHealth, breaker: e.breaker, protection: e.protection, accounting: e.accounting,
		limits: e.limits, results: e.results, halts: e.halts, sender: e.sender, dispatcher: e.dispatcher, tick: e.tick,
		backoffs: e.backoffs, reader: e.reader}
	e.roster = &roster{base: b, accounting: e.accounting, limitsInForce: e.limitsInForce, results: e.results, tick: e.tick, market: e.market, round: e.round}
	e.reporter = &reporter{base: b, readHealth: e.readHealth, protection: e.protection, limits: e.limits, permission: e.permission, halts: e.halts,
		market: e.market, backoffs: e.backoffs, rejections: rejections}
	e.previews = &previews{base: b, dispatcher: e.dispatcher, backoffs: e.backoffs, tick: e.tick, reporter: e.reporter}
	e.manual = &manual{base: b, halts: e.halts, previews: e.previews}
	return e
}

// Tracker returns the account's tracker, for reading between events.
func (e *Engine) Tracker() *reconcile.Tracker { return e.tracker }

// Epoch returns the number of this start.
func (e *Engine) Epoch() int64 { return e.config.Epoch }

// Measured names an operation whose duration may be measured.
type Measured uint8

// The measurable operations.
const (
	MeasuredDecision Measured = iota + 1 // one decision of a strategy
	MeasuredCheck                        // one check of an intent by the gate
)

// Measure sets a function called before each cycle and check; the function it returns is called
// afterwards. The engine itself never reads the time. Measure must be called before the first
// event.
func (e *Engine) Measure(begin func(what Measured, strategy string) (done func())) { e.measure = begin }

// Blind reports whether reads required for a symbol have failed for so long that nothing may open
// on it (cases 23 and 44).
func (e *Engine) Blind(key exchange.SymbolKey) bool { return e.readHealth.Blind(key) }

// ReloadObstacles lists the obstacles to a reload now, or none. Handle checks them again, because
// positions may have changed.
func (e *Engine) ReloadObstacles(reload *Reload) (obstacles []string) {
	return e.roster.obstacles(reload)
}

// PreviewLimits returns the effect of setting limits without setting them. If they cannot be set,
// it returns the reason as an error, and none of them would be set.
func (e *Engine) PreviewLimits(t *LimitChange) (lines []string, err error) {
	return e.limitsInForce.preview(t)
}

// Handle takes one event at the exchange's time and adds its effects to out.
//
// A round waits for no read for longer than patienceMS. If no event was handled for longer than that,
// the process itself was suspended: the reads of the current round may be much older than the rest, so
// the round starts over.
func (e *Engine) Handle(nowMS int64, event Event, out *Effects) {
	stoodStill := nowMS-e.nowMS > patienceMS+standstillMS
	e.nowMS, e.out = nowMS, out
	if stoodStill {
		e.round.abandonRound()
	}
	audited, _ := event.(*EventAudited)
	if audited != nil {
		event = audited.Event
	}
	if !e.refuses(event) {
		if audited != nil {
			e.record(record.Record{Body: *audited.Audit})
		}
		e.route(event)
		e.flush() // before recall, which must have seen each record, including a checkpoint, before that record is durable
		e.sender.recall()
	}
	e.out = nil
}

// refuses reports whether anything prevents a change of the configuration, of the limits or of the
// ledger: then no part of the change is made, and no audit is written.
func (e *Engine) refuses(event Event) bool {
	switch event := event.(type) {
	case *EventReload:
		return e.roster.refused(event.Reload)
	case *EventSetLimits:
		return e.limitsInForce.tooLoose(event.Change)
	case *EventTransfer:
		_, err := e.accounting.previewTransfer(event)
		return err != nil
	}
	return false
}

// route routes an event.
func (e *Engine) route(event Event) {
	switch event := event.(type) {
	case *EventCandles:
		e.market.applyCandles(event)
	case *EventStretch:
		e.market.applyStretch(event)
	case *EventPrice:
		e.market.applyPrice(event)
	case *EventFollow:
		e.tick.followPrice(event)
	case *EventStart:
		e.start()
	case *EventWake:
		e.wake()
	case *EventRound:
		e.roundMS = e.nowMS
		e.wake()
	case *EventReload:
		e.roster.reload(event.Reload)
	case *EventSetLimits:
		e.limitsInForce.tighten(event.Change)
	case *EventSignal:
		e.tick.signal(event.Strategy, event.Signal)
	case *EventPrepareSignal:
		e.tick.prepareSignal(event.Strategy, event.Signal)
	case *EventAnswer:
		e.routeAnswer(event)
	case *EventDecision:
		e.tick.receiveDecision(event)
	case *EventJournaled:
		e.sender.journaled(event.Err)
	case *EventHalt:
		e.halts.halt(event)
	case *EventResolve:
		e.quarantines.resolve(event)
	case *EventWithdraw:
		e.manual.withdraw(event)
	case *EventTransfer:
		e.accounting.transfer(event)
	case *EventDisk:
		e.permission.disk(event)
	case *EventLane:
		e.dispatcher.applyLane(event)
	case *EventStop:
		e.halts.stop(event.Shutdown)
	case nil: // a person's change outside the engine
	default:
		panic(fmt.Sprintf("engine: unknown event type %T", event))
	}
}

// routeAnswer routes the answer of a call in progress.
func (e *Engine) routeAnswer(event *EventAnswer) {
	p, found := e.calls[event.CallID]
	if !found {
		return
	}
	delete(e.calls, event.CallID)
	if rows := event.Answer.Unreadable; len(rows) > 0 && !p.kind.ofRound() { // only a round can attribute an unreadable row
		event = &EventAnswer{CallID: event.CallID, Err: &exchange.Malformed{Operation: event.Answer.Operation, What: rows[0].Error(), Err: &rows[0]}}
	}
	switch p.kind {
	case callPlace:
		e.sender.local = true
		e.dispatcher.placed(p, event)
	case callCancel:
		e.dispatcher.canceled(p, event)
	case callSetLeverage:
		e.dispatcher.leverageSet(p, event)
	case callCandles:
		e.market.applyPolled(p.series, event)
	case callEnded, callExecutions, callBetween:
		e.accounting.applyAnswer(p, event)
		e.round.bookSooner()
		e.roster.endRemoved()
	case callFunding:
		e.market.applyFunding(p.leg, event)
	case callOrderBook:
		e.market.applyOrderBook(p.leg, event)
	case callRules:
		e.market.applyRules(event)
	default:
		if e.round.roundAnswer(p, event) {
			e.roster.endRemoved()
		}
	}
}

// start begins a new epoch: every order that was being sent becomes uncertain, then the first round runs.
func (e *Engine) start() {
	e.started, e.readHealth.soundMS, e.readHealth.endedMS, e.breaker.breaking = true, e.nowMS, e.nowMS, e.tracker.Breaking(e.nowMS)
	e.startMS = e.nowMS
	for i := range e.config.Missing {
		m := &e.config.Missing[i]
		e.note(m.Name, &exchange.Symbol{Market: m.Symbol.Market, Name: m.Symbol.Name}, NoteStrategyFailed{missingText(m)})
	}
	e.record(record.Record{Body: record.Boot{Epoch: e.config.Epoch, Account: e.config.Account, Random: e.config.Random, Lane: e.config.Lane}})
	for _, leg := range e.legs {
		e.roster.claim(leg)
	}
	e.limitsInForce.lapse()
	e.results.startCoolDowns()
	e.backoffs.restore()
	if e.config.ConfigHash != "" {
		e.record(record.Record{Body: record.Config{Hash: e.config.ConfigHash}})
	}
	e.roundMS = e.nowMS
	for _, leg := range e.legs {
		e.roster.start(leg)
	}
	if !e.config.Feed {
		e.rulesMS = e.nowMS + polling.RulesMS
		for _, leg := range e.legs {
			leg.firstRules = true
		}
	}
}

// wake processes everything due.
func (e *Engine) wake() {
	if e.journalMS <= e.nowMS {
		e.journalMS = never // flush passes the records on again, also while botd stops
	}
	if e.stopped {
		return
	}
	e.readHealth.watch()
	e.breaker.guardBreaker()
	if e.closing == record.LevelNone {
		e.decideDue()
	}
	if e.replaceMS <= e.nowMS {
		e.dispatcher.replaceReleased()
	}
	switch {
	case e.reader.inProgress() && min(e.emergencyMS, e.reader.lateMS) <= e.nowMS:
		e.proceedWithoutLateReads()
	case !e.reader.inProgress() && e.roundMS <= e.nowMS:
		if e.round.beginRound() {
			e.roster.endRemoved()
		}
	}
}

// proceedWithoutLateReads acts while a round's answers are missing, and continues the round without the
// late ones.
func (e *Engine) proceedWithoutLateReads() {
	if e.emergencyMS <= e.nowMS {
		e.dispatcher.emergencyHalt()
	}
	if e.round.proceed() {
		e.roster.endRemoved()
	}
}

// decideDue requests the due market data and calls the strategies whose time has come.
func (e *Engine) decideDue() {
	if !e.config.Feed {
		e.market.poll()
		e.market.pollOrderBooks()
	}
	e.market.pollFunding()
	e.tick.overdue()
	for _, leg := range e.legs {
		if leg.schedule.nextMS <= e.nowMS {
			e.tick.scheduled(leg)
		}
	}
}

// NextMS returns when the engine needs an EventWake; math.MaxInt64 for never.
func (e *Engine) NextMS() int64 {
	next := e.journalMS
	if e.stopped {
		return next
	}
	next = min(next, e.replaceMS)
	if !e.reader.inProgress() {
		next = min(next, e.roundMS)
	} else {
		next = min(next, e.emergencyMS, e.reader.lateMS)
	}
	if e.closing != record.LevelNone {
		return next
	}
	if e.config.Feed {
		for _, leg := range e.legs {
			next = min(next, leg.schedule.nextMS)
		}
		return next
	}
	next = min(next, e.rulesMS)
	for _, s := range e.market.series {
		next = min(next, s.pollMS)
	}
	for _, leg := range e.legs {
		next = min(next, leg.schedule.nextMS, leg.askMS())
		if !leg.watched.fundingRequested {
			next = min(next, leg.watched.fundingMS)
		}
		if !leg.watched.orderBookRequested {
			next = min(next, leg.watched.orderBookMS)
		}
	}
	return next
}

// InFlight reports whether a placement waits for its record or its answer, records are not written yet,
// or the shutdown still has something to close. Reads and cancels in progress do not count.
func (e *Engine) InFlight() bool {
	if len(e.sender.queued) > 0 || len(e.unwritten) > 0 || e.closing != record.LevelNone && !e.stopped {
		return true
	}
	for _, p := range e.calls {
		if p.kind == callPlace {
			return true
		}
	}
	return false
}
