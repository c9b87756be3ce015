package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// recallLate recalls a symbol's unanswered exits that were passed on at least a second ago, because the kill switch sends them again. It reports whether
// the kill switch must wait: an exit may still be queued for its record or for the request budget, and must not be sent together with the next one, or
// it may have been sent less than two seconds ago. With slow reads that is possible long after its second, because the exit may have been queued until
// it was recalled (case 20).
func (s *sender) recallLate(key exchange.SymbolKey) (waits bool) {
	const lateMS, youngMS = 1_000, 2_000
	for order := range s.tracker.InFlightOn(key) {
		if order.Purpose().Opens() || order.State() != placement.Sending || s.nowMS-order.SentMS() < lateMS {
			continue
		}
		id, handedOut := s.callOf(order.ClientOrderID())
		p := s.calls[id]
		switch {
		case !handedOut || s.nowMS-p.leftMS < lateMS:
			waits = true
		case p.recalled == "":
			p.recalled, p.leftMS = "the kill switch sends it again", s.nowMS
			s.calls[id] = p
			s.out.Recalls = append(s.out.Recalls, id)
			waits = true
		default:
			waits = waits || s.nowMS-p.leftMS < youngMS
		}
	}
	return waits
}

// callOf returns the call in progress that places an order.
func (s *sender) callOf(clientOrderID string) (id int64, found bool) {
	for id, p := range s.calls { // at most one belongs to this order
		if p.kind == callPlace && p.clientID == clientOrderID {
			return id, true
		}
	}
	return 0, false
}

// recallAllMS is the maximum time between two examinations of all sent openings. Effects of time alone,
// such as a hanging read or a missing stop, take at least 15 s, and the time to live is checked again
// when an opening leaves.
const recallAllMS = 100

// recall recalls sent openings that must no longer be sent. Such an opening may still wait for the
// request budget while an exit, which does not wait for it, overtakes it; if it has already left, it
// gets its ordinary answer. After a local event, recall examines only the openings on the symbols of its
// records.
func (s *sender) recall() {
	recorded := s.emitted + int64(len(s.unwritten))
	records := s.unwritten[len(s.unwritten)-int(recorded-s.examined):]
	local := s.local && s.nowMS-s.examinedMS < recallAllMS && !slices.ContainsFunc(records, aboutNoSymbol)
	s.local, s.examined = false, recorded
	if len(s.sent) == 0 {
		return
	}
	if !local {
		s.examinedMS = s.nowMS
		s.sent = slices.DeleteFunc(s.sent, s.examine)
		return
	}
	for i := range records {
		s.recallOn(s.tracker.Symbol(records[i].Symbol))
	}
}

func aboutNoSymbol(r record.Record) bool { return r.Symbol == exchange.SymbolKey{} }

// recallOn recalls the openings on a symbol that must no longer be sent.
func (s *sender) recallOn(symbol *reconcile.SymbolState) {
	s.sent = slices.DeleteFunc(s.sent, func(o opening) bool { return o.symbol == symbol && s.examine(o) })
}

// examine recalls an opening that must no longer be sent. It reports whether the opening was
// recalled or answered.
func (s *sender) examine(o opening) bool {
	p, unanswered := s.calls[o.call.ID]
	if !unanswered {
		return true
	}
	if p.recalled = s.permission.withdrawn(o.queued); p.recalled == "" {
		return false
	}
	s.calls[o.call.ID] = p
	s.out.Recalls = append(s.out.Recalls, o.call.ID)
	return true
}
