package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// Exposure is the state of one strategy's symbol that the kill switch needs to act independently of
// the engine.
type Exposure struct {
	Strategy string
	Symbol   *exchange.Symbol
	Close    exchange.Quantity // signed: the quantity that a flatten closes
	Others   exchange.Quantity // signed: the part of a futures position that belongs to others
	Last     exchange.Price
	Collar   exchange.Rate       // maximum distance of a spot sale's limit below the price
	Orders   []account.Placement // live
}

// Exposures returns the journalled orders and the newest positions of every strategy. The result
// shares nothing with the engine.
func (e *Engine) Exposures() []Exposure {
	all := make([]Exposure, 0, len(e.legs))
	for _, leg := range e.legs {
		one := Exposure{Strategy: leg.config.Name, Symbol: leg.config.Symbol, Close: e.tracker.ToClose(leg.symbol), Others: leg.symbol.Ignored(),
			Last: leg.symbol.Last(), Collar: risk.ExitCollar(&e.config.Limits, &leg.config.Limits)}
		for p := range e.tracker.Live() {
			if p.Symbol() == leg.symbol.Key() {
				one.Orders = append(one.Orders, *p)
			}
		}
		all = append(all, one)
	}
	return all
}

// LaneOrder is an order placed by the kill switch's lane. It always reduces.
type LaneOrder struct {
	Strategy   string
	Order      exchange.NewOrder
	SentMS     int64
	DeadlineMS int64             // no first byte after this time
	Before     exchange.Quantity // signed position when it was placed
	Outcome    record.Body       // Acknowledged, Refused, Uncertain or Ended; nil while unanswered
}

// applyLane enters the lane's orders into the journal. From then on they are ordinary placements:
// fetched, settled, and uncertain if the answer was lost. The strategy whose position they close does
// not open it again.
func (d *dispatcher) applyLane(event *EventLane) {
	before := len(d.unwritten)
	for i := range event.Orders {
		o := &event.Orders[i]
		id := o.Order.ClientOrderID
		if _, ended := d.tracker.Ended(id); ended {
			continue
		}
		p := d.tracker.Placement(id)
		if p == nil {
			if leg := d.legNamed(o.Strategy); leg != nil {
				d.latchFlattened(leg, record.LevelFlatten)
			}
			d.recordAt(min(o.SentMS, d.nowMS), record.Record{Strategy: o.Strategy, Symbol: o.Order.Key(), ClientOrderID: id, Body: record.Sending{
				Order: o.Order, Purpose: placement.Exit, DeadlineMS: o.DeadlineMS, Before: o.Before}})
			p = d.tracker.Placement(id)
			d.note(o.Strategy, d.symbolOf(o.Order.Key()), NotePlaced{Reason: "sent by the kill switch's lane", NoteOrder: noteOrder(p)})
		}
		if o.Outcome != nil && p.State() == placement.Sending {
			d.record(p.About(o.Outcome))
		}
	}
	if len(d.unwritten) > before {
		d.requestRoundSoon()
	}
}
