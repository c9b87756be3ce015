package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// On spot the wallet is the list that may be wrong. The witness for a shortfall against botd's own fills
// is a sale in the order history that no placement claims. An excess may come from an order that the
// exchange executed despite its refusal, or twice; the order history is read for that too.

const spotContradiction = "the wallet holds less than botd's own fills explain, and the order history shows no sale that botd did not make"

// spotEvidence is the evidence about a spot symbol's asset other than the newest wallet.
type spotEvidence struct {
	agreedMS         int64             // when wallet and fills last agreed
	changedMS        int64             // when a position from before the start last changed; 0 without such a position
	soldBefore       bool              // wallet and history show that orders missing from the journal have sold that position
	sales            []sale            // sales by others that explained an earlier difference
	extra            persistence       // how long a wallet excess worth an order has persisted
	extraOf          exchange.Quantity // that excess
	freed            []releasedBalance // quantities held by own orders until they were canceled, oldest first
	difference       exchange.Quantity // difference between the newest wallet and the fills, if worth an order
	asked            int               // number of rounds that have read the order history about it
	presumed         exchange.Quantity // quantity of an unlisted purchase, as far as the wallet shows it, without the booked part
	undecided        exchange.Quantity // the maximum of that by any later wallet: one that shows less does not prove that it is gone
	shown            exchange.Quantity // maximum that a wallet has shown beyond the fills while such a purchase was undecided, whoever bought it
	secondBuyer      int64             // newest purchase in the form of botd's that no placement claims
	others           []exchange.Order  // purchases that no placement claims, from histories
	inconclusive     bool              // the newest wallet proves nothing: it may be older than the last fill, or an order is uncertain
	inherited        exchange.Quantity // quantity of stops from before the start that only the wallet explains
	inheritedFor     persistence       // how long that has persisted
	inheritedDecided bool              // a person, or a policy, has decided about them
	beforeSale       priorBalance      // the wallet before the last effective sale was sent
	ended            formerPurchase    // the newest purchase that has ended

	replaced replacedStops

	cancelRefusedMS int64 // when the exchange last refused to cancel a stop
	overdrawn       bool  // the exchange refused a stop for more than the wallet shows

	soldElsewhere exchange.Quantity // part of the wallet's shortfall that unclaimed sales explain, by the newest history

	confirmed   exchange.Quantity // the wallet's shortfall that sales by others explain, on a symbol that is quarantined for another reason
	soldUnknown exchange.Quantity // sales in the order history by orders with this instance's prefix that no placement claims

	peer        peerTrades
	heldMS      int64             // when a wallet began to show the position
	excess      exchange.Quantity // quantity by which own and the other botd's stops exceed the position
	excessMS    int64             // since when they exceed it; 0 if they do not
	baseBalance exchange.Quantity // as last read
	lag         walletLag
}

// sale is the quantity sold by an order that no placement claims.
type sale struct {
	orderID int64
	filled  exchange.Quantity
}

// maxSales bounds the number of remembered sales.
const maxSales = 64

// AwaitsFreshWallet reports whether a spot symbol's wallet proves nothing yet because it may be older
// than the last fill. Only a little of the time between two snapshots counts, so the next one must come
// soon; otherwise a wrong wallet would go uncontradicted for minutes.
func (o *observedAccount) AwaitsFreshWallet(symbol *SymbolState) bool {
	return o.settle.StalenessMS > 0 && symbol.Key().Market == exchange.Spot && symbol.spot.inconclusive && symbol.Known() != 0
}

// WalletConclusive reports whether the newest snapshot read the wallet late enough after the start and the last fill to show all of botd's sales.
func (o *observedAccount) WalletConclusive(symbol *SymbolState) bool {
	return o.walletRead && symbol.Cause() != record.JournalLost && o.walletFromMS > max(o.bootMS, symbol.FilledMS())+o.settle.StalenessMS
}

// maxHistoryReads limits the number of rounds that read the order history about an unexplained difference.
const maxHistoryReads = 10

// noteDifference records that a wallet differs from the fills, however old the wallet may be: the order
// history is evidence by itself, and a missing stop must be placed at once.
func (s walletComparison) noteDifference(symbol *SymbolState) {
	t := &symbol.spot
	switch by := s.book.walletDiffers(symbol); {
	case by == 0:
		t.difference, t.asked = 0, 0
	case by != t.difference:
		t.difference, t.asked = by, 0
	default:
		t.asked++
	}
}

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
	settle := o.settle
	return o.observedMS < symbol.RefusedUntilMS(&settle)
}

// HistorySlackMS is how long before an order's send time the read of its history begins, because clocks differ.
const HistorySlackMS = 60_000

// NeedsOrderHistory reports whether a spot symbol's order history must be read to learn why the
// wallet disagrees with the fills, and from which time.
func (o *observedAccount) NeedsOrderHistory(symbol *SymbolState) (sinceMS int64, ask bool) {
	if symbol.Key().Market != exchange.Spot || symbol.missedFor.sinceMS == 0 && symbol.spot.extra.sinceMS == 0 && !symbol.Suspect() {
		return 0, false
	}
	return max(0, o.salesFrom(symbol)-HistorySlackMS), true
}

// Suspect reports whether a spot symbol's wallet differs from the fills and the order history,
// which may explain it, has not been read often enough since.
func (s *SymbolState) Suspect() bool {
	return s.spot.difference != 0 && s.spot.asked < maxHistoryReads
}

// salesFrom returns the time from which a sale may explain a difference. Until wallet and fills have agreed since the start, that is the last change
// of the position before the start: fills from that time that are booked later do not exclude sales that the journal lacks.
func (o *observedAccount) salesFrom(symbol *SymbolState) int64 {
	if symbol.spot.agreedMS == 0 { // wallet and fills have never agreed since the start
		return cmp.Or(symbol.spot.changedMS, symbol.ChangedMS())
	}
	return symbol.spot.agreedMS - o.settle.StalenessMS - createdSlackMS
}

// noteBoughtBefore records that a purchase from before the start was booked after it: orders missing from the journal may have sold its result since
// it was sent.
func (t *spotEvidence) noteBoughtBefore(p *account.Placement, bootMS int64) {
	if p.SentMS() < bootMS && (t.changedMS == 0 || p.SentMS() < t.changedMS) {
		t.changedMS = p.SentMS()
	}
}

// lacksSales reports whether the wallet lacks the quantity of a position from before the start, and whether the history shows unclaimed sales of at
// least that quantity: then the journal lacks those sales. The wallet alone may be older than the position.
func (e walletEvidence) lacksSales(symbol *SymbolState) (short, sold bool) {
	missing := symbol.Known() - symbol.Fees() + symbol.Baseline() - e.book.baseBalance(symbol)
	if symbol.tooSmallToTrade(missing) {
		return false, false
	}
	_, sum := e.salesOfOthers(symbol)
	return true, symbol.spot.changedMS != 0 && sum >= missing
}

// noteSoldBefore records that the journal lacks sales, until the wallet shows the position again: a later history may begin after those sales.
func (t *spotEvidence) noteSoldBefore(short, sold bool) {
	t.soldBefore = short && (t.soldBefore || sold)
}

// salesOfOthers returns the quantity that orders which no placement claims have sold since wallet and fills last agreed. A change of the position is
// booked after the read that showed it, and that read may have missed a sale of the same moment.
func (e walletEvidence) salesOfOthers(symbol *SymbolState) (sales []sale, sum exchange.Quantity) {
	from := e.book.salesFrom(symbol)
	if symbol.spot.agreedMS == 0 {
		from -= createdSlackMS
	}
	for _, list := range [...]exchange.Fetched[exchange.Order]{e.fetched.SpotOrders, e.fetched.History} {
		if !list.Done() {
			continue
		}
		for i := range list.Items() {
			o := &list.Items()[i]
			counted := slices.ContainsFunc(sales, func(one sale) bool { return one.orderID == o.ID })
			if o.Key() == symbol.Key() && o.Side == exchange.Sell && o.Filled > 0 && o.CreatedMS >= from && !counted && !e.claimed(o) {
				sales = append(sales, sale{o.ID, o.Filled})
			}
		}
	}
	for _, one := range sales {
		sum += one.filled
		for _, before := range symbol.spot.sales {
			if before.orderID == one.orderID {
				sum -= before.filled
			}
		}
	}
	return sales, sum
}

// newestSale returns the id of the newest order of others whose sale has explained a difference; 0 for none. A wallet that shows that sale's result
// also shows the results of their earlier orders, which a list may identify as another botd's only later.
func (t *spotEvidence) newestSale() (id int64) {
	for _, one := range t.sales {
		id = max(id, one.orderID)
	}
	return id
}

// noteSoldUnknown records sales in the order history by orders with this instance's prefix that no
// placement claims: the journal is older than they are.
func (s otherBotds) noteSoldUnknown(symbol *SymbolState) {
	rows := s.fetched.Newest
	if s.fetched.History.Done() {
		rows = slices.Concat(rows, s.fetched.History.Items())
	}
	var counted []int64
	sum := exchange.Quantity(0)
	for i := range rows {
		o := &rows[i]
		if o.Key() == symbol.Key() && o.Side == exchange.Sell && s.book.prefixed(o.ClientOrderID) && !slices.Contains(counted, o.ID) && !s.claimed(o) {
			counted, sum = append(counted, o.ID), sum+o.Filled
		}
	}
	symbol.spot.soldUnknown = max(symbol.spot.soldUnknown, sum)
}

// decideShortWallet decides a wallet shortfall against the fills: with a witness the policy applies,
// without one the wallet is contradicted.
func (s walletComparison) decideShortWallet(symbol *SymbolState, short exchange.Quantity) {
	if s.book.StandsDown() { // the journal lacks orders, and the sale may be one of them
		symbol.short = -short
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
		symbol.short = -short
	case symbol.contradicted != "" || symbol.missedFor.exceeds(s.book.Settle().StalenessMS):
		symbol.short = -short // no more is sold than the wallet shows
		symbol.declare(spotContradiction, s.fetched.EndedMS)
	}
}

// noteWalletAgrees records that wallet and fills agree.
func (s *SymbolState) noteWalletAgrees(atMS int64) {
	s.spot.agreedMS, s.short, s.spot.overdrawn, s.spot.confirmed = atMS, 0, false, 0
	s.clearContradiction()
}

// possibleOwnChange returns the size of a wallet change that an own order may have caused although botd has no position: any excess, or a shortfall soon after
// the last sale, because the exchange may have executed that sale twice.
func (e walletEvidence) possibleOwnChange(symbol *SymbolState, more exchange.Quantity) exchange.Quantity {
	settle := e.book.Settle()
	if more < 0 && e.fetched.BeganMS < symbol.FilledMS()+settle.WindowMS+settle.VisibilityMS+settle.StalenessMS {
		return -more
	}
	return more
}

// awaitsHistory reports whether to wait for the order history, because the wallet's excess over the fills is
// worth an order and the history has not been read about it for long enough.
func (s walletComparison) awaitsHistory(symbol *SymbolState, more exchange.Quantity) (wait bool) {
	t := &symbol.spot
	settle := s.book.Settle()
	if settle.StalenessMS == 0 || symbol.tooSmallToTrade(more) {
		t.extra, t.extraOf = persistence{}, 0
		return false
	}
	if more == t.extraOf && t.extra.sinceMS == 0 {
		return false // the history has been read: the excess is foreign
	}
	if more != t.extraOf {
		t.extra.reset()
	}
	t.extraOf = more
	if t.extra.extend(s.fetched); t.extra.exceeds(max(settle.StalenessMS, stableGapMS)) {
		t.extra.reset()
		return false
	}
	return true
}

// observeExtra handles an order in the history under an id of botd's that no placement claims, or whose
// placement was refused: the exchange executed it despite its refusal, or twice. Its fill counts as
// botd's, is protected and limited as such, and needs manual resolution.
func (s orderRows) observeExtra(order *exchange.Order) {
	order = s.unclaimedRows().repetition(order)
	_, ended := s.book.Ended(order.ClientOrderID)
	live := s.book.Placement(order.ClientOrderID)
	claimed := live != nil && (live.OrderID() == 0 || live.OrderID() == order.ID)
	if order.ClientOrderID == "" || order.Filled == 0 || claimed || !ended && live == nil || s.leftToOwner(order) {
		return
	}
	if _, _, known := s.book.EndedAs(order.Key(), order.ID); known || s.book.Known(duplicateID(order)) {
		return
	}
	s.observeDuplicate(order)
	s.quarantineFor(s.book.Track(order.Key()), record.ExecutedBeyond,
		"the exchange executed "+order.ClientOrderID+" although it was refused or had already been executed: order "+duplicateID(order))
}
