package reconcile

import (
	"strconv"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

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
