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

// journaled lets the placements go whose records are durable. After a failed
// append none goes: nothing was sent, and nothing will be under those ids.
func (s *sender) journaled(err error) {
	written := s.writing
	s.writing = 0
	if err != nil {
		if s.journalErr == nil {
			s.journalSinceMS = s.nowMS
			s.note("", nil, NoteJournal{Err: err, Records: len(s.unwritten), Why: "nothing is sent until it can be written"})
		}
		s.journalErr, s.journalMS = err, s.nowMS+journalRetryMS
		for _, w := range s.queued {
			s.neverSent(&w.intent, "the journal could not be written")
		}
		s.queued = s.queued[:0]
		return
	}
	if s.journalErr != nil {
		s.journalErr = nil
		s.note("", nil, NoteJournal{Over: true, Records: written, Why: s.permission.low})
		s.soon() // what was held back is derived anew
	}
	s.emitted += int64(written)
	s.unwritten = s.unwritten[:copy(s.unwritten, s.unwritten[written:])]
	rest := s.queued[:0]
	for _, w := range s.queued {
		if w.sequence > s.emitted {
			rest = append(rest, w)
			continue
		}
		s.send(w)
	}
	s.queued = rest
}

// neverSent ends a placement whose first byte has not left.
func (s *sender) neverSent(intent *reconcile.Intent, why string) {
	s.record(record.Record{ClientOrderID: intent.Order.ClientOrderID, Strategy: intent.Strategy, Symbol: intent.Order.Key(),
		Body: record.Ended{State: placement.Expired, Evidence: why + ": never sent"}})
}

// send lets a placement go.
func (s *sender) send(w queued) {
	if why := s.permission.withdrawn(&w); why != "" {
		s.neverSent(&w.intent, why)
		return
	}
	w.call.ID = s.begin(w.purpose)
	s.out.Calls = append(s.out.Calls, w.call)
	if w.intent.Purpose.Opens() {
		s.sent = append(s.sent, w)
	}
	s.note(w.intent.Strategy, s.book.Symbol(w.intent.Order.Key()).Rules, NotePlaced{Reason: w.intent.Reason,
		NoteOrder: NoteOrder{Purpose: w.intent.Purpose, ClientOrderID: w.intent.Order.ClientOrderID, Order: w.intent.Order}})
}

// recallLate calls back exits of a symbol that were handed out a second ago and are not
// answered: the kill switch sends them anew, and one that still waits, for its record or
// for the request budget, must not leave together with the next. It reports whether one
// may still wait.
func (s *sender) recallLate(key exchange.SymbolKey) (waits bool) {
	const lateMS = 1_000
	for _, order := range s.book.Live() {
		if order.Symbol() != key || order.Purpose().Opens() || order.State() != placement.Sending || s.nowMS-order.SentMS() < lateMS {
			continue
		}
		id, handedOut := s.callOf(order.ClientOrderID())
		if p := s.calls[id]; handedOut && p.recalled == "" {
			p.recalled = "it is sent anew by the kill switch"
			s.calls[id] = p
			s.out.Recalls = append(s.out.Recalls, id)
			waits = true
		}
		waits = waits || !handedOut
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
