package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// walletComparison compares the wallet with the fills of spot symbols: it books fees, and decides about the wallet's excess or shortfall.
type walletComparison struct {
	*evidence
	*recorder
	peers    peerOrders
	unlisted unlistedOrders
}

func (s *survey) walletComparison() walletComparison {
	return walletComparison{&s.evidence, &s.recorder, s.peerOrders(), s.unlistedOrders()}
}

// observeWallet reconciles the fills of a spot symbol with the wallet; the fees of purchases are paid
// from the base asset.
func (s walletComparison) observeWallet(symbol *SymbolState) {
	if !s.fetched.Balances.Done() || !s.fetched.SpotOrders.Done() || symbol.rules == nil {
		return
	}
	symbol.read = true
	symbol.spot.baseBalance = s.tracker.baseBalance(symbol)
	symbol.position = symbol.heldOnSpot()
	s.peers.noteExcess(symbol)
	s.noteDifference(symbol)
	s.peers.measureUnclaimedSales(symbol)
	if more := s.tracker.balanceBeyondFills(symbol); s.unlisted.infer(symbol) && more > 0 {
		s.recordUnattributed(symbol, more+symbol.Unattributed())
	}
	symbol.spot.noteSoldBefore(s.walletEvidence().lacksSales(symbol))
	if s.tracker.StandsDown() {
		s.peers.noteSoldUnknown(symbol)
	}
	live := s.tracker.liveOn(symbol.Key())
	symbol.spot.walletInconclusive = true
	paid := s.tracker.paidFor(symbol) || s.predatesRefusal(symbol) || symbol.spot.endedPurchase.secondFill > 0
	if s.tracker.anyOutcomeUncertain(symbol.Key()) || paid || live && (s.mayPredateFill(symbol) || s.anyUnlisted(symbol.Key())) {
		symbol.settled = !s.tracker.anyOutcomeUncertain(symbol.Key()) && symbol.Quarantine() == ""
		symbol.missedFor.reset()
		s.limitToWallet(symbol)
		return
	}
	if s.mayPredateFill(symbol) {
		s.limitToWallet(symbol)
		return // a read this early may be older than the last fill: it proves nothing, and nothing opens until a later one does
	}
	if symbol.Known() == 0 && s.tracker.showsBeforeSale(symbol) {
		symbol.settled = false
		return
	}
	symbol.spot.walletInconclusive = false
	balance := s.tracker.baseBalance(symbol)
	if symbol.Known() == 0 {
		more := balance - symbol.Baseline()
		wait := (symbol.Baseline() != 0 || symbol.spot.agreedMS != 0 || s.tracker.mayHaveBought(symbol)) &&
			s.awaitsHistory(symbol, s.walletEvidence().possibleOwnChange(symbol, more))
		if live || wait {
			s.recordUnattributed(symbol, more)
		} else if more != 0 || symbol.Unattributed() != 0 {
			symbol.spot.othersEnded = max(symbol.spot.othersEnded, symbol.Baseline())
			s.emit(symbol.about(record.Baseline{Quantity: balance}))
		}
		symbol.noteWalletAgrees(s.fetched.EndedMS)
		symbol.settled = symbol.Quarantine() == "" && !wait
		return
	}
	s.reconcileWallet(symbol, balance, live)
	symbol.position = symbol.heldOnSpot()
	symbol.settled = symbol.Quarantine() == "" && symbol.missedFor.sinceMS == 0
}

// partialWallet applies a wallet's evidence about orders if other reads about the symbol failed. If the
// open list was read, even with unreadable rows, that includes the results of purchases.
// What a refused sale has sold needs no list: its units are missing, and their money has come.
func (s walletComparison) partialWallet(symbol *SymbolState) {
	switch {
	case !s.fetched.Balances.Done() || symbol.rules == nil:
		return
	case s.fetched.SpotOrders.Done():
		s.unlisted.infer(symbol)
		return
	}
	s.unlisted.noteRefusedSales(symbol)
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && p.OrderID() == 0 {
			s.unlisted.noteUnfrozen(p, symbol)
			s.unlisted.noteWalletShortfall(p, symbol)
		}
	}
	_, maxBought, sinceMS := s.unlisted.unlistedPurchases(symbol)
	own := s.tracker.balanceBeyondFills(symbol) - s.unlisted.unclaimedPurchases(symbol, sinceMS)
	symbol.spot.unlisted.inferred = max(symbol.spot.unlisted.inferred, min(own, s.walletEvidence().boughtUnread(symbol)))
	s.unlisted.noteUndecided(symbol, maxBought, sinceMS)
}

// recordUnattributed journals the wallet's excess over the baseline and the fills, if it has changed by
// at least the value of an order. After a start, nothing else distinguishes this excess from the result
// of a purchase that no list shows, or from the rest of a sale. A wallet as old as an earlier read shows what has been sold since, not an excess.
// What a sale of botd's that the open list omits may have sold is not missing from it.
func (s walletComparison) recordUnattributed(symbol *SymbolState, quantity exchange.Quantity) {
	quantity = max(0, quantity)
	changed := (quantity - symbol.Unattributed()).Abs()
	if s.tracker.StandsDown() { // another botd may have bought more, or sold botd's own units
		return
	}
	if quantity > symbol.Unattributed() && (s.tracker.showsBeforeSale(symbol) || s.tracker.showsEarlier(symbol)) {
		return
	}
	if quantity < symbol.Unattributed() && s.unlisted.possiblySoldUnlisted(symbol) > 0 {
		return
	}
	if changed != 0 && (quantity == 0 || !symbol.rules.BelowMinimum(symbol.last, changed)) {
		s.emit(symbol.about(record.Baseline{Quantity: symbol.Baseline(), Unattributed: quantity}))
	}
}

// limitToWallet limits the sellable quantity to the wallet's balance if the journal is known to lack
// orders: it may lack the sale of an assumed position, and a spot exit sells whatever exists. A wallet
// that may be older than the last fills may still show the sold quantity.
func (s walletComparison) limitToWallet(symbol *SymbolState) {
	if !s.tracker.StandsDown() && symbol.Quarantine() == "" {
		return
	}
	balance, predates := s.tracker.baseBalance(symbol), s.mayPredateFill(symbol)
	if predates && !s.tracker.StandsDown() && symbol.Cause() == record.ExecutedBeyond {
		return // all of botd's sales are known
	}
	if predates {
		balance -= symbol.Sold()
	}
	symbol.walletShortfall = min(0, balance-symbol.Baseline()-symbol.Known()+symbol.Fees())
	symbol.position = symbol.heldOnSpot()
}

// noteDifference records that a wallet differs from the fills, however old the wallet may be: the order
// history is evidence by itself, and a missing stop must be placed at once.
func (s walletComparison) noteDifference(symbol *SymbolState) {
	t := &symbol.spot
	switch by := s.tracker.walletDiffers(symbol); {
	case by == 0:
		t.difference, t.historyReads = 0, 0
	case by != t.difference:
		t.difference, t.historyReads = by, 0
	default:
		t.historyReads++
	}
}

const spotContradiction = "the wallet holds less than botd's own fills explain, and the order history shows no sale that botd did not make"

// maxSales bounds the number of remembered sales.
const maxSales = 64

// decideShortWallet decides a wallet shortfall against the fills: with a witness the policy applies,
// without one the wallet is contradicted.
func (s walletComparison) decideShortWallet(symbol *SymbolState, short exchange.Quantity) {
	if s.tracker.StandsDown() { // the journal lacks orders, and the sale may be one of them
		symbol.walletShortfall = -short
	}
	symbol.spot.confirmed = min(symbol.spot.confirmed, short)
	switch sales, sold := s.walletEvidence().salesOfOthers(symbol); {
	case sold >= short:
		all := append(symbol.spot.sales, sales...)
		symbol.spot.sales = slices.Clone(all[max(0, len(all)-maxSales):])
		symbol.missedFor.reset()
		symbol.clearContradiction()
		if symbol.Quarantine() != "" {
			symbol.spot.confirmed = short
		}
		s.decideMissing(symbol, short)
	case symbol.Quarantine() != "":
		symbol.walletShortfall = -short
	case symbol.contradicted != "" || symbol.missedFor.exceeds(s.tracker.Bounds().StalenessMS):
		symbol.walletShortfall = -short // no more is sold than the wallet shows
		symbol.declare(spotContradiction, s.fetched.EndedMS)
	}
}

// shortWallet is the quarantine reason for a spot symbol on which a witness confirms sales by
// others.
const shortWallet = "the wallet holds less than the fills explain"

// decideMissing decides a wallet shortfall that a witness confirms. A sale cannot be ignored: it is
// adopted as sold and latches the strategies, or it waits for a person.
func (s walletComparison) decideMissing(symbol *SymbolState, short exchange.Quantity) {
	symbol.walletShortfall = -short
	if s.tracker.StandsDown() { // it may be the other botd's sale, from its own purchase
		s.quarantineFor(symbol, record.SoldByOthers, shortWallet+" while another botd may be placing orders")
		return
	}
	if s.tracker.foreignPolicy == ForeignAdopt || s.tracker.foreignPolicy == ForeignIgnore {
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

// walletExcess is what the wallet holds of a spot symbol's asset beyond the fills.
type walletExcess struct {
	quantity exchange.Quantity // that excess
	shownFor persistence       // how long a wallet excess worth an order has persisted
}

// awaitsHistory reports whether to wait for the order history, because the wallet's excess over the fills is
// worth an order and the history has not been read about it for long enough.
func (s walletComparison) awaitsHistory(symbol *SymbolState, more exchange.Quantity) (wait bool) {
	t := &symbol.spot
	bounds := s.tracker.Bounds()
	if bounds.StalenessMS == 0 || symbol.tooSmallToTrade(more) {
		t.extra.shownFor, t.extra.quantity = persistence{}, 0
		return false
	}
	if more == t.extra.quantity && t.extra.shownFor.sinceMS == 0 {
		return false // the history has been read: the excess is foreign
	}
	if more != t.extra.quantity {
		t.extra.shownFor.reset()
	}
	t.extra.quantity = more
	if t.extra.shownFor.extend(s.fetched); t.extra.shownFor.exceeds(max(bounds.StalenessMS, stableGapMS)) {
		t.extra.shownFor.reset()
		return false
	}
	return true
}
