package reconcile

import (
	"botd/exchange"
	"botd/reconcile/placement"
)

// Intent is one change derived from the plan and what is known.
type Intent struct {
	Strategy string
	Purpose  placement.Purpose
	Key      string            // the plan's key, for Order and ExitOrder
	Order    exchange.NewOrder // what to place; for Cancel and Leverage its Market and Symbol
	OrderID  int64             // Cancel: which order
	ClientID string            // Cancel: whose placement
	Leverage int               // Leverage: to what
	Last     exchange.Price    // last price when it was derived
	Before   exchange.Quantity // signed position when it was derived
	Reason   string            // why, in words
}
