package reconcile

import (
	"botd/exchange"
	"botd/reconcile/placement"
)

// Intent is one change derived from the plan and the known state.
type Intent struct {
	Strategy string
	Purpose  placement.Purpose
	Key      string            // the plan's key, for Order and ExitOrder; of some protective orders bridgeKey or dustKey
	Order    exchange.NewOrder // the order to place; for Cancel and Leverage only its Market and Symbol
	OrderID  int64             // Cancel: the order
	ClientID string            // Cancel: the placement
	Leverage int               // Leverage: the new value
	Last     exchange.Price    // last price at derivation
	Before   exchange.Quantity // signed position at derivation
	Reason   string            // reason in words
}
