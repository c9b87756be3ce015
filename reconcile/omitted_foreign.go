package reconcile

import (
	"slices"

	"botd/exchange"
)

// No single list decides that an order which botd did not make has ended (exactly-once.md, case 42): a futures opening that one list has shown and a
// later one omits may still rest. It counts as open until a read by its id shows its end.

// maxOmitted limits how many such orders are read by id, per symbol and round.
const maxOmitted = 8

// OmittedForeign returns the ids of the foreign openings on a futures symbol that a snapshot's open list omits, oldest first, and at most as many as
// one round reads.
func (t *tracked) OmittedForeign(symbol *SymbolState, fetched *Snapshot) (ids []int64) {
	if symbol.Key().Market != exchange.Futures || symbol.rules == nil || !fetched.FuturesOrders.Done() {
		return nil
	}
	for i := range symbol.foreign {
		if o := &symbol.foreign[i]; len(ids) < maxOmitted && symbol.mayRest(o, fetched) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// mayRest reports whether a foreign order is an opening that the open list omits.
func (s SymbolState) mayRest(o *exchange.Order, fetched *Snapshot) bool {
	listed := func(row exchange.Order) bool { return row.ID == o.ID }
	return !o.Reduces() && s.UnreadRow(o) == nil && !fetched.Shows(exchange.Futures, o.ID) && !slices.ContainsFunc(fetched.FuturesOrders.Items(), listed)
}

// omittedForeign returns the foreign openings on a symbol that may still rest: the open list omits them, and no read by id has shown their end.
func (e *evidence) omittedForeign(symbol *SymbolState) (rows []exchange.Order) {
	if symbol.Key().Market != exchange.Futures || symbol.rules == nil {
		return nil
	}
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		ended := slices.ContainsFunc(e.fetched.ByID, func(answer OrderByID) bool {
			return answer.OrderID == o.ID && (!answer.Known || answer.Order.Status.Final())
		})
		if symbol.mayRest(o, e.fetched) && !ended && e.match(o) == nil && !e.leftToOwner(o) && !e.book.Known(o.ClientOrderID) && !e.endedBefore(o) {
			rows = append(rows, *o)
		}
	}
	return rows
}
