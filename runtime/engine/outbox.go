package engine

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// outbox holds what comes of the event under way, the calls that are under way, and the
// records that are not durable yet.
type outbox struct {
	apply func(*record.Record) // changes the book
	out   *Effects             // of the Handle under way
	nowMS int64

	calls    map[int64]purpose // under way
	nextCall int64

	unwritten      []record.Record // not durable yet, in order
	writing        int             // how many of them the driver is writing
	emitted        int64           // records ever made durable or handed out
	journalMS      int64           // when a failed append is tried again; never when none failed
	journalErr     error
	journalSinceMS int64 // when the first append failed that no later one made good
}

func newOutbox(apply func(*record.Record)) *outbox {
	return &outbox{apply: apply, calls: map[int64]purpose{}, journalMS: never}
}

// record changes the book by one record and queues it for the journal.
func (e *outbox) record(r record.Record) {
	r.AtMS = e.nowMS
	e.apply(&r)
	e.unwritten = append(e.unwritten, r)
}

// keep queues a record that was applied already.
func (e *outbox) keep(r record.Record) { e.unwritten = append(e.unwritten, r) }

// note reports a fact of a strategy and a symbol, or of neither.
func (e *outbox) note(strategy string, symbol *exchange.Symbol, fact Fact) {
	e.out.Notes = append(e.out.Notes, Note{AtMS: e.nowMS, Strategy: strategy, Symbol: symbol, Fact: fact})
}

// begin registers a call under way and returns its id.
func (e *outbox) begin(p purpose) int64 {
	e.nextCall++
	e.calls[e.nextCall] = p
	return e.nextCall
}

// ask sends a request whose answer is taken for that purpose.
func (e *outbox) ask(p purpose, priority Priority, request exchange.Request) {
	e.out.Calls = append(e.out.Calls, Call{ID: e.begin(p), Priority: priority, Request: request})
}

// flush hands all unwritten records to the driver, one batch at a time, so that
// their order holds whatever fails.
func (e *outbox) flush() {
	if e.writing > 0 || len(e.unwritten) == 0 || e.journalMS != never {
		return
	}
	e.out.Records = append(e.out.Records, e.unwritten...)
	e.writing = len(e.unwritten)
	e.out.Sequence = e.emitted + int64(e.writing)
}
