package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// journalRetryMS is how soon a failed append is tried again.
const journalRetryMS = 1_000

// sender sends placements once their records are durable, and recalls what must not go.
type sender struct {
	*base
	permission *permission
	queued     []queued // placements that wait for their record
	sent       []queued // openings handed out, neither answered nor recalled
}

// queued is an approved placement whose record is not durable yet.
type queued struct {
	sequence      int64 // of its record
	call          Call
	purpose       purpose
	intent        reconcile.Intent
	limitsVersion int // under which it was approved (limitsVersionOf)
}

// recallLate calls back exits of a symbol that were handed out a second ago and are not
// answered: the kill switch sends them anew, and one that still waits, for its record or
// for the request budget, must not leave together with the next. It reports whether one
// may still wait, or was handed out less than two seconds ago: its record may have been late.
func (s *sender) recallLate(key exchange.SymbolKey) (waits bool) {
	const lateMS, anewMS = 1_000, 2_000
	for _, order := range s.book.InFlight() {
		if order.Symbol() != key || order.Purpose().Opens() || order.State() != placement.Sending || s.nowMS-order.SentMS() < lateMS {
			continue
		}
		id, handedOut := s.callOf(order.ClientOrderID())
		p := s.calls[id]
		switch {
		case !handedOut || s.nowMS-p.leftMS < lateMS:
			waits = true
		case p.recalled == "":
			p.recalled = "it is sent anew by the kill switch"
			s.calls[id] = p
			s.out.Recalls = append(s.out.Recalls, id)
			waits = true
		default:
			waits = waits || s.nowMS-p.leftMS < anewMS
		}
	}
	return waits
}

// callOf returns the call under way that places an order.
func (s *sender) callOf(clientOrderID string) (id int64, found bool) {
	for id, p := range s.calls { // one at most is of this order
		if p.kind == callPlace && p.clientID == clientOrderID {
			return id, true
		}
	}
	return 0, false
}

// recall calls back the openings handed out that must not go any more. One may
// still wait for the request budget while an exit, which waits for nothing,
// overtakes it; one that has left is answered as it is.
func (s *sender) recall() {
	if len(s.sent) == 0 {
		return
	}
	s.sent = slices.DeleteFunc(s.sent, func(w queued) bool {
		p, under := s.calls[w.call.ID]
		if !under {
			return true
		}
		if p.recalled = s.permission.withdrawn(&w); p.recalled == "" {
			return false
		}
		s.calls[w.call.ID] = p
		s.out.Recalls = append(s.out.Recalls, w.call.ID)
		return true
	})
}
