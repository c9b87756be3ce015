// Package engine runs one account as a state machine of ticks and rounds: events in, effects out.
//
// It is a state machine: Handle takes an event with its time and says what is
// to be done. It has no clock, no I/O and no goroutine, so the live daemon, the
// backtest and the simulation drive the very same code. A tick decides: View to
// Plan. A round converges: settle, derive, check, journal, place.
package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
	"botd/risk"
)

const never = math.MaxInt64

// Bounds of the engine's patience, in milliseconds.
const (
	journalRetryMS = 1_000     // after a failed append
	rulesEveryMS   = 3_600_000 // symbol rules are read again hourly
	rulesSoonMS    = 10_000    // after they kept an intent from going out
	rulesUrgentMS  = 3_000     // after they kept one that reduces or protects
	blindAfterMS   = 30_000    // without a complete round
	blindAfter     = 3         // failed rounds in a row
)

// Engine is one account's engine. Not safe for several goroutines: its driver owns it.
type Engine struct {
	config Config
	limits risk.Limits // of the account, as configured: config's are those in force
	book   *reconcile.Book
	gate   *risk.Gate
	runs   []*run    // sorted by name
	series []*series // sorted by key and interval
	out    *Effects  // of the Handle under way
	nowMS  int64

	calls    map[int64]purpose // under way
	nextCall int64

	unwritten      []record.Record // not durable yet, in order
	writing        int             // how many of them the driver is writing
	emitted        int64           // records ever made durable or handed out
	waiting        []waiting       // placements that wait for their record
	gone           []waiting       // openings handed out, not answered and not called back
	journalMS      int64           // when a failed append is tried again; never when none failed
	journalErr     error
	journalSinceMS int64  // when the first append failed that no later one made good
	low            string // why the disk is nearly full; empty while it is not
	lowMS          int64

	round    round
	roundMS  int64 // when the next round is due
	pressMS  int64 // when a halt is pressed beside a round that hangs
	rulesMS  int64 // when symbol rules are read next
	failed   int   // rounds failed in a row
	soundMS  int64 // when the last complete round ended
	lookedMS int64 // and when it began; 0 before the first
	started  bool
	stopped  bool
	refusals told

	blind    bool // told so
	blindMS  int64
	blindWhy string
	measure  func(what Measured, strategy string) (done func()) // nil: nobody looks at the clock

	terms     int                 // the number of the last change of the account's limits
	changes   int                 // numbered so far
	following bool                // limits need the results of strategies
	watching  bool                // limits look at equity between rounds too
	closing   reconcile.HaltLevel // the level at which botd shuts down; LevelNone while it trades
	breaking  bool                // the breaker was tripped, and its end is not told yet

	futures, spot money // how far the ledger has got
}

// waiting is an approved placement whose record is not durable yet.
type waiting struct {
	sequence int64 // of its record
	call     Call
	purpose  purpose
	intent   reconcile.Intent
	terms    int // under which it was approved (termsOf)
}

// New makes an engine over a book that was replayed from the journal.
func New(config Config, book *reconcile.Book) (*Engine, error) {
	e := &Engine{
		config: config, limits: config.Limits, book: book, gate: risk.NewGate(config.Limits), calls: map[int64]purpose{},
		journalMS: never, roundMS: never, rulesMS: never, refusals: newTold(),
	}
	book.Foreign, book.Instance, book.Unbooked = config.Foreign, config.Instance, !config.Ledger
	if config.Epoch <= book.Epoch() {
		return nil, fmt.Errorf("epoch %d is not above the journal's %d", config.Epoch, book.Epoch())
	}
	for i := range config.Strategies {
		if _, err := e.addRun(&config.Strategies[i]); err != nil {
			return nil, err
		}
	}
	e.enforce()
	for _, r := range e.runs {
		if err := e.watchFor(r); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Book returns the account's book, for reading between events.
func (e *Engine) Book() *reconcile.Book { return e.book }

// Measured names what somebody with a clock may measure.
type Measured uint8

// What can be measured.
const (
	MeasuredCycle Measured = iota + 1 // one decision of a strategy
	MeasuredCheck                     // one check of an intent by the gate
)

// Measure has begin called before each cycle and check, and what it returns after
// it. The engine itself never asks for the time. It is set before the first event.
func (e *Engine) Measure(begin func(what Measured, strategy string) (done func())) { e.measure = begin }

// Epoch returns the number of this start.
func (e *Engine) Epoch() int64 { return e.config.Epoch }

// Handle takes one event at the exchange's time and adds what is to be done to out.
func (e *Engine) Handle(nowMS int64, event Event, out *Effects) {
	e.nowMS, e.out = nowMS, out
	audited, _ := event.(*EventAudited)
	if audited != nil {
		event = audited.Event
	}
	if !e.refuses(event) {
		if audited != nil {
			e.record(record.Record{Body: *audited.Audit})
		}
		e.take(event)
		e.recall()
		e.flush()
	}
	e.out = nil
}

// refuses reports whether something is against a change of the configuration or of the
// limits: nothing of it is done then, and nobody's audit is written down.
func (e *Engine) refuses(event Event) bool {
	switch event := event.(type) {
	case *EventReload:
		return e.refused(event.Reload)
	case *EventTighten:
		return e.tooLoose(event.Tighten)
	}
	return false
}

// take does what follows from an event.
func (e *Engine) take(event Event) {
	switch event := event.(type) {
	case *EventCandles:
		e.takeCandles(event)
	case *EventStretch:
		e.takeStretch(event)
	case *EventPrice:
		e.takePrice(event)
	case *EventStart:
		e.start()
	case *EventWake:
		e.wake()
	case *EventRound:
		e.roundMS = e.nowMS
		e.wake()
	case *EventReload:
		e.reload(event.Reload)
	case *EventTighten:
		e.tighten(event.Tighten)
	case *EventSignal:
		e.signal(event.Strategy, event.Signal)
	case *EventAnswer:
		e.answer(event)
	case *EventJournaled:
		e.journaled(event.Err)
	case *EventHalt:
		e.halt(event)
	case *EventResolve:
		e.resolve(event)
	case *EventWithdraw:
		e.withdraw(event)
	case *EventDisk:
		e.disk(event.Why)
	case *EventStop:
		e.stop(event.Shutdown)
	case nil: // a person's change that is none of the engine's
	default:
		panic(fmt.Sprintf("engine: an event that is a %T", event))
	}
}

// NextMS returns when the engine wants an EventWake; math.MaxInt64 for never.
func (e *Engine) NextMS() int64 {
	next := e.journalMS
	if e.stopped {
		return next
	}
	if e.round.phase == 0 {
		next = min(next, e.roundMS)
	} else {
		next = min(next, e.pressMS)
	}
	if e.closing != reconcile.LevelNone {
		return next
	}
	if e.config.Feed {
		for _, r := range e.runs {
			next = min(next, r.nextMS)
		}
		return next
	}
	next = min(next, e.rulesMS)
	for _, s := range e.series {
		next = min(next, s.pollMS)
	}
	for _, r := range e.runs {
		next = min(next, r.nextMS)
		if !e.config.Feed && !r.around.asking {
			next = min(next, r.around.fundingMS)
		}
	}
	return next
}

// start begins: a new epoch, everything unresolved unknown, then the first round.
func (e *Engine) start() {
	e.started, e.soundMS, e.breaking = true, e.nowMS, e.book.Breaking(e.nowMS)
	e.record(record.Record{Body: record.Boot{Epoch: e.config.Epoch, Account: e.config.Account}})
	for _, r := range e.runs {
		e.claim(r)
	}
	e.lapse()
	if e.config.ConfigHash != "" {
		e.record(record.Record{Body: record.Config{Hash: e.config.ConfigHash}})
	}
	e.roundMS = e.nowMS
	for _, r := range e.runs {
		e.commence(r)
	}
	if !e.config.Feed {
		e.rulesMS = e.nowMS + rulesEveryMS
	}
}

// wake does what is due.
func (e *Engine) wake() {
	if e.journalMS <= e.nowMS {
		e.journalMS = never // flush hands the records out again, while stopping too
	}
	if e.stopped {
		return
	}
	e.watchBlind(nil)
	e.guardBreaker()
	if e.closing == reconcile.LevelNone {
		e.decideDue()
	}
	switch {
	case e.round.phase != 0 && e.pressMS <= e.nowMS:
		e.press()
	case e.round.phase == 0 && e.roundMS <= e.nowMS:
		e.beginRound()
	}
}

// decideDue asks for what is due of the market, and the strategies whose time has come.
func (e *Engine) decideDue() {
	if !e.config.Feed {
		e.look()
	}
	e.lookAround()
	for _, r := range e.runs {
		if r.nextMS <= e.nowMS {
			e.scheduled(r)
		}
	}
}

// record changes the book by one record and queues it for the journal.
func (e *Engine) record(r record.Record) {
	r.AtMS = e.nowMS
	e.book.Apply(&r)
	e.unwritten = append(e.unwritten, r)
}

// keep queues a record that was applied already.
func (e *Engine) keep(r record.Record) { e.unwritten = append(e.unwritten, r) }

// note reports a fact of a strategy and a symbol, or of neither.
func (e *Engine) note(strategy string, symbol *exchange.Symbol, fact Fact) {
	e.out.Notes = append(e.out.Notes, Note{AtMS: e.nowMS, Strategy: strategy, Symbol: symbol, Fact: fact})
}

// flush hands all unwritten records to the driver, one batch at a time, so that
// their order holds whatever fails.
func (e *Engine) flush() {
	if e.writing > 0 || len(e.unwritten) == 0 || e.journalMS != never {
		return
	}
	e.out.Records = append(e.out.Records, e.unwritten...)
	e.writing = len(e.unwritten)
	e.out.Sequence = e.emitted + int64(e.writing)
}

// journaled lets the placements go whose records are durable. After a failed
// append none goes: nothing was sent, and nothing will be under those ids.
func (e *Engine) journaled(err error) {
	written := e.writing
	e.writing = 0
	if err != nil {
		if e.journalErr == nil {
			e.journalSinceMS = e.nowMS
			e.note("", nil, NoteJournal{Err: err, Records: len(e.unwritten), Why: "nothing is sent until it can be written"})
		}
		e.journalErr, e.journalMS = err, e.nowMS+journalRetryMS
		for _, w := range e.waiting {
			e.neverSent(&w.intent, "the journal could not be written")
		}
		e.waiting = e.waiting[:0]
		return
	}
	if e.journalErr != nil {
		e.journalErr = nil
		e.note("", nil, NoteJournal{Over: true, Records: written, Why: e.low})
		e.soon() // what was held back is derived anew
	}
	e.emitted += int64(written)
	e.unwritten = e.unwritten[:copy(e.unwritten, e.unwritten[written:])]
	rest := e.waiting[:0]
	for _, w := range e.waiting {
		if w.sequence > e.emitted {
			rest = append(rest, w)
			continue
		}
		e.send(w)
	}
	e.waiting = rest
}

// neverSent ends a placement whose first byte has not left.
func (e *Engine) neverSent(intent *reconcile.Intent, why string) {
	e.record(record.Record{ClientOrderID: intent.Order.ClientOrderID, Strategy: intent.Strategy, Symbol: intent.Order.Key(),
		Body: record.Ended{State: reconcile.Expired, Evidence: why + ": never sent"}})
}

// send lets a placement go.
func (e *Engine) send(w waiting) {
	if why := e.withdrawn(&w); why != "" {
		e.neverSent(&w.intent, why)
		return
	}
	w.call.ID = e.begin(w.purpose)
	e.out.Calls = append(e.out.Calls, w.call)
	if w.intent.Purpose.Opens() {
		e.gone = append(e.gone, w)
	}
	e.note(w.intent.Strategy, e.book.Symbol(w.intent.Order.Key()).Rules, NotePlaced{Reason: w.intent.Reason,
		NoteOrder: NoteOrder{Purpose: w.intent.Purpose, ClientOrderID: w.intent.Order.ClientOrderID, Order: w.intent.Order}})
}

// recall calls back the openings handed out that must not go any more. One may
// still wait for the request budget while an exit, which waits for nothing,
// overtakes it; one that has left is answered as it is.
func (e *Engine) recall() {
	if len(e.gone) == 0 {
		return
	}
	e.gone = slices.DeleteFunc(e.gone, func(w waiting) bool {
		p, under := e.calls[w.call.ID]
		if !under {
			return true
		}
		if p.recalled = e.withdrawn(&w); p.recalled == "" {
			return false
		}
		e.calls[w.call.ID] = p
		e.out.Recalls = append(e.out.Recalls, w.call.ID)
		return true
	})
}

// withdrawn says why a placement must not go any more, though its record is
// durable: what was approved before the commit may have become wrong during it.
func (e *Engine) withdrawn(w *waiting) string {
	key := w.intent.Order.Key()
	switch {
	case e.stopped:
		return "botd is stopping"
	case e.nowMS > w.call.DeadlineMS:
		return "its time to live had passed"
	case !w.intent.Purpose.Opens():
		return ""
	case e.closing != reconcile.LevelNone:
		return "botd is stopping"
	case e.heldBack(w.intent.Strategy, key) != "":
		return e.heldBack(w.intent.Strategy, key) + " meanwhile"
	case w.terms != e.termsOf(w.intent.Strategy):
		return "the configuration changed meanwhile"
	case e.low != "":
		return "the journal's disk was nearly full meanwhile"
	case e.breached(w.intent.Strategy) != nil:
		return "a limit was passed meanwhile"
	case e.book.UnresolvedBeside(w.intent.Order.ClientOrderID, key):
		return "another placement on the symbol is under way or became unknown meanwhile"
	}
	return ""
}

// heldBack says what declared state keeps openings of a strategy back; empty for none.
func (e *Engine) heldBack(strategy string, key exchange.SymbolKey) string {
	switch {
	case e.book.HaltOn(strategy, key).Level != reconcile.LevelNone:
		return "trading was halted"
	case e.book.Breaking(e.nowMS):
		return "the breaker was tripped"
	case e.Blind():
		return "reads failed"
	case e.book.Symbol(key).Quarantine != "":
		return "the symbol was quarantined"
	}
	return ""
}

// begin registers a call under way and returns its id.
func (e *Engine) begin(p purpose) int64 {
	e.nextCall++
	e.calls[e.nextCall] = p
	return e.nextCall
}

// ask sends a request whose answer is taken for that purpose.
func (e *Engine) ask(p purpose, priority Priority, request exchange.Request) {
	e.out.Calls = append(e.out.Calls, Call{ID: e.begin(p), Priority: priority, Request: request})
}

// disk notes that the journal's disk is nearly full, or has room again. What is
// left of it is for facts and exits: nothing opens.
func (e *Engine) disk(why string) {
	if (why == "") != (e.low == "") {
		e.lowMS = e.nowMS
		e.note("", nil, NoteJournal{Over: why == "", Why: why})
		e.soon()
	}
	e.low = why
}

// InFlight reports whether calls are under way, placements wait for an answer,
// records are not written yet, or stopping has something left to take away.
func (e *Engine) InFlight() bool {
	if len(e.waiting) > 0 || len(e.unwritten) > 0 || e.closing != reconcile.LevelNone && !e.stopped {
		return true
	}
	for _, p := range e.calls {
		if p.kind == callPlace {
			return true
		}
	}
	return false
}

// errorText is an error for a note: short, and never with a secret in it.
func errorText(err error) string {
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return err.Error()
}
