package engine

import (
	"slices"

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
func (e *sender) journaled(err error) {
	written := e.writing
	e.writing = 0
	if err != nil {
		if e.journalErr == nil {
			e.journalSinceMS = e.nowMS
			e.note("", nil, NoteJournal{Err: err, Records: len(e.unwritten), Why: "nothing is sent until it can be written"})
		}
		e.journalErr, e.journalMS = err, e.nowMS+journalRetryMS
		for _, w := range e.queued {
			e.neverSent(&w.intent, "the journal could not be written")
		}
		e.queued = e.queued[:0]
		return
	}
	if e.journalErr != nil {
		e.journalErr = nil
		e.note("", nil, NoteJournal{Over: true, Records: written, Why: e.permission.low})
		e.soon() // what was held back is derived anew
	}
	e.emitted += int64(written)
	e.unwritten = e.unwritten[:copy(e.unwritten, e.unwritten[written:])]
	rest := e.queued[:0]
	for _, w := range e.queued {
		if w.sequence > e.emitted {
			rest = append(rest, w)
			continue
		}
		e.send(w)
	}
	e.queued = rest
}

// neverSent ends a placement whose first byte has not left.
func (e *sender) neverSent(intent *reconcile.Intent, why string) {
	e.record(record.Record{ClientOrderID: intent.Order.ClientOrderID, Strategy: intent.Strategy, Symbol: intent.Order.Key(),
		Body: record.Ended{State: placement.Expired, Evidence: why + ": never sent"}})
}

// send lets a placement go.
func (e *sender) send(w queued) {
	if why := e.permission.withdrawn(&w); why != "" {
		e.neverSent(&w.intent, why)
		return
	}
	w.call.ID = e.begin(w.purpose)
	e.out.Calls = append(e.out.Calls, w.call)
	if w.intent.Purpose.Opens() {
		e.sent = append(e.sent, w)
	}
	e.note(w.intent.Strategy, e.book.Symbol(w.intent.Order.Key()).Rules, NotePlaced{Reason: w.intent.Reason,
		NoteOrder: NoteOrder{Purpose: w.intent.Purpose, ClientOrderID: w.intent.Order.ClientOrderID, Order: w.intent.Order}})
}

// recall calls back the openings handed out that must not go any more. One may
// still wait for the request budget while an exit, which waits for nothing,
// overtakes it; one that has left is answered as it is.
func (e *sender) recall() {
	if len(e.sent) == 0 {
		return
	}
	e.sent = slices.DeleteFunc(e.sent, func(w queued) bool {
		p, under := e.calls[w.call.ID]
		if !under {
			return true
		}
		if p.recalled = e.permission.withdrawn(&w); p.recalled == "" {
			return false
		}
		e.calls[w.call.ID] = p
		e.out.Recalls = append(e.out.Recalls, w.call.ID)
		return true
	})
}
