package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// UnreadOrder is an order's row that cannot be read (case 43).
type UnreadOrder struct {
	Market exchange.Market
	Open   bool // of the open list; else of a history
	Row    exchange.UnreadableRow
}

// Key is the symbol that the row names; it has no name where that cannot be read.
func (u *UnreadOrder) Key() exchange.SymbolKey {
	return exchange.SymbolKey{Market: u.Market, Name: u.Row.Symbol}
}

// PlacementOf returns the live placement that a row is about: by the exchange's id, else by the
// client order id; nil for none.
func (b *Book) PlacementOf(u *UnreadOrder) *account.Placement {
	if p := b.withOrderID(u.Market, u.Row.ID); p != nil && u.Row.ID != 0 {
		return p
	}
	if p := b.Placement(u.Row.ClientOrderID); p != nil && p.Order().Market == u.Market {
		return p
	}
	return nil
}

// Shows reports whether a row that cannot be read shows that an order is open.
func (s *Snapshot) Shows(market exchange.Market, orderID int64) bool {
	return slices.ContainsFunc(s.UnreadOrders, func(u UnreadOrder) bool { return u.Open && u.Market == market && u.Row.ID == orderID })
}

// unreadIDs are the exchange's ids of open orders whose rows cannot be read.
func (s *Snapshot) unreadIDs(market exchange.Market) (ids []int64) {
	for i := range s.UnreadOrders {
		if u := &s.UnreadOrders[i]; u.Open && u.Market == market {
			ids = append(ids, u.Row.ID)
		}
	}
	return ids
}

// lacksPosition reports whether the row of a symbol's position cannot be read: its absence from the
// list says nothing.
func (s *Snapshot) lacksPosition(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.UnreadPositions, func(u exchange.SymbolKey) bool { return u.Market == key.Market && (u.Name == "" || u.Name == key.Name) })
}

// observeUnread takes order rows that cannot be read. One of botd's own makes its placement
// uncertain, and what it shows as filled is booked; a protective order that is listed stands, and
// stays as it is. A foreign one is an unknown order on its symbol.
func (s *survey) observeUnread() {
	for _, symbol := range s.book.symbols {
		if s.fetched.Orders(symbol.Key().Market).Done() {
			symbol.Unreadable = symbol.Unreadable[:0]
		}
	}
	for i := range s.fetched.UnreadOrders {
		u := &s.fetched.UnreadOrders[i]
		if p := s.book.PlacementOf(u); p != nil {
			s.unreadOwn(p, u)
			s.fetched.Unread = append(s.fetched.Unread, p.Symbol())
			continue
		}
		key := u.Key()
		if key.Name == "" || s.book.find(key) == nil && !s.book.prefixed(u.Row.ClientOrderID) {
			continue
		}
		if u.Open && !s.book.Known(u.Row.ClientOrderID) {
			symbol := s.book.Symbol(key)
			symbol.Unreadable = append(symbol.Unreadable, u.Row)
			symbol.Foreign = append(symbol.Foreign,
				exchange.Order{ID: u.Row.ID, ClientOrderID: u.Row.ClientOrderID, Market: key.Market, Symbol: key.Name})
		}
		if u.Row.ClientOrderID == "" && len(s.book.unknownOn(key)) > 0 {
			s.fetched.Unread = append(s.fetched.Unread, key) // it may be the one whose answer was lost
		}
	}
}

func (s *survey) unreadOwn(p *account.Placement, u *UnreadOrder) {
	filled, whole := u.Row.Filled, p.Order().Quantity
	switch {
	case !u.Row.FilledRead:
	case filled == whole && whole > 0: // whatever its status is called
		s.emit(p.About(record.Ended{OrderID: u.Row.ID, State: placement.Filled, Filled: filled, Evidence: "its row shows all of it filled; " + u.Row.Why}))
		return
	case filled > p.Filled():
		s.emit(p.About(record.Fill{OrderID: u.Row.ID, Filled: filled}))
	}
	protects := p.Purpose() == placement.StopLoss || p.Purpose() == placement.TakeProfit
	if p.State() != placement.Uncertain && !(protects && u.Open) {
		s.emit(p.About(record.Unknown{Why: u.Row.Error()}))
	}
}

// UnreadRow returns what cannot be read of a foreign open order, nil where all of it can.
func (s *SymbolState) UnreadRow(o *exchange.Order) *exchange.UnreadableRow {
	i := slices.IndexFunc(s.Unreadable, func(row exchange.UnreadableRow) bool { return row.ID == o.ID && row.ClientOrderID == o.ClientOrderID })
	if i < 0 {
		return nil
	}
	return &s.Unreadable[i]
}
