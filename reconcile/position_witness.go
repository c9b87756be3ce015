package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// No single list decides. If the list of positions no longer shows a position that botd's own fills
// explain, or shows it smaller, the position has changed only if other evidence confirms it: a row in
// positions/history, the end of the closePosition orders that the exchange removes together with a
// position, or released margin. A protective order or an exit that a read by id reports as FILLED needs
// no witness: its fill is booked, and the fills then explain no more than the list shows.

// A witness is evidence of a position change other than the list of positions.
type witness string

const (
	noWitness           witness = ""
	closedRow           witness = "positions/history shows it closed"
	sweptOrders         witness = "the exchange ended its closePosition orders"
	laterPosition       witness = "the position list shows a later position"
	aPerson             witness = "a person decided so"
	freedMargin         witness = "its margin was released"
	beyondMargin                = "the position list shows more than botd's own fills explain, and the margin in use does not include it"
	vanishedUnexplained         = "the position list no longer shows a position that no fill explains, and positions/history does not show it closed"
	contradiction               = "the position list shows less than botd's own fills explain, and " +
		"neither positions/history, its protective orders nor the margin confirm it"
)

// futuresEvidence is the evidence about a futures position other than the newest position list.
type futuresEvidence struct {
	by        witness
	freed     exchange.Quantity // missing quantity at the time the margin confirmed it
	shownID   int64             // id of the position that the list last showed while botd had one
	past      []int64           // ids of positions that ended before the current one
	unbooked  int64             // id of a position first shown while one of botd's openings was live, which may have created it
	shownOf   int64             // opening time of the position that shownID refers to; 0 for none
	createdMS int64             // when the exchange opened that position
	sweptMS   int64             // when a closePosition order that botd did not cancel was found ended
	sweptOf   int64             // send time of that order: it proves nothing about a later position
	marginOf  exchange.Quantity // position at the last time the account's margin agreed with the list
	zeroed    bool              // since the start the list has agreed that there is no position
	untrusted bool              // the list is not trusted
	denied    bool              // its excess over the fills is not trusted
}

// Missing reports whether the list shows less of a futures position than botd's fills
// explain.
func (s *SymbolState) Missing() bool {
	expected := s.Known() + s.Ignored()
	return s.Known() != 0 && s.Opened().Sign() == s.Known().Sign() && s.residual != 0 && s.residual.Sign() == -expected.Sign()
}

// Unwitnessed reports whether position is missing from the list and nothing else confirms that.
func (s *SymbolState) Unwitnessed() bool { return s.Missing() && s.futuresEvidence.by == noWitness }

// DecisionPosition returns the position for a strategy's decisions. If only a list shows less of it than
// botd's fills explain, it is the explained position: otherwise a list that is wrong for a moment would
// make the strategy reduce.
func (s *SymbolState) DecisionPosition() exchange.Quantity {
	if s.Unwitnessed() {
		return s.Known()
	}
	return s.TrustedPosition()
}

// TrustedPosition returns botd's part of the position for protection, exits and limits: from the newest read
// or, if that is not trusted and shows none of it, from the fills.
func (s *SymbolState) TrustedPosition() exchange.Quantity {
	if s.futuresEvidence.untrusted && s.position.Sign() != s.Known().Sign() {
		return s.Known()
	}
	return s.position
}

// TrustedVenuePosition returns the same for the whole position, including the ignored part.
func (s *SymbolState) TrustedVenuePosition() exchange.Quantity {
	return s.TrustedPosition() + s.Ignored()
}

// seekWitness searches for a witness of the quantity missing from the list. While nothing is missing, it
// records the basis for later evidence.
func (s positionComparison) seekWitness(symbol *SymbolState) {
	t := &symbol.futuresEvidence
	if !symbol.Missing() {
		t.by, t.untrusted = noWitness, false
		if s.fetched.BeganMS > t.sweptMS+s.tracker.Bounds().StalenessMS {
			t.sweptMS = 0 // the orders ended, but the position outlived them
		}
		t.zeroed = t.zeroed && symbol.Known() == 0
		if symbol.residual == 0 && symbol.Known() == 0 {
			s.noteEnded(symbol)
		}
		if symbol.residual == 0 && symbol.Known() != 0 {
			t.shownID, t.shownOf, t.createdMS, t.unbooked = symbol.positionID, symbol.OpenedMS(), symbol.createdMS, 0
			if s.marginAgrees() {
				t.marginOf = symbol.Known()
			}
		}
		return
	}
	if t.by == noWitness || t.by == freedMargin && symbol.residual.Abs() > t.freed || t.by == sweptOrders && symbol.rowOf(s.fetched) != nil {
		t.by = s.witness(symbol)
	}
	unseen := t.shownOf != symbol.OpenedMS() && symbol.OpenedMS() > s.tracker.bootMS // the list may be older than the entry
	stop := func(p *account.Placement) bool { return p.Purpose() == placement.StopLoss }
	// If a stop may be missing too, this does not wait for L.
	stopMissing := !s.positionEvidence().hasClosePositionOrder(symbol.Key(), stop) && slices.Contains(s.fetched.ClosedOf, symbol.Key().Name)
	t.untrusted = t.by == noWitness && (t.untrusted || unseen || stopMissing || symbol.residualFor.exceeds(s.tracker.Bounds().StalenessMS))
}

// noteEnded records which positions have ended. A position first shown while an opening was live does not
// count as past while that opening is live, because its fill may not be booked yet. Neither does a position
// left to others, because botd's openings add to it.
func (s positionComparison) noteEnded(symbol *SymbolState) {
	t := &symbol.futuresEvidence
	if !s.tracker.opens(symbol.Key()) {
		t.unbooked = 0
	}
	t.past, t.zeroed = t.past[:0], true
	for _, id := range symbol.seen {
		if id != t.unbooked && (symbol.AtVenue() == 0 || id != symbol.positionID) {
			t.past = append(t.past, id)
		}
	}
}

// opens reports whether an opening of botd's is live on the symbol.
func (t *tracked) opens(key exchange.SymbolKey) bool {
	return t.AnyLive(func(p *account.Placement) bool { return p.Symbol() == key && p.Purpose().Opens() })
}

func (s positionComparison) witness(symbol *SymbolState) witness {
	t := &symbol.futuresEvidence
	switch {
	case symbol.rowOf(s.fetched) != nil || s.positionEvidence().showsEnd(symbol):
		return closedRow
	case t.sweptMS != 0 && t.sweptOf >= symbol.OpenedMS() && !s.positionEvidence().hasClosePositionOrder(symbol.Key(), nil):
		return sweptOrders
	case s.shownLater(symbol):
		return laterPosition
	case symbol.AtVenue() != 0 && symbol.rules != nil &&
		(t.marginOf == symbol.Known() && t.shownOf == symbol.OpenedMS() || s.fetched.BeganMS > s.tracker.noReadBefore(symbol.ChangedMS())):
		smaller := (symbol.Known() + symbol.Ignored()).Abs() - symbol.AtVenue().Abs() // the other side needs the same margin: none was released
		released := symbol.rules.Notional(symbol.rules.PriceOf(symbol.entryPrice), smaller).Div(int64(max(1, symbol.leverage)))
		if more, needed := s.margin(); smaller > 0 && !needed.IsZero() && !released.Less(more.Mul(2)) && !s.fillsExplainMargin() {
			t.freed = symbol.residual.Abs()
			return freedMargin
		}
	}
	return noWitness
}

// shownLater reports whether the list shows a position that the exchange opened after the one that it last showed of botd's: a symbol has one position, so
// that one has ended. An old list shows no later position.
func (positionComparison) shownLater(symbol *SymbolState) bool {
	t := &symbol.futuresEvidence
	return symbol.AtVenue() != 0 && t.shownOf == symbol.OpenedMS() && symbol.positionID != t.shownID && symbol.createdMS > t.createdMS
}

// noReadBefore returns the earliest time at which no stale read and no late request from a given moment can exist.
func (t *tracked) noReadBefore(atMS int64) int64 {
	bounds := t.Bounds()
	return atMS + bounds.WindowMS + bounds.VisibilityMS + bounds.StalenessMS
}

// rowOf returns the row of positions/history that shows the end of botd's position, or nil.
func (s *SymbolState) rowOf(snapshot *Snapshot) *exchange.Position {
	for i := range snapshot.Closed {
		if s.closedBy(&snapshot.Closed[i]) {
			return &snapshot.Closed[i]
		}
	}
	return nil
}

// Liquidation returns the row of positions/history that shows a liquidation; nil for none. That is of botd's position. It is also of a position that no fill
// explains, since it may come from an opening that the exchange refused but executed. And it is of a position that the list showed before the current one.
func (s *SymbolState) Liquidation(snapshot *Snapshot) *exchange.Position {
	row := s.rowOf(snapshot)
	for i := 0; i < len(snapshot.Closed) && row == nil; i++ {
		if s.unexplainedEnd(&snapshot.Closed[i]) || replaced(s, &snapshot.Closed[i]) {
			row = &snapshot.Closed[i]
		}
	}
	if row != nil && row.Status == exchange.PositionLiquidated {
		return row
	}
	return nil
}

// replaced reports whether a row of positions/history shows the liquidation of a position in whose place the list shows a later one: a fill of an order
// that was on its way has opened that. The exchange numbers positions upward, so each counts once.
func replaced(s *SymbolState, row *exchange.Position) bool {
	return s.AtVenue() != 0 && row.Status == exchange.PositionLiquidated && row.Symbol == s.Key().Name && row.Remaining == 0 &&
		row.ID != s.positionID && row.ID > s.LiquidatedID() && slices.Contains(s.seen, row.ID)
}

// closedBy reports whether a row of positions/history shows the end of botd's position. A row shows the total that was opened: what botd has opened beyond
// that belongs to a later position.
func (s *SymbolState) closedBy(row *exchange.Position) bool {
	t := &s.futuresEvidence
	smaller := row.Quantity != 0 && row.Quantity < s.Opened().Abs()
	if row.Symbol != s.Key().Name || row.Remaining != 0 || sideSign(row.Side) != s.Known().Sign() || smaller {
		return false
	}
	newest := len(s.seen) - 1
	switch {
	case row.ID == t.shownID && t.shownOf == s.OpenedMS(), t.shownID == 0 && row.UpdatedMS > s.ChangedMS():
		return true
	case newest >= 0 && s.seen[newest] == row.ID && s.OpenedMS() == s.AdoptedMS():
		return true // the list showed it last before the adoption: an older answer may have hidden it before
	case slices.Contains(t.past, row.ID):
		return false
	case row.ID == t.shownID, newest >= 0 && s.seen[newest] == row.ID && t.shownOf != s.OpenedMS():
		return true // the list showed it last, and it was adopted after it was opened
	case s.openWhenAdopted(row):
		return true // a symbol has one position: the one open at its adoption
	case s.Ignored().Sign() == s.Known().Sign() && row.UpdatedMS >= exchange.WholeSecond(s.DatedMS()) && row.Quantity >= (s.Known()+s.Ignored()).Abs():
		return true // botd opened its part in another's position of that total size
	}
	return row.CreatedMS >= exchange.WholeSecond(s.DatedMS())
}

// openWhenAdopted reports whether a row's position was open, by any clock, when botd's was adopted.
func (s *SymbolState) openWhenAdopted(row *exchange.Position) bool {
	atMS := s.AdoptedMS()
	return s.OpenedMS() == atMS && row.CreatedMS+maxClockStepMS <= atMS && row.UpdatedMS >= atMS+maxClockStepMS
}

func sideSign(side exchange.PositionSide) int {
	if side == exchange.Short {
		return -1
	}
	return 1
}

// contradict declares that the list and botd's own fills contradict each other, or ends that state.
func (s positionComparison) contradict(symbol *SymbolState) {
	switch {
	case symbol.futuresEvidence.untrusted && (symbol.contradicted != "" || symbol.residualFor.exceeds(s.tracker.Bounds().StalenessMS)):
		symbol.declare(contradiction, s.fetched.EndedMS)
	case s.tracker.marginContradicts(symbol, s.tracker.Bounds().StalenessMS):
		symbol.declare(heldMargin, s.fetched.EndedMS)
	case symbol.futuresEvidence.denied:
		symbol.declare(beyondMargin, s.fetched.EndedMS)
	case symbol.endUnproved() && s.fetched.BeganMS > symbol.unexplainedMS+s.tracker.Bounds().StalenessMS,
		symbol.refusedStopMS != 0 && s.fetched.BeganMS > symbol.refusedStopMS+s.tracker.Bounds().StalenessMS:
		symbol.declare(vanishedUnexplained, s.fetched.EndedMS)
	default:
		symbol.clearContradiction()
	}
}

// declare marks the symbol's reads as contradicted, with the reason.
func (o *observation) declare(why string, atMS int64) {
	o.contradicted, o.contradictedSinceMS = why, cmp.Or(o.contradictedSinceMS, atMS)
}

// clearContradiction marks the symbol's reads as no longer contradicted.
func (o *observation) clearContradiction() { o.contradicted, o.contradictedSinceMS = "", 0 }

// EndContradiction ends the contradiction because a person has decided that the newest read is right.
func (s *SymbolState) EndContradiction() {
	s.clearContradiction()
	s.futuresEvidence.by, s.futuresEvidence.untrusted, s.unexplainedID = aPerson, false, 0
}

// NeedsPositionHistory reports whether positions/history must be read to learn whether a position that
// the list does not fully show has ended, and from which time.
func (o *observedAccount) NeedsPositionHistory(symbol *SymbolState) (sinceMS int64, ask bool) {
	if since, unexplained := o.needsEnd(symbol); unexplained {
		return since, true
	}
	if symbol.Key().Market != exchange.Futures || !symbol.Missing() || symbol.futuresEvidence.by == closedRow || symbol.futuresEvidence.by == aPerson {
		return 0, false
	}
	return max(0, exchange.WholeSecond(symbol.DatedMS())-1000-maxClockStepMS), true
}
