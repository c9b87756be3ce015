package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalRetryMS is how soon a failed append is tried again.
const journalRetryMS = 1_000

// sender sends placements once their records are durable, and recalls what must not go.
type sender struct {
	*base
	permission *permission
	tick       *tick
	queued     []queued  // placements that wait for their record
	sent       []opening // handed out, neither answered nor recalled
	local      bool      // the event under way changed nothing but what its records are about
	examined   int64     // how many records there were after the event before
	examinedMS int64     // when all of sent were examined last
}

// opening is a placement that opens and was handed out.
type opening struct {
	symbol *reconcile.SymbolState
	*queued
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
// answered: the kill switch sends them again, and one that still waits, for its record or
// for the request budget, must not leave together with the next. It reports whether one
// may still wait, or was handed out less than two seconds ago: its record may have been late.
func (s *sender) recallLate(key exchange.SymbolKey) (waits bool) {
	const lateMS, youngMS = 1_000, 2_000
	for _, order := range s.book.InFlightOn(key) {
		if order.Purpose().Opens() || order.State() != placement.Sending || s.nowMS-order.SentMS() < lateMS {
			continue
		}
		id, handedOut := s.callOf(order.ClientOrderID())
		p := s.calls[id]
		switch {
		case !handedOut || s.nowMS-p.leftMS < lateMS:
			waits = true
		case p.recalled == "":
			p.recalled = "it is sent again by the kill switch"
			s.calls[id] = p
			s.out.Recalls = append(s.out.Recalls, id)
			waits = true
		default:
			waits = waits || s.nowMS-p.leftMS < youngMS
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

// recallAllMS is how old an examination of all openings handed out may be. What time alone makes of them, a read that
// hangs or a stop that is missing, takes 15 s and more, and their time to live is checked once more as they leave.
const recallAllMS = 100

// recall calls back the openings handed out that must not go any more. One may
// still wait for the request budget while an exit, which waits for nothing,
// overtakes it; one that has left is answered as it is. After a local event only those
// are examined whose symbols its records are about.
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
		if i == 0 || records[i].Symbol != records[i-1].Symbol {
			s.recallOn(s.book.Symbol(records[i].Symbol))
		}
	}
}

func aboutNoSymbol(r record.Record) bool { return r.Symbol == exchange.SymbolKey{} }

// recallOn calls back those on a symbol that must not go any more.
func (s *sender) recallOn(symbol *reconcile.SymbolState) {
	for i := 0; i < len(s.sent); i++ {
		if s.sent[i].symbol != symbol || !s.examine(s.sent[i]) {
			continue
		}
		if i == 0 { // mostly: answers come in the order of requests, and the others stay where they are
			s.sent[0], s.sent = opening{}, s.sent[1:]
		} else {
			s.sent = slices.Delete(s.sent, i, i+1)
		}
		i--
	}
}

// examine calls an opening back when it must not go any more, and reports whether it is called back, or was answered.
func (s *sender) examine(o opening) bool {
	p, under := s.calls[o.call.ID]
	if !under {
		return true
	}
	if p.recalled = s.permission.withdrawn(o.queued); p.recalled == "" {
		return false
	}
	s.calls[o.call.ID] = p
	s.out.Recalls = append(s.out.Recalls, o.call.ID)
	return true
}
