package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
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
		if s.fetched.BeganMS > t.sweptMS+s.book.Settle().StalenessMS {
			t.sweptMS = 0 // the orders ended, but the position outlived them
		}
		t.zeroed = t.zeroed && symbol.Known() == 0
		if symbol.residual == 0 && symbol.Known() == 0 {
			s.noteEnded(symbol)
		}
		if symbol.residual == 0 && symbol.Known() != 0 {
			t.shownID, t.shownOf, t.unbooked = symbol.positionID, symbol.OpenedMS(), 0
			if s.marginAgrees() {
				t.marginOf = symbol.Known()
			}
		}
		return
	}
	if t.by == noWitness || t.by == freedMargin && symbol.residual.Abs() > t.freed || t.by == sweptOrders && symbol.rowOf(s.fetched) != nil {
		t.by = s.witness(symbol)
	}
	unseen := t.shownOf != symbol.OpenedMS() && symbol.OpenedMS() > s.book.bootMS // the list may be older than the entry
	stop := func(p *account.Placement) bool { return p.Purpose() == placement.StopLoss }
	// If a stop may be missing too, this does not wait for L.
	stopMissing := !s.positionEvidence().hasClosePositionOrder(symbol.Key(), stop) && slices.Contains(s.fetched.ClosedOf, symbol.Key().Name)
	t.untrusted = t.by == noWitness && (t.untrusted || unseen || stopMissing || symbol.residualFor.exceeds(s.book.Settle().StalenessMS))
}

// noteEnded records which positions have ended. A position first shown while an opening was live does not
// count as past while that opening is live, because its fill may not be booked yet. Neither does a position
// left to others, because botd's openings add to it.
func (s positionComparison) noteEnded(symbol *SymbolState) {
	t := &symbol.futuresEvidence
	if !s.opens(symbol.Key()) {
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
func (e *evidence) opens(key exchange.SymbolKey) bool {
	return e.book.AnyLive(func(p *account.Placement) bool { return p.Symbol() == key && p.Purpose().Opens() })
}

func (s positionComparison) witness(symbol *SymbolState) witness {
	t := &symbol.futuresEvidence
	switch {
	case symbol.rowOf(s.fetched) != nil || s.positionEvidence().showsEnd(symbol):
		return closedRow
	case t.sweptMS != 0 && t.sweptOf >= symbol.OpenedMS() && !s.positionEvidence().hasClosePositionOrder(symbol.Key(), nil):
		return sweptOrders
	case symbol.AtVenue() != 0 && symbol.rules != nil &&
		(t.marginOf == symbol.Known() && t.shownOf == symbol.OpenedMS() || s.fetched.BeganMS > s.noReadBefore(symbol.ChangedMS())):
		smaller := (symbol.Known() + symbol.Ignored()).Abs() - symbol.AtVenue().Abs() // the other side needs the same margin: none was released
		released := symbol.rules.Notional(symbol.rules.PriceOf(symbol.entryPrice), smaller).Div(int64(max(1, symbol.leverage)))
		if more, needed := s.margin(); smaller > 0 && !needed.IsZero() && !released.Less(more.Mul(2)) && !s.fillsExplainMargin() {
			t.freed = symbol.residual.Abs()
			return freedMargin
		}
	}
	return noWitness
}

// noReadBefore returns the earliest time at which no stale read and no late request from a given moment can exist.
func (e *evidence) noReadBefore(atMS int64) int64 {
	settle := e.book.Settle()
	return atMS + settle.WindowMS + settle.VisibilityMS + settle.StalenessMS
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

// Liquidation returns the row of positions/history that shows the liquidation of botd's position, or of one that no fill explains, which may come
// from an opening that the exchange refused but executed; nil for none.
func (s *SymbolState) Liquidation(snapshot *Snapshot) *exchange.Position {
	row := s.rowOf(snapshot)
	for i := 0; i < len(snapshot.Closed) && row == nil; i++ {
		if s.unexplainedEnd(&snapshot.Closed[i]) {
			row = &snapshot.Closed[i]
		}
	}
	if row != nil && row.Status == exchange.PositionLiquidated {
		return row
	}
	return nil
}

// closedBy reports whether a row of positions/history shows the end of botd's position.
func (s *SymbolState) closedBy(row *exchange.Position) bool {
	t := &s.futuresEvidence
	if row.Symbol != s.Key().Name || row.Remaining != 0 || sideSign(row.Side) != s.Known().Sign() {
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

// positionEvidence determines whether a snapshot shows, other than by the list of positions, that a futures position has ended.
type positionEvidence struct{ *evidence }

func (e *evidence) positionEvidence() positionEvidence { return positionEvidence{e} }

// showsEnd reports whether positions/history shows that a position has ended, in a row that the position's id does not identify.
func (e positionEvidence) showsEnd(symbol *SymbolState) bool {
	return e.closedByUnknown(symbol) || e.closedUnseen(symbol) || e.closedByAnotherClock(symbol)
}

// closedByUnknown reports whether positions/history shows that reductions of unknown outcome have ended
// the position: a row on its side, as large as the part of the missing quantity that they explain,
// closed since one of them was sent. The row's position may have been opened before botd held part of
// it, or be dated by another clock than the journal, and after a start nothing else shows which position
// it was. If more is missing than they explain, others have traded too, and it needs manual resolution.
func (e positionEvidence) closedByUnknown(symbol *SymbolState) bool {
	t, left, sentMS := &symbol.futuresEvidence, symbol.residual, int64(0)
	for _, p := range e.book.unknownOn(symbol.Key()) {
		if part := explained(p, left); part != 0 && p.Reduces() {
			left -= part
			sentMS = cmp.Or(sentMS, p.SentMS())
		}
	}
	part := symbol.residual - left
	if part == 0 || symbol.AtVenue() != 0 {
		return false
	}
	return slices.ContainsFunc(e.fetched.Closed, func(row exchange.Position) bool {
		another := slices.Contains(t.past, row.ID) || t.shownOf == symbol.OpenedMS() && row.ID != t.shownID
		return !another && row.Symbol == symbol.Key().Name && row.Remaining == 0 && sideSign(row.Side) == symbol.Known().Sign() &&
			row.Quantity >= part.Abs() && row.UpdatedMS >= sentMS-maxClockStepMS
	})
}

// closedUnseen reports whether a row of positions/history shows the end of a position that no list has
// shown since botd opened it, or opened its part of another's: the list has shown none for L, and the
// row, on the same side, at least as large as the whole position and not of an earlier position, was
// closed after botd sent the opening.
func (e positionEvidence) closedUnseen(symbol *SymbolState) bool {
	t, openedMS := &symbol.futuresEvidence, symbol.OpenedMS()
	shown := openedMS <= max(e.book.bootMS, symbol.AdoptedMS()) || t.shownOf == openedMS || symbol.AtVenue() != 0
	if shown || !symbol.residualFor.exceeds(e.book.Settle().StalenessMS) {
		return false
	}
	return slices.ContainsFunc(e.fetched.Closed, func(row exchange.Position) bool {
		return !slices.Contains(t.past, row.ID) && row.Symbol == symbol.Key().Name && row.Remaining == 0 && sideSign(row.Side) == symbol.Known().Sign() &&
			row.Quantity >= (symbol.Known()+symbol.Ignored()).Abs() && row.UpdatedMS > symbol.DatedMS()
	})
}

// closedByAnotherClock reports whether a row of positions/history shows the end of a position from
// before this start whose entry was dated by a clock ahead of the exchange's: the position has not been
// seen since, the list has shown none for L, and the row's position was opened shortly before that date,
// at the earliest, and closed well after it.
func (e positionEvidence) closedByAnotherClock(symbol *SymbolState) bool {
	t, openedMS := &symbol.futuresEvidence, symbol.OpenedMS()
	if openedMS > e.book.bootMS || t.shownOf == openedMS || symbol.AtVenue() != 0 || !symbol.residualFor.exceeds(e.book.Settle().StalenessMS) {
		return false
	}
	return slices.ContainsFunc(e.fetched.Closed, func(row exchange.Position) bool {
		return !slices.Contains(t.past, row.ID) && row.Symbol == symbol.Key().Name && row.Remaining == 0 && sideSign(row.Side) == symbol.Known().Sign() &&
			row.CreatedMS >= exchange.WholeSecond(openedMS)-maxClockStepMS && row.UpdatedMS > openedMS+maxClockStepMS
	})
}

func sideSign(side exchange.PositionSide) int {
	if side == exchange.Short {
		return -1
	}
	return 1
}

// hasClosePositionOrder reports whether a closePosition order of botd's is known to rest on the symbol and satisfies the condition, unless that is
// nil.
func (e positionEvidence) hasClosePositionOrder(key exchange.SymbolKey, satisfies func(*account.Placement) bool) bool {
	return e.book.AnyLive(func(p *account.Placement) bool {
		return p.Symbol() == key && p.Order().ClosePosition && !p.State().OutcomeUnknown() && (satisfies == nil || satisfies(p))
	})
}

// noteEndedWithPosition records that a closePosition order ended without botd's action: the
// exchange ends such orders with the position.
func (s orderRows) noteEndedWithPosition(p *account.Placement, atMS int64) {
	if t := &s.book.Symbol(p.Symbol()).futuresEvidence; p.Order().ClosePosition && s.book.CancelMS(p.ClientOrderID()) == 0 {
		t.sweptMS, t.sweptOf = atMS, max(t.sweptOf, p.SentMS())
	}
}

// contradict declares that the list and botd's own fills contradict each other, or ends that state.
func (s positionComparison) contradict(symbol *SymbolState) {
	switch {
	case symbol.futuresEvidence.untrusted && (symbol.contradicted != "" || symbol.residualFor.exceeds(s.book.Settle().StalenessMS)):
		symbol.declare(contradiction, s.fetched.EndedMS)
	case s.refusalEvidence().marginContradicts(symbol):
		symbol.declare(heldMargin, s.fetched.EndedMS)
	case symbol.futuresEvidence.denied:
		symbol.declare(beyondMargin, s.fetched.EndedMS)
	case symbol.endUnproved() && s.fetched.BeganMS > symbol.unexplainedMS+s.book.Settle().StalenessMS,
		symbol.refusedStopMS != 0 && s.fetched.BeganMS > symbol.refusedStopMS+s.book.Settle().StalenessMS:
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

// latchOn latches the strategies of a symbol after a change that their plan did not cause, so that
// the plan in force does not open again.
func (s *survey) latchOn(key exchange.SymbolKey) {
	for t := range s.book.Strategies() {
		if side := t.Plan().Target().Sign(); t.Symbol() == key && side != 0 && t.Latch() != side {
			s.emit(record.Record{Strategy: t.Name(), Body: record.Latch{Side: side}})
		}
	}
}
