package reconcile

import (
	"strconv"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// observeDuplicate handles an open order whose client order id belongs to another order or to an ended
// placement: its fills are botd's, and it is canceled (case 14). If that placement was seen open under
// this same order id before it ended, or was found by its id and has ended since, the list is from a
// stale replica (case 13), unless a person or the position equation decided that the order did not
// exist.
func (s orderRows) observeDuplicate(order *exchange.Order) {
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
	body := record.Found{Purpose: s.book.purposeOf(id), Duplicate: true, Evidence: "a second order with client order id " + id}
	if ended && (e.OrderID == 0 || e.Absent) {
		body.Filled, body.Evidence = min(e.Filled, order.Filled), "order "+id+" is open on the exchange although it was considered ended"
	}
	if stop := body.Purpose == placement.StopLoss || order.ClosePosition; ended && e.OrderID == 0 && !e.Absent && stop {
		body.Duplicate = false // it was refused but exists
	}
	if p := s.book.Placement(id); p != nil && p.Order().Market == exchange.Spot && body.Purpose == placement.StopLoss && order.ID < p.OrderID() {
		body.Duplicate = false // the other order is the newer one
	}
	s.emit(found(order, strategy, duplicateID(order), body))
	s.observeOrder(s.book.Placement(duplicateID(order)), order)
}

func duplicateID(order *exchange.Order) string {
	return order.ClientOrderID + "#" + strconv.FormatInt(order.ID, 10)
}
