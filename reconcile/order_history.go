package reconcile

import (
	"slices"
	"strconv"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// observeHistory applies the spot order history, which contains every ended order, and the user
// trades of single orders. They are evidence by themselves: an order in neither list nor history
// after the fence was never accepted.
func (s orderRows) observeHistory() {
	s.noteIDs(s.fetched.History.Items())
	s.peers.checkUnknownEnded(s.fetched.History.Items())
	s.observeEnded(exchange.Sell)
	for i := range s.fetched.History.Items() {
		if order := &s.fetched.History.Items()[i]; s.tracker.match(order) == nil {
			s.observeExtra(order)
		}
	}
	s.peers.quarantineSecondBuyer(s.fetched.History.Items())
	if !s.fetched.HistoryWhole || !s.fetched.SpotOrders.Done() {
		return
	}
	for _, p := range slices.Collect(s.tracker.Live()) {
		if p.Symbol().Market != exchange.Spot || s.fetched.BeganMS < p.Fence(s.tracker.Bounds()) || s.fetched.isUnread(p.Symbol()) {
			continue
		}
		listed := func(o exchange.Order) bool { return o.ID == p.OrderID() }
		switch {
		case p.State() == placement.Uncertain && p.OrderID() != 0: // the exchange had the order: only its row, or a person, decides how it ended
		case p.State() == placement.Uncertain:
			if s.uncertain.quarantineCandidate(p) {
				continue
			}
			s.emit(p.About(record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: "in neither open list nor history after the fence"}))
		case p.OrderID() != 0 && !s.spotList.shows(p.OrderID()) && !slices.ContainsFunc(s.fetched.History.Items(), listed):
			s.observeLost(p)
		}
	}
	s.observeEnded(exchange.Sell) // sales that waited for a purchase that was never accepted
}

// observeEnded applies the orders of one side in the spot order history, and the user trades of single
// orders.
func (s orderRows) observeEnded(side exchange.Side) {
	if !s.fetched.History.Done() {
		return
	}
	for i := range s.fetched.History.Items() {
		order := &s.fetched.History.Items()[i]
		if p := s.tracker.match(order); p != nil && order.Side == side && !s.tracker.precedesPurchase(p, order.Filled) {
			s.observeOrder(p, order)
		}
	}
	for _, traded := range s.fetched.Trades {
		p := s.tracker.withOrderID(exchange.Spot, traded.OrderID)
		if p != nil && p.Order().Side == side && traded.Filled > p.Filled() && !s.tracker.precedesPurchase(p, traded.Filled) {
			s.emit(p.About(record.Fill{OrderID: p.OrderID(), Filled: traded.Filled, Price: traded.Price}))
		}
	}
}

// precedesPurchase reports whether a spot sale exceeds the known position while a purchase may have supplied the rest: one that is undecided, or
// acknowledged and not shown yet. If the sale were booked now, it would count as a sale of the whole position, and the purchase, booked later, as
// still held. The sale waits until the purchase is decided, unless it needs manual resolution.
func (t *tracked) precedesPurchase(p *account.Placement, filled exchange.Quantity) bool {
	symbol := t.Symbol(p.Symbol())
	if p.Order().Side != exchange.Sell || filled-p.Filled() <= symbol.Known() || symbol.Quarantine() != "" {
		return false
	}
	return t.AnyLive(func(q *account.Placement) bool {
		return q.Symbol() == p.Symbol() && q.Order().Side == exchange.Buy && (q.State().OutcomeUncertain() || !q.Seen())
	})
}

// observeLost handles an acknowledged order that the exchange does not know after the fence: its effect
// is unknown and needs manual resolution (case 12).
func (s orderRows) observeLost(p *account.Placement) {
	if s.fetched.BeganMS < p.Fence(s.tracker.Bounds()) || p.State() == placement.Uncertain {
		return
	}
	why := "acknowledged order " + p.ClientOrderID() + " is not known to the exchange"
	s.emit(p.About(record.Uncertain{Reason: why}))
	s.quarantine(s.tracker.Symbol(p.Symbol()), why)
}

// observeNewest handles the first read of a spot symbol's history since the start. There a position
// proves nothing, because the wallet may contain the same quantity of another owner.
func (s orderRows) observeNewest() {
	s.noteIDs(s.fetched.Newest)
	s.peers.checkUnknownEnded(s.fetched.Newest)
	s.peers.quarantineSecondBuyer(s.fetched.Newest)
}

// observeExtra handles an order in the history under an id of botd's that no placement claims, or whose
// placement was refused: the exchange executed it despite its refusal, or twice. Its fill counts as
// botd's, is protected and limited as such, and needs manual resolution.
func (s orderRows) observeExtra(order *exchange.Order) {
	order = s.tracker.unclaimedRows().repetition(order)
	_, ended := s.tracker.Ended(order.ClientOrderID)
	live := s.tracker.Placement(order.ClientOrderID)
	if s.misnamed(live, order) {
		s.observeOrder(live, order)
		return
	}
	claimed := live != nil && (live.OrderID() == 0 || live.OrderID() == order.ID)
	if order.ClientOrderID == "" || order.Filled == 0 || claimed || !ended && live == nil || s.tracker.leftToOwner(order) {
		return
	}
	if _, _, known := s.tracker.EndedAs(order.Key(), order.ID); known || s.tracker.Known(duplicateID(order)) {
		return
	}
	s.observeDuplicate(order)
	s.quarantineFor(s.tracker.Track(order.Key()), record.ExecutedBeyond,
		"the exchange executed "+order.ClientOrderID+" although it was refused or had already been executed: order "+duplicateID(order))
}

// noteIDs records whether a spot list shows client order ids, and that it omits them if a row that is
// botd's by its order id shows none.
func (s orderRows) noteIDs(orders []exchange.Order) {
	for i := range orders {
		switch o := &orders[i]; {
		case o.ClientOrderID != "":
			s.tracker.idsShown = true
		case !s.tracker.idsLeftOut && s.tracker.claimed(o):
			s.tracker.idsLeftOut = true
		}
	}
}

// observeDuplicate handles an open order whose client order id belongs to another order or to an ended
// placement: its fills are botd's, and it is canceled (case 14). If that placement was seen open under
// this same order id before it ended, or was found by its id and has ended since, the list is from a
// stale replica (case 13), unless a person or the position equation decided that the order did not
// exist.
func (s orderRows) observeDuplicate(order *exchange.Order) {
	id := order.ClientOrderID
	if p := s.tracker.Placement(id); s.misnamed(p, order) {
		s.observeOrder(p, order)
		return
	}
	if e, found := s.tracker.Ended(duplicateID(order)); found && !e.Absent {
		s.tracker.stale++
		s.collectReappeared(order)
		return
	}
	e, ended := s.tracker.Ended(id)
	strategy := e.Strategy
	if p := s.tracker.Placement(id); p != nil {
		strategy, ended = p.Strategy(), false
	}
	if ended && e.OrderID == order.ID && !e.Absent {
		s.tracker.stale++
		s.collectReappeared(order)
		return
	}
	body := record.Found{Purpose: s.tracker.purposeOf(id), Duplicate: true, Evidence: "a second order with client order id " + id}
	if ended && (e.OrderID == 0 || e.Absent) {
		body.Filled, body.Evidence = min(e.Filled, order.Filled), "order "+id+" is open on the exchange although it was considered ended"
	}
	if stop := body.Purpose == placement.StopLoss || order.ClosePosition; ended && e.OrderID == 0 && !e.Absent && stop {
		body.Duplicate = false // it was refused but exists
	}
	if p := s.tracker.Placement(id); p != nil && p.Order().Market == exchange.Spot && body.Purpose == placement.StopLoss && order.ID < p.OrderID() {
		body.Duplicate = false // the other order is the newer one
	}
	s.emit(found(order, strategy, duplicateID(order), body))
	s.observeOrder(s.tracker.Placement(duplicateID(order)), order)
}

// misnamed reports whether a row under a placement's client order id is its order although the answer to the placement gave another order id: no
// row has shown that one, neither earlier nor in this snapshot. The order that rests would be canceled as a duplicate of one that does not exist.
func (s orderRows) misnamed(p *account.Placement, order *exchange.Order) bool {
	if p == nil || p.Seen() || p.OrderID() == 0 || p.OrderID() == order.ID || p.Side() != order.Side || p.Symbol() != order.Key() {
		return false
	}
	acknowledged := func(o exchange.Order) bool {
		return o.ID == p.OrderID() && o.Key() == order.Key() && !s.tracker.namesAnother(&o, p)
	}
	for _, list := range []*exchange.Fetched[exchange.Order]{&s.fetched.FuturesOrders, &s.fetched.SpotOrders, &s.fetched.History} {
		if list.Done() && slices.ContainsFunc(list.Items(), acknowledged) {
			return false
		}
	}
	return !slices.ContainsFunc(s.fetched.ByID, func(answer OrderByID) bool { return answer.Known && acknowledged(answer.Order) })
}

// duplicateMark separates the client order id of a second order from its order id.
const duplicateMark = "#"

func duplicateID(order *exchange.Order) string {
	return order.ClientOrderID + duplicateMark + strconv.FormatInt(order.ID, 10)
}
