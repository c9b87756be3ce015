package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// NeverListed returns the quantity that a symbol's resting openings may fill and that no open list has shown yet. A read by id shows only one order; only
// a list that shows it also shows what a second botd on the account sent before.
func (t *Tracker) NeverListed(key exchange.SymbolKey) (sum exchange.Quantity) {
	for p := range t.InFlightOn(key) {
		if neverListed(p) {
			sum += p.Remaining()
		}
	}
	for _, p := range t.fetchedOnly {
		if p.Symbol() == key {
			sum += p.Remaining()
		}
	}
	return sum
}

func neverListed(p *account.Placement) bool { return p.Purpose() == placement.Order && !p.Seen() }

// collectNeverListed collects, before a snapshot is evaluated, the openings that it may show for the first time.
func (s orderRows) collectNeverListed() {
	b := s.tracker
	for p := range b.InFlight() {
		if neverListed(p) {
			b.fetchedOnly = append(b.fetchedOnly, p)
		}
	}
}

// keepNeverListed keeps, after the snapshot was evaluated, those that are known to be open, though not from a list.
func (s orderRows) keepNeverListed() {
	b := s.tracker
	b.fetchedOnly = slices.DeleteFunc(b.fetchedOnly, func(p *account.Placement) bool {
		list := b.listed[p.Order().Market]
		return !p.Seen() || p.State().Final() || list.shows(p.OrderID())
	})
}

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
		if symbol.mayRest(o, e.fetched) && !ended && e.tracker.match(o) == nil && !e.tracker.leftToOwner(o) &&
			!e.tracker.Known(o.ClientOrderID) && !e.tracker.endedBefore(o) {
			rows = append(rows, *o)
		}
	}
	return rows
}
