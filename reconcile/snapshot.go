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
		open := b.openIDs[:0]
		for i := range list.Items() {
			open = append(open, list.Items()[i].ID)
		}
		for i := range s.UnreadOrders {
			if u := &s.UnreadOrders[i]; u.Open && u.Market == market {
				open = append(open, u.Row.ID)
			}
		}
		slices.Sort(open)
		b.openIDs = open
		for _, p := range b.Live() {
			if p.OrderID() == 0 || p.Order().Market != market {
				continue
			}
			if _, shown := slices.BinarySearch(open, p.OrderID()); !shown || b.CancelMS(p.ClientOrderID()) != 0 {
				vanished = append(vanished, p)
			}
		}
	}
	return vanished
}

// Unknowns reports whether any placement's acceptance is not known, for which a
// round must take the full snapshot.
func (b *Book) Unknowns() bool {
	return slices.ContainsFunc(b.Live(), func(p *account.Placement) bool { return p.State() == placement.Uncertain })
}

// Observe advances every placement and position by what was fetched. The
// records it returns are applied already, in order, and must be journalled.
func (b *Book) Observe(s *Snapshot) []record.Record {
	var out []record.Record
	b.observedMS, b.listsMS = s.EndedMS, s.BeganMS
	newborn := b.New()
	b.learnFees(s)
	emit := func(r record.Record) {
		r.AtMS = s.EndedMS
		b.Apply(&r)
		out = append(out, r)
		if _, _, fills := r.Filled(); !fills {
			return
		}
		if fees, due := b.expectFees(b.Symbol(r.Symbol)); due {
			fees.AtMS = s.EndedMS
			b.Apply(&fees)
			out = append(out, fees)
		}
	}
	b.observeList(exchange.Futures, s.FuturesOrders, emit)
	b.observeList(exchange.Spot, s.SpotOrders, emit)
	b.observeUnread(s, emit)
	if s.History.Done() {
		b.observeHistory(s, emit)
	}
	b.observeNewest(s)
	for _, answer := range s.ByID {
		b.observeByID(s, answer, emit)
	}
	if s.Account != nil {
		b.Account, b.AccountMS = *s.Account, s.EndedMS
	}
	if s.Positions.Done() {
		b.Open = s.Positions.Items()
	}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if list := s.Orders(market); list.Done() {
			b.listed[market] = openList{list.Items(), s.BeganMS}
		}
	}
	if b.walletRead = s.Balances.Done(); b.walletRead {
		b.Balances, b.WalletMS, b.walletMS = s.Balances.Items(), s.EndedMS, s.BeganMS
	}
	for _, symbol := range b.symbols {
		b.observePosition(s, symbol, emit)
		settle := b.Settle()
		symbol.traded = symbol.journalledSymbol.Traded(s.EndedMS, &settle)
	}
	b.confirmRefused(s)
	if newborn {
		b.guardLost(emit)
	}
	return out
}

// observeList takes an open list: what is in it is working, with its fills.
func (b *Book) observeList(market exchange.Market, list exchange.Fetched[exchange.Order], emit func(record.Record)) {
	if !list.Done() {
		return
	}
	orders := list.Items()
	matched := slices.Grow(b.matched[:0], len(orders))
	next := 0 // both lists are oldest first: mostly the next placement is the next order's
	for i := range orders {
		order := &orders[i]
		p := b.matchFrom(&next, order)
		matched = append(matched, p)
		if p != nil && (p.OrderID() != 0 || !hasOlder(orders, order)) {
			b.observeOrder(p, order, emit)
		}
	}
	for _, symbol := range b.symbols {
		if symbol.Key().Market == market {
			b.noteUnlisted(symbol, orders)
			symbol.Foreign, symbol.leftAlone = symbol.Foreign[:0], symbol.leftAlone[:0]
		}
	}
	for i := range orders {
		order := &orders[i]
		switch {
		case matched[i] != nil && !matched[i].State().Final(): // live, as it was
		case b.match(order) != nil:
		case b.endedBefore(order): // in a stale list, which shows no client order id
			b.stale++
		case b.leftAlone(order):
			symbol := b.Symbol(order.Key())
			symbol.leftAlone = append(symbol.leftAlone, *order)
		case b.Known(order.ClientOrderID):
			b.observeDuplicate(order, emit)
		default:
			symbol := b.Symbol(order.Key())
			symbol.Foreign = append(symbol.Foreign, *order)
		}
	}
	clear(matched) // an ended placement is not held on to
	b.matched = matched
}

// leftAlone reports whether a person left the order to whoever made it.
func (b *Book) leftAlone(order *exchange.Order) bool {
	e, known := b.Ended(order.ClientOrderID)
	if !known {
		_, e, _ = b.EndedAs(order.Key(), order.ID)
	}
	return e.Left
}

// endedBefore reports whether an order without a client order id is one of a placement
// that has ended.
func (b *Book) endedBefore(order *exchange.Order) bool {
	if order.ClientOrderID != "" {
		return false
	}
	_, e, ended := b.EndedAs(order.Key(), order.ID)
	return ended && !e.Left && !e.Absent
}

func hasOlder(orders []exchange.Order, order *exchange.Order) bool {
	return slices.ContainsFunc(orders, func(o exchange.Order) bool { return o.ClientOrderID == order.ClientOrderID && o.ID < order.ID })
}

// observeDuplicate takes an open order under an id that is another order's, or
// that had ended: its fills are ours, and it is canceled (case 14). Seen open
// under its own ended id it is a stale replica's (case 13), unless a person or the
// equation took it not to be there.
func (b *Book) observeDuplicate(order *exchange.Order, emit func(record.Record)) {
	id := order.ClientOrderID
	e, ended := b.Ended(id)
	strategy := e.Strategy
	if p := b.Placement(id); p != nil {
		strategy, ended = p.Strategy(), false
	}
	if ended && e.OrderID == order.ID && !e.Absent {
		b.stale++
		return
	}
	body := record.Found{Purpose: b.purposeOf(id), Duplicate: true, Evidence: "a second order under client order id " + id}
	if ended && (e.OrderID == 0 || e.Absent) {
		body.Filled, body.Evidence = min(e.Filled, order.Filled), "order "+id+" is on the exchange after it was taken to have ended"
	}
	if stop := body.Purpose == placement.StopLoss || order.ClosePosition; ended && e.OrderID == 0 && !e.Absent && stop {
		body.Duplicate = false // it was refused, and stands all the same
	}
	emit(found(order, strategy, duplicateID(order), body))
	b.observeOrder(b.Placement(duplicateID(order)), order, emit)
}

func duplicateID(order *exchange.Order) string {
	return order.ClientOrderID + "#" + strconv.FormatInt(order.ID, 10)
}

// match finds the live placement an order belongs to: by the exchange's id, which every
// list shows, then by its client order id, since the order id of an unknown one is not
// known.
func (b *Book) match(order *exchange.Order) *account.Placement {
	p := b.withOrderID(order.Market, order.ID)
	if p == nil {
		p = b.Placement(order.ClientOrderID)
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
func (b *Book) matchFrom(next *int, order *exchange.Order) *account.Placement {
	for at := *next; at < min(*next+3, len(b.Live())); at++ {
		p := b.Live()[at]
		if p.OrderID() == order.ID && p.Order().Market == order.Market && p.Order().Symbol == order.Symbol && p.Order().Side == order.Side {
			*next = at + 1
			return p
		}
	}
	return b.match(order)
}

// observeOrder takes an order as fetched. Filled never goes down: a smaller figure is a
// stale replica's (exactly-once.md, case 13).
func (b *Book) observeOrder(p *account.Placement, order *exchange.Order, emit func(record.Record)) {
	if order.Filled < p.Filled() {
		b.stale++
	}
	filled := max(order.Filled, p.Filled())
	if !order.Status.Final() {
		b.standsAgain(p)
	}
	if !order.Status.Final() && p.State() == placement.Working && filled == p.Filled() && p.OrderID() == order.ID {
		return // resting, as it was
	}
	switch {
	case order.Status.Final():
		if order.Status != exchange.StatusFilled {
			b.noteSwept(p, b.observedMS)
		}
		emit(
			p.About(
				record.Ended{
					OrderID:  order.ID,
					State:    finalState(order.Status),
					Filled:   filled,
					Price:    fillPrice(order),
					Evidence: "fetched " + order.Status.String(),
				},
			),
		)
	case p.State() != placement.Working || filled != p.Filled() || p.OrderID() != order.ID:
		if order.Status == exchange.StatusCreated && p.OrderID() == order.ID {
			return // accepted, not yet in the book: nothing new
		}
		emit(p.About(record.Fill{OrderID: order.ID, Filled: filled, Price: fillPrice(order)}))
	}
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

// observeByID takes the answer to a question by id.
func (b *Book) observeByID(s *Snapshot, answer OrderByID, emit func(record.Record)) {
	p := b.withOrderID(exchange.Futures, answer.OrderID)
	if p == nil {
		return
	}
	if answer.Known {
		b.observeOrder(p, &answer.Order, emit)
		return
	}
	// An acknowledged id the exchange does not know: ask until the fence has
	// passed, then a person must look; never "lost after three" (case 12).
	b.observeLost(s, p, emit)
}

// observeLost takes an acknowledged order that the exchange does not know after the
// fence: a person must look, and what it did is unknown (case 12).
func (b *Book) observeLost(s *Snapshot, p *account.Placement, emit func(record.Record)) {
	if s.BeganMS < p.Fence(b.Settle()) || p.State() == placement.Uncertain {
		return
	}
	why := "acknowledged order " + p.ClientOrderID() + " is not known to the exchange"
	emit(p.About(record.Unknown{Why: why}))
	b.quarantine(b.Symbol(p.Symbol()), why, emit)
}

// observeHistory takes spot order history, which shows every order that ended,
// and the user trades of single orders. They are evidence by themselves: an order
// in neither list nor history after the fence was never taken.
func (b *Book) observeHistory(s *Snapshot, emit func(record.Record)) {
	b.noteIDs(s.History.Items())
	for i := range s.History.Items() {
		order := &s.History.Items()[i]
		if p := b.match(order); p != nil {
			b.observeOrder(p, order, emit)
		} else {
			b.observeExtra(order, emit)
		}
	}
	for _, traded := range s.Trades {
		if p := b.withOrderID(exchange.Spot, traded.OrderID); p != nil && traded.Filled > p.Filled() {
			emit(p.About(record.Fill{OrderID: p.OrderID(), Filled: traded.Filled, Price: traded.Price}))
		}
	}
	if !s.HistoryWhole || !s.SpotOrders.Done() {
		return
	}
	for _, p := range slices.Clone(b.Live()) {
		if p.Order().Market != exchange.Spot || s.BeganMS < p.Fence(b.Settle()) || s.isUnread(p.Symbol()) {
			continue
		}
		listed := func(o exchange.Order) bool { return o.ID == p.OrderID() }
		switch {
		case p.State() == placement.Uncertain:
			if b.quarantineLeftOver(s, p, emit) {
				continue
			}
			emit(p.About(record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: "in neither open list nor history after the fence"}))
		case p.OrderID() != 0 && !slices.ContainsFunc(s.SpotOrders.Items(), listed) && !slices.ContainsFunc(s.History.Items(), listed):
			b.observeLost(s, p, emit)
		}
	}
}

// withOrderID finds a live placement by the exchange's order id.
func (b *Book) withOrderID(market exchange.Market, orderID int64) *account.Placement {
	for _, p := range b.Live() {
		if orderID != 0 && p.OrderID() == orderID && p.Order().Market == market {
			return p
		}
	}
	return nil
}
