package reconcile

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// Placement is an intent in the journal, with its state.
type Placement struct {
	ClientOrderID string
	OrderID       int64 // 0 until acknowledged
	Strategy      string
	Purpose       Purpose
	Key           string
	Order         exchange.NewOrder
	State         State
	Filled        exchange.Quantity // cumulative
	Price         exchange.Amount   // mean price of the fills when known
	SentMS        int64             // journalled server time
	UnknownMS     int64             // when its answer was lost
	DeadlineMS    int64             // SentMS plus time to live
	EndedMS       int64
	Why           string // of Refused, Uncertain
	Evidence      string // of a final state
	Seen          bool   // fetched at least once
	Surplus       bool   // a second order under one id: it is canceled
	Withdrawn     string // why a person takes it out of the book: it is canceled
	CancelMS      int64  // when a cancel was last sent, 0 for never; not journalled
}

// Remaining is the quantity that may still fill, in base units; zero for a
// closePosition order, which has none.
func (p *Placement) Remaining() exchange.Quantity {
	if p.State.Final() {
		return 0
	}
	return max(0, p.Order.Quantity-p.Filled)
}

// SignedRemaining is what it may still do to the position.
func (p *Placement) SignedRemaining() exchange.Quantity {
	return p.Remaining() * exchange.Quantity(p.Order.Side.Sign())
}

// identify takes the exchange's id of the order, where it is known.
func (p *Placement) identify(orderID int64) {
	if orderID != 0 {
		p.OrderID = orderID
	}
}

// booked is the order as the ledger takes it.
func (p *Placement) booked() *ledger.Order {
	o := &p.Order
	return &ledger.Order{ClientOrderID: p.ClientOrderID, OrderID: p.OrderID, Strategy: p.Strategy, Purpose: p.Purpose, Symbol: o.Key(), Side: o.Side, Rests: rests(o), Filled: p.Filled}
}

// about is a record about the placement.
func (p *Placement) about(body record.Body) record.Record {
	return record.Record{Strategy: p.Strategy, Symbol: p.Order.Key(), ClientOrderID: p.ClientOrderID, Body: body}
}

// Fence returns the server time from which a snapshot counts as evidence of the
// placement's fate (exactly-once.md, Principle).
func (p *Placement) Fence(settle Settle) int64 {
	return p.DeadlineMS + settle.WindowMS + settle.VisibilityMS + settle.StalenessMS
}

// Intent is one change derived from Plan minus Truth.
type Intent struct {
	Strategy string
	Purpose  Purpose
	Key      string            // the plan's key, for Order and ExitOrder
	Order    exchange.NewOrder // what to place; for Cancel and Leverage its Market and Symbol
	OrderID  int64             // Cancel: which order
	ClientID string            // Cancel: whose placement
	Leverage int               // Leverage: to what
	Last     exchange.Price    // last price when it was derived
	Before   exchange.Quantity // signed position when it was derived
	Reason   string            // why, in words
}
