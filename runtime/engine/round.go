package engine

import (
	"maps"
	"slices"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// phase is the progress of a round; zero if none is in progress.
type phase uint8

const (
	phaseLists     phase = iota + 1 // open lists, and positions if anything is uncertain
	phaseOrders                     // orders that vanished from their list, by id
	phasePositions                  // positions, account, wallet, prices
)

// round settles, then has the dispatcher derive, check and place.
type round struct {
	*base
	readHealth       *readHealth
	breaker          *breaker
	protection       *protection
	accounting       *accounting
	limits           *limits
	results          *results
	halts            *halts
	sender           *sender
	dispatcher       *dispatcher
	tick             *tick
	market           *market
	backoffs         *backoffs
	reading          reading
	took             map[exchange.Operation]int64 // last durations of reads
	newestAnsweredMS int64                        // send time of the most recently sent read that was answered
	overdue          []failure                    // late reads that failed between rounds
	singly           map[exchange.Market]int64    // time until which a market's prices are read by single tickers
	listFrom         int                          // minimum number of missing prices for which the list is read: polling.TickersFrom; lower in tests
	request          exchange.Request             // scratch of Config.Read
	requestPurpose   pendingCall                  // scratch of Config.Read
	instant          EventAnswer                  // scratch of Config.Read
	before           []symbolBefore               // scratch of settle
	live             []*account.Placement         // scratch of settle
	filled           []exchange.Quantity          // scratch of settle, for each of live
}

// reading is the progress of the current round.
type reading struct {
	phase     phase
	pending   int       // pending answers of this phase
	lateMS    int64     // earliest time at which one of the reads may be late
	failures  []failure // one per domain
	late      []failure // one per domain, of pending reads
	snapshot  reconcile.Snapshot
	account   exchange.MarginAccount // the snapshot points to it
	vanished  []*account.Placement   // missing in the open lists
	history   []exchange.Order
	listed    []exchange.Market        // markets whose list of prices was requested
	sentMS    int64                    // when the read that is being applied was sent
	shownMS   [exchange.Spot + 1]int64 // when the positions, or the wallet, of a market were read; 0 before
	requested bool                     // history was requested
	partial   bool                     // a page of the history was full: there may be more
	version   uint64
}

// haltRetryMS is the time after which a failed round is retried while a halt has something to
// close.
const haltRetryMS = 2_000

// inProgress reports whether answers of a round are pending.
func (r *round) inProgress() bool { return r.reading.phase != 0 }

// beginRound requests the open lists. It reports whether the round is complete at once.
func (r *round) beginRound() (complete bool) {
	r.readHealth.readingMS = r.nowMS
	r.reading = reading{phase: phaseLists, lateMS: never, version: r.book.Version(),
		snapshot: reconcile.Snapshot{BeganMS: r.nowMS, ByID: r.reading.snapshot.ByID[:0]}, listed: r.reading.listed[:0]}
	r.limits.pricedLater = r.limits.pricedLater[:0]
	r.emergencyMS = r.nowMS + patienceMS
	if r.halts.pending() { // reads may hang
		r.emergencyMS = r.nowMS + haltRetryMS
	}
	r.giveUpLate()
	if len(r.legs) == 0 {
		r.end()
		r.roundMS = never // no strategies: nothing to reconcile
		return false
	}
	if r.trades(exchange.Futures) {
		if r.book.Unknowns() {
			r.askForRound(pendingCall{kind: callRound, before: true}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		}
		r.askEach(polling.Of(exchange.Futures).Lists)
		if slices.ContainsFunc(r.legs, func(leg *leg) bool { return leg.symbol.Key().Market == exchange.Futures && leg.symbol.Leverage() == 0 }) {
			r.askForRound(pendingCall{kind: callLeverages}, exchange.Request{Operation: exchange.FuturesLeverages})
		}
	}
	if r.trades(exchange.Spot) {
		r.askEach(polling.Of(exchange.Spot).Lists)
	}
	return r.advance()
}

// askEach requests reads that need no symbol.
func (r *round) askEach(operations []exchange.Operation) {
	for _, operation := range operations {
		r.askForRound(pendingCall{kind: callRound}, exchange.Request{Operation: operation})
	}
}

// roundAnswer applies one answer of the round and advances once all have arrived. It reports
// whether the round is complete.
func (r *round) roundAnswer(p pendingCall, event *EventAnswer) (complete bool) {
	if p.late {
		r.lateAnswer(&p, event)
		return false
	}
	r.noteDuration(&p, event)
	switch {
	case event.Err == nil || p.noSuchOrder(event.Err):
		r.forget(&p)
	case r.awaited(&p):
		return false // the other copy may still be answered
	}
	r.reading.pending--
	r.takeRead(&p, event)
	return r.advance()
}

// advance advances while no answer is awaited. It reports whether the round is complete.
func (r *round) advance() (complete bool) {
	for r.reading.pending == 0 && r.reading.phase != 0 {
		switch {
		case r.reading.phase == phaseLists && r.readHealth.worst() == 0 && r.nothingRead():
			r.roundFailed() // the next one requests positions anyway
		case r.reading.phase == phaseLists:
			r.reading.phase = phaseOrders
			r.fetchVanished()
		case r.reading.phase == phaseOrders:
			r.reading.phase = phasePositions
			r.askPositions()
		default:
			complete = r.finishRound()
		}
	}
	return complete
}

// takeRead adds an answer to the snapshot. A list that was not fetched stays unset, and nothing is
// concluded in its domain.
func (r *round) takeRead(p *pendingCall, event *EventAnswer) {
	snapshot := &r.reading.snapshot
	if p.noSuchOrder(event.Err) {
		snapshot.ByID = append(snapshot.ByID, reconcile.OrderByID{OrderID: p.orderID})
		return
	}
	if event.Err != nil {
		r.readFailed(p, event.Err)
		return
	}
	answer := &event.Answer
	r.reading.sentMS = p.sentMS
	if len(answer.Unreadable) > 0 {
		defer r.takeRows(p, answer)
	}
	switch {
	case p.kind == callOrder:
		snapshot.ByID = append(snapshot.ByID, reconcile.OrderByID{OrderID: p.orderID, Order: answer.Order, Known: true})
	case p.kind == callHistory:
		r.reading.history = append(r.reading.history, answer.Orders.Items()...)
		r.reading.partial = r.reading.partial || len(answer.Orders.Items()) >= exchange.HistoryPage
	case p.kind == callNewest:
		snapshot.Newest = append(snapshot.Newest, answer.Orders.Items()...)
	case p.kind == callClosed:
		snapshot.Closed, snapshot.ClosedOf = append(snapshot.Closed, answer.Positions.Items()...), append(snapshot.ClosedOf, p.symbol.Key().Name)
	case p.kind == callTrades:
		r.takeTrades(p, answer)
	case p.kind == callTicker:
		r.takeTicker(p.symbol, answer.Tickers.Items())
	case p.kind == callTickers:
		r.takeTickers(p.of.Market(), answer.Tickers.Items())
	case p.kind == callLeverages:
		for _, setting := range answer.Leverages.Items() {
			r.book.Track(exchange.SymbolKey{Market: exchange.Futures, Name: setting.Symbol}).SetLeverage(setting.Leverage)
		}
	case p.before:
		snapshot.Before = answer.Positions
	case answer.Operation == exchange.FuturesOpenOrders:
		snapshot.FuturesOrders = answer.Orders
	case answer.Operation == exchange.SpotOpenOrders:
		snapshot.SpotOrders = answer.Orders
	case answer.Operation == exchange.FuturesOpenPositions:
		snapshot.Positions, r.reading.shownMS[exchange.Futures] = answer.Positions, r.nowMS
	case answer.Operation == exchange.SpotWallet:
		snapshot.Balances, r.reading.shownMS[exchange.Spot] = answer.Balances, r.nowMS
	case answer.Operation == exchange.FuturesAccount:
		r.reading.account = answer.Account
		snapshot.Account = &r.reading.account
	}
}

// fetchVanished reads each live order that its list omits: futures orders by id, spot orders (which
// have no get) through the symbol's history.
func (r *round) fetchVanished() {
	r.reading.vanished = r.book.Vanished(&r.reading.snapshot)
	for _, p := range r.reading.vanished {
		if p.Symbol().Market == exchange.Futures {
			r.askForRound(pendingCall{kind: callOrder, symbol: r.book.Symbol(p.Symbol()), orderID: p.OrderID()},
				exchange.Request{Operation: exchange.FuturesOrder, OrderID: p.OrderID()})
		}
	}
	if !r.reading.snapshot.FuturesOrders.Done() {
		r.fetchUnlisted()
	}
	r.fetchForeign()
	r.fetchSpotHistory()
	r.askEvidence()
}

// nothingRead reports whether no market's open orders could be read.
func (r *round) nothingRead() bool {
	s := &r.reading.snapshot
	return len(r.reading.failures) > 0 && !s.FuturesOrders.Done() && !s.SpotOrders.Done()
}

// anyRead reports whether the round read anything of the account.
func (r *round) anyRead() bool {
	s := &r.reading.snapshot
	return s.FuturesOrders.Done() || s.SpotOrders.Done() || s.Positions.Done() || s.Balances.Done() || r.reading.requested && len(r.reading.history) > 0
}

// wasRead reports whether the round read enough of a market to act on it.
func (r *round) wasRead(market exchange.Market) bool {
	s := &r.reading.snapshot
	if market == exchange.Spot {
		return s.SpotOrders.Done() && s.Balances.Done()
	}
	return s.Positions.Done()
}

// roundFailed ends a round that could read no market: it concludes nothing and does nothing.
func (r *round) roundFailed() {
	var failures []failure
	if len(r.reading.failures) > 0 {
		failures = []failure{{err: r.reading.failures[0].err}} // if no market can be read, the failure is the account's
	}
	r.readHealth.take(failures, r.reading.late, false)
	r.note("", nil, NoteRound{DurationMS: r.nowMS - r.reading.snapshot.BeganMS})
	r.end()
	r.readHealth.watch()
	guardOverdue(r.base)
	r.dispatcher.emergencyHalt()
	r.roundMS = r.nowMS + r.retryMS()
}

// retryMS returns the time after which an incomplete round is retried.
func (r *round) retryMS() int64 {
	maxMS := int64(15_000)
	switch {
	case r.halts.pending():
		maxMS = haltRetryMS
	case r.exposed():
		maxMS = exposedRetryMS
	}
	return min(maxMS, max(1_000, r.config.BusyRoundMS)<<max(0, min(r.readHealth.worst()-1, 4)))
}

// exposedRetryMS is the time after which a round is retried if it could not read a symbol where a
// position may lack its stop.
const exposedRetryMS = 2_000

// exposed reports whether a position in a symbol that cannot be read lacks its stop, or may lack it: it
// has not been read since the start, or the outcome of an opening, possibly a refused one, is unknown.
func (r *round) exposed() bool {
	return slices.ContainsFunc(r.legs, func(leg *leg) bool {
		unseen := !leg.symbol.Read() && leg.symbol.Known() != 0 && !r.protection.hasStop(leg)
		return (leg.symbol.UnprotectedSinceMS() != 0 || unseen) && r.readHealth.failing(leg.symbol.Key()) > 0
	}) || slices.ContainsFunc(r.book.Refused(), func(o reconcile.RefusedOrder) bool {
		return o.Opens() && r.readHealth.failing(o.Symbol) > 0
	}) || r.book.AnyInFlight(func(p *account.Placement) bool {
		return p.Purpose().Opens() && p.State() != placement.Working && r.readHealth.failing(p.Symbol()) > 0
	})
}

// finishRound settles, then acts on the current state as far as it was read. It reports whether
// anything was read.
func (r *round) finishRound() bool {
	if len(r.reading.failures)+len(r.reading.late) > 0 && !r.anyRead() {
		r.roundFailed()
		return false
	}
	snapshot := &r.reading.snapshot
	snapshot.EndedMS = r.nowMS
	if r.reading.requested {
		snapshot.History, snapshot.HistoryWhole = exchange.FetchedOf(r.reading.history), !r.reading.partial
	}
	r.end()
	for _, key := range r.readHealth.take(r.reading.failures, r.reading.late, true) {
		r.backoffs.readAgain(key)
	}
	r.readHealth.watch()
	r.settle(snapshot)
	if !r.stopped {
		r.accounting.observe(snapshot)
	}
	r.breaker.guardBreaker()
	r.results.attribute(snapshot)
	futuresRead, spotRead := snapshot.Account != nil || !r.trades(exchange.Futures), snapshot.Balances.Done() || !r.trades(exchange.Spot)
	whole := futuresRead && spotRead
	r.limits.ahead, r.limits.fromMS = r.walletAhead(), snapshot.BeganMS
	r.limits.mixed = r.limits.ahead || !whole && (r.limits.mixed || r.positionChanged())
	if whole {
		r.limits.watchLimits(true)
	}
	guardPrefix(r.outbox)
	guardOverdue(r.base)
	r.backoffs.watch() // before anything opens: refusals that concern an earlier position have ended
	acted := 0
	r.book.BeginPass()
	for _, leg := range r.legs {
		acted += r.actOn(leg)
	}
	r.book.EndPass()
	if !r.config.Quiet {
		r.note("", nil, NoteRound{r.readHealth.failed == 0, len(r.reading.late), acted, r.nowMS - snapshot.BeganMS})
	}
	r.schedule(acted > 0)
	r.halts.finishShutdown(acted, len(r.sender.queued))
	return true
}

// settle advances every placement by the fetched answers and notes the changes.
func (r *round) settle(snapshot *reconcile.Snapshot) {
	before := r.before[:0]
	for _, leg := range r.legs {
		before = append(before, symbolBefore{leg.symbol.Position(), leg.symbol.Known(), leg.symbol.Quarantine(), leg.state.Latch()})
	}
	unread := slices.DeleteFunc(slices.Clone(r.legs), func(leg *leg) bool { return leg.symbol.Read() })
	live, fills := slices.AppendSeq(r.live[:0], r.book.Live()), r.filled[:0]
	for _, p := range live {
		fills = append(fills, p.Filled())
	}
	r.before, r.live, r.filled = before, live, fills
	watchLiquidations(r.base, snapshot)
	stale := r.book.Stale()
	for _, observed := range r.book.Observe(snapshot) {
		r.enqueue(observed)
		r.noteObserved(&observed)
	}
	for i, p := range live {
		if p.State() == placement.Working && p.Filled() == fills[i] && len(r.backoffs.all) == 0 {
			continue
		}
		r.notePlacement(p, fills[i])
		if leg := r.legOn(p.Symbol()); leg != nil && fellShort(leg, p, r.config.Feed) {
			r.tick.decideAgain(leg)
		}
	}
	for _, leg := range unread {
		r.tick.inquireRead(leg)
	}
	if grown := r.book.Stale() - stale; grown > 0 {
		r.note("", nil, NoteStale{int(grown), "the exchange returned older data than before"})
	}
	for i, leg := range r.legs {
		r.noteLeg(leg, before[i])
		if !r.config.Feed && before[i].lostExcess(leg) {
			r.tick.decideAgain(leg)
		}
	}
	watchForeign(r.outbox)
	watchContradicted(r.outbox)
}

// walletAhead reports whether the equity would mix two moments, those of a wallet and of
// the fills.
func (r *round) walletAhead() bool {
	return !r.config.Feed && slices.ContainsFunc(r.legs, func(leg *leg) bool { return r.book.WalletAhead(leg.symbol) })
}

// positionChanged reports whether the round has changed a strategy's position.
func (r *round) positionChanged() bool {
	for i, leg := range r.legs {
		if leg.symbol.Position() != r.before[i].position {
			return true
		}
	}
	return false
}

// actOn acts for one strategy: on the reads or, if its market was not read, or its symbol has not been
// read completely since the start, on the known state. In that case it only protects and exits.
func (r *round) actOn(leg *leg) (acted int) {
	switch {
	case !r.wasRead(leg.symbol.Key().Market), !leg.symbol.Read():
		acted = r.dispatcher.actUnread(leg)
		r.protection.measure(leg)
		r.protection.noteState(leg)
		return acted
	case !r.stopped:
		r.tick.follow(leg)
		acted = r.dispatcher.act(leg)
	}
	r.protection.measure(leg)
	r.protection.noteState(leg)
	leg.readMS = r.reading.snapshot.BeganMS
	if !r.config.Feed && r.belowStricter(leg.symbol) {
		r.rulesMS = min(r.rulesMS, r.nowMS+rulesUrgentMS)
	}
	return acted
}

func (r *round) end() { r.reading.phase, r.readHealth.readingMS = 0, never }

// schedule sets the time of the next round: soon while anything is in flight, uncertain or
// unprotected, otherwise after the idle time.
func (r *round) schedule(acted bool) {
	changed := r.book.Version() != r.reading.version
	switch {
	case acted || r.halts.unread() || r.busy() && (r.config.BusyRoundMS != 0 || changed):
		r.roundMS = r.nowMS + r.config.BusyRoundMS
	case r.accounting.ready(), r.results.outstandingMS != 0:
		r.roundMS = r.nowMS + r.bookingMS()
	case r.config.IdleRoundMS != 0:
		r.roundMS = min(r.nowMS+r.config.IdleRoundMS, r.limits.turnMS())
	default:
		r.roundMS = never
	}
	if r.readHealth.worst() > 0 {
		r.roundMS = min(r.roundMS, r.nowMS+r.retryMS())
	}
	if r.config.IdleRoundMS > 0 && (r.book.StandsDown() || r.book.HasUnnamedPeer()) {
		r.roundMS = min(r.roundMS, r.nowMS+standDownRoundMS)
	}
	r.roundMS = min(r.roundMS, r.backoffs.nextMS())
}

// standDownRoundMS is the time between rounds while botd stands down: the other botd may remove a stop,
// or buy, and end before it has placed its own stop.
const standDownRoundMS = 2_000

// bookingMS returns when the ledger's reading is old enough to be booked.
func (r *round) bookingMS() int64 {
	return max(r.config.BusyRoundMS, min(r.config.IdleRoundMS, r.config.Settle.StalenessMS))
}

// hastenBooking schedules the next round soon if the answers to the ledger's reads were not
// sufficient for booking.
func (r *round) hastenBooking() {
	if r.config.IdleRoundMS != 0 && !r.inProgress() && r.accounting.ready() {
		r.roundMS = min(r.roundMS, r.nowMS+r.bookingMS())
	}
}

// busy reports whether a round in the near future could bring new information.
func (r *round) busy() bool {
	for p := range r.book.InFlight() {
		if r.readHealth.failing(p.Symbol()) == 0 {
			return true
		}
	}
	for p := range r.book.Canceled() {
		if r.readHealth.failing(p.Symbol()) == 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.legs, func(leg *leg) bool {
		unsettled := !leg.symbol.Settled() || r.book.AwaitsFreshWallet(leg.symbol) || leg.symbol.Suspect() && !r.config.Feed
		return leg.symbol.UnprotectedSinceMS() != 0 || r.book.JointUncovered(leg.symbol) || unsettled && r.readHealth.failing(leg.symbol.Key()) == 0
	})
}

// abandonRound starts the current round over, because that round did not request everything that a round
// must request now.
func (r *round) abandonRound() {
	if !r.inProgress() {
		return
	}
	maps.DeleteFunc(r.calls, func(_ int64, p pendingCall) bool { return p.kind.ofRound() })
	r.end()
	r.overdue, r.roundMS = nil, r.nowMS
}
