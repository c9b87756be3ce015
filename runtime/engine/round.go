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

// round has everything read, settles, then has the dispatcher derive, check and place.
type round struct {
	*base
	readHealth *readHealth
	breaker    *breaker
	protection *protection
	accounting *accounting
	limits     *limits
	results    *results
	halts      *halts
	sender     *sender
	dispatcher *dispatcher
	tick       *tick
	backoffs   *backoffs
	reader     *reader
	before     []symbolBefore       // scratch of settle
	live       []*account.Placement // scratch of settle
	filled     []exchange.Quantity  // scratch of settle, for each of live
}

// beginRound begins to read. It reports whether the round is complete at once.
func (r *round) beginRound() (complete bool) {
	r.readHealth.readingMS = r.nowMS
	r.emergencyMS = r.nowMS + patienceMS
	if r.halts.pending() { // reads may hang
		r.emergencyMS = r.nowMS + haltRetryMS
	}
	r.reader.beginReads()
	if len(r.legs) == 0 {
		r.end()
		r.roundMS = never // no strategies: nothing to reconcile
		return false
	}
	return r.advance()
}

// roundAnswer applies one answer of the round and advances once all have arrived. It reports
// whether the round is complete.
func (r *round) roundAnswer(p pendingCall, event *EventAnswer) (complete bool) {
	return r.reader.receive(&p, event) && r.advance()
}

// proceed continues the round without late reads. It reports whether the round is complete.
func (r *round) proceed() (complete bool) {
	r.reader.proceed()
	return r.advance()
}

// advance advances while no answer is awaited. It reports whether the round is complete.
func (r *round) advance() (complete bool) {
	for read := &r.reader.roundReads; read.inProgress() && read.pending == 0; {
		switch {
		case read.phase == phaseLists && r.readHealth.worst() == 0 && read.nothingRead():
			r.roundFailed() // the next one requests positions anyway
		case read.phase == phasePositions:
			complete = r.finishRound()
		default:
			r.reader.next()
		}
	}
	return complete
}

// phase is the progress of a round; zero if none is in progress.
type phase uint8

const (
	phaseLists     phase = iota + 1 // open lists, and positions if anything is uncertain
	phaseOrders                     // orders that vanished from their list, by id
	phasePositions                  // positions, account, wallet, prices
)

// roundReads are what the current round has read so far, and what it still awaits.
type roundReads struct {
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
	version   uint64                   // of the tracker when it began
}

// inProgress reports whether answers of a round are pending.
func (r *roundReads) inProgress() bool { return r.phase != 0 }

// nothingRead reports whether no market's open orders could be read.
func (r *roundReads) nothingRead() bool {
	s := &r.snapshot
	return len(r.failures) > 0 && !s.FuturesOrders.Done() && !s.SpotOrders.Done()
}

// anyRead reports whether the round read anything of the account.
func (r *roundReads) anyRead() bool {
	s := &r.snapshot
	return s.FuturesOrders.Done() || s.SpotOrders.Done() || s.Positions.Done() || s.Balances.Done() || r.requested && len(r.history) > 0
}

// wasRead reports whether the round read enough of a market to act on it.
func (r *roundReads) wasRead(market exchange.Market) bool {
	s := &r.snapshot
	if market == exchange.Spot {
		return s.SpotOrders.Done() && s.Balances.Done()
	}
	return s.Positions.Done()
}

// finished returns the snapshot of a round's reads, which end now.
func (r *roundReads) finished(nowMS int64) *reconcile.Snapshot {
	r.snapshot.EndedMS = nowMS
	if r.requested {
		r.snapshot.History, r.snapshot.HistoryWhole = exchange.FetchedOf(r.history), !r.partial
	}
	return &r.snapshot
}

// omits reports whether the list of open spot orders omits an order of botd's that has an order id,
// or could not be read.
func (r *roundReads) omits(p *account.Placement) bool {
	s := &r.snapshot
	return !s.SpotOrders.Done() || slices.Contains(r.vanished, p) && // canceled orders are among the vanished ones even if they are listed
		!slices.ContainsFunc(s.SpotOrders.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID() })
}

// addFailure adds that a domain could not be read.
func (r *roundReads) addFailure(of exchange.SymbolKey, err error) {
	if !slices.ContainsFunc(r.failures, func(f failure) bool { return f.of == of }) {
		r.failures = append(r.failures, failure{of, err})
	}
}

// addUnread is addFailure for a domain in which nothing is concluded.
func (r *roundReads) addUnread(of exchange.SymbolKey, err error) {
	r.addFailure(of, err)
	r.snapshot.Unread = append(r.snapshot.Unread, of)
}

// unread prevents conclusions in a call's domain.
func (r *roundReads) unread(p *pendingCall, of exchange.SymbolKey) {
	if p.kind != callTicker && p.kind != callLeverages && of.Market != 0 {
		r.snapshot.Unread = append(r.snapshot.Unread, of)
	}
}

// addLate adds that a domain's read is late.
func (r *roundReads) addLate(of exchange.SymbolKey) {
	if !slices.ContainsFunc(r.late, func(f failure) bool { return f.of == of }) {
		r.late = append(r.late, failure{of, errLate})
	}
}

// reader reads what a round needs, phase by phase, and collects the answers in roundReads. It concludes nothing.
type reader struct {
	*base
	limits *limits
	market *market
	roundReads
	pace
	overdue        []failure                 // late reads that failed between rounds
	singly         map[exchange.Market]int64 // time until which a market's prices are read by single tickers
	tradesReadOf   int64                     // order whose user trades were read last
	listFrom       int                       // minimum number of missing prices for which the list is read: polling.TickersFrom; lower in tests
	request        exchange.Request          // scratch of Config.Read
	requestPurpose pendingCall               // scratch of Config.Read
	instant        EventAnswer               // scratch of Config.Read
}

func newReader(b *base, limits *limits, market *market) *reader {
	return &reader{base: b, limits: limits, market: market, pace: pace{took: map[exchange.Operation]int64{}}, singly: map[exchange.Market]int64{},
		listFrom: polling.TickersFrom}
}

// beginReads begins the reads of a round: it requests the open lists.
func (r *reader) beginReads() {
	r.roundReads = roundReads{phase: phaseLists, lateMS: never, version: r.tracker.Version(),
		snapshot: reconcile.Snapshot{BeganMS: r.nowMS, ByID: r.roundReads.snapshot.ByID[:0]}, listed: r.roundReads.listed[:0]}
	r.limits.pricedLater = r.limits.pricedLater[:0]
	r.giveUpLate()
	r.unapplied.begin(r.tracker)
	if r.trades(exchange.Futures) {
		if r.tracker.AnyUncertain() {
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
}

// askEach requests reads that need no symbol.
func (r *reader) askEach(operations []exchange.Operation) {
	for _, operation := range operations {
		r.askForRound(pendingCall{kind: callRound}, exchange.Request{Operation: operation})
	}
}

// askForRound sends a read of the round, or answers it at once from Config.Read. Instead of a read of
// which late copies are in flight, it sends one more copy with less patience, up to maxCopies.
func (r *reader) askForRound(p pendingCall, request exchange.Request) {
	p.of, p.sentMS = request.Operation, r.nowMS
	if r.config.Read != nil {
		r.request, r.requestPurpose = request, p
		r.instant.Answer, r.instant.Err = r.config.Read(&r.request)
		r.addToSnapshot(&r.requestPurpose, &r.instant)
		return
	}
	switch late := r.lateCopies(&p); {
	case late >= maxCopies, late > 0 && p.kind == callTicker: // the list replaces a ticker
		r.skipLateRead(&p)
		return
	case late > 0:
		p.dueMS, p.repeated = r.nowMS+r.repeatAfterMS(p.of), true
	default:
		p.dueMS = r.nowMS + r.patience(p.of)
	}
	p.request = &request
	r.roundReads.pending++
	r.roundReads.lateMS = min(r.roundReads.lateMS, r.attentionMS(&p))
	r.ask(p, PrioritySettle, request)
}

// receive receives one answer, and reports whether the round awaited it. The answer to a read that was sent twice is the
// first one that is not a failure.
func (r *reader) receive(p *pendingCall, event *EventAnswer) (awaited bool) {
	if event.Err == nil {
		r.unapplied.note(&event.Answer, p.late)
	}
	if p.late {
		r.lateAnswer(p, event)
		return false
	}
	r.noteDuration(p, event.Err, r.nowMS)
	switch {
	case event.Err == nil || p.noSuchOrder(event.Err):
		r.forget(p)
	case r.awaited(p):
		return false // the other copy may still be answered
	}
	r.roundReads.pending--
	r.addToSnapshot(p, event)
	return true
}

// next requests the reads of the next phase.
func (r *reader) next() {
	if r.roundReads.phase == phaseLists {
		r.roundReads.phase = phaseOrders
		r.fetchVanished()
		return
	}
	r.roundReads.phase = phasePositions
	r.askPositions()
}

// askPositions reads positions last, so that a fill after the lists were read appears as a difference
// that the next round explains, never as a wrong sum.
func (r *reader) askPositions() {
	for _, market := range markets {
		if r.trades(market) {
			r.askEach(polling.Of(market).Positions)
		}
	}
	if r.config.Feed {
		return
	}
	r.askPrices()
}

// addToSnapshot adds an answer to the snapshot. A list that was not fetched stays unset, and nothing is
// concluded in its domain.
func (r *reader) addToSnapshot(p *pendingCall, event *EventAnswer) {
	snapshot := &r.roundReads.snapshot
	if p.noSuchOrder(event.Err) {
		snapshot.ByID = append(snapshot.ByID, reconcile.OrderByID{OrderID: p.orderID})
		return
	}
	if event.Err != nil {
		r.readFailed(p, event.Err)
		return
	}
	answer := &event.Answer
	r.roundReads.sentMS = p.sentMS
	if len(answer.Unreadable) > 0 {
		defer r.handleUnreadableRows(p, answer)
	}
	switch {
	case p.kind == callOrder:
		snapshot.ByID = append(snapshot.ByID, reconcile.OrderByID{OrderID: p.orderID, Order: answer.Order, Known: true})
	case p.kind == callHistory:
		r.roundReads.history = append(r.roundReads.history, answer.Orders.Items()...)
		r.roundReads.partial = r.roundReads.partial || len(answer.Orders.Items()) >= exchange.HistoryPage
	case p.kind == callNewest:
		snapshot.Newest = append(snapshot.Newest, answer.Orders.Items()...)
	case p.kind == callClosed:
		snapshot.Closed, snapshot.ClosedOf = append(snapshot.Closed, answer.Positions.Items()...), append(snapshot.ClosedOf, p.symbol.Key().Name)
	case p.kind == callTrades:
		r.sumTrades(p, answer)
	case p.kind == callTicker:
		r.applyTicker(p.symbol, answer.Tickers.Items())
	case p.kind == callTickers:
		r.applyTickers(p.of.Market(), answer.Tickers.Items())
	case p.kind == callLeverages:
		for _, setting := range answer.Leverages.Items() {
			r.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: setting.Symbol}).SetLeverage(setting.Leverage)
		}
	case p.before:
		snapshot.Before = answer.Positions
	case answer.Operation == exchange.FuturesOpenOrders:
		snapshot.FuturesOrders = answer.Orders
	case answer.Operation == exchange.SpotOpenOrders:
		snapshot.SpotOrders = answer.Orders
	case answer.Operation == exchange.FuturesOpenPositions:
		snapshot.Positions, r.roundReads.shownMS[exchange.Futures] = answer.Positions, r.nowMS
	case answer.Operation == exchange.SpotWallet:
		snapshot.Balances, r.roundReads.shownMS[exchange.Spot] = answer.Balances, r.nowMS
	case answer.Operation == exchange.FuturesAccount:
		r.roundReads.account = answer.Account
		snapshot.Account = &r.roundReads.account
	}
}

// fetchVanished reads each live order that its list omits: futures orders by id, spot orders (which
// have no get) through the symbol's history.
func (r *reader) fetchVanished() {
	r.roundReads.vanished = r.tracker.Vanished(&r.roundReads.snapshot)
	for _, p := range r.roundReads.vanished {
		if p.Symbol().Market == exchange.Futures {
			r.askForRound(pendingCall{kind: callOrder, symbol: r.tracker.Symbol(p.Symbol()), orderID: p.OrderID()},
				exchange.Request{Operation: exchange.FuturesOrder, OrderID: p.OrderID()})
		}
	}
	if !r.roundReads.snapshot.FuturesOrders.Done() {
		r.fetchUnlisted()
	}
	r.fetchUnconfirmed()
	r.fetchSpotHistory()
	r.fetchNewest()
	r.askEvidence()
}

// abandon ends the reads of the round, and ignores its further answers.
func (r *reader) abandon() {
	maps.DeleteFunc(r.calls, func(_ int64, p pendingCall) bool { return p.kind.ofRound() })
	r.overdue = nil
}

// finishRound settles, then acts on the current state as far as it was read. It reports whether
// anything was read.
func (r *round) finishRound() bool {
	read := &r.reader.roundReads
	if len(read.failures)+len(read.late) > 0 && !read.anyRead() {
		r.roundFailed()
		return false
	}
	snapshot := read.finished(r.nowMS)
	r.end()
	for _, key := range r.readHealth.countReads(read.failures, read.late, true) {
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
	r.tracker.BeginPass()
	for _, leg := range r.legs {
		acted += r.actOn(leg)
	}
	r.tracker.EndPass()
	if !r.config.Quiet {
		r.note("", nil, NoteRound{r.readHealth.failed == 0, len(read.late), acted, r.nowMS - snapshot.BeganMS})
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
	live, fills := slices.AppendSeq(r.live[:0], r.tracker.Live()), r.filled[:0]
	for _, p := range live {
		fills = append(fills, p.Filled())
	}
	r.before, r.live, r.filled = before, live, fills
	watchLiquidations(r.base, snapshot)
	stale := r.tracker.Stale()
	for _, observed := range r.tracker.Observe(snapshot) {
		r.enqueue(observed)
		r.reportObserved(&observed)
	}
	for i, p := range live {
		if p.State() == placement.Working && p.Filled() == fills[i] && len(r.backoffs.all) == 0 {
			continue
		}
		r.reportPlacement(p, fills[i])
		if leg := r.legOn(p.Symbol()); leg != nil && fellShort(leg, p, r.config.Feed) {
			r.tick.decideAgain(leg)
		}
	}
	for _, leg := range unread {
		r.tick.inquireFirst(leg)
	}
	if grown := r.tracker.Stale() - stale; grown > 0 {
		r.note("", nil, NoteStale{int(grown), "the exchange returned older data than before"})
	}
	for i, leg := range r.legs {
		r.reportLeg(leg, before[i])
		if !r.config.Feed && before[i].lostExcess(leg) {
			r.tick.decideAgain(leg)
		}
	}
	watchForeign(r.outbox)
	watchContradicted(r.outbox)
}

// actOn acts for one strategy: on the reads or, if its market was not read, or its symbol has not been
// read completely since the start, on the known state. In that case it only protects and exits.
func (r *round) actOn(leg *leg) (acted int) {
	switch {
	case !r.reader.wasRead(leg.symbol.Key().Market), !leg.symbol.Read():
		acted = r.dispatcher.actUnread(leg)
		r.protection.measure(leg)
		r.protection.reportState(leg)
		return acted
	case !r.stopped:
		r.tick.follow(leg)
		acted = r.dispatcher.act(leg)
	}
	r.protection.measure(leg)
	r.protection.reportState(leg)
	leg.rounds.readMS = r.reader.snapshot.BeganMS
	if !r.config.Feed && r.belowStricter(leg.symbol) {
		r.rulesMS = min(r.rulesMS, r.nowMS+rulesUrgentMS)
	}
	return acted
}

func (r *round) end() { r.reader.phase, r.readHealth.readingMS = 0, never }
