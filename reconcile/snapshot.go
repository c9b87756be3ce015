package reconcile

import (
	"slices"
	"strconv"

	"botd/exchange"
	"botd/internal/seq"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Snapshot holds the answers fetched in one round. Lists that were not fetched stay unset, and the
// book concludes nothing from them.
type Snapshot struct {
	BeganMS       int64 // server time before the first read was sent
	EndedMS       int64
	FuturesOrders exchange.Fetched[exchange.Order]
	SpotOrders    exchange.Fetched[exchange.Order]
	History       exchange.Fetched[exchange.Order] // spot order history of the symbols that asked for it
	Before        exchange.Fetched[exchange.Position]
	Positions     exchange.Fetched[exchange.Position]
	Balances      exchange.Fetched[exchange.Balance]
	Account       *exchange.MarginAccount
	ByID          []OrderByID      // orders read by id
	Newest        []exchange.Order // the newest orders of spot symbols not read since the start
	HistoryWhole  bool             // History holds every order since the oldest live placement
	Trades        []Traded
	Closed        []exchange.Position // positions/history of the symbols in ClosedOf
	ClosedOf      []string
	Unread        []exchange.SymbolKey // symbols, or whole markets, with a failed read: nothing is concluded about them

	UnreadOrders    []UnreadOrder
	UnreadPositions []exchange.SymbolKey // without a name: of an unknown symbol
	UnreadAssets    bool                 // the wallet contains unreadable balances
}

// isUnread reports whether a read failed that is required for conclusions about the symbol.
func (s *Snapshot) isUnread(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.Unread, func(u exchange.SymbolKey) bool { return u.Market == key.Market && (u.Name == "" || u.Name == key.Name) })
}

// OrderByID is the answer to a read of one order by id.
type OrderByID struct {
	OrderID int64
	Order   exchange.Order
	Known   bool // false: the exchange reports that the order does not exist
}

// Traded is the sum of the user trades of one spot order.
type Traded struct {
	OrderID int64
	Filled  exchange.Quantity
	Price   exchange.Amount // mean
	Fee     exchange.Amount // taken from the purchased asset
}

// Orders returns the open list of a market, if it was fetched.
func (s *Snapshot) Orders(market exchange.Market) exchange.Fetched[exchange.Order] {
	if market == exchange.Spot {
		return s.SpotOrders
	}
	return s.FuturesOrders
}

// Vanished returns the live placements with an order id that their market's open list does not
// show, or that were canceled, because an old list may still show them: each must be read by id.
func (b *Book) Vanished(s *Snapshot) []*account.Placement {
	var vanished []*account.Placement
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		list := s.Orders(market)
		if !list.Done() {
			continue
		}
		orders, open := list.Items(), b.openIDs[:0]
		next := 0 // placements are also sorted oldest first: usually the next one matches the next order
		for p := range b.Live() {
			if p.OrderID() == 0 || p.Symbol().Market != market {
				continue
			}
			shown := next < len(orders) && orders[next].ID == p.OrderID()
			if !shown {
				if len(open) == 0 {
					open = s.openIDs(market, open)
				}
				next, shown = slices.BinarySearch(open, p.OrderID())
			}
			if next++; !shown || b.CancelMS(p.ClientOrderID()) != 0 {
				vanished = append(vanished, p)
			}
		}
		b.openIDs = open
	}
	return vanished
}

// openIDs appends the exchange's ids of a market's open orders, including unreadable rows, and
// sorts them.
func (s *Snapshot) openIDs(market exchange.Market, ids []int64) []int64 {
	orders := s.Orders(market).Items()
	for i := range orders {
		ids = append(ids, orders[i].ID)
	}
	ids = append(ids, s.unreadIDs(market)...)
	slices.Sort(ids)
	return ids
}

// Observe advances every placement and position by the fetched answers. The returned records are
// already applied, in order, and must be journalled.
func (b *Book) Observe(fetched *Snapshot) []record.Record {
	s := b.survey(fetched)
	b.observed.beginRead(fetched)
	newborn := b.New()
	s.nameRows()
	s.learnFees()
	s.observeEnded(exchange.Buy) // before any sale: a sale of more than the known position counts as a sale of all of it
	s.observeList(exchange.Futures, fetched.FuturesOrders)
	s.observeList(exchange.Spot, fetched.SpotOrders)
	s.observeUnread()
	if fetched.History.Done() {
		s.observeHistory()
	}
	s.observeNewest()
	for _, answer := range fetched.ByID {
		s.observeByID(answer)
	}
	b.observed.note(fetched)
	for symbol := range b.Symbols() {
		if fetched.Account != nil {
			symbol.markedAt = symbol.Price()
		}
		if symbol.Key().Market == exchange.Futures {
			s.adoptReduced(symbol, symbol.Opened())
		}
		s.observePosition(symbol)
		settle := b.Settle()
		symbol.traded = symbol.journalledSymbol.Traded(fetched.EndedMS, &settle)
	}
	s.confirmRefused()
	s.holdArmed()
	if newborn {
		s.guardLost()
	}
	for symbol := range b.Symbols() {
		symbol.onlyOpeningsPending = symbol.settled || s.awaitsAnswer(symbol)
	}
	return s.records
}

// observeList applies an open list: its orders are working, with their fills.
func (s *survey) observeList(market exchange.Market, list exchange.Fetched[exchange.Order]) {
	if !list.Done() {
		return
	}
	orders, stale := list.Items(), s.book.stale
	matched := slices.Grow(s.book.matched[:0], len(orders))
	next := 0 // both lists are sorted oldest first: usually the next placement matches the next order
	for i := range orders {
		order := &orders[i]
		p := s.matchFrom(&next, order)
		matched = append(matched, p)
		if p != nil && (p.OrderID() != 0 || !hasOlder(orders, order)) {
			s.observeOpen(p, order)
		}
	}
	for symbol := range s.book.Symbols() {
		if symbol.Key().Market == market {
			s.noteUnlisted(symbol, orders)
			symbol.foreign, symbol.leftToMaker = symbol.foreign[:0], symbol.leftToMaker[:0]
		}
	}
	for i := range orders {
		order := &orders[i]
		switch {
		case matched[i] != nil && !matched[i].State().Final(): // live and unchanged
		case s.match(order) != nil:
		case s.endedBefore(order): // in a stale list that omits client order ids
			s.book.stale++
		case s.leftToMaker(order):
			symbol := s.book.Track(order.Key())
			symbol.leftToMaker = append(symbol.leftToMaker, *order)
		case s.book.Known(order.ClientOrderID):
			s.observeDuplicate(order)
		default:
			symbol := s.book.Track(order.Key())
			symbol.foreign = append(symbol.foreign, *order)
		}
	}
	if s.book.stale != stale {
		s.old = append(s.old, market)
	}
	s.notePeerOrders(orders)
	clear(matched) // do not retain ended placements
	s.book.matched = matched
}

// observeOpen applies an order in an open list. A partly filled sale of an uncertain purchase's
// result stays open; its fill is booked once the purchase is decided.
func (s *survey) observeOpen(p *account.Placement, order *exchange.Order) {
	if order.Market == exchange.Spot && s.early(p, order.Filled) {
		unfilled := *order
		unfilled.Filled = p.Filled()
		order = &unfilled
	}
	s.observeOrder(p, order)
}

// leftToMaker reports whether a person left the order to whoever made it.
func (e *evidence) leftToMaker(order *exchange.Order) bool {
	former, known := e.book.Ended(order.ClientOrderID)
	if !known {
		_, former, _ = e.book.EndedAs(order.Key(), order.ID)
	}
	return former.Left
}

// endedBefore reports whether an order without a client order id is one of a placement
// that has ended.
func (e *evidence) endedBefore(order *exchange.Order) bool {
	if order.ClientOrderID != "" {
		return false
	}
	_, former, ended := e.book.EndedAs(order.Key(), order.ID)
	return ended && !former.Left && !former.Absent
}

func hasOlder(orders []exchange.Order, order *exchange.Order) bool {
	return slices.ContainsFunc(orders, func(o exchange.Order) bool { return o.ClientOrderID == order.ClientOrderID && o.ID < order.ID })
}

// observeByID applies the answer to a read by id.
func (s *survey) observeByID(answer OrderByID) {
	p := s.book.withOrderID(exchange.Futures, answer.OrderID)
	if p == nil {
		return
	}
	if answer.Known {
		s.observeOrder(p, &answer.Order)
		return
	}
	// The exchange does not know an acknowledged id: read it again until the fence has passed, then
	// a person must check. It never counts as lost after a number of reads (case 12).
	s.observeLost(p)
}

// observeDuplicate handles an open order under an id that belongs to another order, or whose
// placement had ended: its fills are botd's, and it is canceled (case 14). If it was seen open
// under its own ended id, or found before and ended since, the list is from a stale replica (case
// 13), unless a person or the equation decided that it did not exist.
func (s *survey) observeDuplicate(order *exchange.Order) {
	id := order.ClientOrderID
	if e, found := s.book.Ended(duplicateID(order)); found && !e.Absent {
		s.book.stale++
		return
	}
	e, ended := s.book.Ended(id)
	strategy := e.Strategy
	if p := s.book.Placement(id); p != nil {
		strategy, ended = p.Strategy(), false
	}
	if ended && e.OrderID == order.ID && !e.Absent {
		s.book.stale++
		return
	}
	body := record.Found{Purpose: s.book.purposeOf(id), Duplicate: true, Evidence: "a second order under client order id " + id}
	if ended && (e.OrderID == 0 || e.Absent) {
		body.Filled, body.Evidence = min(e.Filled, order.Filled), "order "+id+" is on the exchange after it was taken to have ended"
	}
	if stop := body.Purpose == placement.StopLoss || order.ClosePosition; ended && e.OrderID == 0 && !e.Absent && stop {
		body.Duplicate = false // it was refused but exists
	}
	if p := s.book.Placement(id); p != nil && p.Order().Market == exchange.Spot && body.Purpose == placement.StopLoss && order.ID < p.OrderID() {
		body.Duplicate = false // the other one is the younger
	}
	s.emit(found(order, strategy, duplicateID(order), body))
	s.observeOrder(s.book.Placement(duplicateID(order)), order)
}

func duplicateID(order *exchange.Order) string {
	return order.ClientOrderID + "#" + strconv.FormatInt(order.ID, 10)
}

// match finds the live placement an order belongs to: by the exchange's id, which every
// list shows, then by its client order id, since the order id of an unknown one is not
// known.
func (e *evidence) match(order *exchange.Order) *account.Placement {
	p := e.book.withOrderID(order.Market, order.ID)
	if p == nil {
		p = e.book.Placement(order.ClientOrderID)
	}
	if p != nil && p.OrderID() != 0 && p.OrderID() != order.ID {
		p = nil // it is a second order with the same client order id
	}
	if p == nil || p.Order().Symbol != order.Symbol || p.Order().Side != order.Side {
		return nil
	}
	return p
}

// matchFrom is match with a hint: it tries the live placement at next first and sets next behind
// the one it found there.
func (s *survey) matchFrom(next *int, order *exchange.Order) *account.Placement {
	for at := *next; at < min(*next+3, s.book.LiveCount()); at++ {
		p := s.book.LiveAt(at)
		if p.OrderID() == order.ID && p.Side() == order.Side && p.Symbol() == order.Key() {
			*next = at + 1
			return p
		}
	}
	return s.match(order)
}

// observeOrder applies a fetched order. Filled never decreases: a smaller value comes from a stale
// replica (exactly-once.md, case 13).
func (s *survey) observeOrder(p *account.Placement, order *exchange.Order) {
	if order.Filled < p.Filled() {
		s.book.stale++
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
			s.noteEndedWithPosition(p, s.book.observedMS)
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
			return // accepted but not yet in the book: no change
		}
		s.emit(p.About(record.Fill{OrderID: order.ID, Filled: filled, Price: fillPrice(order), CreatedMS: datedBefore(p, order)}))
	}
}

// datedBefore returns the exchange's date of a futures opening, in whole seconds, if it precedes
// the send time by botd's clock: that clock is ahead, and the position that the order opens would
// seem younger than its row in positions/history.
func datedBefore(p *account.Placement, order *exchange.Order) int64 {
	if order.Market != exchange.Futures || !p.Purpose().Opens() || order.CreatedMS >= p.SentMS()-p.SentMS()%1000 {
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

// observeLost handles an acknowledged order that the exchange does not know after the fence: its
// effect is unknown, and a person must check (case 12).
func (s *survey) observeLost(p *account.Placement) {
	if s.fetched.BeganMS < p.Fence(s.book.Settle()) || p.State() == placement.Uncertain {
		return
	}
	why := "acknowledged order " + p.ClientOrderID() + " is not known to the exchange"
	s.emit(p.About(record.Unknown{Why: why}))
	s.quarantine(s.book.Symbol(p.Symbol()), why)
}

// observeEnded applies the orders of one side in the spot order history, and the user trades of
// single orders.
func (s *survey) observeEnded(side exchange.Side) {
	if !s.fetched.History.Done() {
		return
	}
	for i := range s.fetched.History.Items() {
		order := &s.fetched.History.Items()[i]
		if p := s.match(order); p != nil && order.Side == side && !s.early(p, order.Filled) {
			s.observeOrder(p, order)
		}
	}
	for _, traded := range s.fetched.Trades {
		p := s.book.withOrderID(exchange.Spot, traded.OrderID)
		if p != nil && p.Order().Side == side && traded.Filled > p.Filled() && !s.early(p, traded.Filled) {
			s.emit(p.About(record.Fill{OrderID: p.OrderID(), Filled: traded.Filled, Price: traded.Price}))
		}
	}
}

// early reports whether a spot sale exceeds the known position while a purchase that is undecided, or acknowledged and not shown yet, may
// have supplied the rest. Booked now, the sale would count as a sale of the whole position, and the purchase, booked later, as still
// owned. The sale waits until the purchase is decided, unless a person must decide.
func (e *evidence) early(p *account.Placement, filled exchange.Quantity) bool {
	symbol := e.book.Symbol(p.Symbol())
	if p.Order().Side != exchange.Sell || filled-p.Filled() <= symbol.Known() || symbol.Quarantine() != "" {
		return false
	}
	return seq.Any(e.book.Live(), func(q *account.Placement) bool {
		return q.Symbol() == p.Symbol() && q.Order().Side == exchange.Buy && (q.State().Unresolved() || !q.Seen())
	})
}

// observeHistory applies the spot order history, which contains every ended order, and the user
// trades of single orders. They are evidence by themselves: an order in neither list nor history
// after the fence was never accepted.
func (s *survey) observeHistory() {
	s.noteIDs(s.fetched.History.Items())
	s.noteUnknownEnded(s.fetched.History.Items())
	s.observeEnded(exchange.Sell)
	for i := range s.fetched.History.Items() {
		if order := &s.fetched.History.Items()[i]; s.match(order) == nil {
			s.observeExtra(order)
		}
	}
	if !s.fetched.HistoryWhole || !s.fetched.SpotOrders.Done() {
		return
	}
	for _, p := range slices.Collect(s.book.Live()) {
		if p.Symbol().Market != exchange.Spot || s.fetched.BeganMS < p.Fence(s.book.Settle()) || s.fetched.isUnread(p.Symbol()) {
			continue
		}
		listed := func(o exchange.Order) bool { return o.ID == p.OrderID() }
		switch {
		case p.State() == placement.Uncertain && p.OrderID() != 0: // the exchange had it: only its row, or a person, decides how it ended
		case p.State() == placement.Uncertain:
			if s.quarantineLeftOver(p) {
				continue
			}
			s.emit(p.About(record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: "in neither open list nor history after the fence"}))
		case p.OrderID() != 0 && !s.onSpot(p.OrderID()) && !slices.ContainsFunc(s.fetched.History.Items(), listed):
			s.observeLost(p)
		}
	}
	s.observeEnded(exchange.Sell) // sales that waited for a purchase that was never accepted
}
