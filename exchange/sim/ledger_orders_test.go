package sim_test

import (
	"slices"

	"botd/exchange"
)

// follows lists the transitions of the interface and of docs/exchange.md (futures life, spot life).
var follows = map[exchange.OrderStatus][]exchange.OrderStatus{
	exchange.StatusCreated: {exchange.StatusNew, exchange.StatusOpen, exchange.StatusFilled, exchange.StatusCanceled, exchange.StatusRejected},
	exchange.StatusNew:     {exchange.StatusOpen, exchange.StatusFilled, exchange.StatusCanceled},
	exchange.StatusOpen:    {exchange.StatusFilled, exchange.StatusCanceled},
}

// checkOrders compares every order's state with the one a step ago, and its filled quantity with the fills.
func (l *ledger) checkOrders() {
	filled := map[int64]exchange.Quantity{}
	for _, fill := range l.x.Fills() {
		filled[fill.OrderID] += fill.Quantity
	}
	reducing, closing := map[int64]exchange.Quantity{}, map[int64][]exchange.OrderType{}
	for _, o := range l.x.AllOrders() {
		was, known := l.states[o.ID]
		l.states[o.ID] = o.Order
		switch {
		case o.Filled != filled[o.ID]:
			l.r.Fatalf("order %d: want %d filled by the fills, have %d", o.ID, filled[o.ID], o.Filled)
		case known && was.Status != o.Status && !slices.Contains(follows[was.Status], o.Status):
			l.r.Fatalf("order %d went from %s to %s", o.ID, was.Status, o.Status)
		case o.Status == exchange.StatusRejected && !o.PostOnly && (l.nets || o.Market == exchange.Spot || o.ClosePositionID != 0):
			// otherwise it met an opposite position that an earlier order had opened
			l.r.Fatalf("order %d is REJECTED for no reason", o.ID)
		case o.Status == exchange.StatusFilled && !o.ClosePosition && o.QuoteAmount.IsZero() && o.Filled != o.Quantity:
			l.r.Fatalf("order %d is FILLED with %d of %d", o.ID, o.Filled, o.Quantity)
		case !o.ClosePosition && o.QuoteAmount.IsZero() && o.Filled > o.Quantity:
			l.r.Fatalf("order %d filled %d of %d", o.ID, o.Filled, o.Quantity)
		}
		if o.Status.Final() || o.ClosePositionID == 0 {
			continue
		}
		if o.ClosePosition {
			closing[o.ClosePositionID] = append(closing[o.ClosePositionID], o.Type)
		} else if o.Type != exchange.MarketOrder { // it may sweep the others (rule 6)
			reducing[o.ClosePositionID] += o.Quantity - o.Filled
		}
	}
	l.checkReducing(reducing, closing)
}

// checkReducing compares reducing orders with their positions (interface, futures rules 5 and 8): none
// outlives its position, the sum of qt is at most remainingQty, and there is one closePosition order per
// type.
func (l *ledger) checkReducing(reducing map[int64]exchange.Quantity, closing map[int64][]exchange.OrderType) {
	remaining := map[int64]exchange.Quantity{}
	for _, name := range l.names {
		for _, position := range l.positions(name) {
			remaining[position.ID] = position.Remaining
		}
	}
	for id, sum := range reducing {
		// Where opposite orders net, the position may be smaller than what should be reduced.
		if left, open := remaining[id]; !open || sum > left && !l.nets {
			l.r.Fatalf("position %d: reduceOnly orders of %d, %d remain", id, sum, left)
		}
	}
	for id, types := range closing {
		slices.Sort(types)
		if _, open := remaining[id]; !open || len(slices.Compact(types)) != len(types) {
			l.r.Fatalf("position %d has closePosition orders %v", id, types)
		}
	}
}
