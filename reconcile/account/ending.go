package account

import "botd/exchange"

// maxRemembered bounds how many ended placements are remembered by their ids,
// so that a stale list showing one of them is not taken for a foreign order: those of
// a quarter of an hour at five orders a second.
const maxRemembered = 5_000

// Ending is what is remembered of a placement that has ended.
type Ending struct {
	Symbol   exchange.SymbolKey
	OrderID  int64
	Filled   exchange.Quantity
	Strategy string
	Left     bool // a person left it to whoever made it
	Absent   bool // it was taken never to have been on the exchange, or to be gone from it
}

// endings are those of the newest placements that have ended, at most maxRemembered.
type endings struct {
	byID  map[string]Ending
	order []string // oldest first
}

// Ended returns what is remembered of a placement that has ended.
func (e *endings) Ended(clientOrderID string) (Ending, bool) {
	ending, ended := e.byID[clientOrderID]
	return ending, ended
}

// EndedAs returns what is remembered of a placement that has ended, and its client order
// id, by the exchange's id of its order.
func (e *endings) EndedAs(symbol exchange.SymbolKey, orderID int64) (clientOrderID string, ending Ending, ended bool) {
	for id, ending := range e.byID { // one at most has that order id
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
		delete(e.byID, e.order[0])
		e.order = e.order[1:]
	}
}
