package reconcile

import (
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// evidence is the book together with a snapshot. Its methods, and those of its parts (unclaimedRows, walletEvidence,
// positionEvidence), only answer questions: they conclude and change nothing.
type evidence struct {
	book    *Book
	fetched *Snapshot
	margins
}

// survey evaluates one snapshot: it turns evidence into records, and applies each record before it draws
// the next conclusion. Observe calls its parts in order: orderRows, positionComparison, which leads to uncertainOrders or, on spot, to walletComparison
// with unlistedOrders, and refusalChecks; peerOrders works alongside them.
type survey struct {
	evidence
	records []record.Record   // applied, in order
	spotIDs []int64           // of the spot open list, sorted; nil until needed
	old     []exchange.Market // markets whose open lists show less than botd knows: an order that has since ended, or was filled further
}

func (b *Book) survey(fetched *Snapshot) *survey {
	compared := margins{account: &b.tracked, observed: &b.observedAccount, inUse: fetched.Account, listed: fetched.Positions}
	return &survey{evidence: evidence{book: b, fetched: fetched, margins: compared}}
}

// onSpot reports whether the spot open list shows an order.
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

// emit applies a record and its consequences for fees and for an unexplained position, if it books a fill.
func (s *survey) emit(r record.Record) {
	if _, _, fills := r.Filled(); !fills {
		s.apply(r) // the record may concern no symbol, such as a latch
		return
	}
	p, symbol := s.book.Placement(r.ClientOrderID), s.book.Symbol(r.Symbol)
	opened := symbol.Opened()
	s.apply(r)
	if fees, due := symbol.expectFees(s.book.spotFee); due {
		s.apply(fees)
	}
	if p == nil || p.Order().Market != exchange.Futures || !p.Reduces() {
		return
	}
	if opened.Sign() != int(p.Order().Side.Sign()) {
		opened = symbol.Opened()
	}
	s.adoptReduced(symbol, opened)
}

// adoptReduced adopts the quantity by which botd's reductions have filled beyond the position made by its openings and earlier adoptions: they
// reduced a position that nothing explained. A live opening may explain it: then the first survey without a live opening adopts it.
func (s *survey) adoptReduced(symbol *SymbolState, opened exchange.Quantity) {
	known := symbol.Known()
	beyond := known
	if opened.Sign() == known.Sign() {
		beyond -= opened
	}
	if beyond != 0 && beyond.Sign() == known.Sign() && symbol.Ignored() == 0 && !s.book.opens(symbol.Key()) {
		s.apply(symbol.about(record.Adopted{Quantity: -beyond, Evidence: "an unexplained position was reduced"}))
	}
}

func (s *survey) apply(r record.Record) {
	r.AtMS = s.fetched.EndedMS
	s.book.Apply(&r)
	s.records = append(s.records, r)
}

// boot begins a new epoch.
func (o *observedAccount) boot(atMS int64) { o.bootMS = atMS }

// Account returns the futures account, as last read.
func (o *observedAccount) Account() exchange.MarginAccount { return o.marginAccount }

// AccountMS returns when the futures account was last read; 0 for never.
func (o *observedAccount) AccountMS() int64 { return o.accountMS }

// ForgetAccount drops the account's read: it must be read again before anything relies on it.
func (o *observedAccount) ForgetAccount() { o.accountMS = 0 }

// OpenPositions yields the open positions on futures, of any symbol, as last read.
func (o *observedAccount) OpenPositions() iter.Seq[exchange.Position] {
	return slices.Values(o.openPositions)
}

// beginRead begins the processing of a snapshot.
func (o *observedAccount) beginRead(s *Snapshot) { o.readEndedMS, o.readBeganMS = s.EndedMS, s.BeganMS }

// note stores the fetched state of the account as a whole.
func (o *observedAccount) note(s *Snapshot) {
	if s.Account != nil {
		o.marginAccount, o.accountMS, o.accountFromMS = *s.Account, s.EndedMS, s.BeganMS
		o.marginShown = o.marginShown || !s.Account.PositionMargin.IsZero()
	}
	if s.Positions.Done() {
		o.openPositions = s.Positions.Items()
	}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if list := s.Orders(market); list.Done() {
			o.listed[market] = openList{list.Items(), s.unreadIDs(market), s.BeganMS}
		}
	}
	o.spotWallet.note(s)
}

func (s *survey) quarantine(symbol *SymbolState, why string) {
	s.quarantineFor(symbol, record.OtherCause, why)
}

func (s *survey) quarantineFor(symbol *SymbolState, cause record.QuarantineCause, why string) {
	if symbol.Quarantine() == "" {
		s.emit(symbol.about(record.Quarantined{Reason: why, Cause: cause}))
	}
}

// latchOn latches the strategies of a symbol after a change that their plan did not cause, so that
// the plan in force does not open again.
func (s *survey) latchOn(key exchange.SymbolKey) {
	for t := range s.book.Strategies() {
		if side := t.Plan().Target().Sign(); t.Symbol() == key && side != 0 && t.Latch() != side {
			s.emit(record.Record{Strategy: t.Name(), Body: record.Latch{Side: side}})
		}
	}
}
