package engine

import (
	"maps"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// phase is where a round stands; zero is no round under way.
type phase uint8

const (
	phaseLists     phase = iota + 1 // open lists; positions too when something is unknown
	phaseLooks                      // orders that vanished from their list, by id
	phasePositions                  // positions, account, wallet, prices
)

// round settles, and has the placer derive, check and place.
type round struct {
	*base
	sight      *sight
	breaker    *breaker
	protection *protection
	accounting *accounting
	alarms     *alarms
	limits     *limits
	results    *results
	halts      *halts
	sender     *sender
	placer     *placer
	tick       *tick
	market     *market
	reading    reading
}

// reading is how far the round under way has got.
type reading struct {
	phase    phase
	waiting  int // answers of this phase still out
	failed   error
	snapshot reconcile.Snapshot
	history  []exchange.Order
	asked    bool // history was asked for
	partial  bool // a page of it was full: there may be more
	version  uint64
}

// pressingMS is how soon a failed round is tried again while a halt has something
// to take away.
const pressingMS = 2_000

// underWay reports whether answers of a round are out.
func (e *round) underWay() bool { return e.reading.phase != 0 }

func (e *round) beginRound() {
	e.sight.readingMS = e.nowMS
	e.reading = reading{
		phase:    phaseLists,
		snapshot: reconcile.Snapshot{BeganMS: e.nowMS, Looked: e.reading.snapshot.Looked[:0]},
		version:  e.book.Version(),
	}
	if e.pressMS = never; e.halts.pressing() { // reads may hang
		e.pressMS = e.nowMS + pressingMS
	}
	if e.trades(exchange.Futures) {
		if e.book.Unknowns() {
			e.roundAsk(purpose{kind: callRound, before: true}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		}
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesOpenOrders})
		if slices.ContainsFunc(e.runs, func(r *run) bool { return r.truth.Key().Market == exchange.Futures && r.truth.Leverage == 0 }) {
			e.roundAsk(purpose{kind: callLeverages}, exchange.Request{Operation: exchange.FuturesLeverages})
		}
	}
	if e.trades(exchange.Spot) {
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.SpotOpenOrders})
	}
	if e.reading.waiting == 0 {
		e.end()
		e.roundMS = never // no strategies: nothing to reconcile
	}
}

// roundAnswer takes one answer of the round and moves on when all are in. It reports whether
// the round is complete.
func (e *round) roundAnswer(p purpose, event *EventAnswer) (complete bool) {
	e.reading.waiting--
	if err := e.takeRound(p, event); err != nil && e.reading.failed == nil {
		e.reading.failed = err
	}
	for e.reading.waiting == 0 && e.reading.phase != 0 {
		switch {
		case e.reading.failed != nil:
			e.roundFailed()
		case e.reading.phase == phaseLists:
			e.reading.phase = phaseLooks
			e.lookForVanished()
		case e.reading.phase == phaseLooks:
			e.reading.phase = phasePositions
			e.askPositions()
		default:
			e.finishRound()
			complete = true
		}
	}
	return complete
}

// roundFailed ends a round that could not read everything: nothing is concluded
// and nothing is done.
func (e *round) roundFailed() {
	e.sight.failed++
	e.note("", nil, NoteFetchFailed{"orders and positions", e.reading.failed, e.sight.failed})
	e.note("", nil, NoteRound{DurationMS: e.nowMS - e.reading.snapshot.BeganMS})
	e.end()
	e.sight.watchBlind(e.reading.failed)
	e.alarms.guardOverdue()
	e.placer.press()
	most := int64(15_000)
	if e.halts.pressing() {
		most = pressingMS
	}
	e.roundMS = e.nowMS + min(most, max(1_000, e.config.BusyRoundMS)<<min(e.sight.failed-1, 4))
}

// finishRound settles, then acts on what is true now.
func (e *round) finishRound() {
	snapshot := &e.reading.snapshot
	snapshot.EndedMS = e.nowMS
	if e.reading.asked {
		snapshot.History, snapshot.HistoryWhole = exchange.FetchedOf(e.reading.history), !e.reading.partial
	}
	e.end()
	e.sight.failed, e.sight.soundMS = 0, e.nowMS
	e.sight.watchBlind(nil)
	e.settle(snapshot)
	if !e.halts.stopped {
		e.accounting.keepBooks(snapshot)
	}
	e.breaker.guardBreaker()
	e.results.attribute()
	e.limits.watchLimits(true)
	e.alarms.guardPrefix()
	e.alarms.guardOverdue()
	acted := 0
	if !e.halts.stopped {
		for _, r := range e.runs {
			acted += e.placer.act(r)
		}
	}
	for _, r := range e.runs {
		e.protection.measureBare(r)
	}
	e.protection.readMS = snapshot.BeganMS
	if !e.config.Quiet {
		e.note("", nil, NoteRound{true, acted, e.nowMS - snapshot.BeganMS})
	}
	e.schedule(acted > 0)
	e.halts.closed(acted, len(e.sender.queued))
}

func (e *round) end() { e.reading.phase, e.sight.readingMS = 0, never }

// schedule says when the next round is due: soon while anything is in flight,
// uncertain or unprotected, else after the idle time.
func (e *round) schedule(acted bool) {
	changed := e.book.Version() != e.reading.version
	switch {
	case acted || e.busy() && (e.config.BusyRoundMS > 0 || changed):
		e.roundMS = e.nowMS + e.config.BusyRoundMS
	case e.accounting.futures.stands() || e.accounting.spot.stands(): // the ledger waits until what it read is old enough
		e.roundMS = e.nowMS + max(e.config.BusyRoundMS, min(e.config.IdleRoundMS, e.config.Settle.StalenessMS))
	case e.config.IdleRoundMS > 0:
		e.roundMS = min(e.nowMS+e.config.IdleRoundMS, e.limits.turnMS())
	default:
		e.roundMS = never
	}
}

// busy reports whether a round soon could learn something.
func (e *round) busy() bool {
	for _, p := range e.book.Live() {
		resting := p.State() == placement.Working && e.book.CancelMS(p.ClientOrderID()) == 0 && p.Order().Type != exchange.MarketOrder
		if !resting {
			return true
		}
	}
	return slices.ContainsFunc(e.runs, func(r *run) bool { return !r.truth.Settled || r.truth.UnprotectedSinceMS != 0 })
}

// abandonRound begins a round under way anew: it did not ask for all that a round
// asks for now.
func (e *round) abandonRound() {
	if !e.underWay() {
		return
	}
	maps.DeleteFunc(e.calls, func(_ int64, p purpose) bool { return p.kind.ofRound() })
	e.end()
	e.reading.waiting, e.roundMS = 0, e.nowMS
}
