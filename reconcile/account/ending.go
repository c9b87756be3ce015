package account

import "botd/exchange"

// maxRemembered limits the number of ended placements remembered by id, so that an order in a stale list
// is not mistaken for a foreign one. It covers a quarter of an hour at five orders per second.
const maxRemembered = 5_000

// Ending is the memory of a placement that has ended.
type Ending struct {
	Symbol   exchange.SymbolKey
	OrderID  int64
	Filled   exchange.Quantity
	Strategy string
	Left     bool // a person left the order to its owner
	Absent   bool // evidence showed that it never reached the exchange, or vanished from it, without effect
}

// endings are the newest ended placements, at most maxRemembered.
type endings struct {
	byID        map[string]Ending
	order       []string // oldest first
	forgottenID int64
}

// ForgottenID returns the highest order id among the spot orders that are no longer remembered; 0 for none.
func (e *endings) ForgottenID() int64 { return e.forgottenID }

// Ended returns the ending of a placement, or false if it has not ended or is no longer remembered.
func (e *endings) Ended(clientOrderID string) (Ending, bool) {
	ending, ended := e.byID[clientOrderID]
	return ending, ended
}

// EndedAs returns the ending and the client order id of the ended placement with the given exchange
// order id.
func (e *endings) EndedAs(symbol exchange.SymbolKey, orderID int64) (clientOrderID string, ending Ending, ended bool) {
	for id, ending := range e.byID { // at most one has that order id
		if orderID != 0 && ending.OrderID == orderID && ending.Symbol == symbol {
			return id, ending, true
		}
	}
	return "", Ending{}, false
}

func (e *endings) remember(id string, ending Ending) {
	if _, known := e.byID[id]; !known {
		e.order = append(e.order, id)
	}
	e.byID[id] = ending
	if len(e.order) > maxRemembered {
		if oldest := e.byID[e.order[0]]; oldest.Symbol.Market == exchange.Spot {
			e.forgottenID = max(e.forgottenID, oldest.OrderID)
		}
		delete(e.byID, e.order[0])
		e.order = e.order[1:]
	}
}
