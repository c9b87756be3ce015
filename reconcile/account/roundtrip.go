package account

import (
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// ApplyToRoundTrips applies a record to the round trips and returns those that it ends. Every record of a
// journal must be passed exactly once, in order.
func ApplyToRoundTrips(trips *ledger.RoundTrips, r *record.Record) []ledger.RoundTrip {
	switch body := r.Body.(type) {
	case record.Sending:
		trips.Send(placementOf(r, &body).booked())
	case record.Found:
		trips.Send(found(r, &body).booked())
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
