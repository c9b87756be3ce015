package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An order that has ended according to open list and history, to its read by id, or to the answer to its cancel, may rest after all. A list that shows it
// open again may only be old. The order rests if lists show it for longer than L and the spot history does not show its end, or its read by id
// shows it open: then it is botd's again, a stop protects the position again, and any other order is canceled. So is a spot stop for
// which the wallet freezes nothing: the answer to its cancel decides whether it rested.

// reappearedOrder is an order that has ended and that the newest open list shows.
type reappearedOrder struct {
	row      exchange.Order
	shownFor persistence
}

// collectReappeared collects a row of the open list whose placement has ended.
func (s orderRows) collectReappeared(row *exchange.Order) {
	symbol := s.tracker.Symbol(row.Key())
	if symbol == nil {
		return
	}
	at := slices.IndexFunc(symbol.reappeared, func(one reappearedOrder) bool { return one.row.ID == row.ID })
	if at < 0 {
		at, symbol.reappeared = len(symbol.reappeared), append(symbol.reappeared, reappearedOrder{})
	}
	one := &symbol.reappeared[at]
	one.row = *row
	one.shownFor.extend(s.fetched)
}

// forgetUnshown drops the orders that an open list no longer shows.
func (s orderRows) forgetUnshown(symbol *SymbolState, orders []exchange.Order) {
	symbol.reappeared = slices.DeleteFunc(symbol.reappeared, func(one reappearedOrder) bool {
		return !slices.ContainsFunc(orders, func(o exchange.Order) bool { return o.ID == one.row.ID }) ||
			s.tracker.withOrderID(one.row.Market, one.row.ID) != nil
	})
}

// restoreResting takes back the ended orders that rest.
func (s orderRows) restoreResting() {
	for symbol := range s.tracker.Symbols() {
		if !s.fetched.Orders(symbol.Key().Market).Done() || s.fetched.isUnread(symbol.Key()) {
			continue
		}
		symbol.reappeared = slices.DeleteFunc(symbol.reappeared, func(one reappearedOrder) bool {
			rests := one.shownFor.exceeds(s.tracker.Bounds().StalenessMS) && s.fetched.showsOpen(&one.row)
			if rests {
				s.restore(symbol, &one.row)
			}
			return rests
		})
	}
}

// showsOpen reports whether the spot history shows no end of an order, or its read by id shows it open.
func (s *Snapshot) showsOpen(row *exchange.Order) bool {
	if row.Market == exchange.Spot {
		return s.showsNoEnd(row.Key(), row.ID)
	}
	return slices.ContainsFunc(s.ByID, func(answer OrderByID) bool {
		return answer.OrderID == row.ID && answer.Known && answer.Order.ID == row.ID && !answer.Order.Status.Final()
	})
}

// restore takes back an order that rests. If the wallet freezes units for it that it was believed to have sold,
// they are the position again.
func (s orderRows) restore(symbol *SymbolState, row *exchange.Order) {
	id, former, _ := s.tracker.EndedAs(row.Key(), row.ID)
	if duplicate, found := s.tracker.Ended(duplicateID(row)); found {
		id, former = duplicateID(row), duplicate
	}
	unsold := max(0, former.Filled-row.Filled)
	stop := row.Type.StopLoss() && (row.Market == exchange.Spot && row.Side == exchange.Sell || row.Reduces()) // any other one opens a position
	unfrozen := row.Market == exchange.Spot && symbol.frozenUnexplained < row.Remaining()
	body := record.Found{Purpose: s.tracker.purposeOf(id), Filled: former.Filled, Duplicate: !stop || unfrozen,
		Evidence: "order " + id + " rests on the exchange although it was shown as ended"}
	if stop {
		body.Purpose = placement.StopLoss
	}
	switch {
	case unsold == 0:
	case row.Market == exchange.Spot && row.Side == exchange.Sell && !unfrozen:
		body.Filled = row.Filled
		others := s.tracker.baseBalance(symbol) - symbol.Known() + symbol.Fees() - unsold
		if others < symbol.Baseline() { // a wallet read since then attributed the units to others
			s.emit(symbol.about(record.Baseline{Quantity: max(0, others)}))
		}
		s.emit(symbol.about(record.Adopted{Quantity: unsold, Evidence: body.Evidence}))
	default:
		body.Duplicate = true // the exchange shows less filled than it has shown before, and nothing else confirms that
	}
	s.emit(found(row, former.Strategy, duplicateID(row), body))
	s.observeOrder(s.tracker.Placement(duplicateID(row)), row)
}

// MayRest returns the ids of a futures symbol's ended orders that lists show for longer than L, oldest first, and at most as many as one round reads.
func (t *tracked) MayRest(symbol *SymbolState) (ids []int64) {
	for i := range symbol.reappeared {
		one := &symbol.reappeared[i]
		if one.row.Market == exchange.Futures && len(ids) < maxOmitted && one.shownFor.exceeds(t.Bounds().StalenessMS) {
			ids = append(ids, one.row.ID)
		}
	}
	return ids
}

// ReappearedOrders returns the rows of orders that have ended and that the newest open list shows.
func (o *observation) ReappearedOrders() (rows []exchange.Order) {
	for i := range o.reappeared {
		rows = append(rows, o.reappeared[i].row)
	}
	return rows
}

// HistoryFrom returns the time from which the order history of a symbol must be read: a given one, or the earlier date of an order that the open list
// shows although it has ended.
func (o *observation) HistoryFrom(sinceMS int64) int64 {
	for i := range o.reappeared {
		sinceMS = min(sinceMS, o.reappeared[i].row.CreatedMS)
	}
	return sinceMS
}

// FrozenUnexplained returns the quantity of a spot symbol's asset that the newest wallet freezes and that no known order sells.
func (o *observation) FrozenUnexplained() exchange.Quantity { return o.frozenUnexplained }

// noteFrozen records that quantity of each spot symbol, if it is worth an order.
func (s *survey) noteFrozen() {
	for symbol := range s.tracker.Symbols() {
		if symbol.Key().Market != exchange.Spot || symbol.rules == nil || !s.fetched.Balances.Done() {
			continue
		}
		symbol.frozenUnexplained = 0
		if s.tracker.Balance(symbol.rules.Base).Frozen.IsZero() {
			continue
		}
		on := s.tracker.inputs(&Desired{}, symbol, s.fetched.EndedMS)
		if frozen := on.saleEvidence().frozenForOthers() - s.tracker.sellsOfOthers(symbol); !symbol.tooSmallToTrade(frozen) {
			symbol.frozenUnexplained = frozen
		}
	}
}
