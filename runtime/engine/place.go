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

// placer derives what is to change, has it checked, and lets it go.
type placer struct {
	*base
	sight      *sight
	breaker    *breaker
	protection *protection
	ruleset    *ruleset
	halts      *halts
	permission *permission
	sender     *sender
	refusals   told
}

// act derives what one strategy's wish needs, checks it and lets it go. It
// returns how many intents went.
func (e *placer) act(r *run) int {
	level := e.halts.levelOn(r, record.LevelNone)
	if e.config.Rehearse || r.config.Removed && level == record.LevelNone {
		return 0 // what protects its position stays as it is
	}
	wish := e.wishOf(r)
	wish.Strategy = wish.Strategy.Halted(level)
	e.halts.latchFlattened(r, level)
	intents, priced := e.book.Derive(&wish, e.nowMS)
	if priced != nil {
		e.record(*priced)
	}
	acted, opened := 0, false
	for i := range intents {
		opens := intents[i].Purpose.Opens()
		if opens && opened {
			continue // one unresolved opening per symbol: the others wait for the next round
		}
		if e.dispatch(r, &intents[i]) {
			acted++
			opened = opened || opens
		}
	}
	return acted
}

// dispatch checks one intent, and when approved lets it go: an order by way of
// the journal, a cancel and a leverage at once, since they may be repeated.
func (e *placer) dispatch(r *run, intent *reconcile.Intent) bool {
	if e.journalErr != nil && intent.Purpose != placement.Cancel {
		return false // no intent until the facts queued are written; a cancel is in no record and only reduces
	}
	facts := e.facts(r)
	approved, refusal := e.checked(intent, &facts)
	key := intent.Strategy + " " + intent.Purpose.String() + " " + intent.Key
	if refusal != nil {
		if refusal.Rule == "symbol" && !e.config.Feed {
			again := int64(rulesSoonMS) // what the symbol forbids may be over
			if !intent.Purpose.Opens() {
				again = rulesUrgentMS
			}
			e.rulesMS = min(e.rulesMS, e.nowMS+again)
		}
		if e.refusals.anew(key, refusal.Error(), e.nowMS) {
			e.note(intent.Strategy, r.config.Symbol, NoteIntent{intent})
			e.note(intent.Strategy, r.config.Symbol, NoteRefusal{intent, refusal, e.verdicts(intent, &facts)})
		}
		return false
	}
	e.refusals.approved(key)
	e.note(intent.Strategy, r.config.Symbol, NoteIntent{intent})
	e.note(intent.Strategy, r.config.Symbol, NoteApproved{intent, e.verdicts(intent, &facts)})
	e.execute(approved)
	return true
}

// checked asks the gate.
func (e *placer) checked(intent *reconcile.Intent, facts *risk.Facts) (risk.Approved, *risk.Refusal) {
	if e.measure != nil {
		defer e.measure(MeasuredCheck, intent.Strategy)()
	}
	return e.ruleset.gate.Check(intent, facts)
}

// verdicts says what every rule said, for people who look on.
func (e *placer) verdicts(intent *reconcile.Intent, facts *risk.Facts) []risk.Verdict {
	if e.config.Feed {
		return nil
	}
	return e.ruleset.gate.Explain(intent, facts)
}

// facts are what the gate judges a strategy's intents against.
func (e *placer) facts(r *run) risk.Facts {
	facts := risk.Facts{NowMS: e.nowMS, Book: e.book, State: r.truth, Strategy: r.config.Limits, TakerFee: e.config.TakerFee, Blind: e.sight.Blind()}
	facts.Market, facts.Own = e.marked(r.truth.Key().Market), e.own(r)
	total, known := e.total()
	facts.Equity, facts.Unread = total, !known
	return facts
}

// execute is the only way to the exchange for anything that changes it, and it
// takes an Approved.
func (e *placer) execute(approved risk.Approved) {
	intent := approved.Intent()
	switch intent.Purpose {
	case placement.Cancel:
		if p := e.book.Placement(intent.ClientID); p != nil {
			e.book.NoteCancel(p.ClientOrderID(), e.nowMS)
		}
		operation := exchange.FuturesCancel
		if intent.Order.Market == exchange.Spot {
			operation = exchange.SpotCancel
		}
		e.ask(purpose{kind: callCancel, clientID: intent.ClientID}, PriorityExit,
			exchange.Request{Operation: operation, Symbol: intent.Order.Symbol, OrderID: intent.OrderID})
	case placement.Leverage:
		e.ask(purpose{kind: callSetLeverage, truth: e.book.Symbol(intent.Order.Key()), leverage: intent.Leverage}, PriorityEntry,
			exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: intent.Order.Symbol, Leverage: intent.Leverage})
	default:
		e.place(intent)
	}
}

// place journals the order; it is sent when its record is durable.
func (e *placer) place(intent reconcile.Intent) {
	intent.Order.ClientOrderID = e.book.NextClientOrderID(e.config.Instance)
	order := intent.Order
	truth := e.book.Symbol(order.Key())
	deadline := e.nowMS + e.config.TimeToLive
	reserved := order.QuoteAmount
	if reserved.IsZero() {
		reserved = truth.Rules.Notional(max(intent.Last, order.Price), order.Quantity)
	}
	e.record(record.Record{Strategy: intent.Strategy, Symbol: order.Key(), ClientOrderID: order.ClientOrderID, Body: record.Sending{
		Order: order, Purpose: intent.Purpose, Key: intent.Key, DeadlineMS: deadline, Before: intent.Before, Reserved: reserved}})
	operation, priority := exchange.FuturesPlace, PriorityExit
	if order.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	if intent.Purpose.Opens() {
		priority = PriorityEntry
	}
	w := queued{
		sequence:      e.emitted + int64(len(e.unwritten)),
		call:          Call{Priority: priority, Request: exchange.Request{Operation: operation, Order: order}, DeadlineMS: deadline},
		purpose:       purpose{kind: callPlace, clientID: order.ClientOrderID, sentMS: e.nowMS},
		intent:        intent,
		limitsVersion: e.ruleset.limitsVersionOf(intent.Strategy),
	}
	e.sender.queued = append(e.sender.queued, w)
}

// placed takes the answer to a placement: acknowledged, refused, surely not
// sent, or unknown. Everything that is not certain is unknown.
func (e *placer) placed(p purpose, event *EventAnswer) {
	order := e.book.Placement(p.clientID)
	if order == nil {
		return
	}
	key := order.Symbol()
	body, fact := e.outcome(&p, event, noteOrder(order))
	e.record(record.Record{ClientOrderID: p.clientID, Strategy: order.Strategy(), Symbol: key, Body: body})
	e.note(order.Strategy(), e.book.Symbol(key).Rules, fact)
	if order.Purpose() == placement.StopLoss && order.State() == placement.Acknowledged {
		e.protection.bareUntil(e.book.Symbol(key), e.nowMS)
	}
	var unknown *exchange.Uncertain
	if errors.As(event.Err, &unknown) && unknown.Reason == exchange.ReasonRateLimited {
		e.breaker.limited()
	}
	e.breaker.guardBreaker()
	e.soon()
}

// outcome is what the answer to a placement says, as a record and as a note.
func (e *placer) outcome(p *purpose, event *EventAnswer, order NoteOrder) (record.Body, Fact) {
	var (
		refusal *exchange.Refusal
		unsent  *exchange.Unavailable
		unknown *exchange.Uncertain
	)
	switch {
	case errors.As(event.Err, &unknown): // first: whatever it wraps, its fate is not known
	case event.Err == nil && mistaken(&event.Answer.Order, p.clientID): // case 2
		const why = "the answer is another order's"
		return record.Unknown{Why: why}, NoteUncertain{order, why, nil}
	case event.Err == nil:
		order.OrderID = event.Answer.Order.ID
		return record.Acknowledged{OrderID: order.OrderID}, NoteAcknowledged{order, e.nowMS - p.sentMS}
	case errors.As(event.Err, &refusal):
		if !refusal.Unauthorized() && !e.config.Feed {
			e.rulesMS = e.nowMS // a refusal by rule: the rules may have changed
		}
		return record.Refused{Why: refusal.Message, Code: refusal.Code}, NoteRefused{order, refusal.Message, event.Err}
	case errors.As(event.Err, &unsent):
		evidence := "never sent: " + cmp.Or(p.recalled, unsent.Reason)
		return record.Ended{State: placement.Expired, Evidence: evidence},
			NoteSettled{NoteOrder: order, State: placement.Expired, Evidence: evidence, DurationMS: e.nowMS - p.sentMS}
	}
	why := errorText(event.Err)
	return record.Unknown{Why: why}, NoteUncertain{order, why, event.Err}
}

// canceled takes the answer to a cancel. An accepted cancel is no end, and a refused one
// no proof: the next round reads what became of the order.
func (e *placer) canceled(p purpose, event *EventAnswer) {
	e.soon()
}

// leverageSet takes the answer to a change of the leverage.
func (e *placer) leverageSet(p purpose, event *EventAnswer) {
	p.truth.Leverage = p.leverage
	if event.Err != nil {
		p.truth.Leverage = 0 // read again before anything opens (case 32)
		e.note("", p.truth.Rules, NoteFetchFailed{What: "set leverage", Err: event.Err})
	}
	e.soon()
}

// mistaken reports whether a placement's answer tells no order, or another one.
func mistaken(told *exchange.Order, clientID string) bool {
	return told.ID == 0 || told.ClientOrderID != "" && told.ClientOrderID != clientID
}
