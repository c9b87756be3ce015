package engine

import (
	"cmp"
	"errors"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// dispatcher derives changes, has them checked, and sends them.
type dispatcher struct {
	*base
	readHealth *readHealth
	breaker    *breaker
	permission *permission
	sender     *sender
	rejections *rejections
	backoffs   *backoffs
}

// sendsNothing reports whether nothing is sent for a strategy: in a rehearsal, or after its removal unless a halt closes its position.
func (d *dispatcher) sendsNothing(leg *leg, level record.HaltLevel) bool {
	return d.config.Rehearse || leg.config.Removed && level == record.LevelNone
}

// act derives the intents that lead to one strategy's desired state, checks them and sends them. It
// returns the number of intents sent.
func (d *dispatcher) act(leg *leg) int {
	d.noteListed(leg)
	level := d.levelOn(leg, record.LevelNone)
	if d.sendsNothing(leg, level) {
		return 0 // its position's protection stays unchanged
	}
	desired := d.desiredAt(leg, level)
	desired.Repeat = desired.Flatten && !d.sender.recallLate(leg.symbol.Key())
	d.latchFlattened(leg, level)
	intents, priced := d.tracker.Derive(&desired, d.nowMS)
	if priced != nil {
		d.record(*priced)
	}
	acted, opened, maxOpening := 0, false, d.largest(leg.symbol.Key(), intents)
	for i := range intents {
		opens := intents[i].Purpose.Opens()
		if opens && opened {
			continue // only one uncertain opening per symbol: the others wait for its answer (ladder.go)
		}
		if intents[i].Purpose == placement.Order && intents[i].Order.Quantity > maxOpening {
			continue
		}
		if d.dispatch(leg, &intents[i]) {
			acted++
			opened = opened || opens
		}
	}
	return acted
}

// desiredAt returns one strategy's desired state under a halt of a level.
func (d *dispatcher) desiredAt(leg *leg, level record.HaltLevel) reconcile.Desired {
	desired := d.desired(leg)
	desired.Strategy, desired.Flatten = desired.Strategy.Halted(level), level == record.LevelFlatten
	if desired.Flatten {
		desired.YieldMS = 0 // a person's request does not yield to another botd
	}
	return desired
}

// desired returns one strategy's desired state, with the inputs for deriving from it.
func (d *dispatcher) desired(leg *leg) reconcile.Desired {
	desired := reconcile.Desired{
		Strategy: leg.state, Symbol: leg.symbol, Protection: protectionOf(leg), Leverage: leg.config.Leverage,
		MayOpen: d.permission.mayEnter(leg), Equity: d.equity(leg.symbol.Key().Market), TakerFee: d.config.TakerFee,
		Collar: risk.ExitCollar(&d.config.Limits, &leg.config.Limits), Interval: min(leg.config.Interval, exchange.Minute1), Bridge: d.config.BusyRoundMS > 0,
		ExitsOnly:  leg.config.Removed && !protectionOf(leg).Set,
		ExitFromMS: d.backoffs.exitFromMS(leg), YieldMS: d.tracker.YieldMS(leg.symbol, max(d.startMS, leg.inForce.atMS)),
		MaxLive: d.config.Limits.MaxOpenOrders,
	}
	if leg.state.Plan().Leverage() != 0 {
		desired.Leverage = leg.state.Plan().Leverage()
	}
	return desired
}

// dispatch checks one intent and, if it is approved, sends it: an order through the journal; a cancel or
// a leverage change at once, because these may be repeated.
func (d *dispatcher) dispatch(leg *leg, intent *reconcile.Intent) bool {
	if d.journalErr != nil && intent.Purpose != placement.Cancel {
		return false // no intent is sent before the queued facts are written, except a cancel, which needs no record and only reduces
	}
	if d.backoffs.holds(intent) {
		return false
	}
	facts := d.facts(leg)
	approved, rejection, verdicts := d.checked(intent, &facts)
	key := rejectionKey(intent.Strategy, intent.Purpose, intent.Key)
	if rejection != nil {
		if rejection.Rule == "symbol" && !d.config.Feed {
			again := int64(rulesSoonMS) // the symbol's restriction may have ended
			if !intent.Purpose.Opens() {
				again, d.forbiddenMS = rulesUrgentMS, d.nowMS
			}
			d.rulesMS = min(d.rulesMS, d.nowMS+again)
		}
		d.declined(leg, intent, rejection)
		if d.rejections.isNew(key, rejection.Error(), d.nowMS) {
			d.note(intent.Strategy, leg.config.Symbol, NoteIntent{intent})
			d.note(intent.Strategy, leg.config.Symbol, NoteRejection{intent, rejection, verdicts})
		}
		return false
	}
	d.rejections.clear(key)
	d.note(intent.Strategy, leg.config.Symbol, NoteIntent{intent})
	d.note(intent.Strategy, leg.config.Symbol, NoteApproved{intent, verdicts})
	d.execute(approved)
	return true
}

// declined journals, once between two decisions, that a rule refused an order of a strategy that
// watches events.
func (d *dispatcher) declined(leg *leg, intent *reconcile.Intent, rejection *risk.Rejection) {
	if !leg.state.WatchesEvents() || intent.Purpose == placement.Cancel || intent.Purpose == placement.Leverage {
		return
	}
	key := intent.Key
	if intent.Purpose.Protects() {
		key = ""
	}
	if !leg.state.Declines(!intent.Purpose.Opens(), key, rejection.Rule) {
		d.record(record.Record{Strategy: intent.Strategy, Symbol: leg.symbol.Key(), Body: record.Declined{Purpose: intent.Purpose, Key: key,
			Side: intent.Order.Side, Quantity: intent.Order.Quantity, Rule: rejection.Rule, Reason: rejection.Error()}})
	}
}

// checked runs the gate. The verdicts of all rules serve only for display, so a backtest has none.
func (d *dispatcher) checked(intent *reconcile.Intent, facts *risk.Facts) (approved risk.Approved, rejection *risk.Rejection, verdicts []risk.Verdict) {
	if d.measure != nil {
		defer d.measure(MeasuredCheck, intent.Strategy)()
	}
	if d.config.Feed {
		approved, rejection = d.gate.Check(intent, facts)
		return approved, rejection, nil
	}
	return d.gate.CheckExplained(intent, facts)
}

// facts returns the facts by which the gate judges a strategy's intents.
func (d *dispatcher) facts(leg *leg) risk.Facts {
	facts := risk.Facts{
		NowMS:    d.nowMS,
		Tracker:  d.tracker,
		State:    leg.symbol,
		Strategy: leg.config.Limits,
		TakerFee: d.config.TakerFee,
		Blind:    d.readHealth.Blind(leg.symbol.Key()),
	}
	facts.Market, facts.Own = d.equity(leg.symbol.Key().Market), d.strategyEquity(leg)
	total, known := d.total()
	facts.Equity, facts.Unread = total, !known
	return facts
}

// execute is the engine's only way to change anything on the exchange, and it requires an Approved.
func (d *dispatcher) execute(approved risk.Approved) {
	intent := approved.Intent()
	switch intent.Purpose {
	case placement.Cancel:
		if p := d.tracker.Placement(intent.ClientID); p != nil {
			d.tracker.NoteCancel(p.ClientOrderID(), d.nowMS)
		}
		operation := exchange.FuturesCancel
		if intent.Order.Market == exchange.Spot {
			operation = exchange.SpotCancel
		}
		d.ask(pendingCall{kind: callCancel, clientID: intent.ClientID, attempt: new(attemptOf(&intent))}, PriorityExit,
			exchange.Request{Operation: operation, Symbol: intent.Order.Symbol, OrderID: intent.OrderID})
	case placement.Leverage:
		d.ask(
			pendingCall{kind: callSetLeverage, symbol: d.tracker.Symbol(intent.Order.Key()), leverage: intent.Leverage, attempt: new(attemptOf(&intent))},
			PriorityOpening,
			exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: intent.Order.Symbol, Leverage: intent.Leverage},
		)
	default:
		d.place(intent)
	}
}

// place journals the order, which is sent once its record is durable.
func (d *dispatcher) place(intent reconcile.Intent) {
	intent.Order.ClientOrderID = d.tracker.NextClientOrderID(d.config.Instance)
	order := intent.Order
	symbol := d.tracker.Symbol(order.Key())
	deadline := d.nowMS + d.config.TimeToLiveMS
	reserved := order.QuoteAmount
	if reserved.IsZero() {
		reserved = symbol.Rules().Notional(max(intent.Last, order.Price), order.Quantity)
	}
	d.record(record.Record{Strategy: intent.Strategy, Symbol: order.Key(), ClientOrderID: order.ClientOrderID, Body: record.Sending{
		Order: order, Purpose: intent.Purpose, Key: intent.Key, DeadlineMS: deadline, Before: intent.Before, Reserved: reserved,
		Funds: d.tracker.FundsBefore(symbol, intent.Purpose.Opens() && !d.config.Feed)}})
	operation, priority := exchange.FuturesPlace, PriorityExit
	if order.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	if intent.Purpose.Opens() {
		priority = PriorityOpening
	}
	w := queued{
		sequence:      d.emitted + int64(len(d.unwritten)),
		call:          Call{Priority: priority, Request: exchange.Request{Operation: operation, Order: order}, DeadlineMS: deadline},
		purpose:       pendingCall{kind: callPlace, clientID: order.ClientOrderID, sentMS: d.nowMS},
		intent:        intent,
		limitsVersion: d.limitsVersionOf(intent.Strategy),
		revisions:     d.revisionsOf(intent.Strategy),
	}
	d.sender.queued = append(d.sender.queued, w)
}

// queued is an approved placement whose record is not durable yet.
type queued struct {
	sequence      int64 // of its record
	call          Call
	purpose       pendingCall
	intent        reconcile.Intent
	limitsVersion int // version of the limits that approved it (limitsVersionOf)
	revisions     int // of its strategy's plan (planInForce)
}

// opening is an opening placement that was passed on.
type opening struct {
	symbol *reconcile.SymbolState
	*queued
}

// sender sends placements once their records are durable, and recalls those that must no longer be
// sent.
type sender struct {
	*base
	permission *permission
	tick       *tick
	queued     []queued  // placements waiting for their record
	sent       []opening // passed on, not answered and not recalled
	local      bool      // the current event changed only the symbols of its records
	examined   int64     // number of records after the previous event
	examinedMS int64     // when all sent openings were last examined
}

// journalRetryMS is the time after which a failed append is retried.
const journalRetryMS = 1_000

// journaled sends the placements whose records are durable. After a failed append none is sent, and
// their ids are never used.
func (s *sender) journaled(err error) {
	written := s.writing
	s.writing = 0
	if err != nil {
		if s.journalErr == nil {
			s.journalSinceMS = s.nowMS
			s.note("", nil, NoteJournal{Err: err, Records: len(s.unwritten), Reason: "nothing is sent until it can be written"})
		}
		s.journalErr, s.journalMS = err, s.nowMS+journalRetryMS
		s.journalFull = s.journalFull || s.permission.low != "" && !s.permission.lost
		for i := range s.queued {
			s.neverSent(&s.queued[i], "the journal could not be written")
		}
		s.queued = s.queued[:0]
		return
	}
	if s.local = s.journalErr == nil; !s.local {
		s.journalErr, s.journalFull = nil, false
		s.note("", nil, NoteJournal{Ended: true, Records: written, Reason: s.permission.low})
		s.requestRoundSoon() // held orders are derived again
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

// send sends a placement.
func (s *sender) send(w queued) {
	if why := s.permission.withdrawn(&w); why != "" {
		s.neverSent(&w, why)
		return
	}
	w.purpose.leftMS = s.nowMS
	s.tracker.NoteHandedOut(w.purpose.clientID, s.nowMS)
	w.call.ID = s.begin(w.purpose)
	s.out.Calls = append(s.out.Calls, w.call)
	if w.intent.Purpose.Opens() {
		handed := w // w itself stays on the stack
		s.sent = append(s.sent, opening{s.tracker.Symbol(w.intent.Order.Key()), &handed})
	}
	s.note(w.intent.Strategy, s.symbolOf(w.intent.Order.Key()), NotePlaced{Reason: w.intent.Reason,
		NoteOrder: NoteOrder{Purpose: w.intent.Purpose, ClientOrderID: w.intent.Order.ClientOrderID, Order: w.intent.Order}})
}

// neverSent ends a placement whose first byte has not left.
func (s *sender) neverSent(w *queued, why string) {
	intent := &w.intent
	s.record(record.Record{ClientOrderID: intent.Order.ClientOrderID, Strategy: intent.Strategy, Symbol: intent.Order.Key(),
		Body: record.Ended{State: placement.Expired, Evidence: why + ": never sent"}})
	if leg := s.legNamed(intent.Strategy); leg != nil && leg.inForce.sequence > w.sequence {
		s.missed(leg, intent.Purpose)
	}
}

// missed makes a strategy decide again if its plan is newer than an opening that was never sent, or was refused: the
// plan relies on that opening and would open both parts at once.
func (s *sender) missed(leg *leg, purpose placement.Purpose) {
	if purpose == placement.Entry && s.closing == record.LevelNone && !s.stopped {
		s.tick.decideAgain(leg)
	}
}

// placed applies the answer to a placement: acknowledged, refused, certainly not sent, or uncertain.
// Everything that is not certain is uncertain.
func (d *dispatcher) placed(p pendingCall, event *EventAnswer) {
	order := d.tracker.Placement(p.clientID)
	if order == nil {
		return
	}
	key := order.Symbol()
	body, fact := d.outcome(&p, event, noteOrder(order))
	var refusal *exchange.Refusal
	if _, refused := body.(record.Refused); refused && errors.As(event.Err, &refusal) && !order.Seen() {
		d.backoffs.refusedOrder(order, refusal)
	}
	_, lost := body.(record.Uncertain)
	if !order.Seen() || !lost && refusal == nil { // neither a lost answer nor the refusal of a repetition undoes what a list has shown
		d.record(record.Record{ClientOrderID: p.clientID, Strategy: order.Strategy(), Symbol: key, Body: body})
		d.note(order.Strategy(), d.symbolOf(key), fact)
	}
	if leg := d.legNamed(order.Strategy()); order.State().Final() && leg != nil && leg.inForce.atMS > p.sentMS {
		d.sender.missed(leg, order.Purpose())
	}
	if order.Purpose() == placement.StopLoss && order.State() == placement.Acknowledged {
		d.tracker.Symbol(key).EndUnprotected(d.nowMS)
	}
	var uncertain *exchange.Uncertain
	if errors.As(event.Err, &uncertain) && uncertain.Reason == exchange.ReasonRateLimited {
		d.breaker.rateLimited()
	}
	d.breaker.guardBreaker()
	d.extendLadder(order)
	d.requestRoundSoon()
}

// outcome returns the record and the note for the answer to a placement.
func (d *dispatcher) outcome(p *pendingCall, event *EventAnswer, order NoteOrder) (record.Body, Fact) {
	switch body := Outcome(p.clientID, &event.Answer.Order, event.Err).(type) {
	case record.Acknowledged:
		order.OrderID = body.OrderID
		return body, NoteAcknowledged{order, d.nowMS - p.sentMS}
	case record.Refused:
		if refusal := (*exchange.Refusal)(nil); errors.As(event.Err, &refusal) && !refusal.Unauthorized() && !d.config.Feed {
			d.rulesMS = d.nowMS // refused by a rule: the rules may have changed
		}
		return body, NoteRefused{order, body.Reason, event.Err}
	case record.Ended:
		if p.recalled != "" {
			body.Evidence = neverSent + p.recalled
		}
		return body, NoteSettled{NoteOrder: order, State: body.State, Evidence: body.Evidence, DurationMS: d.nowMS - p.sentMS}
	case record.Uncertain:
		return body, NoteUncertain{order, body.Reason, event.Err}
	}
	panic("engine: the answer to a placement has no such outcome")
}

const neverSent = "never sent: "

// Outcome returns the meaning of a placement's answer: acknowledged, refused, certainly not sent (ended), or uncertain. The engine and the kill switch's
// lane share it.
func Outcome(clientID string, answer *exchange.Order, err error) record.Body {
	var (
		refusal   *exchange.Refusal
		unsent    *exchange.Unavailable
		uncertain *exchange.Uncertain
	)
	switch {
	case err == nil && (answer.ID == 0 || answer.ClientOrderID != "" && answer.ClientOrderID != clientID): // case 2
		return record.Uncertain{Reason: "the answer belongs to another order"}
	case err == nil:
		return record.Acknowledged{OrderID: answer.ID}
	case errors.As(err, &uncertain): // first: whatever error it wraps, the outcome is uncertain
	case errors.As(err, &refusal):
		return record.Refused{Reason: refusal.Message, Code: refusal.Code}
	case errors.As(err, &unsent):
		return record.Ended{State: placement.Expired, Evidence: neverSent + cmp.Or(unsent.Reason, "unavailable")}
	}
	return record.Uncertain{Reason: errorText(err)}
}

// leverageSet applies the answer to a change of the leverage.
func (d *dispatcher) leverageSet(p pendingCall, event *EventAnswer) {
	d.countRefusal(*p.attempt, event.Err)
	p.symbol.SetLeverage(p.leverage)
	if event.Err != nil {
		p.symbol.SetLeverage(0) // read again before anything opens (case 32)
		d.note("", p.symbol.Rules(), NoteFetchFailed{What: "set leverage", Err: event.Err})
	}
	d.requestRoundSoon()
}

// countRefusal counts the exchange's refusal of a cancel or a leverage change; after a success it forgets the earlier ones.
func (d *dispatcher) countRefusal(a attempt, err error) {
	var refusal *exchange.Refusal
	switch {
	case err == nil:
		d.backoffs.clear(a)
	case errors.As(err, &refusal):
		d.backoffs.refusedBy(a, refusal)
	}
}
