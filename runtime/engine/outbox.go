package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
)

// outbox holds the effects of the current event, the calls in progress, and the records that are
// not durable yet.
type outbox struct {
	tracker *reconcile.Tracker
	out     *Effects // of the current Handle
	nowMS   int64

	calls    map[int64]pendingCall // calls in progress
	nextCall int64
	nextAsk  int64 // the newest call to a strategy

	unwritten      []record.Record // not durable yet, in order
	writing        int             // number of them that the driver is writing
	emitted        int64           // records made durable or passed on so far
	checkpointed   int64           // value of emitted at the newest checkpoint
	checkpoint     int64           // number of records after which a checkpoint is due; 0 for never
	account        string          // owner of the journal
	journalMS      int64           // when a failed append is retried; never if none failed
	journalErr     error
	journalFull    bool  // the failure began, or continued, because the disk was full
	journalSinceMS int64 // time of the first failed append since the last successful one
}

func newOutbox(tracker *reconcile.Tracker) *outbox {
	return &outbox{tracker: tracker, calls: map[int64]pendingCall{}, journalMS: never}
}

// record applies one record to the tracker and queues it for the journal.
func (o *outbox) record(r record.Record) { o.recordAt(o.nowMS, r) }

// recordAt is record for a fact with another time.
func (o *outbox) recordAt(atMS int64, r record.Record) {
	r.AtMS = atMS
	o.tracker.Apply(&r)
	o.unwritten = append(o.unwritten, r)
}

// symbolOf returns the rules of a symbol, or nil if they are not known.
func (o *outbox) symbolOf(key exchange.SymbolKey) *exchange.Symbol {
	if symbol := o.tracker.Symbol(key); symbol != nil {
		return symbol.Rules()
	}
	return nil
}

// enqueue queues a record that has been applied.
func (o *outbox) enqueue(r record.Record) { o.unwritten = append(o.unwritten, r) }

// Final returns the state's checkpoint for a clean stop, or false while a record is not durable.
func (o *outbox) Final() (record.Record, bool) {
	if len(o.unwritten) > 0 || o.checkpoint == 0 {
		return record.Record{}, false
	}
	return record.Record{AtMS: o.nowMS, Body: o.tracker.Checkpoint(o.account)}, true
}

// note reports a fact of a strategy and a symbol, or of neither.
func (o *outbox) note(strategy string, symbol *exchange.Symbol, fact Fact) {
	o.out.Notes = append(o.out.Notes, Note{AtMS: o.nowMS, Strategy: strategy, Symbol: symbol, Fact: fact})
}

// flush passes all unwritten records to the driver, one batch at a time, so that their order holds
// despite failures.
func (o *outbox) flush() {
	if o.writing > 0 || len(o.unwritten) == 0 || o.journalMS != never {
		return
	}
	if length := o.emitted + int64(len(o.unwritten)); o.checkpoint > 0 && length-o.checkpointed >= o.checkpoint {
		o.checkpointed = length
		o.record(record.Record{Body: o.tracker.Checkpoint(o.account)}) // all earlier records are applied, and in this batch or before
	}
	o.out.Records = append(o.out.Records, o.unwritten...)
	o.writing = len(o.unwritten)
}

// ask sends a request with the purpose of its answer.
func (o *outbox) ask(p pendingCall, priority Priority, request exchange.Request) {
	o.out.Calls = append(o.out.Calls, Call{ID: o.begin(p), Priority: priority, Request: request})
}

// begin registers a call in progress and returns its id.
func (o *outbox) begin(p pendingCall) int64 {
	o.nextCall++
	o.calls[o.nextCall] = p
	return o.nextCall
}

// pendingCall is a call in progress: what its answer is for.
type pendingCall struct {
	kind     callKind
	of       exchange.Operation // calls of a round
	series   *series
	leg      *leg
	symbol   *reconcile.SymbolState
	clientID string
	orderID  int64
	leverage int
	before   bool // the read of positions that opens a full snapshot
	late     bool // its round has continued without it
	instead  bool // a list of prices, requested because a single ticker is late
	repeated bool // of a round: another copy of it is in flight
	sentMS   int64
	dueMS    int64             // of a round: time from which it is late
	leftMS   int64             // placements: when its record was durable and it was passed on, or when it was recalled: by then it may have left
	attempt  *attempt          // of a cancel or a leverage change; a pointer, because a map allocates values above 128 bytes
	request  *exchange.Request // of a round: to repeat it
	recalled string            // placements: reason for its recall; empty if it was not recalled
}

// callKind is the kind of a call's answer.
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
	callOrderBook
	callNewest
	callEnded      // the ledger: positions that ended
	callExecutions // the ledger: executions of a spot order
	callBetween    // the ledger: positions and account, outside the rounds
)

// ofRound reports whether a round waits for the answer.
func (k callKind) ofRound() bool {
	switch k {
	case callRound, callOrder, callHistory, callTicker, callTickers, callLeverages, callClosed, callTrades, callNewest:
		return true
	}
	return false
}
