package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// If lists omit client order ids, another botd can be recognized only by the form of its orders: a twin. If both have copies of one journal, both
// sell the same holdings, and the second sale takes a person's. As with a botd recognized by its ids (a peer), one yields to the other.

// twin records which orders of that form were seen since the start, on any symbol, and the last own order by which a twin may have recognized botd.
type twin struct {
	firstID, lastID int64 // lowest and highest order id of the twin's orders; 0 for none
	stopID          int64 // the twin's newest stop
	rank            int   // 1 if this botd's mark is larger than that stop's, -1 if it is smaller, 0 if unknown or equal
	ownID           int64 // the newest own order of that form
	futuresIDs      rowIDs
}

// noteTwin records an order that has the form of botd's and that no placement claims.
func (t *twin) noteTwin(orderID int64) {
	if t.firstID == 0 || orderID < t.firstID {
		t.firstID = orderID
	}
	t.lastID = max(t.lastID, orderID)
}

// noteOwn records an own order by whose form a twin may recognize this botd.
func (t *twin) noteOwn(p *account.Placement) {
	if order := p.Order(); p.Purpose() == placement.StopLoss || !order.QuoteAmount.IsZero() {
		t.ownID = max(t.ownID, p.OrderID())
	}
}

// HasTwin reports whether such orders have revealed another botd since the start.
func (t *twin) HasTwin() bool { return t.firstID != 0 }

// yieldMS returns for how long an exit is left to the twin. Of the two botds, the one with the smaller mark sells first. If marks do not decide, it
// is the one whose newest order is older; because the twin may have seen marks, the waiting times differ from those by marks. A botd that since then
// has placed nothing by which the twin may have recognized it also yields, because the twin does not wait at all.
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

// noteTwins looks for orders of botd's form in an open list. On futures that is a stop at the price of one of botd's own stops.
func (s otherBotds) noteTwins(symbol *SymbolState) {
	t := &s.book.twin
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		if !t.futuresIDs.shown() && o.ClientOrderID == "" && symbol.stopsAt(o) {
			t.noteTwin(o.ID)
		}
		if !s.book.Resembles(symbol, o) {
			continue
		}
		if t.noteTwin(o.ID); o.ID > t.stopID {
			limit := stopLimit(symbol.rules, o.StopPrice, o.Quantity, symbol.collar)
			own := limit + markOf(s.book.Start(), symbol.rules, maxSaleMark(limit, symbol.collar))
			t.stopID, t.rank = o.ID, cmp.Compare(own, o.Price)
		}
	}
}

// stopsAt reports whether one of botd's futures stops has the stop price of an order.
func (s *SymbolState) stopsAt(o *exchange.Order) bool {
	return o.Market == exchange.Futures && o.Type.StopLoss() && slices.ContainsFunc(s.live, func(p *account.Placement) bool {
		order := p.Order()
		return p.OrderID() != 0 && order.Side == o.Side && order.Type == o.Type && order.StopPrice == o.StopPrice
	})
}

// noteTwinStop looks for a foreign stop at the price that botd's own is about to get: another botd with a copy of the journal has protected the position
// first.
func (d positionProtection) noteTwinStop(price exchange.Price) {
	for i := range d.symbol.foreign {
		o := &d.symbol.foreign[i]
		if o.Market == exchange.Futures && o.ClientOrderID == "" && o.Type.StopLoss() && o.Side == exchange.SideOf(-d.ownPosition) && o.StopPrice == price &&
			!d.book.futuresIDs.shown() {
			d.book.noteTwin(o.ID)
		}
	}
}

// awaitsSaleOfOthers reports whether lists omit ids and the newest wallet is the first one to show less of a spot symbol's asset than the fills
// explain: the order history, which is read next, may show that another botd has sold it.
func (s spotSales) awaitsSaleOfOthers() bool {
	t := &s.symbol.spot
	return s.book.idsLeftOut && t.difference < 0 && t.asked == 0 && !s.desired.Flatten
}

// noteSoldElsewhere records which part of the wallet's shortfall unclaimed sales explain, according to the newest history that was read about it.
func (s otherBotds) noteSoldElsewhere(symbol *SymbolState) {
	t := &symbol.spot
	if s.fetched.History.Done() {
		_, t.soldElsewhere = s.walletEvidence().salesOfOthers(symbol)
	}
	t.soldElsewhere = max(0, min(t.soldElsewhere, -t.difference))
}

// soldElsewhere returns the part of the wallet's shortfall that another botd has sold, according to the newest history, until the shortfall is
// decided.
func (s spotPosition) soldElsewhere() exchange.Quantity {
	if !s.book.idsLeftOut || s.symbol.short != 0 || s.desired.Flatten {
		return 0
	}
	return s.symbol.spot.soldElsewhere
}

// canceledByOthersWaitMS is the time for which botd does not replace an own stop that another party has canceled, if lists omit ids:
// another botd with a copy of the journal may be selling the stop's quantity, which wallet and order history show within that time.
const canceledByOthersWaitMS = 3_000

// recentlyCanceled returns the quantity of own stops that another party has canceled within that time.
func (s spotPosition) recentlyCanceled() (sum exchange.Quantity) {
	for _, one := range s.symbol.spot.replaced.canceled {
		if s.book.idsLeftOut && s.nowMS < one.untilMS-repeatedMS+canceledByOthersWaitMS {
			sum += one.quantity
		}
	}
	return sum
}

// exitReleaseMS returns the time between the answer to a stop's cancel and an exit: a twin may sell the asset as soon as the stop no longer holds it.
func (s spotSales) exitReleaseMS() int64 {
	if s.book.HasTwin() {
		return twinReleaseMS
	}
	return ExitReleaseMS
}

const twinReleaseMS = 2_500

// rowIDs records which client order ids the futures open list has shown since the start.
type rowIDs struct {
	rows    int  // rows with an id
	omitted bool // a row of one of botd's orders had none
}

// minRowsWithID is the number of rows with an id after which the list counts as one that shows every id, if it has omitted none: it may omit ids at random.
const minRowsWithID = 10

func (r *rowIDs) shown() bool { return !r.omitted && r.rows >= minRowsWithID }

// note records the rows of a list; matched are their placements.
func (r *rowIDs) note(orders []exchange.Order, matched []*account.Placement) {
	for i := range orders {
		switch {
		case orders[i].ClientOrderID != "":
			r.rows++
		case matched[i] != nil:
			r.omitted = true
		}
	}
}
