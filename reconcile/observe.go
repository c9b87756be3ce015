package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Observe advances every placement and position by the fetched answers. The returned records are
// already applied, in order, and must be journalled.
func (t *Tracker) Observe(fetched *Snapshot) []record.Record {
	s := t.survey(fetched)
	t.observedAccount.beginRead(fetched)
	t.sentRequests.datePriors(fetched.BeganMS)
	t.refusals.datePriors(fetched.BeganMS)
	isNew := t.New()
	rows := s.orderRows()
	rows.collectNeverListed()
	rows.nameRows()
	s.walletComparison().learnFees()
	rows.observeEnded(exchange.Buy) // before any sale: a sale of more than the known position would count as a sale of all of it
	rows.observeList(exchange.Futures, fetched.FuturesOrders)
	rows.observeList(exchange.Spot, fetched.SpotOrders)
	rows.observeUnread()
	if fetched.History.Done() {
		rows.observeHistory()
	}
	rows.observeNewest()
	for _, answer := range fetched.ByID {
		rows.observeByID(answer)
	}
	rows.restoreResting()
	t.observedAccount.note(fetched)
	if s.marginAgrees() {
		t.marginAgreeMS = fetched.EndedMS
	}
	if fetched.Account != nil && fetched.Positions.Done() {
		t.marginUnlisted = s.marginUnlisted()
	}
	rows.keepNeverListed()
	for symbol := range t.Symbols() {
		if fetched.Account != nil {
			symbol.markedAt = symbol.Price()
		}
		if symbol.Key().Market == exchange.Futures {
			s.adoptReduced(symbol, symbol.Opened())
		}
		symbol.spot.endedPurchase.before.dateBy(fetched.BeganMS)
		listed := symbol.positionMS != 0
		s.positionComparison().observePosition(symbol)
		if !listed && !isNew {
			s.peerOrders().guardFirstRead(symbol)
		}
		bounds := t.Bounds()
		symbol.traded = symbol.journalledSymbol.Traded(fetched.EndedMS, &bounds)
	}
	s.refusalChecks().confirmRefused()
	s.unlistedOrders().holdInheritedStops()
	if isNew {
		s.peerOrders().guardLost()
	}
	for symbol := range t.Symbols() {
		symbol.onlyOpeningsPending = symbol.settled || fetched.awaitsAnswer(symbol)
	}
	s.noteUnconfirmed()
	s.noteFrozen()
	return s.records
}

// orderRows applies the rows of botd's orders: those of the open lists and of the spot history, and the answers to reads by id. Each advances a
// placement, or shows an order that no placement expects.
type orderRows struct {
	*evidence
	*recorder
	peers     peerOrders
	uncertain uncertainOrders
	spotList  *spotList
	old       *[]exchange.Market // the survey's markets with old open lists, to which this part adds
}

func (s *survey) orderRows() orderRows {
	return orderRows{&s.evidence, &s.recorder, s.peerOrders(), s.uncertainOrders(), &s.spotList, &s.old}
}

// observeList applies an open list: its orders are working, with their fills.
func (s orderRows) observeList(market exchange.Market, list exchange.Fetched[exchange.Order]) {
	if !list.Done() {
		return
	}
	orders, stale := list.Items(), s.tracker.stale
	matched := slices.Grow(s.tracker.matched[:0], len(orders))
	next := 0 // both lists are sorted oldest first: usually the next placement matches the next order
	for i := range orders {
		order := &orders[i]
		p := s.matchFrom(&next, order)
		matched = append(matched, p)
		if p != nil && (p.OrderID() != 0 || !hasOlder(orders, order)) {
			s.observeOpen(p, order)
		}
	}
	for symbol := range s.tracker.Symbols() {
		if symbol.Key().Market == market {
			s.peers.noteUnlisted(symbol, orders)
			symbol.foreign, symbol.leftToOwner = append(symbol.foreign[:0], s.omittedForeign(symbol)...), symbol.leftToOwner[:0]
		}
	}
	for i := range orders {
		order := &orders[i]
		switch {
		case matched[i] != nil && !matched[i].State().Final(): // live and unchanged
		case s.tracker.match(order) != nil:
		case s.tracker.endedBefore(order): // in a stale list that omits client order ids
			s.tracker.stale++
			s.collectReappeared(order)
		case s.tracker.leftToOwner(order):
			symbol := s.tracker.Track(order.Key())
			symbol.leftToOwner = append(symbol.leftToOwner, *order)
		case s.tracker.Known(order.ClientOrderID):
			s.observeDuplicate(order)
		default:
			symbol := s.tracker.Track(order.Key())
			symbol.foreign = append(symbol.foreign, *order)
		}
	}
	if s.tracker.stale != stale {
		*s.old = append(*s.old, market)
	}
	if market == exchange.Futures {
		s.tracker.unnamedPeer.futuresIDs.note(orders, matched)
	}
	for symbol := range s.tracker.Symbols() {
		if symbol.Key().Market == market {
			symbol.noteRepeated(orders, matched)
			s.forgetUnshown(symbol, orders)
		}
	}
	s.peers.notePeerOrders(orders)
	clear(matched) // do not retain ended placements
	s.tracker.matched = matched
}

// observeOpen applies an order in an open list. A partly filled sale of an uncertain purchase's
// result stays open; its fill is booked once the purchase is decided.
func (s orderRows) observeOpen(p *account.Placement, order *exchange.Order) {
	if order.Market == exchange.Spot && s.tracker.precedesPurchase(p, order.Filled) {
		unfilled := *order
		unfilled.Filled = p.Filled()
		order = &unfilled
	}
	s.observeOrder(p, order)
}

// match finds the live placement of an order: by the exchange's order id, which every list shows,
// otherwise by its client order id, because the order id of an uncertain placement is not known.
func (t *tracked) match(order *exchange.Order) *account.Placement {
	p := t.withOrderID(order.Market, order.ID)
	if p == nil || t.namesAnother(order, p) {
		p = t.Placement(order.ClientOrderID)
	}
	if p != nil && p.OrderID() != 0 && p.OrderID() != order.ID {
		p = nil // it is a second order with the same client order id
	}
	if p == nil || p.Order().Symbol != order.Symbol || p.Order().Side != order.Side {
		return nil
	}
	return p
}

// namesAnother reports whether an order with a placement's order id has the client order id of another placement: the answer to the placement gave
// a wrong order id.
func (t *tracked) namesAnother(order *exchange.Order, p *account.Placement) bool {
	if order.ClientOrderID == p.ClientOrderID() || order.ClientOrderID == "" {
		return false
	}
	own, _, _ := strings.Cut(p.ClientOrderID(), duplicateMark)
	return order.ClientOrderID != own && t.Known(order.ClientOrderID)
}

// matchFrom is match with a hint: it first tries the three live placements from index next on and, if one
// of them matches, moves next behind it.
func (s orderRows) matchFrom(next *int, order *exchange.Order) *account.Placement {
	for at := *next; at < min(*next+3, s.tracker.LiveCount()); at++ {
		p := s.tracker.LiveAt(at)
		if p.OrderID() == order.ID && p.Side() == order.Side && p.Symbol() == order.Key() && !s.tracker.namesAnother(order, p) {
			*next = at + 1
			return p
		}
	}
	return s.tracker.match(order)
}

// leftToOwner reports whether a person left the order to whoever placed it.
func (t *tracked) leftToOwner(order *exchange.Order) bool {
	former, known := t.Ended(order.ClientOrderID)
	if !known {
		_, former, _ = t.EndedAs(order.Key(), order.ID)
	}
	return former.Left
}

// endedBefore reports whether an order without a client order id belongs to a placement that has ended.
func (t *tracked) endedBefore(order *exchange.Order) bool {
	if order.ClientOrderID != "" {
		return false
	}
	_, former, ended := t.EndedAs(order.Key(), order.ID)
	return ended && !former.Left && !former.Absent
}

func hasOlder(orders []exchange.Order, order *exchange.Order) bool {
	return slices.ContainsFunc(orders, func(o exchange.Order) bool { return o.ClientOrderID == order.ClientOrderID && o.ID < order.ID })
}

// observeByID applies the answer to a read by id.
func (s orderRows) observeByID(answer OrderByID) {
	p := s.tracker.withOrderID(exchange.Futures, answer.OrderID)
	if p == nil {
		return
	}
	if answer.Known && s.tracker.match(&answer.Order) == p {
		s.observeOrder(p, &answer.Order)
		return
	}
	// The exchange does not know an acknowledged order id, or it is another order's: it is read again until the fence has passed, and
	// then needs manual resolution. Only the fence decides, not a number of reads (case 12).
	s.observeLost(p)
}

// observeOrder applies a fetched order. The filled quantity never decreases: a smaller value comes from
// a stale replica (exactly-once.md, case 13).
func (s orderRows) observeOrder(p *account.Placement, order *exchange.Order) {
	if order.Filled < p.Filled() {
		s.tracker.stale++
	}
	filled := max(order.Filled, p.Filled())
	if !order.Status.Final() {
		s.noteOpenAgain(p)
	}
	if !order.Status.Final() && p.State() == placement.Working && filled == p.Filled() && p.OrderID() == order.ID {
		return // resting and unchanged
	}
	switch {
	case order.Status.Final():
		if order.Status != exchange.StatusFilled {
			s.noteEndedWithPosition(p, s.tracker.readEndedMS)
		}
		s.emit(
			p.About(
				record.Ended{
					OrderID:   order.ID,
					State:     finalState(order.Status),
					Filled:    filled,
					Price:     fillPrice(order),
					Evidence:  "fetched " + order.Status.String(),
					CreatedMS: datedBefore(p, order),
				},
			),
		)
	case p.State() != placement.Working || filled != p.Filled() || p.OrderID() != order.ID:
		if order.Status == exchange.StatusCreated && p.OrderID() == order.ID {
			return // accepted but not resting yet: no change
		}
		s.emit(p.About(record.Fill{OrderID: order.ID, Filled: filled, Price: fillPrice(order), CreatedMS: datedBefore(p, order)}))
	}
}

// datedBefore returns the exchange's date of a futures opening, in whole seconds, if it precedes the
// send time by botd's clock: then botd's clock is ahead, and the position that the order opens would
// seem younger than its row in positions/history.
func datedBefore(p *account.Placement, order *exchange.Order) int64 {
	if order.Market != exchange.Futures || !p.Purpose().Opens() || order.CreatedMS >= exchange.WholeSecond(p.SentMS()) {
		return 0
	}
	return order.CreatedMS
}

func finalState(status exchange.OrderStatus) placement.State {
	switch status {
	case exchange.StatusFilled:
		return placement.Filled
	case exchange.StatusRejected:
		return placement.Rejected
	}
	return placement.Canceled
}

// fillPrice returns the mean price if the exchange reports it: spot orders contain it, futures
// orders do not.
func fillPrice(order *exchange.Order) exchange.Amount {
	if order.Market == exchange.Spot {
		return order.AveragePrice
	}
	return exchange.Amount{}
}

// positionComparison compares the positions of symbols with what botd's own fills explain, seeks evidence of a difference other than the list that shows
// it, and attributes a persistent difference or quarantines its symbol.
type positionComparison struct {
	*evidence
	*recorder
	peers     peerOrders
	uncertain uncertainOrders
	wallet    walletComparison
}

func (s *survey) positionComparison() positionComparison {
	return positionComparison{&s.evidence, &s.recorder, s.peerOrders(), s.uncertainOrders(), s.walletComparison()}
}

// observePosition compares the exchange's position with the one that the fills explain, and decides
// uncertain placements.
func (s positionComparison) observePosition(symbol *SymbolState) {
	if symbol.sinceFill.sinceMS != 0 {
		symbol.sinceFill.extend(s.fetched)
	}
	s.noteClosed(symbol)
	if s.fetched.isUnread(symbol.Key()) {
		s.partialPosition(symbol)
		return
	}
	symbol.unread = false
	s.peers.detectUnnamedOrders(symbol)
	if symbol.Key().Market == exchange.Spot {
		s.peers.noteReplacements(symbol)
		s.peers.noteRestingSales(symbol)
		s.peers.forgetUnlisted(symbol)
		lags, held := s.tracker.walletLags(symbol), symbol.position
		s.wallet.observeWallet(symbol)
		if held == 0 && symbol.position != 0 {
			symbol.spot.positionShownMS = s.fetched.EndedMS
		}
		s.peers.detectTwins(symbol)
		symbol.spot.lag.note(s.evidence, symbol, lags, s.fetched.SpotOrders.Done() && (!symbol.spot.walletInconclusive || s.tracker.WalletConclusive(symbol)))
		return
	}
	if !s.fetched.Positions.Done() {
		return
	}
	if !s.readPosition(symbol) {
		return
	}
	symbol.read, symbol.futuresEvidence.denied = true, false
	if s.positionEvidence().outlivesIgnored(symbol) {
		s.emit(symbol.about(record.Ignored{Evidence: "the position with the ignored part has ended"}))
	}
	s.measureResidual(symbol)
	s.seekWitness(symbol)
	switch uncertain := s.tracker.uncertainOn(symbol.Key()); {
	case len(uncertain) > 0:
		s.uncertain.decideUncertain(symbol, uncertain)
		s.adoptReduced(symbol, symbol.Opened())
		s.measureResidual(symbol)
		s.seekWitness(symbol)
	case symbol.Unwitnessed(): // a single list never settles a symbol
	case symbol.residual != 0 && symbol.Quarantine() == "" && symbol.residualFor.exceeds(s.tracker.Bounds().StalenessMS):
		s.foreign(symbol)
	case symbol.residual == 0 && symbol.exceedsPosition():
		symbol.ignore("botd's part is the netted position minus the foreign part", s.emit)
	}
	s.contradict(symbol)
	symbol.settled = symbol.residual == 0 && !s.tracker.anyOutcomeUncertain(symbol.Key()) && symbol.Quarantine() == "" && !symbol.endUnproved()
}

// readPosition reads the symbol's position from the list. It returns false if the position changed during a
// full snapshot, or if the list shows several, of which it takes one.
func (s positionComparison) readPosition(symbol *SymbolState) bool {
	now, count := find(s.fetched.Positions.Items(), symbol.Key().Name)
	if count > 1 { // a list combined from replicas may show both an ended position and the next one; if this persists, it violates the contract (case 38)
		if symbol.doubled.extend(s.fetched); symbol.doubled.exceeds(s.tracker.Bounds().StalenessMS) {
			s.quarantine(symbol, "the exchange shows two positions on one symbol")
		}
		symbol.selectPosition(s.fetched.Positions.Items())
		symbol.equal.reset()
		symbol.settled = false
		return false
	}
	symbol.doubled.reset()
	if s.fetched.Before.Done() { // a second line of defense: two snapshots at least L apart decide, and the second includes what the first could have missed
		if before, _ := find(s.fetched.Before.Items(), symbol.Key().Name); before.Signed() != now.Signed() || before.ID != now.ID {
			if symbol.AtVenue() == 0 {
				s.useShownPosition(symbol) // it is protected, whichever list is right
			}
			s.assumeOpened(symbol)
			symbol.equal.reset()
			symbol.settled = false
			return false
		}
	}
	if now.ID == symbol.positionID && now.Signed().Sign() == -symbol.AtVenue().Sign() && now.Remaining != 0 {
		s.quarantine(symbol, "the position changed its side without an order of botd's") // case 38
	}
	if now.ID != symbol.positionID || now.Signed() != symbol.AtVenue() {
		s.tracker.changes++
		symbol.markedAt = symbol.Price()
	}
	if now.ID != 0 && !slices.Contains(symbol.seen, now.ID) && s.tracker.opens(symbol.Key()) {
		symbol.futuresEvidence.unbooked = now.ID
	}
	symbol.noteSeen(now.ID)
	s.usePosition(symbol, &now)
	symbol.positionMS = s.fetched.BeganMS
	return true
}

// usePosition uses a row of the list as the symbol's position; a zero row means none.
func (s positionComparison) usePosition(symbol *SymbolState, now *exchange.Position) {
	if now.ID != symbol.positionID || symbol.AtVenue() == 0 {
		symbol.sinceMS = s.fetched.EndedMS
	}
	symbol.position, symbol.positionID, symbol.liqPrice = now.Signed()-symbol.Ignored(), now.ID, now.LiqPrice
	symbol.createdMS = now.CreatedMS
	if now.Remaining != 0 || symbol.Known() == 0 || symbol.futuresEvidence.shownOf != symbol.OpenedMS() {
		symbol.entryPrice = now.EntryPrice // a list without a known position does not change the price
	}
	if now.Leverage > 0 {
		symbol.leverage = now.Leverage
	}
}

// measureResidual records the difference and how long it has persisted unexplained. The time does not
// start while a placement could explain the difference, because its outcome is uncertain or not visible
// yet. It starts over when fills are booked, because the same figure then has a different meaning. A
// read without a difference may be an old one: it interrupts the time but does not end it.
func (s positionComparison) measureResidual(symbol *SymbolState) {
	residual, known := symbol.position-symbol.Known(), symbol.Known()
	explains := func(p *account.Placement) bool { return explained(p, residual) != 0 }
	switch {
	case known != symbol.residualOf || s.tracker.anyOutcomeUncertain(symbol.Key()) || s.anyUnlistedThat(symbol.Key(), explains):
		symbol.residualFor.restart(s.fetched)
		symbol.measuredResidual = residual
	case residual == 0:
		if symbol.residual != 0 {
			symbol.agrees.reset()
		}
		if symbol.agrees.extend(s.fetched); symbol.measuredResidual == 0 || symbol.agrees.exceeds(s.tracker.Bounds().StalenessMS) {
			symbol.residualFor.restart(s.fetched)
			symbol.measuredResidual = 0
		}
	case residual != symbol.measuredResidual:
		symbol.residualFor.restart(s.fetched)
		symbol.measuredResidual = residual
	case symbol.residual == 0:
		symbol.residualFor.pause(s.fetched)
	default:
		symbol.residualFor.extend(s.fetched)
	}
	symbol.residual, symbol.residualOf = residual, known
	s.noteUnexplained(symbol)
}

// noteOpenAgain records that a list not older than the release shows the order as open.
func (s orderRows) noteOpenAgain(p *account.Placement) {
	s.tracker.noteOmitted(p.ClientOrderID(), 0)
	switch known := s.tracker.delivery(p); {
	case canceledBefore(s.tracker, p):
		s.tracker.release(p.ClientOrderID(), cmp.Or(known.releasedMS, known.canceledMS, known.unableMS))
	case s.tracker.readBeganMS > known.releasedMS+s.tracker.Bounds().StalenessMS:
		s.tracker.holdAgain(p.ClientOrderID())
	}
}

// noteEndedWithPosition records that a closePosition order ended without botd's action: the
// exchange ends such orders with the position.
func (s orderRows) noteEndedWithPosition(p *account.Placement, atMS int64) {
	if t := &s.tracker.Symbol(p.Symbol()).futuresEvidence; p.Order().ClosePosition && s.tracker.CancelMS(p.ClientOrderID()) == 0 {
		t.sweptMS, t.sweptOf = atMS, max(t.sweptOf, p.SentMS())
	}
}
