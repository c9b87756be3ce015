package reconcile

import (
	"slices"
	"strconv"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Snapshot is what one round fetched. Lists that were not fetched stay so: the
// book draws no conclusion from them.
type Snapshot struct {
	BeganMS       int64 // server time before the first read went out
	EndedMS       int64
	FuturesOrders exchange.Fetched[exchange.Order]
	SpotOrders    exchange.Fetched[exchange.Order]
	History       exchange.Fetched[exchange.Order] // spot order history of the symbols that asked for it
	Before        exchange.Fetched[exchange.Position]
	Positions     exchange.Fetched[exchange.Position]
	Balances      exchange.Fetched[exchange.Balance]
	Account       *exchange.MarginAccount
	ByID          []OrderByID      // orders asked for by id
	Newest        []exchange.Order // the newest orders of spot symbols not read since the start
	HistoryWhole  bool             // History holds every order since the oldest live placement
	Trades        []Traded
	Closed        []exchange.Position // positions/history of the symbols in ClosedOf
	ClosedOf      []string
	Unread        []exchange.SymbolKey // symbols, or whole markets, of which a read failed: nothing is concluded about them

	UnreadOrders    []UnreadOrder
	UnreadPositions []exchange.SymbolKey // without a name: of some symbol
	UnreadAssets    bool                 // the wallet shows balances that cannot be read
}

// isUnread reports whether a read failed that a conclusion about the symbol needs.
func (s *Snapshot) isUnread(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.Unread, func(u exchange.SymbolKey) bool { return u.Market == key.Market && (u.Name == "" || u.Name == key.Name) })
}

// OrderByID is the answer to a question for one order by id.
type OrderByID struct {
	OrderID int64
	Order   exchange.Order
	Known   bool // false: the exchange says there is no such order
}

// Traded is what the user trades say of one spot order.
type Traded struct {
	OrderID int64
	Filled  exchange.Quantity
	Price   exchange.Amount // mean
	Fee     exchange.Amount // taken from the asset bought
}

// Orders returns the open list of a market, if it was fetched.
func (s *Snapshot) Orders(market exchange.Market) exchange.Fetched[exchange.Order] {
	if market == exchange.Spot {
		return s.SpotOrders
	}
	return s.FuturesOrders
}

// Vanished returns the live placements with an order id that the open list of
// their market does not show, or that were canceled, since a list that is old still shows
// them: each must be asked for by id.
func (b *Book) Vanished(s *Snapshot) []*account.Placement {
	var vanished []*account.Placement
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		list := s.Orders(market)
		if !list.Done() {
			continue
		}
		orders, open := list.Items(), b.openIDs[:0]
		next := 0 // placements too are oldest first: mostly the next one is the next order's
		for _, p := range b.Live() {
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

// openIDs appends the exchange's ids of the open orders of a market, those whose rows cannot be read included, and
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

// Unknowns reports whether any placement's acceptance is not known, for which a
// round must take the full snapshot.
func (b *Book) Unknowns() bool {
	return slices.ContainsFunc(b.InFlight(), func(p *account.Placement) bool { return p.State() == placement.Uncertain })
}

// Observe advances every placement and position by what was fetched. The
// records it returns are applied already, in order, and must be journalled.
func (b *Book) Observe(fetched *Snapshot) []record.Record {
	s := b.survey(fetched)
	b.observedMS, b.listsMS = fetched.EndedMS, fetched.BeganMS
	newborn := b.New()
	s.nameRows()
	s.learnFees()
	s.observeEnded(exchange.Buy) // before any sale: one of more than is known to be held counts as of all of it
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
	b.note(fetched)
	for _, symbol := range b.symbols {
		if fetched.Account != nil {
			symbol.MarkedAt = symbol.Price()
		}
		s.observePosition(symbol)
		settle := b.Settle()
		symbol.traded = symbol.journalledSymbol.Traded(fetched.EndedMS, &settle)
	}
	s.confirmRefused()
	if newborn {
		s.guardLost()
	}
	for _, symbol := range b.symbols {
		symbol.extends = symbol.Settled || s.awaitsAnswer(symbol)
	}
	return s.records
}

// observeList takes an open list: what is in it is working, with its fills.
func (s *survey) observeList(market exchange.Market, list exchange.Fetched[exchange.Order]) {
	if !list.Done() {
		return
	}
	orders := list.Items()
	matched := slices.Grow(s.book.matched[:0], len(orders))
	next := 0 // both lists are oldest first: mostly the next placement is the next order's
	for i := range orders {
		order := &orders[i]
		p := s.matchFrom(&next, order)
		matched = append(matched, p)
		if p != nil && (p.OrderID() != 0 || !hasOlder(orders, order)) {
			s.observeOpen(p, order)
		}
	}
	for _, symbol := range s.book.symbols {
		if symbol.Key().Market == market {
			s.noteUnlisted(symbol, orders)
			symbol.Foreign, symbol.leftToMaker = symbol.Foreign[:0], symbol.leftToMaker[:0]
		}
	}
	for i := range orders {
		order := &orders[i]
		switch {
		case matched[i] != nil && !matched[i].State().Final(): // live, as it was
		case s.match(order) != nil:
		case s.endedBefore(order): // in a stale list, which shows no client order id
			s.book.stale++
		case s.leftToMaker(order):
			symbol := s.book.Symbol(order.Key())
			symbol.leftToMaker = append(symbol.leftToMaker, *order)
		case s.book.Known(order.ClientOrderID):
			s.observeDuplicate(order)
		default:
			symbol := s.book.Symbol(order.Key())
			symbol.Foreign = append(symbol.Foreign, *order)
		}
	}
	s.noteTwinOrders(orders)
	clear(matched) // an ended placement is not held on to
	s.book.matched = matched
}

// observeOpen takes an order that an open list shows. One that is filled in part, of what a purchase of unknown fate has
// bought, stands; what it sold is booked once the purchase is decided.
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

// observeByID takes the answer to a question by id.
func (s *survey) observeByID(answer OrderByID) {
	p := s.book.withOrderID(exchange.Futures, answer.OrderID)
	if p == nil {
		return
	}
	if answer.Known {
		s.observeOrder(p, &answer.Order)
		return
	}
	// An acknowledged id the exchange does not know: ask until the fence has
	// passed, then a person must look; never "lost after three" (case 12).
	s.observeLost(p)
}

// observeDuplicate takes an open order under an id that is another order's, or
// that had ended: its fills are ours, and it is canceled (case 14). Seen open
// under its own ended id, or found before and ended since, it is a stale replica's
// (case 13), unless a person or the equation took it not to be there.
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
		body.Duplicate = false // it was refused, and stands all the same
	}
	if p := s.book.Placement(id); p != nil && p.Order().Market == exchange.Spot && body.Purpose == placement.StopLoss && order.ID < p.OrderID() {
		body.Duplicate = false // that one is the younger
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
		p = nil // it is a second order under one client order id
	}
	if p == nil || p.Order().Symbol != order.Symbol || p.Order().Side != order.Side {
		return nil
	}
	return p
}

// matchFrom is match that looks at the live placement at next first, and puts next
// behind the one it found there.
func (s *survey) matchFrom(next *int, order *exchange.Order) *account.Placement {
	for at := *next; at < min(*next+3, len(s.book.Live())); at++ {
		p := s.book.Live()[at]
		if p.OrderID() == order.ID && p.Side() == order.Side && p.Symbol() == order.Key() {
			*next = at + 1
			return p
		}
	}
	return s.match(order)
}

// observeOrder takes an order as fetched. Filled never goes down: a smaller figure is a
// stale replica's (exactly-once.md, case 13).
func (s *survey) observeOrder(p *account.Placement, order *exchange.Order) {
	if order.Filled < p.Filled() {
		s.book.stale++
	}
	filled := max(order.Filled, p.Filled())
	if !order.Status.Final() {
		s.noteOpenAgain(p)
	}
	if !order.Status.Final() && p.State() == placement.Working && filled == p.Filled() && p.OrderID() == order.ID {
		return // resting, as it was
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
			return // accepted, not yet in the book: nothing new
		}
		s.emit(p.About(record.Fill{OrderID: order.ID, Filled: filled, Price: fillPrice(order), CreatedMS: datedBefore(p, order)}))
	}
}

// datedBefore is the exchange's date of an opening on futures, in whole seconds, where it is before the order was sent
// by botd's clock: that is ahead, and the position that the order opens would seem younger than its row in
// positions/history.
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

// fillPrice is the mean price where the exchange reports it: spot orders carry it,
// futures orders do not.
func fillPrice(order *exchange.Order) exchange.Amount {
	if order.Market == exchange.Spot {
		return order.AveragePrice
	}
	return exchange.Amount{}
}

// observeLost takes an acknowledged order that the exchange does not know after the
// fence: a person must look, and what it did is unknown (case 12).
func (s *survey) observeLost(p *account.Placement) {
	if s.fetched.BeganMS < p.Fence(s.book.Settle()) || p.State() == placement.Uncertain {
		return
	}
	why := "acknowledged order " + p.ClientOrderID() + " is not known to the exchange"
	s.emit(p.About(record.Unknown{Why: why}))
	s.quarantine(s.book.Symbol(p.Symbol()), why)
}

// observeEnded takes the orders of one side that spot order history shows, and the user trades of
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

// early reports whether a sale on spot is of more than is known to be held, while a purchase may have made that whose fate
// is unknown, or which the exchange acknowledged and nothing has shown yet: the sale would count as of all that is held, and the
// purchase, booked later, as held still. It waits until the purchase is decided; where a person must look, it does not.
func (e *evidence) early(p *account.Placement, filled exchange.Quantity) bool {
	symbol := e.book.Symbol(p.Symbol())
	if p.Order().Side != exchange.Sell || filled-p.Filled() <= symbol.Known() || symbol.Quarantine() != "" {
		return false
	}
	return slices.ContainsFunc(e.book.Live(), func(q *account.Placement) bool {
		return q.Symbol() == p.Symbol() && q.Order().Side == exchange.Buy && (q.State().Unresolved() || !q.Seen())
	})
}

// observeHistory takes spot order history, which shows every order that ended,
// and the user trades of single orders. They are evidence by themselves: an order
// in neither list nor history after the fence was never taken.
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
	for _, p := range slices.Clone(s.book.Live()) {
		if p.Symbol().Market != exchange.Spot || s.fetched.BeganMS < p.Fence(s.book.Settle()) || s.fetched.isUnread(p.Symbol()) {
			continue
		}
		listed := func(o exchange.Order) bool { return o.ID == p.OrderID() }
		switch {
		case p.State() == placement.Uncertain && p.OrderID() != 0: // the exchange had it: only its row, or a person, says how it ended
		case p.State() == placement.Uncertain:
			if s.quarantineLeftOver(p) {
				continue
			}
			s.emit(p.About(record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: "in neither open list nor history after the fence"}))
		case p.OrderID() != 0 && !s.onSpot(p.OrderID()) && !slices.ContainsFunc(s.fetched.History.Items(), listed):
			s.observeLost(p)
		}
	}
	s.observeEnded(exchange.Sell) // what waited for a purchase that was never taken
}

// withOrderID finds a live placement by the exchange's order id.
func (b *Book) withOrderID(market exchange.Market, orderID int64) *account.Placement {
	for _, p := range b.Live() {
		if orderID != 0 && p.OrderID() == orderID && p.Symbol().Market == market {
			return p
		}
	}
	return nil
}
