package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// If lists omit client order ids, two botds with copies of one journal do not know of each other. When one of them moves a stop that both journals
// contain, the other finds its stop canceled by another party, and an order without an id holds the same asset. A second stop alongside it would sell
// that asset twice.

// replacedStops are a symbol's stops that another party has canceled, oldest first, and the open orders that have replaced such stops.
type replacedStops struct {
	canceled []canceledStop
	orders   []replacementOrder
	left     []leftReplacement
	twinMS   int64 // since when a stop of another botd and one of botd's own have covered the same units; 0 if none do
}

// canceledStop is one of botd's spot stops that another party canceled, or an order that replaced it and has left the list.
type canceledStop struct {
	fromMS   int64 // the order that replaces it is created within this time
	untilMS  int64
	quantity exchange.Quantity
}

// replacementOrder is an open order that has replaced such a stop.
type replacementOrder struct {
	orderID   int64
	quantity  exchange.Quantity
	createdMS int64
}

// leftReplacement is such an order that has left the open list, until wallet and fills agree: it may have sold, long after it was created.
type leftReplacement struct {
	orderID           int64
	createdMS, leftMS int64
}

// soldFrom returns the earlier of a time and the dates of orders that have replaced stops and may have sold.
func (t *replacedStops) soldFrom(sinceMS int64) int64 {
	for _, one := range t.left {
		sinceMS = min(sinceMS, one.createdMS)
	}
	return sinceMS
}

func (t *replacedStops) mayHaveSold(orderID int64) bool {
	return slices.ContainsFunc(t.left, func(one leftReplacement) bool { return one.orderID == orderID })
}

// expectReplacement expects a replacement of a stop: an order created since the last list before this one, or soon.
func (o *observedAccount) expectReplacement(symbol *SymbolState, quantity exchange.Quantity, atMS int64) {
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
		if o := &s.foreign[i]; o.ClientOrderID == "" && s.spot.replaced.includes(o.ID) {
			sum += o.Remaining()
		}
	}
	return sum
}

// detectTwins looks for twins of botd's stops: rows without an id that have the form and the price of one of them, while the wallet holds no units for both.
// Another botd with a copy of the journal has placed them. One that covers units without a stop of botd's counts as their stop at once. If both cover the same
// units, botd removes its own after a moment: first the botd whose stop has the larger mark or, of equal ones, the higher id. A start has forgotten which rows
// have replaced its stops: if it has no stop, those of that form that are older count at any price.
func (s peerOrders) detectTwins(symbol *SymbolState) {
	t := &symbol.spot.replaced
	since := t.twinMS
	t.twinMS = 0
	if s.tracker.StandsDown() || symbol.rules == nil || !s.fetched.SpotOrders.Done() || symbol.spot.walletInconclusive {
		return
	}
	on := s.tracker.inputs(&Desired{}, symbol, s.fetched.EndedMS)
	if on.saleEvidence().frozenForOthers() < s.tracker.sellsOfOthers(symbol) { // an old list
		return
	}
	position := on.spotPosition()
	uncovered := position.toProtect()
	for _, p := range symbol.live {
		if p.Side() == exchange.Sell && s.tracker.delivery(p).releasedMS == 0 {
			uncovered -= p.Remaining()
		}
	}
	twice := s.tracker.twins(symbol) - max(0, position.ownBalance()-symbol.ownOnSpot())
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		own := s.tracker.twinOf(symbol, o)
		former := own == nil && s.resemblesFormerStop(symbol, o)
		if !former && (own == nil || !s.tracker.WalletConclusive(symbol)) || o.Remaining() > twice || t.includes(o.ID) {
			continue
		}
		wait := int64(excessLastMS)
		if own != nil && cmp.Or(cmp.Compare(own.Order().Price, o.Price), cmp.Compare(own.OrderID(), o.ID)) > 0 {
			wait = excessMS
		}
		switch {
		case o.Remaining() <= uncovered:
			uncovered -= o.Remaining()
		case former:
			continue
		case since == 0 || s.fetched.EndedMS-since < wait:
			t.twinMS = cmp.Or(since, s.fetched.EndedMS)
			continue
		}
		t.orders, twice = append(t.orders, replacementOrder{o.ID, o.Remaining(), o.CreatedMS}), twice-o.Remaining()
	}
}

// resemblesFormerStop reports whether a row from before the start has the form of botd's stops, and none of botd's own stops is live.
func (s peerOrders) resemblesFormerStop(symbol *SymbolState, row *exchange.Order) bool {
	return row.CreatedMS < s.tracker.bootMS && s.tracker.Resembles(symbol, row) &&
		!slices.ContainsFunc(symbol.live, func(p *account.Placement) bool { return p.Purpose() == placement.StopLoss })
}

// twins returns the quantity of the rows without an id that have the form of botd's stops and do not stand in for one.
func (o *observedAccount) twins(symbol *SymbolState) (sum exchange.Quantity) {
	for i := range symbol.foreign {
		if row := &symbol.foreign[i]; o.Resembles(symbol, row) && !symbol.spot.replaced.includes(row.ID) {
			sum += row.Remaining()
		}
	}
	return sum
}

// twinOf returns one of botd's stops that a row without an id equals in form and stop price; nil for none.
func (o *observedAccount) twinOf(symbol *SymbolState, row *exchange.Order) *account.Placement {
	if !o.Resembles(symbol, row) {
		return nil
	}
	i := slices.IndexFunc(symbol.live, func(p *account.Placement) bool {
		return p.OrderID() != 0 && p.Purpose() == placement.StopLoss && p.Order().StopPrice == row.StopPrice
	})
	if i < 0 {
		return nil
	}
	return symbol.live[i]
}
