package reconcile

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// On spot the wallet is the list that may be wrong. The witness for a shortfall against botd's own fills
// is a sale in the order history that no placement claims. An excess may come from an order that the
// exchange executed despite its refusal, or twice; the order history is read for that too.

// spotEvidence is the evidence about a spot symbol's asset other than the newest wallet.
type spotEvidence struct {
	agreedMS           int64             // when wallet and fills last agreed
	changedMS          int64             // when a position from before the start last changed; 0 without such a position
	soldBefore         bool              // wallet and history show that orders missing from the journal have sold that position
	sales              []sale            // sales by others that explained an earlier difference
	freed              []releasedBalance // quantities held by own orders until they were canceled, oldest first
	difference         exchange.Quantity // difference between the newest wallet and the fills, if worth an order
	historyReads       int               // number of rounds that have read the order history about it
	secondBuyer        int64             // newest purchase in the form of botd's that no placement claims
	walletInconclusive bool              // the newest wallet proves nothing: it may be older than the last fill, or an order is uncertain
	beforeSale         priorBalance      // the wallet before the last effective sale was sent
	shownBefore        []record.Funds    // the wallets before own orders were sent, oldest first
	endedPurchase      formerPurchase    // the newest purchase that has ended

	unlisted  inferredPurchases
	inherited inheritedStops
	replaced  replacedStops

	cancelRefusedMS int64 // when the exchange last refused to cancel a stop
	stopRefusedMS   int64 // when it last refused a stop, whether or not it has accepted one since; 0 for never since the start
	overdrawn       bool  // the last stop that it refused was for more than the wallet shows as free

	unclaimedSales exchange.Quantity // part of the wallet's shortfall that unclaimed sales explain, by the newest history

	confirmed   exchange.Quantity // the wallet's shortfall that sales by others explain, on a symbol that is quarantined for another reason
	soldUnknown exchange.Quantity // sales in the order history by orders with this instance's prefix that no placement claims

	peer            peerTrades
	excess          stopExcess
	extra           walletExcess
	positionShownMS int64             // when a wallet began to show the position
	baseBalance     exchange.Quantity // as last read
	lag             walletLag

	othersEnded exchange.Quantity // units of others that wallets have ceased to show, until one that agrees with a position of botd's own confirms it

	unconfirmedMS        int64 // since when open list and wallet have not both shown the stops of the position; 0 if they do
	unconfirmedOverdrawn bool  // the last stop about that which the exchange refused was for more than the wallet shows as free
	denied               deniedStops
}

// sale is the quantity sold by an order that no placement claims.
type sale struct {
	orderID int64
	filled  exchange.Quantity
}

// AwaitsFreshWallet reports whether a spot symbol's wallet proves nothing yet because it may be older
// than the last fill. Only a little of the time between two snapshots counts, so the next one must come
// soon; otherwise a wrong wallet would go uncontradicted for minutes.
func (o *observedAccount) AwaitsFreshWallet(symbol *SymbolState) bool {
	return o.bounds.StalenessMS > 0 && symbol.Key().Market == exchange.Spot && symbol.spot.walletInconclusive && symbol.Known() != 0
}

// WalletConclusive reports whether the newest snapshot read the wallet late enough after the start and the last fill to show all of botd's sales.
func (o *observedAccount) WalletConclusive(symbol *SymbolState) bool {
	return o.walletRead && symbol.Cause() != record.JournalLost && o.walletFromMS > max(o.bootMS, symbol.FilledMS())+o.bounds.StalenessMS
}

// maxHistoryReads limits the number of rounds that read the order history about an unexplained difference.
const maxHistoryReads = 10

// walletDiffers returns the newest wallet's excess of a spot symbol's asset over the fills; 0 if it is
// not worth an order, or if botd neither holds any of the asset nor may have bought some.
func (o *observedAccount) walletDiffers(symbol *SymbolState) exchange.Quantity {
	unconcerned := symbol.Known() == 0 && len(symbol.live) == 0 && !o.mayHaveBought(symbol)
	if symbol.rules == nil || unconcerned {
		return 0
	}
	by := o.baseBalance(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees()
	if symbol.tooSmallToTrade(by.Abs()) {
		return 0
	}
	return by
}

// mayHaveBought reports whether a refused purchase may have been executed although no list shows it yet.
func (o *observedAccount) mayHaveBought(symbol *SymbolState) bool {
	bounds := o.bounds
	return o.readEndedMS < symbol.RefusedUntilMS(&bounds)
}

// HistorySlackMS is how long before an order's send time the read of its history begins, because clocks differ.
const HistorySlackMS = 60_000

// NeedsOrderHistory reports whether a spot symbol's order history must be read to learn why the
// wallet disagrees with the fills, and from which time.
func (o *observedAccount) NeedsOrderHistory(symbol *SymbolState) (sinceMS int64, ask bool) {
	differs := symbol.missedFor.sinceMS != 0 || symbol.spot.extra.shownFor.sinceMS != 0 || symbol.Suspect()
	if symbol.Key().Market != exchange.Spot || !differs && len(symbol.reappeared) == 0 {
		return 0, false
	}
	return max(0, symbol.HistoryFrom(symbol.spot.replaced.soldFrom(o.salesFrom(symbol)))-HistorySlackMS), true
}

// Suspect reports whether a spot symbol's wallet differs from the fills and the order history,
// which may explain it, has not been read often enough since.
func (s *SymbolState) Suspect() bool {
	return s.spot.difference != 0 && s.spot.historyReads < maxHistoryReads
}

// salesFrom returns the time from which a sale may explain a difference. Until wallet and fills have agreed since the start, that is the last change
// of the position before the start: fills from that time that are booked later do not exclude sales that the journal lacks.
func (o *observedAccount) salesFrom(symbol *SymbolState) int64 {
	if symbol.spot.agreedMS == 0 { // wallet and fills have never agreed since the start
		return cmp.Or(symbol.spot.changedMS, symbol.ChangedMS())
	}
	return symbol.spot.agreedMS - o.bounds.StalenessMS - createdSlackMS
}

// noteBoughtBefore records that a purchase from before the start was booked after it: orders missing from the journal may have sold its result since
// it was sent.
func (t *spotEvidence) noteBoughtBefore(p *account.Placement, bootMS int64) {
	if p.SentMS() < bootMS && (t.changedMS == 0 || p.SentMS() < t.changedMS) {
		t.changedMS = p.SentMS()
	}
}

// noteSoldBefore records that the journal lacks sales, until the wallet shows the position again: a later history may begin after those sales.
func (t *spotEvidence) noteSoldBefore(short, sold bool) {
	t.soldBefore = short && (t.soldBefore || sold)
}

// newestSale returns the id of the newest order of others whose sale has explained a difference; 0 for none. A wallet that shows that sale's result
// also shows the results of their earlier orders, which a list may identify as another botd's only later.
func (t *spotEvidence) newestSale() (id int64) {
	for _, one := range t.sales {
		id = max(id, one.orderID)
	}
	return id
}

// noteWalletAgrees records that wallet and fills agree.
func (s *SymbolState) noteWalletAgrees(atMS int64) {
	if s.Known() != 0 {
		s.spot.othersEnded = 0
	}
	s.spot.agreedMS, s.walletShortfall, s.spot.confirmed = atMS, 0, 0
	s.clearContradiction()
}
