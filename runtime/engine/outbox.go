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
	nextAsk  int64 // the newest question to a strategy

	unwritten      []record.Record // not durable yet, in order
	writing        int             // how many of them the driver is writing
	emitted        int64           // records ever made durable or handed out
	checkpointed   int64           // emitted when the newest checkpoint was
	checkpoint     int64           // a checkpoint is due after so many records; 0 for never
	account        string          // what the journal belongs to
	journalMS      int64           // when a failed append is tried again; never when none failed
	journalErr     error
	journalFull    bool  // it began, or went on, while the disk was full
	journalSinceMS int64 // when the first append failed that no later one made good
}

func newOutbox(book *reconcile.Book) *outbox {
	return &outbox{book: book, calls: map[int64]purpose{}, journalMS: never}
}

// record changes the book by one record and queues it for the journal.
func (o *outbox) record(r record.Record) { o.recordAt(o.nowMS, r) }

// recordAt is record for a fact of another time.
func (o *outbox) recordAt(atMS int64, r record.Record) {
	r.AtMS = atMS
	o.book.Apply(&r)
	o.unwritten = append(o.unwritten, r)
}

// enqueue queues a record that was applied already.
func (o *outbox) enqueue(r record.Record) { o.unwritten = append(o.unwritten, r) }

// Final returns the state's checkpoint for a clean stop; false while a record is not durable.
func (o *outbox) Final() (record.Record, bool) {
	if len(o.unwritten) > 0 || o.checkpoint == 0 {
		return record.Record{}, false
	}
	return record.Record{AtMS: o.nowMS, Body: o.book.Checkpoint(o.account)}, true
}

// note reports a fact of a strategy and a symbol, or of neither.
func (o *outbox) note(strategy string, symbol *exchange.Symbol, fact Fact) {
	o.out.Notes = append(o.out.Notes, Note{AtMS: o.nowMS, Strategy: strategy, Symbol: symbol, Fact: fact})
}

// flush hands all unwritten records to the driver, one batch at a time, so that
// their order holds whatever fails.
func (o *outbox) flush() {
	if o.writing > 0 || len(o.unwritten) == 0 || o.journalMS != never {
		return
	}
	if length := o.emitted + int64(len(o.unwritten)); o.checkpoint > 0 && length-o.checkpointed >= o.checkpoint {
		o.checkpointed = length
		o.record(record.Record{Body: o.book.Checkpoint(o.account)}) // all records before it are applied, and in this batch or before
	}
	o.out.Records = append(o.out.Records, o.unwritten...)
	o.writing = len(o.unwritten)
	o.out.Sequence = o.emitted + int64(o.writing)
}

// ask sends a request whose answer is taken for that purpose.
func (o *outbox) ask(p purpose, priority Priority, request exchange.Request) {
	o.out.Calls = append(o.out.Calls, Call{ID: o.begin(p), Priority: priority, Request: request})
}

// begin registers a call under way and returns its id.
func (o *outbox) begin(p purpose) int64 {
	o.nextCall++
	o.calls[o.nextCall] = p
	return o.nextCall
}

// purpose is what a call under way is for.
type purpose struct {
	kind     callKind
	of       exchange.Operation // calls of a round
	series   *series
	leg      *leg
	symbol   *reconcile.SymbolState
	clientID string
	orderID  int64
	leverage int
	before   bool // the positions read that opens a full snapshot
	late     bool // its round went on without it
	instead  bool // a list of prices, asked for since a single ticker is late
	repeated bool // of a round: there is another like it
	sentMS   int64
	dueMS    int64             // of a round: when it is late
	leftMS   int64             // placements: when its record was durable, and it was handed out
	attempt  *attempt          // of a cancel and a leverage; apart, since a map allocates for each value above 128 bytes
	request  *exchange.Request // of a round: to be repeated
	recalled string            // placements: why it was recalled; empty when it was not
}

// callKind says what an answer is for.
type callKind uint8

const (
	callRound callKind = iota + 1
	callOrder
	callHistory
	callTicker
	callTickers // the list of a market
	callLeverages
	callPlace
	callCancel
	callSetLeverage
	callClosed
	callTrades
	callCandles
	callRules
	callFunding
	callBook
	callNewest
	callEnded      // the ledger: positions that ended
	callExecutions // the ledger: executions of a spot order
	callBetween    // the ledger: positions and account, apart from the rounds
)

// ofRound reports whether a round waits for the answer.
func (k callKind) ofRound() bool {
	switch k {
	case callRound, callOrder, callHistory, callTicker, callTickers, callLeverages, callClosed, callTrades, callNewest:
		return true
	}
	return false
}
