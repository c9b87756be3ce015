package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// Snapshot holds the answers fetched in one round. Lists that were not fetched stay unset, and the tracker
// concludes nothing about them.
type Snapshot struct {
	BeganMS       int64 // server time before the first read was sent
	EndedMS       int64
	FuturesOrders exchange.Fetched[exchange.Order]
	SpotOrders    exchange.Fetched[exchange.Order]
	History       exchange.Fetched[exchange.Order]    // spot order history of the symbols that requested it
	Before        exchange.Fetched[exchange.Position] // of a full snapshot: the positions before its other reads
	Positions     exchange.Fetched[exchange.Position]
	Balances      exchange.Fetched[exchange.Balance]
	Account       *exchange.MarginAccount
	ByID          []OrderByID      // orders read by id
	Newest        []exchange.Order // the newest orders of spot symbols not read since the start
	HistoryWhole  bool             // History holds every order since the oldest live placement
	Trades        []Traded
	Closed        []exchange.Position // positions/history of the symbols in ClosedOf
	ClosedOf      []string
	Unread        []exchange.SymbolKey // symbols, or whole markets, with a failed read: nothing is concluded about them

	UnreadOrders    []UnreadOrder
	UnreadPositions []exchange.SymbolKey // symbols of unreadable positions; the name is empty if the symbol is unknown
	UnreadAssets    bool                 // the wallet contains unreadable balances
}

// isUnread reports whether a read failed that is required for conclusions about the symbol.
func (s *Snapshot) isUnread(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.Unread, func(u exchange.SymbolKey) bool { return u.Market == key.Market && (u.Name == "" || u.Name == key.Name) })
}

// readHistory reports whether the order history of a spot symbol was read. One whose read failed shows nothing, and that is no evidence.
func (s *Snapshot) readHistory(key exchange.SymbolKey) bool {
	return s.History.Done() && !s.isUnread(key)
}

// showsNoEnd reports whether the complete spot history shows an order as open, or does not show it. A row counts even if another read of the symbol failed.
func (s *Snapshot) showsNoEnd(key exchange.SymbolKey, orderID int64) bool {
	ended := func(o exchange.Order) bool { return o.ID == orderID && o.Status.Final() }
	shown := func(o exchange.Order) bool { return o.ID == orderID }
	return s.History.Done() && s.HistoryWhole && !slices.ContainsFunc(s.History.Items(), ended) &&
		(s.readHistory(key) || slices.ContainsFunc(s.History.Items(), shown))
}

// OrderByID is the answer to a read of one order by id.
type OrderByID struct {
	OrderID int64
	Order   exchange.Order
	Known   bool // false: the exchange reports that the order does not exist
}

// Traded is the sum of the user trades of one spot order.
type Traded struct {
	OrderID int64
	Filled  exchange.Quantity
	Price   exchange.Amount // mean
	Fee     exchange.Amount // taken from the purchased asset
}

// Orders returns the open list of a market, if it was fetched.
func (s *Snapshot) Orders(market exchange.Market) exchange.Fetched[exchange.Order] {
	if market == exchange.Spot {
		return s.SpotOrders
	}
	return s.FuturesOrders
}

// Vanished returns the live placements that must be read by id: those with an order id that their market's open list does not show, and those that
// were canceled, may have ended with a position, or may explain why a position differs from the fills, because an old list may still show them.
func (t *Tracker) Vanished(s *Snapshot) []*account.Placement {
	var vanished []*account.Placement
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		list := s.Orders(market)
		if !list.Done() {
			continue
		}
		orders, open := list.Items(), t.openIDs[:0]
		next := 0 // both are sorted oldest first: usually the next placement matches the next order
		for p := range t.Live() {
			if p.OrderID() == 0 || p.Symbol().Market != market {
				continue
			}
			shown := next < len(orders) && orders[next].ID == p.OrderID()
			if !shown {
				if len(open) == 0 {
					open = s.openIDs(market, open)
				}
				next, shown = slices.BinarySearch(open, p.OrderID())
			}
			if next++; !shown || t.CancelMS(p.ClientOrderID()) != 0 || t.outlived(p) || mayExplain(t, p) {
				vanished = append(vanished, p)
			}
		}
		t.openIDs = open
	}
	return vanished
}

// outlived reports whether a protective order was sent for a position that the newest list of positions no longer shows: it shows none, or one that
// was created later. The exchange ends such an order together with its position, by execution or by cancellation.
func (t *Tracker) outlived(p *account.Placement) bool {
	if !p.Order().ClosePosition {
		return false
	}
	symbol := t.Symbol(p.Symbol())
	return symbol.read && symbol.AtVenue() == 0 || p.SentMS()+maxClockStepMS < symbol.createdMS
}

// mayExplain reports whether an order may have been executed, because the newest list of positions differs from the fills on its side.
func mayExplain(t *Tracker, p *account.Placement) bool {
	return p.Order().Market == exchange.Futures && explained(p, t.Symbol(p.Symbol()).residual) != 0
}

// openIDs appends the exchange's ids of a market's open orders, including unreadable rows, and
// sorts them.
func (s *Snapshot) openIDs(market exchange.Market, ids []int64) []int64 {
	orders := s.Orders(market).Items()
	for i := range orders {
		ids = append(ids, orders[i].ID)
	}
	ids = append(ids, s.unreadIDs(market)...)
	slices.Sort(ids)
	return ids
}
