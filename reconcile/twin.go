package reconcile

import (
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

// exitDelayMS returns for how long an exit is left to the twin. Of the two botds, the one with the smaller mark sells first. If marks do not decide, it
// is the one whose newest order is older; because the twin may have seen marks, the waiting times differ from those by marks. A botd that since then
// has placed nothing by which the twin may have recognized it also yields, because the twin does not wait at all.
func (t *twin) exitDelayMS() int64 {
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

// stopsAt reports whether one of botd's futures stops has the stop price of an order.
func (s *SymbolState) stopsAt(o *exchange.Order) bool {
	return o.Market == exchange.Futures && o.Type.StopLoss() && slices.ContainsFunc(s.live, func(p *account.Placement) bool {
		order := p.Order()
		return p.OrderID() != 0 && order.Side == o.Side && order.Type == o.Type && order.StopPrice == o.StopPrice
	})
}

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
