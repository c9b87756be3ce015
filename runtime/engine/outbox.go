package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
)

// outbox holds what comes of the event under way, the calls that are under way, and the
// records that are not durable yet.
type outbox struct {
	book  *reconcile.Book
	out   *Effects // of the Handle under way
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

func newOutbox(book *reconcile.Book) *outbox {
	return &outbox{book: book, calls: map[int64]purpose{}, journalMS: never}
}

// record changes the book by one record and queues it for the journal.
func (e *outbox) record(r record.Record) {
	r.AtMS = e.nowMS
	e.book.Apply(&r)
	e.unwritten = append(e.unwritten, r)
}

// keep queues a record that was applied already.
func (e *outbox) keep(r record.Record) { e.unwritten = append(e.unwritten, r) }

// note reports a fact of a strategy and a symbol, or of neither.
func (e *outbox) note(strategy string, symbol *exchange.Symbol, fact Fact) {
	e.out.Notes = append(e.out.Notes, Note{AtMS: e.nowMS, Strategy: strategy, Symbol: symbol, Fact: fact})
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

// ask sends a request whose answer is taken for that purpose.
func (e *outbox) ask(p purpose, priority Priority, request exchange.Request) {
	e.out.Calls = append(e.out.Calls, Call{ID: e.begin(p), Priority: priority, Request: request})
}

// begin registers a call under way and returns its id.
func (e *outbox) begin(p purpose) int64 {
	e.nextCall++
	e.calls[e.nextCall] = p
	return e.nextCall
}

// purpose is what a call under way is for.
type purpose struct {
	kind     callKind
	series   *series
	run      *run
	truth    *reconcile.SymbolState
	clientID string
	orderID  int64
	leverage int
	before   bool // the positions read that opens a full snapshot
	sentMS   int64
	recalled string // placements: why it was recalled; empty when it was not
}

// callKind says what an answer is for.
type callKind uint8

const (
	callRound callKind = iota + 1
	callLook
	callHistory
	callTicker
	callLeverages
	callPlace
	callCancel
	callSetLeverage
	callClosed
	callTrades
	callCandles
	callRules
	callFunding
	callNewest
	callEnded      // the ledger: positions that ended
	callExecutions // the ledger: executions of a spot order
	callBetween    // the ledger: positions and account, apart from the rounds
)

// ofRound reports whether a round waits for the answer.
func (k callKind) ofRound() bool {
	switch k {
	case callRound, callLook, callHistory, callTicker, callLeverages, callClosed, callTrades, callNewest:
		return true
	}
	return false
}
