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
	phaseOrders                     // orders that vanished from their list, by id
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
	dispatcher *dispatcher
	tick       *tick
	market     *market
	reading    reading
}

// reading is how far the round under way has got.
type reading struct {
	phase    phase
	pending  int // answers of this phase still out
	failed   error
	snapshot reconcile.Snapshot
	history  []exchange.Order
	asked    bool // history was asked for
	partial  bool // a page of it was full: there may be more
	version  uint64
}

// pressingMS is how soon a failed round is tried again while a halt has something
// to take away.
const haltRetryMS = 2_000

// underWay reports whether answers of a round are out.
func (r *round) underWay() bool { return r.reading.phase != 0 }

func (r *round) beginRound() {
	r.sight.readingMS = r.nowMS
	r.reading = reading{phase: phaseLists, snapshot: reconcile.Snapshot{BeganMS: r.nowMS, Looked: r.reading.snapshot.Looked[:0]}, version: r.book.Version()}
	if r.emergencyMS = never; r.halts.pending() { // reads may hang
		r.emergencyMS = r.nowMS + haltRetryMS
	}
	if r.trades(exchange.Futures) {
		if r.book.Unknowns() {
			r.roundAsk(purpose{kind: callRound, before: true}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		}
		r.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesOpenOrders})
		if slices.ContainsFunc(r.legs, func(leg *leg) bool { return leg.symbol.Key().Market == exchange.Futures && leg.symbol.Leverage == 0 }) {
			r.roundAsk(purpose{kind: callLeverages}, exchange.Request{Operation: exchange.FuturesLeverages})
		}
	}
	if r.trades(exchange.Spot) {
		r.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.SpotOpenOrders})
	}
	if r.reading.pending == 0 {
		r.end()
		r.roundMS = never // no strategies: nothing to reconcile
	}
}

// roundAnswer takes one answer of the round and moves on when all are in. It reports whether
// the round is complete.
func (r *round) roundAnswer(p purpose, event *EventAnswer) (complete bool) {
	r.reading.pending--
	if err := r.takeRound(p, event); err != nil && r.reading.failed == nil {
		r.reading.failed = err
	}
	for r.reading.pending == 0 && r.reading.phase != 0 {
		switch {
		case r.reading.failed != nil:
			r.roundFailed()
		case r.reading.phase == phaseLists:
			r.reading.phase = phaseOrders
			r.fetchVanished()
		case r.reading.phase == phaseOrders:
			r.reading.phase = phasePositions
			r.askPositions()
		default:
			r.finishRound()
			complete = true
		}
	}
	return complete
}

// roundFailed ends a round that could not read everything: nothing is concluded
// and nothing is done.
func (r *round) roundFailed() {
	r.sight.failed++
	r.note("", nil, NoteFetchFailed{"orders and positions", r.reading.failed, r.sight.failed})
	r.note("", nil, NoteRound{DurationMS: r.nowMS - r.reading.snapshot.BeganMS})
	r.end()
	r.sight.watchBlind(r.reading.failed)
	r.alarms.guardOverdue()
	r.dispatcher.emergencyHalt()
	most := int64(15_000)
	if r.halts.pending() {
		most = haltRetryMS
	}
	r.roundMS = r.nowMS + min(most, max(1_000, r.config.BusyRoundMS)<<min(r.sight.failed-1, 4))
}

// finishRound settles, then acts on what is true now.
func (r *round) finishRound() {
	snapshot := &r.reading.snapshot
	snapshot.EndedMS = r.nowMS
	if r.reading.asked {
		snapshot.History, snapshot.HistoryWhole = exchange.FetchedOf(r.reading.history), !r.reading.partial
	}
	r.end()
	r.sight.failed, r.sight.soundMS = 0, r.nowMS
	r.sight.watchBlind(nil)
	r.settle(snapshot)
	if !r.halts.stopped {
		r.accounting.observe(snapshot)
	}
	r.breaker.guardBreaker()
	r.results.attribute()
	r.limits.watchLimits(true)
	r.alarms.guardPrefix()
	r.alarms.guardOverdue()
	acted := 0
	if !r.halts.stopped {
		for _, leg := range r.legs {
			acted += r.dispatcher.act(leg)
		}
	}
	for _, leg := range r.legs {
		r.protection.measure(leg)
	}
	r.protection.readMS = snapshot.BeganMS
	if !r.config.Quiet {
		r.note("", nil, NoteRound{true, acted, r.nowMS - snapshot.BeganMS})
	}
	r.schedule(acted > 0)
	r.halts.finishShutdown(acted, len(r.sender.queued))
}

func (r *round) end() { r.reading.phase, r.sight.readingMS = 0, never }

// schedule says when the next round is due: soon while anything is in flight,
// uncertain or unprotected, else after the idle time.
func (r *round) schedule(acted bool) {
	changed := r.book.Version() != r.reading.version
	switch {
	case acted || r.busy() && (r.config.BusyRoundMS > 0 || changed):
		r.roundMS = r.nowMS + r.config.BusyRoundMS
	case r.accounting.ready():
		r.roundMS = r.nowMS + r.bookingMS()
	case r.config.IdleRoundMS > 0:
		r.roundMS = min(r.nowMS+r.config.IdleRoundMS, r.limits.turnMS())
	default:
		r.roundMS = never
	}
}

// bookingMS is how long the ledger waits until what it read is old enough to be booked.
func (r *round) bookingMS() int64 {
	return max(r.config.BusyRoundMS, min(r.config.IdleRoundMS, r.config.Settle.StalenessMS))
}

// hastenBooking has the next round come soon when the answers to the ledger's
// questions were not enough to book.
func (r *round) hastenBooking() {
	if r.config.IdleRoundMS > 0 && !r.underWay() && r.accounting.ready() {
		r.roundMS = min(r.roundMS, r.nowMS+r.bookingMS())
	}
}

// busy reports whether a round soon could learn something.
func (r *round) busy() bool {
	for _, p := range r.book.Live() {
		resting := p.State() == placement.Working && r.book.CancelMS(p.ClientOrderID()) == 0 && p.Order().Type != exchange.MarketOrder
		if !resting {
			return true
		}
	}
	return slices.ContainsFunc(r.legs, func(leg *leg) bool { return !leg.symbol.Settled || leg.symbol.UnprotectedSinceMS != 0 })
}

// abandonRound begins a round under way anew: it did not ask for all that a round
// asks for now.
func (r *round) abandonRound() {
	if !r.underWay() {
		return
	}
	maps.DeleteFunc(r.calls, func(_ int64, p purpose) bool { return p.kind.ofRound() })
	r.end()
	r.reading.pending, r.roundMS = 0, r.nowMS
}
