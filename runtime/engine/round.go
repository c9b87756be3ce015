package engine

import (
	"errors"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
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

// callKind says what an answer is for.
type callKind uint8

const (
	callRound callKind = iota + 1
	callLook
	callHistory
	callTicker
	callLeverages
	callPlace
	callCancel
	callSetLeverage
	callClosed
	callTrades
	callCandles
	callRules
	callFunding
	callNewest
	callEnded      // the ledger: positions that ended
	callExecutions // the ledger: executions of a spot order
	callBetween    // the ledger: positions and account, apart from the rounds
)

// ofRound reports whether a round waits for the answer.
func (k callKind) ofRound() bool {
	switch k {
	case callRound, callLook, callHistory, callTicker, callLeverages, callClosed, callTrades, callNewest:
		return true
	}
	return false
}

// purpose is what a call under way is for.
type purpose struct {
	kind     callKind
	series   *series
	run      *run
	truth    *reconcile.SymbolState
	clientID string
	orderID  int64
	leverage int
	before   bool // the positions read that opens a full snapshot
	sentMS   int64
	recalled string // placements: why it was recalled; empty when it was not
}

// underWay reports whether answers of a round are out.
func (e *round) underWay() bool { return e.reading.phase != 0 }

func (e *round) end() { e.reading.phase, e.sight.readingMS = 0, never }

func (e *round) beginRound() {
	e.sight.readingMS = e.nowMS
	e.reading = reading{phase: phaseLists, snapshot: reconcile.Snapshot{BeganMS: e.nowMS, Looked: e.reading.snapshot.Looked[:0]}, version: e.book.Version()}
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

func (e *round) roundAsk(p purpose, request exchange.Request) {
	e.reading.waiting++
	e.ask(p, PrioritySettle, request)
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

// takeRound puts an answer into the snapshot. A list that was not fetched stays
// unfetched: its failure ends the round.
func (e *round) takeRound(p purpose, event *EventAnswer) error {
	snapshot := &e.reading.snapshot
	var refusal *exchange.Refusal
	if p.kind == callLook && errors.As(event.Err, &refusal) && !refusal.Unauthorized() && refusal.Code != exchange.CodeInvalidTimestamp {
		snapshot.Looked = append(snapshot.Looked, reconcile.Look{OrderID: p.orderID})
		return nil
	}
	if event.Err != nil {
		return event.Err
	}
	answer := &event.Answer
	switch {
	case p.kind == callLook:
		snapshot.Looked = append(snapshot.Looked, reconcile.Look{OrderID: p.orderID, Order: answer.Order, Known: true})
	case p.kind == callHistory:
		e.reading.history = append(e.reading.history, answer.Orders.Items()...)
		e.reading.partial = e.reading.partial || len(answer.Orders.Items()) >= spotHistory
	case p.kind == callNewest:
		snapshot.Newest = append(snapshot.Newest, answer.Orders.Items()...)
	case p.kind == callClosed:
		snapshot.Closed, snapshot.ClosedOf = append(snapshot.Closed, answer.Positions.Items()...), append(snapshot.ClosedOf, p.truth.Key().Name)
	case p.kind == callTrades:
		e.takeTrades(p, answer)
	case p.kind == callTicker:
		e.takeTickers(p, answer)
	case p.kind == callLeverages:
		for _, setting := range answer.Leverages.Items() {
			e.book.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: setting.Symbol}).Leverage = setting.Leverage
		}
	case p.before:
		snapshot.Before = answer.Positions
	case answer.Operation == exchange.FuturesOpenOrders:
		snapshot.FuturesOrders = answer.Orders
	case answer.Operation == exchange.SpotOpenOrders:
		snapshot.SpotOrders = answer.Orders
	case answer.Operation == exchange.FuturesOpenPositions:
		snapshot.Positions = answer.Positions
	case answer.Operation == exchange.SpotWallet:
		snapshot.Balances = answer.Balances
	case answer.Operation == exchange.FuturesAccount:
		account := answer.Account
		snapshot.Account = &account
	}
	return nil
}

func (e *round) takeTickers(p purpose, answer *exchange.Answer) {
	for _, ticker := range answer.Tickers.Items() {
		if ticker.Symbol == p.truth.Key().Name && ticker.Last > 0 {
			p.truth.Last, p.truth.Mark, p.truth.LastMS = ticker.Last, ticker.Last, e.market.pricedMS(p.truth.Key(), ticker.CloseMS)
		}
	}
}

// lookForVanished asks for each live order its list does not show: futures by
// id, spot (which has no get) by the symbol's history.
func (e *round) lookForVanished() {
	for _, p := range e.book.Vanished(&e.reading.snapshot) {
		if p.Order().Market == exchange.Futures {
			e.roundAsk(purpose{kind: callLook, orderID: p.OrderID()}, exchange.Request{Operation: exchange.FuturesOrder, OrderID: p.OrderID()})
		}
	}
	var asked []string
	for _, p := range e.book.Live() {
		if p.Order().Market != exchange.Spot || slices.Contains(asked, p.Order().Symbol) || p.State() == placement.Working && !e.vanished(p) {
			continue
		}
		asked = append(asked, p.Order().Symbol)
		e.reading.asked = true
		e.roundAsk(purpose{kind: callHistory}, exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: p.Order().Symbol, StartMS: max(0, p.SentMS()-60_000), Limit: spotHistory})
	}
	for _, r := range e.runs {
		if r.truth.Key().Market == exchange.Spot && !r.truth.Read && !e.config.Feed {
			e.roundAsk(purpose{kind: callNewest}, exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: r.truth.Key().Name, Limit: spotHistory})
		}
	}
	e.askEvidence()
}

// spotHistory is how many orders or trades one page of spot history holds.
const spotHistory = 1_000

func (e *round) vanished(p *account.Placement) bool {
	return !slices.ContainsFunc(e.reading.snapshot.SpotOrders.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID() })
}

// askPositions reads positions last, so that a fill between the lists and here
// shows as a difference that the next round explains, never as a wrong sum.
func (e *round) askPositions() {
	if e.trades(exchange.Futures) {
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesAccount})
	}
	if e.trades(exchange.Spot) {
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.SpotWallet})
	}
	if e.config.Feed {
		return
	}
	for _, r := range e.runs {
		if e.nowMS-r.truth.LastMS < 500 && r.truth.LastMS != 0 || !e.wantsPrice(r) {
			continue
		}
		request := exchange.Request{Operation: exchange.FuturesTicker, Symbol: r.truth.Key().Name}
		if r.truth.Key().Market == exchange.Spot {
			request.Operation = exchange.SpotTicker
		}
		e.roundAsk(purpose{kind: callTicker, truth: r.truth}, request)
	}
}

// wantsPrice reports whether a round could act on the symbol's price.
func (e *round) wantsPrice(r *run) bool {
	return r.truth.LastMS == 0 || r.truth.Position != 0 || r.config.Schedule != nil ||
		r.state.Plan().Target.Sign() != 0 || r.state.Plan().OrdersSet
}

// pressingMS is how soon a failed round is tried again while a halt has something
// to take away.
const pressingMS = 2_000

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

// guardPrefix halts the account when another instance, or an old backup, trades
// under our prefix (case 15).
func (e *alarms) guardPrefix() {
	id := e.book.ForeignPrefix()
	if id == "" {
		return
	}
	if e.book.Halted().Level != record.LevelNone {
		e.guardAliens() // a halt for another reason may end before this one is looked at
		return
	}
	why := "order " + id + " carries this instance's prefix but is not in the journal: a second botd, or an old backup"
	e.record(record.Record{ClientOrderID: id, Body: record.Halt{Level: record.LevelPause, Why: why}})
	e.note("", nil, NoteHalt{Why: why})
}

// guardAliens quarantines the symbols whose history tells of an order the journal
// does not know: unlike an open one it is not found again.
func (e *alarms) guardAliens() {
	for _, truth := range e.book.Symbols() {
		if truth.UnknownEnded == "" || truth.Quarantine() != "" {
			continue
		}
		why := "order " + truth.UnknownEnded + " carries this instance's prefix but is not in the journal: an old backup"
		e.record(record.Record{Symbol: truth.Key(), ClientOrderID: truth.UnknownEnded, Body: record.Quarantined{Why: why}})
		e.note("", truth.Rules, NoteQuarantine{Why: why})
	}
}

// protectionOf is the plan's protection, else the configured one.
func protectionOf(r *run) strategy.Protection {
	if r.state.Plan().Protection.Set {
		return r.state.Plan().Protection
	}
	return r.config.Protection
}
