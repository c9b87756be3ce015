package reconcile

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// partialPosition updates a symbol's position if another read about the symbol failed: reducing and
// protecting continue, and nothing else is concluded.
func (s positionComparison) partialPosition(symbol *SymbolState) {
	symbol.unread = true
	switch {
	case symbol.Key().Market == exchange.Spot:
		symbol.position, symbol.walletOnlyRead = symbol.heldOnSpot(), symbol.walletOnlyRead || s.fetched.Balances.Done()
		s.walletComparison().partialWallet(symbol)
		symbol.spot.lag.note(s.survey, symbol, s.book.walletLags(symbol), false)
	case !s.fetched.Positions.Done(), s.fetched.lacksPosition(symbol.Key()):
		if !s.takeShown(symbol) {
			s.standOpened(symbol)
		}
	case s.takePosition(symbol):
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

// partialWallet applies a wallet's evidence about orders if other reads about the symbol failed. If the
// open list was read, even with unreadable rows, that includes the results of purchases.
// What a refused sale has sold needs no list: its coins are missing, and their money has come.
func (s walletComparison) partialWallet(symbol *SymbolState) {
	switch {
	case !s.fetched.Balances.Done() || symbol.rules == nil:
		return
	case s.fetched.SpotOrders.Done():
		s.unlistedOrders().presume(symbol)
		return
	}
	s.unlistedOrders().noteRefusedSales(symbol)
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && p.OrderID() == 0 {
			s.unlistedOrders().noteUnfrozen(p, symbol)
			s.unlistedOrders().noteWalletShortfall(p, symbol)
		}
	}
	_, maxBought, sinceMS := s.unlistedOrders().unlistedPurchases(symbol)
	own := s.book.balanceBeyondFills(symbol) - s.unlistedOrders().unclaimedPurchases(symbol, sinceMS)
	symbol.spot.presumed = max(symbol.spot.presumed, min(own, s.walletEvidence().boughtUnread(symbol)))
	s.unlistedOrders().noteUndecided(symbol, maxBought, sinceMS)
}

// boughtUnread returns the quantity that live and refused purchases have bought according to the wallet while the open list cannot be read. A purchase
// may still rest on that list, so more of the asset alone proves nothing: the money of the purchase must be gone too.
func (e walletEvidence) boughtUnread(symbol *SymbolState) (sum exchange.Quantity) {
	for _, p := range symbol.live {
		order, before := p.Order(), e.book.delivery(p).before
		if order.Side == exchange.Buy && e.fetched.BeganMS > e.book.arrivedMS(p) && !e.book.boughtSince(p, before) {
			sum += e.boughtWithItsMoney(&order, before, symbol)
		}
	}
	for r := range e.book.refusedOn(symbol.Key()) {
		sum += r.bought
	}
	return sum
}

// standOpened treats the quantity that botd's own fills have opened since the last list as held, until
// the list is read again, or a snapshot's two lists agree.
func (s positionComparison) standOpened(symbol *SymbolState) {
	t, known := &symbol.futuresEvidence, symbol.Known()
	if symbol.positionMS > symbol.FilledMS()+s.book.Settle().StalenessMS || t.by != noWitness {
		return // the list has been read since then and is current, or a witness confirms the end
	}
	if known != 0 && symbol.Opened().Sign() == known.Sign() && t.shownOf != symbol.OpenedMS() && symbol.FilledMS() > s.book.bootMS {
		t.untrusted = true
	}
}

// takeShown uses a position that one of the snapshot's two lists shows while the other list, or its row
// there, cannot be read. A position that a read has shown is protected, and nothing else is concluded
// from it. takeShown returns false if neither list shows one.
func (s positionComparison) takeShown(symbol *SymbolState) bool {
	for _, list := range [...]exchange.Fetched[exchange.Position]{s.fetched.Positions, s.fetched.Before} {
		if !list.Done() {
			continue
		}
		if row, _ := find(list.Items(), symbol.Key().Name); row.Remaining != 0 {
			symbol.noteSeen(row.ID)
			s.takeRow(symbol, &row)
			symbol.read, symbol.residual = true, symbol.position-symbol.Known()
			s.noteUnexplained(symbol)
			return true
		}
	}
	return false
}

// takeOneOf selects the position to protect if the list shows several on one symbol: the one that fills
// explain, otherwise the one shown before, otherwise the newest.
func (s *SymbolState) takeOneOf(positions []exchange.Position) {
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

// recordUnattributed journals the wallet's excess over the baseline and the fills, if it has changed by
// at least the value of an order. After a start, nothing else distinguishes this excess from the result
// of a purchase that no list shows, or from the rest of a sale.
func (s walletComparison) recordUnattributed(symbol *SymbolState, quantity exchange.Quantity) {
	quantity = max(0, quantity)
	changed := (quantity - symbol.Unattributed()).Abs()
	if changed != 0 && (quantity == 0 || !symbol.rules.BelowMinimum(symbol.last, changed)) {
		s.emit(symbol.about(record.Baseline{Quantity: symbol.Baseline(), Unattributed: quantity}))
	}
}

// mayPredateFill reports whether a read of this snapshot may be older than the symbol's last fill. It
// compares by the clock and, because the clock may have jumped ahead, by the measured time between
// snapshots: if L is no longer than what may count between two of them, more than one interval must have
// passed.
func (e *evidence) mayPredateFill(symbol *SymbolState) bool {
	return e.fetched.BeganMS < symbol.FilledMS()+e.book.Settle().StalenessMS ||
		e.book.Settle().StalenessMS > 0 && symbol.sinceFill.sinceMS != 0 && !symbol.sinceFill.exceeds(e.book.Settle().StalenessMS)
}

// boundByWallet limits the sellable quantity to the wallet's balance if the journal is known to lack
// orders: it may lack the sale of an assumed position, and a spot exit sells whatever exists. A wallet
// that may be older than the last fills may still show the sold quantity.
func (s walletComparison) boundByWallet(symbol *SymbolState) {
	if !s.book.StandsDown() && symbol.Quarantine() == "" {
		return
	}
	balance, predates := s.book.baseBalance(symbol), s.mayPredateFill(symbol)
	if predates && !s.book.StandsDown() && symbol.Cause() == record.ExecutedBeyond {
		return // all of botd's sales are known
	}
	if predates {
		balance -= symbol.Sold()
	}
	symbol.short = min(0, balance-symbol.Baseline()-symbol.Known()+symbol.Fees())
	symbol.position = symbol.heldOnSpot()
}

// heldOnSpot returns the quantity that fills and fees explain, less the wallet's shortfall. The rest of
// the asset may be the user's and is not sold.
func (t *SymbolState) heldOnSpot() exchange.Quantity {
	return max(0, t.Known()-t.Fees()+t.short)
}

// shortWallet is the quarantine reason for a spot symbol on which a witness confirms sales by
// others.
const shortWallet = "the wallet holds less than the fills explain"

// decideMissing decides a wallet shortfall that a witness confirms. A sale cannot be ignored: it is
// adopted as sold and latches the strategies, or it waits for a person.
func (s walletComparison) decideMissing(symbol *SymbolState, short exchange.Quantity) {
	symbol.short = -short
	if s.book.StandsDown() { // it may be the other botd's sale, from its own purchase
		s.quarantineFor(symbol, record.SoldByOthers, shortWallet+" while another botd may be placing orders")
		return
	}
	if s.book.foreignPolicy == ForeignAdopt || s.book.foreignPolicy == ForeignIgnore {
		s.emit(symbol.about(record.Adopted{
			Quantity: -short,
			Decided:  max(symbol.spot.peer.newest(), symbol.spot.newestSale()),
			Evidence: "the wallet holds less, and the order history shows a sale outside botd",
		}))
		s.latchOn(symbol.Key())
		return
	}
	s.quarantineFor(symbol, record.SoldByOthers, shortWallet)
}
