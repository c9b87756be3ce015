package reconcile

import (
	"slices"

	"botd/exchange"
)

// If lists omit client order ids, two botds with copies of one journal do not know of each other. When one of them moves a stop that both journals
// contain, the other finds its stop canceled by another party, and an order without an id holds the same asset. A second stop alongside it would sell
// that asset twice.

// replacedStops are a symbol's stops that another party has canceled, oldest first, and the open orders that have replaced such stops.
type replacedStops struct {
	canceled []canceledStop
	orders   []replacementOrder
}

// canceledStop is one of botd's spot stops that another party canceled, or an order that replaced it and has left the list.
type canceledStop struct {
	fromMS   int64 // the order that replaces it is created within this time
	untilMS  int64
	quantity exchange.Quantity
}

// replacementOrder is an open order that has replaced such a stop.
type replacementOrder struct {
	orderID  int64
	quantity exchange.Quantity
}

// noteCanceledStop expects a replacement of a stop: an order created since the last list before this one, or soon.
func (o *observedAccount) noteCanceledStop(symbol *SymbolState, quantity exchange.Quantity, atMS int64) {
	t := &symbol.spot.replaced
	t.canceled = append(t.canceled[max(0, len(t.canceled)-maxRemembered+1):],
		canceledStop{o.listed[exchange.Spot].beganMS - createdSlackMS, atMS + repeatedMS, quantity})
}

// includes reports whether an open order has replaced one of botd's stops.
func (t *replacedStops) includes(orderID int64) bool {
	return slices.ContainsFunc(t.orders, func(one replacementOrder) bool { return one.orderID == orderID })
}

// ReplacementQuantity returns the quantity that open orders which replaced botd's stops sell on a spot symbol.
func (s *SymbolState) ReplacementQuantity() (sum exchange.Quantity) {
	for i := range s.foreign {
		if o := &s.foreign[i]; s.spot.replaced.includes(o.ID) {
			sum += o.Remaining()
		}
	}
	return sum
}
