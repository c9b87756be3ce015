package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
)

// A futures position that no fill explains is protected like any other. A list without it does not prove
// its end, and no fill can prove it: its protection stays until positions/history shows it as closed, or
// until fills explain the position.

// noteUnexplained records the part of a listed position beyond the fills.
func (s positionComparison) noteUnexplained(symbol *SymbolState) {
	switch {
	case symbol.residual != 0 && symbol.position != 0:
		if symbol.unexplainedID != symbol.positionID {
			symbol.unexplainedFromMS = s.fetched.EndedMS
		}
		symbol.unexplainedMS, symbol.unexplainedID = s.fetched.BeganMS, symbol.positionID
	case symbol.AtVenue() != 0:
		symbol.unexplainedID = 0
	}
}

// noteClosed records the ends of positions shown in positions/history.
func (s positionComparison) noteClosed(symbol *SymbolState) {
	for i := range s.fetched.Closed {
		row := &s.fetched.Closed[i]
		if row.Symbol != symbol.Key().Name || row.Remaining != 0 {
			continue
		}
		if symbol.closedMS = max(symbol.closedMS, row.UpdatedMS); symbol.unexplainedEnd(row) {
			symbol.unexplainedID = 0
		}
	}
}

// unexplainedEnd reports whether a row of positions/history shows the end of the position that no fill explains.
func (s *SymbolState) unexplainedEnd(row *exchange.Position) bool {
	return s.unexplainedID != 0 && row.ID == s.unexplainedID && row.Symbol == s.Key().Name && row.Remaining == 0
}

// shownUnexplained reports whether the list has shown a position that no fill explained, and has shown none for less than L.
func (s *situation) shownUnexplained() bool {
	return s.book.listsMS <= s.symbol.unexplainedMS+s.book.Settle().StalenessMS
}

// protectsUnexplained reports whether an order may protect a position that no fill explains and whose
// end only the list shows: a position shown since the start or, for an order from before the start, one
// that was open when the order was sent, at least ten seconds after the last booking or after an opening that the exchange refused;
// or one whose margin the account still uses.
func (o *observedAccount) protectsUnexplained(p *account.Placement, symbol *SymbolState) bool {
	before := p.SentMS() < o.bootMS && p.SentMS() > symbol.ChangedMS()+maxClockStepMS
	return symbol.mayOutlive(p) && (symbol.unexplainedID != 0 || before || symbol.refusedStopMS != 0 || o.marginUnlisted)
}

// mayOutlive reports whether an order closes a whole futures position, although neither fills nor the list show one, and positions/history has shown the
// end of none since the order was sent.
func (s SymbolState) mayOutlive(p *account.Placement) bool {
	shown := s.Known() != 0 || s.AtVenue() != 0 || s.unexplainedID == 0 && s.closedMS >= exchange.WholeSecond(p.SentMS())
	return s.Key().Market == exchange.Futures && p.Order().ClosePosition && !shown
}

// keepsForUnexplained reports whether an order is kept for such a position. A flatten request overrides this.
func (s *situation) keepsForUnexplained(p *account.Placement) bool {
	return !s.desired.Flatten && s.book.protectsUnexplained(p, s.symbol)
}

// endUnproved reports whether a position that no fill explained has left the list, without any other sign of its end and without a later fill that
// may explain it.
func (s *SymbolState) endUnproved() bool {
	return s.Key().Market == exchange.Futures && s.unexplainedID != 0 && s.AtVenue() == 0 && s.Known() == 0 && s.FilledMS() < s.unexplainedMS
}

// needsEnd reports whether positions/history must be read to learn whether an unexplained position has ended, and from which time.
func (o *observedAccount) needsEnd(symbol *SymbolState) (sinceMS int64, ask bool) {
	if symbol.endUnproved() {
		return max(0, symbol.unexplainedMS-o.settle.StalenessMS-maxClockStepMS), true
	}
	for _, p := range symbol.live {
		if o.protectsUnexplained(p, symbol) {
			return max(0, min(p.SentMS(), symbol.unexplainedMS)-o.settle.StalenessMS-maxClockStepMS), true
		}
	}
	return 0, false
}
