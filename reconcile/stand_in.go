package reconcile

import (
	"slices"

	"botd/exchange"
)

// If lists omit client order ids, two botds with copies of one journal do not know of each other. When one of them moves a stop that both journals
// contain, the other finds its stop canceled by another party, and an order without an id holds the same asset. A second stop alongside it would sell
// that asset twice.

// canceledStop is one of botd's spot stops that another party canceled, or an order that replaced it and has left the list.
type canceledStop struct {
	fromMS   int64 // the order that replaces it is created within this time
	untilMS  int64
	quantity exchange.Quantity
}

// standIn is an open order that has replaced such a stop.
type standIn struct {
	orderID  int64
	quantity exchange.Quantity
}

// noteTakenStop expects a replacement of a stop: an order created since the last list before this one, or soon.
func (o *observedAccount) noteTakenStop(symbol *SymbolState, quantity exchange.Quantity, atMS int64) {
	t := &symbol.spot
	t.canceledStops = append(t.canceledStops[max(0, len(t.canceledStops)-maxRemembered+1):],
		canceledStop{o.listed[exchange.Spot].beganMS - createdSlackMS, atMS + repeatedMS, quantity})
}

// noteStandIns records the foreign orders that have replaced such stops: they have the form of botd's stops, at most the same quantity, and were
// created since the last list that may have shown the stop. Each replaces one stop or part of one; once it has left the list, another replacement is
// expected.
func (s otherBotds) noteStandIns(symbol *SymbolState) {
	if !s.fetched.SpotOrders.Done() {
		return
	}
	t := &symbol.spot
	t.standIns = slices.DeleteFunc(t.standIns, func(one standIn) bool {
		open := slices.ContainsFunc(symbol.foreign, func(o exchange.Order) bool { return o.ID == one.orderID })
		if !open {
			s.book.noteTakenStop(symbol, one.quantity, s.fetched.EndedMS)
		}
		return !open
	})
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		at := slices.IndexFunc(t.canceledStops, func(one canceledStop) bool {
			return o.Quantity <= one.quantity && o.CreatedMS >= one.fromMS && o.CreatedMS <= one.untilMS
		})
		if at >= 0 && !t.standsIn(o.ID) && s.book.Resembles(symbol, o) {
			t.standIns = append(t.standIns, standIn{o.ID, o.Quantity})
			t.canceledStops[at].quantity -= o.Quantity
		}
	}
}

// standsIn reports whether an open order has replaced one of botd's stops.
func (t *spotEvidence) standsIn(orderID int64) bool {
	return slices.ContainsFunc(t.standIns, func(one standIn) bool { return one.orderID == orderID })
}

// StandIn returns the quantity that open orders which replaced botd's stops sell on a spot symbol.
func (s *SymbolState) StandIn() (sum exchange.Quantity) {
	for i := range s.foreign {
		if o := &s.foreign[i]; s.spot.standsIn(o.ID) {
			sum += o.Remaining()
		}
	}
	return sum
}
