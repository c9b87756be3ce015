package reconcile

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// TakeRoundTrips gives a record to the round trips, and returns those that it ends.
// Every record of a journal is given once, in order.
func TakeRoundTrips(trips *ledger.RoundTrips, r *record.Record) []ledger.RoundTrip {
	switch body := r.Body.(type) {
	case record.Sending:
		trips.Send(ordered(r, Placement{Purpose: body.Purpose, Order: body.Order}))
	case record.Found:
		trips.Send(ordered(r, Placement{OrderID: body.OrderID, Purpose: body.Purpose, Order: body.Order, Filled: body.Filled}))
	case record.Acknowledged:
		trips.Advance(r.ClientOrderID, body.OrderID, 0, false)
	case record.Fill:
		trips.Advance(r.ClientOrderID, body.OrderID, body.Filled, false)
	case record.Refused:
		trips.Advance(r.ClientOrderID, 0, 0, true)
	case record.Ended:
		trips.Advance(r.ClientOrderID, body.OrderID, body.Filled, true)
	case record.Adopted:
		trips.Adopt(r.Symbol, body.Quantity)
	case record.Posting:
		return trips.Post(&body.Posting)
	}
	return nil
}

func ordered(r *record.Record, p Placement) *ledger.Order {
	p.ClientOrderID, p.Strategy = r.ClientOrderID, r.Strategy
	return p.booked()
}

// rests reports whether an order may rest in the order book, for the maker's fee.
func rests(o *exchange.NewOrder) bool {
	return o.Type == exchange.Limit || o.Type == exchange.StopLimit || o.Type == exchange.TakeProfitLimit
}
