package account

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Placement is an order in the journal, with its state.
type Placement struct {
	// The fields that each round reads of each placement come first: they fit into two lines of the
	// processor's cache.
	orderID   int64
	filled    exchange.Quantity
	state     placement.State
	purpose   placement.Purpose
	seen      bool
	duplicate bool
	key       string
	withdrawn string
	order     exchange.NewOrder

	clientOrderID string
	strategy      string
	price         exchange.Amount
	sentMS        int64
	createdMS     int64
	uncertainMS   int64
	deadlineMS    int64
	endedMS       int64
	reason        string
	evidence      string
	funds         record.Funds
}

// ClientOrderID returns its id, which is unique across all placements.
func (p *Placement) ClientOrderID() string { return p.clientOrderID }

// OrderID returns the exchange's id; 0 until it is known.
func (p *Placement) OrderID() int64 { return p.orderID }

// Strategy returns the strategy that owns it.
func (p *Placement) Strategy() string { return p.strategy }

// Purpose returns its purpose.
func (p *Placement) Purpose() placement.Purpose { return p.purpose }

// Key returns the plan's key, for an order or an exit of the plan. A protective order may have a key of
// botd's own, and an order found on the exchange has the key "found".
func (p *Placement) Key() string { return p.key }

// Funds returns what the account showed before it was sent.
func (p *Placement) Funds() record.Funds { return p.funds }

// Order returns its order as sent.
func (p *Placement) Order() exchange.NewOrder { return p.order }

// Symbol returns the order's symbol.
func (p *Placement) Symbol() exchange.SymbolKey { return p.order.Key() }

// Side returns the order's side.
func (p *Placement) Side() exchange.Side { return p.order.Side }

// Type returns the order's type.
func (p *Placement) Type() exchange.OrderType { return p.order.Type }

// Reduces reports whether the order can only reduce a futures position.
func (p *Placement) Reduces() bool { return p.order.Reduces() }

// State returns its state.
func (p *Placement) State() placement.State { return p.state }

// Filled returns its cumulative filled quantity.
func (p *Placement) Filled() exchange.Quantity { return p.filled }

// Price returns the mean price of its fills; zero if unknown.
func (p *Placement) Price() exchange.Amount { return p.price }

// SentMS returns the server time of its sending record; for an order found on the exchange, the time at
// which it was found.
func (p *Placement) SentMS() int64 { return p.sentMS }

// UncertainMS returns the time at which its answer was lost; 0 if it was not.
func (p *Placement) UncertainMS() int64 { return p.uncertainMS }

// EndedMS returns the time at which it ended; 0 if it has not.
func (p *Placement) EndedMS() int64 { return p.endedMS }

// Reason returns the reason for its refusal or uncertainty.
func (p *Placement) Reason() string { return p.reason }

// Evidence returns the evidence for its final state.
func (p *Placement) Evidence() string { return p.evidence }

// Seen reports whether it has been fetched at least once.
func (p *Placement) Seen() bool { return p.seen }

// Duplicate reports whether it is a second order under the same id, which gets canceled.
func (p *Placement) Duplicate() bool { return p.duplicate }

// Withdrawn returns the reason for which a person canceled it; empty if nobody did.
func (p *Placement) Withdrawn() string { return p.withdrawn }

// Remaining returns the quantity that may still fill, in base units; zero for a closePosition
// order, which has none.
func (p *Placement) Remaining() exchange.Quantity {
	if p.state.Final() {
		return 0
	}
	return max(0, p.order.Quantity-p.filled)
}

// SignedRemaining returns its possible further effect on the position.
func (p *Placement) SignedRemaining() exchange.Quantity {
	return p.Remaining() * exchange.Quantity(p.order.Side.Sign())
}

// Fence returns the server time from which a snapshot counts as evidence of the
// placement's outcome (exactly-once.md, The fence and the equation).
func (p *Placement) Fence(bounds placement.Bounds) int64 {
	return p.deadlineMS + bounds.WindowMS + bounds.VisibilityMS + bounds.StalenessMS
}

// About returns a record about the placement.
func (p *Placement) About(body record.Body) record.Record {
	return record.Record{Strategy: p.strategy, Symbol: p.order.Key(), ClientOrderID: p.clientOrderID, Body: body}
}

// placementOf returns the placement that a sending record begins.
func placementOf(r *record.Record, body *record.Sending) *Placement {
	return &Placement{clientOrderID: r.ClientOrderID, strategy: r.Strategy, purpose: body.Purpose, key: body.Key, order: body.Order,
		state: placement.Sending, sentMS: r.AtMS, deadlineMS: body.DeadlineMS, funds: body.Funds}
}

// found returns the placement of an order found on the exchange.
func found(r *record.Record, body *record.Found) *Placement {
	return &Placement{
		clientOrderID: r.ClientOrderID,
		orderID:       body.OrderID,
		strategy:      r.Strategy,
		purpose:       body.Purpose,
		key:           body.Key,
		order:         body.Order,
		state:         placement.Working,
		seen:          true,
		filled:        body.Filled,
		sentMS:        r.AtMS,
		deadlineMS:    r.AtMS,
		duplicate:     body.Duplicate,
		evidence:      body.Evidence,
	}
}

// Begin returns the placement that a record begins, in its initial state, or false if the record
// begins none.
func Begin(r *record.Record) (Placement, bool) {
	switch body := r.Body.(type) {
	case record.Sending:
		return *placementOf(r, &body), true
	case record.Found:
		return *found(r, &body), true
	}
	return Placement{}, false
}

// After returns the placement as it is after a record about it.
func (p *Placement) After(r *record.Record) Placement {
	after := *p
	after.advance(r)
	return after
}

// In returns the placement in a state reported by a fetch.
func (p *Placement) In(state placement.State, orderID int64) Placement {
	fetched := *p
	fetched.state, fetched.orderID = state, orderID
	return fetched
}

// advance applies a record to the placement and returns its newly filled quantity.
func (p *Placement) advance(r *record.Record) (grown exchange.Quantity) {
	switch body := r.Body.(type) {
	case record.Acknowledged:
		p.identify(body.OrderID)
		if p.state.OutcomeUncertain() {
			p.state = placement.Acknowledged
		}
	case record.Uncertain:
		p.state, p.reason, p.uncertainMS = placement.Uncertain, body.Reason, r.AtMS
	case record.Fill:
		p.identify(body.OrderID)
		p.createdMS = cmp.Or(body.CreatedMS, p.createdMS)
		grown = p.fillTo(body.Filled, body.Price)
		p.state, p.seen = placement.Working, true
	case record.Refused:
		p.reason = body.Reason
		p.end(placement.Refused, "", r.AtMS)
	case record.Ended:
		p.identify(body.OrderID)
		p.createdMS = cmp.Or(body.CreatedMS, p.createdMS)
		grown = p.fillTo(body.Filled, body.Price)
		p.end(body.State, body.Evidence, r.AtMS)
	case record.Withdrawn:
		p.withdrawn = body.Reason
	case record.Boot:
		if p.state == placement.Sending {
			p.state, p.reason, p.uncertainMS = placement.Uncertain, "restarted before the answer", r.AtMS
		}
	}
	return grown
}

// identify stores the exchange's id of the order if it is known.
func (p *Placement) identify(orderID int64) {
	if orderID != 0 {
		p.orderID = orderID
	}
}

// fillTo books the part of a cumulative fill that is not known yet.
func (p *Placement) fillTo(filled exchange.Quantity, price exchange.Amount) (grown exchange.Quantity) {
	if grown = filled - p.filled; grown <= 0 {
		return 0
	}
	p.filled = filled
	if !price.IsZero() {
		p.price = price
	}
	return grown
}

func (p *Placement) end(state placement.State, evidence string, atMS int64) {
	p.state, p.endedMS, p.evidence = state, atMS, evidence
}

// booked returns the order in the ledger's form.
func (p *Placement) booked() *ledger.Order {
	o := &p.order
	rests := o.Type == exchange.Limit || o.Type == exchange.StopLimit || o.Type == exchange.TakeProfitLimit
	return &ledger.Order{
		ClientOrderID: p.clientOrderID,
		OrderID:       p.orderID,
		Strategy:      p.strategy,
		Purpose:       p.purpose,
		Symbol:        o.Key(),
		Side:          o.Side,
		Rests:         rests,
		Filled:        p.filled,
	}
}
