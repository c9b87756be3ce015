package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// positionEvidence determines whether a snapshot shows, other than by the list of positions, that a futures position has ended.
type positionEvidence struct {
	account     *tracked
	closed      []exchange.Position // rows of positions/history
	bootMS      int64               // start of this epoch
	stalenessMS int64               // L
}

func (e *evidence) positionEvidence() positionEvidence {
	return positionEvidence{account: &e.tracker.tracked, closed: e.fetched.Closed, bootMS: e.tracker.bootMS, stalenessMS: e.tracker.Bounds().StalenessMS}
}

// showsEnd reports whether positions/history shows that a position has ended, in a row that the position's id does not identify.
func (e positionEvidence) showsEnd(symbol *SymbolState) bool {
	return e.closedByUncertain(symbol) || e.closedUnseen(symbol) || e.closedByAnotherClock(symbol)
}

// closedByUncertain reports whether positions/history shows that uncertain reductions have ended
// the position: a row on its side, as large as the part of the missing quantity that they explain,
// closed since one of them was sent. The row's position may have been opened before botd held part of
// it, or be dated by another clock than the journal, and after a start nothing else shows which position
// it was. If more is missing than they explain, others have traded too, and it needs manual resolution.
func (e positionEvidence) closedByUncertain(symbol *SymbolState) bool {
	t, left, sentMS := &symbol.futuresEvidence, symbol.residual, int64(0)
	for _, p := range e.account.uncertainOn(symbol.Key()) {
		if part := explained(p, left); part != 0 && p.Reduces() {
			left -= part
			sentMS = cmp.Or(sentMS, p.SentMS())
		}
	}
	part := symbol.residual - left
	if part == 0 || symbol.AtVenue() != 0 {
		return false
	}
	return slices.ContainsFunc(e.closed, func(row exchange.Position) bool {
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
	shown := openedMS <= max(e.bootMS, symbol.AdoptedMS()) || t.shownOf == openedMS || symbol.AtVenue() != 0
	if shown || !symbol.residualFor.exceeds(e.stalenessMS) {
		return false
	}
	return slices.ContainsFunc(e.closed, func(row exchange.Position) bool {
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
	if openedMS > e.bootMS || t.shownOf == openedMS || symbol.AtVenue() != 0 || !symbol.residualFor.exceeds(e.stalenessMS) {
		return false
	}
	return slices.ContainsFunc(e.closed, func(row exchange.Position) bool {
		return !slices.Contains(t.past, row.ID) && row.Symbol == symbol.Key().Name && row.Remaining == 0 && sideSign(row.Side) == symbol.Known().Sign() &&
			row.CreatedMS >= exchange.WholeSecond(openedMS)-maxClockStepMS && row.UpdatedMS > openedMS+maxClockStepMS
	})
}

// outlivesIgnored reports whether the list shows a position that was opened after the part left to others was last decided, and fills explain all of
// it: the exchange keeps one position per symbol, so the position with that part has ended.
func (e positionEvidence) outlivesIgnored(symbol *SymbolState) bool {
	whole := symbol.Known() != 0 && symbol.AtVenue() == symbol.Known()
	return symbol.Ignored() != 0 && whole && symbol.createdMS > symbol.IgnoredMS()+maxClockStepMS
}

// mayHaveClosed reports whether an uncertain opening could have been filled and closed before any read:
// there is no position, and none is missing.
func (e positionEvidence) mayHaveClosed(symbol *SymbolState, uncertain []*account.Placement) bool {
	return symbol.position == 0 && slices.ContainsFunc(uncertain, func(p *account.Placement) bool { return p.Purpose().Opens() })
}

// protectsOneOf reports whether a closePosition order rests that was placed after one of these openings was sent: a list showed the position then,
// and such an order ends together with it.
func (e positionEvidence) protectsOneOf(uncertain []*account.Placement) bool {
	return slices.ContainsFunc(uncertain, func(q *account.Placement) bool {
		return q.Purpose().Opens() && e.account.AnyLive(func(p *account.Placement) bool {
			return p.Symbol() == q.Symbol() && p.Order().ClosePosition && !p.State().OutcomeUncertain() && p.SentMS() >= q.SentMS()
		})
	})
}

// hasClosePositionOrder reports whether a closePosition order of botd's is known to rest on the symbol and satisfies the condition, unless that is
// nil.
func (e positionEvidence) hasClosePositionOrder(key exchange.SymbolKey, satisfies func(*account.Placement) bool) bool {
	return e.account.AnyLive(func(p *account.Placement) bool {
		return p.Symbol() == key && p.Order().ClosePosition && !p.State().OutcomeUncertain() && (satisfies == nil || satisfies(p))
	})
}
