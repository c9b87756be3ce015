package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// Where lists omit client order ids, only the form of its orders shows another botd: a twin. If both have copies of one journal, both sell the same
// coins; a sale then takes a person's. As with a botd that ids show (peer), one yields to the other.

// twin is what orders of that form have shown since the start, on any symbol, and the last own order that may have shown botd to it.
type twin struct {
	firstID, lastID int64 // its lowest and its highest order id; 0 if there is none
	stopID          int64 // its newest stop
	rank            int   // 1 if this botd's mark is the larger one, -1 if that stop's is, 0 if neither
	ownID           int64 // the newest own order of that form
	futuresIDs      bool  // the open list of futures shows client order ids
}

// noteTwin records an order that has the form of botd's, and that no placement claims.
func (t *twin) noteTwin(orderID int64) {
	if t.firstID == 0 || orderID < t.firstID {
		t.firstID = orderID
	}
	t.lastID = max(t.lastID, orderID)
}

// noteOwn records an own order whose form may show this botd to a twin.
func (t *twin) noteOwn(p *account.Placement) {
	if order := p.Order(); p.Purpose() == placement.StopLoss || !order.QuoteAmount.IsZero() {
		t.ownID = max(t.ownID, p.OrderID())
	}
}

// HasTwin reports whether such orders have shown another botd since the start.
func (t *twin) HasTwin() bool { return t.firstID != 0 }

// yieldMS returns for how long an exit is left to the twin. Of the two, the one with the smaller mark sells first. Where no mark shows that, it is the one
// whose newest order is older; the twin may have seen marks, so both wait for other times than by marks. One that has placed nothing since that the twin may
// have recognized yields too: the twin does not wait at all.
func (t *twin) yieldMS() int64 {
	switch {
	case t.firstID == 0, t.ownID > t.firstID && t.rank < 0:
		return 0
	case t.ownID > t.firstID && t.rank > 0:
		return 2 * yieldMS
	case t.ownID > t.lastID:
		return 3 * yieldMS
	}
	return yieldMS
}

// noteTwins looks for orders of botd's form in an open list. On futures that is a stop at the level of one of botd's own.
func noteTwins(s *survey, symbol *SymbolState) {
	t := &s.book.twin
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		if !t.futuresIDs && o.ClientOrderID == "" && symbol.stopsAt(o) {
			t.noteTwin(o.ID)
		}
		if !s.book.Resembles(symbol, o) {
			continue
		}
		if t.noteTwin(o.ID); o.ID > t.stopID {
			limit := stopLimit(symbol.rules, o.StopPrice, o.Quantity, symbol.collar)
			own := limit + markOf(s.book.Start(), symbol.rules, mostSaleMark(limit, symbol.collar))
			t.stopID, t.rank = o.ID, cmp.Compare(own, o.Price)
		}
	}
}

// stopsAt reports whether an own stop on futures has the level of an order.
func (s *SymbolState) stopsAt(o *exchange.Order) bool {
	return o.Market == exchange.Futures && o.Type.StopLoss() && slices.ContainsFunc(s.live, func(p *account.Placement) bool {
		order := p.Order()
		return p.OrderID() != 0 && order.Side == o.Side && order.Type == o.Type && order.StopPrice == o.StopPrice
	})
}

// awaitsSaleOfOthers reports whether the newest wallet is the first one that shows less of a spot symbol's asset than the fills explain, where lists omit
// ids: the order history, read next, may show that another botd has sold it.
func awaitsSaleOfOthers(d *derivation) bool {
	t := &d.symbol.spot
	return d.book.idsLeftOut && t.difference < 0 && t.asked == 0 && !d.desired.Flatten
}

// noteSoldElsewhere records what of the wallet's shortfall sales explain that no placement claims, by the newest history that has been read about it.
func noteSoldElsewhere(s *survey, symbol *SymbolState) {
	t := &symbol.spot
	if s.fetched.History.Done() {
		_, t.soldElsewhere = s.salesOfOthers(symbol)
	}
	t.soldElsewhere = max(0, min(t.soldElsewhere, -t.difference))
}

// soldElsewhere returns the part of the wallet's shortfall that another botd has sold, by the newest history, until the shortfall is decided.
func soldElsewhere(d *derivation) exchange.Quantity {
	if !d.book.idsLeftOut || d.symbol.short != 0 || d.desired.Flatten {
		return 0
	}
	return d.symbol.spot.soldElsewhere
}

// graceMS is the time in which an own stop that somebody else has canceled is not placed again, where lists omit ids: another botd with a copy of the
// journal may be selling what the stop held, which wallet and order history show within that time.
const graceMS = 3_000

// recentlyTaken returns the quantity of own stops that somebody else has canceled within that time.
func recentlyTaken(s *situation) (sum exchange.Quantity) {
	for _, one := range s.symbol.spot.canceledStops {
		if s.book.idsLeftOut && s.nowMS < one.untilMS-repeatedMS+graceMS {
			sum += one.quantity
		}
	}
	return sum
}

// exitReleaseMS is the time between the answer to a stop's cancel and an exit: a twin may sell the coins as soon as the stop no longer holds them.
func exitReleaseMS(s *situation) int64 {
	if s.book.HasTwin() {
		return twinReleaseMS
	}
	return ExitReleaseMS
}

const twinReleaseMS = 2_500

// noteFuturesIDs records whether the open list of futures shows client order ids. Matched are the placements of its rows.
func (t *twin) noteFuturesIDs(orders []exchange.Order, matched []*account.Placement) {
	for i := range orders {
		t.futuresIDs = t.futuresIDs || orders[i].ClientOrderID != ""
	}
	for i := range orders {
		t.futuresIDs = t.futuresIDs && (matched[i] == nil || orders[i].ClientOrderID != "")
	}
}
