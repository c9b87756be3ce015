package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// partialPosition updates a symbol's position if another read about the symbol failed: reducing and
// protecting continue, and nothing else is concluded.
func (s positionComparison) partialPosition(symbol *SymbolState) {
	symbol.unread = true
	s.noteOmitted(symbol)
	switch {
	case symbol.Key().Market == exchange.Spot:
		symbol.position, symbol.walletOnlyRead = symbol.heldOnSpot(), symbol.walletOnlyRead || s.fetched.Balances.Done()
		s.wallet.partialWallet(symbol)
		symbol.spot.lag.note(s.evidence, symbol, s.tracker.walletLags(symbol), false)
	case !s.fetched.Positions.Done(), s.fetched.lacksPosition(symbol.Key()):
		if !s.useShownPosition(symbol) {
			s.assumeOpened(symbol)
		}
	case s.readPosition(symbol):
		symbol.read, symbol.residual = true, symbol.position-symbol.Known()
		s.noteUnexplained(symbol)
		if symbol.Missing() && symbol.rowOf(s.fetched) != nil { // positive evidence, even if other reads failed
			symbol.futuresEvidence.by, symbol.futuresEvidence.untrusted = closedRow, false
		}
	}
	symbol.equal.reset()
	symbol.residualFor.pause(s.fetched)
	symbol.missedFor.pause(s.fetched)
	symbol.settled = false
}

// noteOmitted records which futures orders of a symbol that cannot be read completely the open list omits.
func (s positionComparison) noteOmitted(symbol *SymbolState) {
	if symbol.Key().Market != exchange.Futures || !s.fetched.FuturesOrders.Done() {
		return
	}
	for _, p := range symbol.live {
		beganMS := int64(0)
		if s.tracker.Unlisted(p) {
			beganMS = s.fetched.BeganMS
		}
		s.tracker.noteOmitted(p.ClientOrderID(), beganMS)
	}
}

// assumeOpened treats the quantity that botd's own fills have opened since the last list as held, until
// the list is read again, or a snapshot's two lists agree.
func (s positionComparison) assumeOpened(symbol *SymbolState) {
	t, known := &symbol.futuresEvidence, symbol.Known()
	if symbol.positionMS > symbol.FilledMS()+s.tracker.Bounds().StalenessMS || t.by != noWitness {
		return // the list has been read since then and is current, or a witness confirms the end
	}
	if known != 0 && symbol.Opened().Sign() == known.Sign() && t.shownOf != symbol.OpenedMS() && symbol.FilledMS() > s.tracker.bootMS {
		t.untrusted = true
	}
}

// useShownPosition uses a position that one of the snapshot's two lists shows while the other list, or its row
// there, cannot be read. A position that a read has shown is protected, and nothing else is concluded
// from it. useShownPosition returns false if neither list shows one.
func (s positionComparison) useShownPosition(symbol *SymbolState) bool {
	for _, list := range [...]exchange.Fetched[exchange.Position]{s.fetched.Positions, s.fetched.Before} {
		if !list.Done() {
			continue
		}
		if row, _ := find(list.Items(), symbol.Key().Name); row.Remaining != 0 {
			symbol.noteSeen(row.ID)
			s.usePosition(symbol, &row)
			symbol.read, symbol.residual = true, symbol.position-symbol.Known()
			s.noteUnexplained(symbol)
			return true
		}
	}
	return false
}

// selectPosition selects the position to protect if the list shows several on one symbol: the one that fills
// explain, otherwise the one shown before, otherwise the newest.
func (s *SymbolState) selectPosition(positions []exchange.Position) {
	var one exchange.Position
	rank := func(p *exchange.Position) int {
		switch {
		case p.Signed() == s.Known()+s.Ignored():
			return 2
		case p.ID == s.positionID:
			return 1
		}
		return 0
	}
	for i := range positions {
		if p := &positions[i]; p.Symbol == s.Key().Name && p.Remaining != 0 && (one.Remaining == 0 || rank(p) >= rank(&one)) {
			one = *p
		}
	}
	s.read, s.position, s.positionID, s.entryPrice = true, one.Signed()-s.Ignored(), one.ID, one.EntryPrice
}

func find(positions []exchange.Position, symbol string) (found exchange.Position, count int) {
	for i := range positions {
		if positions[i].Symbol == symbol && positions[i].Remaining != 0 {
			found = positions[i]
			count++
		}
	}
	return found, count
}

// mayPredateFill reports whether a read of this snapshot may be older than the symbol's last fill. It
// compares by the clock and, because the clock may have jumped ahead, by the measured time between
// snapshots: if L is no longer than what may count between two of them, more than one interval must have
// passed.
func (e *evidence) mayPredateFill(symbol *SymbolState) bool {
	return e.fetched.BeganMS < symbol.FilledMS()+e.tracker.Bounds().StalenessMS ||
		e.tracker.Bounds().StalenessMS > 0 && symbol.sinceFill.sinceMS != 0 && !symbol.sinceFill.exceeds(e.tracker.Bounds().StalenessMS)
}

// heldOnSpot returns the quantity that fills and fees explain, less the wallet's shortfall. The rest of
// the asset may be the user's and is not sold.
func (t *SymbolState) heldOnSpot() exchange.Quantity {
	return max(0, t.Known()-t.Fees()+t.walletShortfall)
}

// foreign decides a persistent difference that nothing uncertain explains; a missing quantity also needs
// a witness. If a position ended, a person or a liquidation closed it, and the difference is adopted.
// Everything else follows the policy. An adoption latches the symbol's strategies, so that they do not
// immediately buy back what a person sold.
func (s positionComparison) foreign(symbol *SymbolState) {
	before := symbol.Known()
	switch {
	case symbol.AtVenue() == 0:
		if symbol.Ignored() != 0 {
			s.emit(symbol.about(record.Ignored{Evidence: "the ignored part was closed outside botd"}))
		}
		if symbol.Known() != 0 {
			evidence := "the position was closed outside botd"
			if by := symbol.futuresEvidence.by; by != noWitness {
				evidence += ": " + string(by)
			}
			s.emit(symbol.about(record.Adopted{Quantity: -symbol.Known(), Evidence: evidence}))
		}
	case s.tracker.StandsDown():
		s.quarantine(symbol, "the position differs from the fills by "+symbol.residualText()+" while another botd may be placing orders")
		return
	case s.marginDenies(symbol, s.tracker.foreignPolicy):
		symbol.futuresEvidence.denied = true
		return
	case s.tracker.foreignPolicy == ForeignAdopt:
		s.emit(symbol.about(record.Adopted{Quantity: symbol.residual, Evidence: "made outside botd, adopted by foreign: adopt"}))
	case s.tracker.foreignPolicy == ForeignIgnore:
		symbol.ignore("made outside botd, ignored by foreign: ignore", s.emit)
	default:
		s.quarantine(symbol, "the position differs from the fills by "+symbol.residualText()+", which nothing explains")
		return
	}
	symbol.residual, symbol.residualOf = symbol.position-symbol.Known(), symbol.Known() // the next difference must persist again
	if symbol.Known() != before {
		s.latchOn(symbol.Key())
	}
}

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
func (s *inputs) shownUnexplained() bool {
	return s.tracker.readBeganMS <= s.symbol.unexplainedMS+s.tracker.Bounds().StalenessMS
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
func (s *inputs) keepsForUnexplained(p *account.Placement) bool {
	return !s.desired.Flatten && s.tracker.protectsUnexplained(p, s.symbol)
}

// endUnproved reports whether a position that no fill explained has left the list, without any other sign of its end and without a later fill that
// may explain it.
func (s *SymbolState) endUnproved() bool {
	return s.Key().Market == exchange.Futures && s.unexplainedID != 0 && s.AtVenue() == 0 && s.Known() == 0 && s.FilledMS() < s.unexplainedMS
}

// needsEnd reports whether positions/history must be read to learn whether an unexplained position has ended, and from which time.
func (o *observedAccount) needsEnd(symbol *SymbolState) (sinceMS int64, ask bool) {
	if symbol.endUnproved() {
		return max(0, symbol.unexplainedMS-o.bounds.StalenessMS-maxClockStepMS), true
	}
	for _, p := range symbol.live {
		if o.protectsUnexplained(p, symbol) {
			return max(0, min(p.SentMS(), symbol.unexplainedMS)-o.bounds.StalenessMS-maxClockStepMS), true
		}
	}
	return 0, false
}
