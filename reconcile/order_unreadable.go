package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// UnreadOrder is an unreadable order row (case 43).
type UnreadOrder struct {
	Market exchange.Market
	Open   bool // in the open list; otherwise in a history
	Row    exchange.UnreadableRow
}

// Key returns the symbol in the row. Its name is empty if unreadable.
func (u *UnreadOrder) Key() exchange.SymbolKey {
	return exchange.SymbolKey{Market: u.Market, Name: u.Row.Symbol}
}

// Shows reports whether an unreadable row shows that an order is open.
func (s *Snapshot) Shows(market exchange.Market, orderID int64) bool {
	return slices.ContainsFunc(s.UnreadOrders, func(u UnreadOrder) bool { return u.Open && u.Market == market && u.Row.ID == orderID })
}

// unreadIDs returns the exchange's ids of open orders with unreadable rows.
func (s *Snapshot) unreadIDs(market exchange.Market) (ids []int64) {
	for i := range s.UnreadOrders {
		if u := &s.UnreadOrders[i]; u.Open && u.Market == market {
			ids = append(ids, u.Row.ID)
		}
	}
	return ids
}

// lacksPosition reports whether a symbol's row in the position list is unreadable: then its absence from
// the list proves nothing.
func (s *Snapshot) lacksPosition(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.UnreadPositions, func(u exchange.SymbolKey) bool { return u.Market == key.Market && (u.Name == "" || u.Name == key.Name) })
}

// observeUnread applies unreadable order rows. A row of botd's own order makes its placement uncertain,
// and its fill is booked; a listed protective order stays. A foreign row counts as an unknown order on
// its symbol.
func (s orderRows) observeUnread() {
	for symbol := range s.tracker.Symbols() {
		if s.fetched.Orders(symbol.Key().Market).Done() {
			symbol.unreadable = symbol.unreadable[:0]
		}
	}
	for i := range s.fetched.UnreadOrders {
		u := &s.fetched.UnreadOrders[i]
		if p := s.tracker.PlacementOf(u); p != nil {
			s.unreadOwn(p, u)
			s.fetched.Unread = append(s.fetched.Unread, p.Symbol())
			continue
		}
		key := u.Key()
		if key.Name == "" || s.tracker.Symbol(key) == nil && !s.tracker.prefixed(u.Row.ClientOrderID) {
			continue
		}
		if u.Open && !s.tracker.Known(u.Row.ClientOrderID) {
			symbol := s.tracker.Track(key)
			symbol.unreadable = append(symbol.unreadable, u.Row)
			symbol.foreign = append(symbol.foreign,
				exchange.Order{ID: u.Row.ID, ClientOrderID: u.Row.ClientOrderID, Market: key.Market, Symbol: key.Name})
		}
		if u.Row.ClientOrderID == "" && len(s.tracker.uncertainOn(key)) > 0 {
			s.fetched.Unread = append(s.fetched.Unread, key) // it may be the order whose answer was lost
		}
	}
}

func (s orderRows) unreadOwn(p *account.Placement, u *UnreadOrder) {
	filled, whole := u.Row.Filled, p.Order().Quantity
	switch {
	case !u.Row.FilledRead:
	case filled == whole && whole > 0: // whatever its status is called
		s.emit(p.About(record.Ended{OrderID: u.Row.ID, State: placement.Filled, Filled: filled, Evidence: "its row shows it as filled; " + u.Row.Reason}))
		return
	case filled > p.Filled():
		s.emit(p.About(record.Fill{OrderID: u.Row.ID, Filled: filled}))
	}
	protects := p.Purpose() == placement.StopLoss || p.Purpose() == placement.TakeProfit
	if p.State() != placement.Uncertain && !(protects && u.Open) {
		s.emit(p.About(record.Uncertain{Reason: u.Row.Error()}))
	}
}

// UnreadRow returns the unreadable row of a foreign open order, or nil if it is readable.
func (s *SymbolState) UnreadRow(o *exchange.Order) *exchange.UnreadableRow {
	i := slices.IndexFunc(s.unreadable, func(row exchange.UnreadableRow) bool { return row.ID == o.ID && row.ClientOrderID == o.ClientOrderID })
	if i < 0 {
		return nil
	}
	row := s.unreadable[i]
	return &row
}
