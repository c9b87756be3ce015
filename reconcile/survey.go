package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// evidence is the book beside what a snapshot shows. Its methods answer questions: they
// conclude nothing and change nothing.
type evidence struct {
	book    *Book
	fetched *Snapshot
	margins margins
}

// margins is what margin returns, once somebody has asked.
type margins struct {
	known              bool
	difference, needed exchange.Amount
}

// survey takes one snapshot into the book: it turns evidence into records, and applies each
// before it concludes the next.
type survey struct {
	evidence
	records []record.Record // applied, in order
	spotIDs []int64         // of the spot open list, sorted; nil until needed
}

func (b *Book) survey(fetched *Snapshot) *survey {
	return &survey{evidence: evidence{book: b, fetched: fetched}}
}

// onSpot reports whether the open list of spot shows an order.
func (s *survey) onSpot(orderID int64) bool {
	if s.spotIDs == nil {
		for i := range s.fetched.SpotOrders.Items() {
			s.spotIDs = append(s.spotIDs, s.fetched.SpotOrders.Items()[i].ID)
		}
		slices.Sort(s.spotIDs)
	}
	_, found := slices.BinarySearch(s.spotIDs, orderID)
	return found
}

// emit applies a record, and what follows from its fill for fees and for an unexplained position.
func (s *survey) emit(r record.Record) {
	if _, _, fills := r.Filled(); !fills {
		s.apply(r) // it may be about no symbol, such as a latch
		return
	}
	p, symbol := s.book.Placement(r.ClientOrderID), s.book.Symbol(r.Symbol)
	before := symbol.Known()
	s.apply(r)
	if fees, due := s.expectFees(symbol); due {
		s.apply(fees)
	}
	if p != nil && p.Order().Market == exchange.Futures && p.Reduces() {
		s.adoptReduced(symbol, int(p.Order().Side.Sign()), before)
	}
}

// adoptReduced takes what an order that may only reduce has filled beyond what was known to be held: it was of a position that nothing
// explained, and is over. While an opening is live, that may explain it, and is booked later.
func (s *survey) adoptReduced(symbol *SymbolState, side int, before exchange.Quantity) {
	beyond := symbol.Known()
	if signOf(before) == side {
		beyond -= before
	}
	if signOf(beyond) == side && symbol.Ignored() == 0 && !s.opens(symbol.Key()) {
		s.apply(symbol.about(record.Adopted{Quantity: -beyond, Evidence: "a position that nothing explained was reduced"}))
	}
}

func (s *survey) apply(r record.Record) {
	r.AtMS = s.fetched.EndedMS
	s.book.Apply(&r)
	s.records = append(s.records, r)
}

// note stores the fetched state of the account as a whole.
func (o *observed) note(s *Snapshot) {
	if s.Account != nil {
		o.Account, o.AccountMS, o.accountMS = *s.Account, s.EndedMS, s.BeganMS
		o.marginShown = o.marginShown || !s.Account.PositionMargin.IsZero()
	}
	if s.Positions.Done() {
		o.Open = s.Positions.Items()
	}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if list := s.Orders(market); list.Done() {
			o.listed[market] = openList{list.Items(), s.unreadIDs(market), s.BeganMS}
		}
	}
	if o.walletRead = s.Balances.Done(); o.walletRead {
		o.Balances, o.WalletMS, o.walletMS = s.Balances.Items(), s.EndedMS, s.BeganMS
	}
}
