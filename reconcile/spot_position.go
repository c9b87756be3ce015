package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// spotPosition determines how much of a spot symbol's asset is botd's to protect and to sell, by fills, wallet, and the orders of others; and how much of
// that orders already sell.
type spotPosition struct{ *inputs }

func (s *inputs) spotPosition() spotPosition { return spotPosition{s} }

// toProtect returns the spot position that stops protect. While a wallet is contradicted, that is
// the quantity that the fills explain, because only that wallet shows that some of it was sold. The
// result of a purchase that no list shows counts as far as the wallet shows it.
func (s spotPosition) toProtect() exchange.Quantity {
	if s.tracker.StandsDown() {
		return s.tracker.jointStopQuantity(s.symbol) - s.tracker.sellsUnknown(s.symbol) - s.neverListed() - s.unnamedStops()
	}
	switch {
	case s.walletBounds():
		return s.withinWallet(s.explainedByFills() + s.symbol.spot.unlisted.inferred)
	case s.walletDecides():
		return s.explainedByFills() + s.symbol.spot.unlisted.inferred
	case s.symbol.contradicted == "" && s.symbol.Quarantine() == "":
		return s.ownPosition + s.symbol.spot.unlisted.inferred
	}
	return s.explainedByFills()
}

// neverListed returns the peer's purchases if no list has shown an open sale of the peer, and the wallet freezes all of them beyond the known sales: the
// list omits the peer's stop.
func (s spotPosition) neverListed() exchange.Quantity {
	peer := &s.symbol.spot.peer
	frozen := s.saleEvidence().frozenForOthers() - s.tracker.sellsOfOthers(s.symbol)
	if !s.tracker.walletRead || peer.saleListed || s.tracker.sellsUnknown(s.symbol) != 0 || frozen < peer.net() {
		return 0
	}
	return max(0, peer.net())
}

// explainedByFills returns the spot position that fills explain, without the quantity that orders
// unknown to the journal may sell, or have sold according to wallet and order history.
func (s spotPosition) explainedByFills() exchange.Quantity {
	return max(0, s.symbol.Known()-s.symbol.Fees()-s.tracker.sellsUnknown(s.symbol)-s.symbol.spot.confirmed)
}

// withinWallet caps a quantity at the newest wallet's balance beyond foreign holdings. The wallet may be older
// than the last sale, which the fills already contain.
func (s spotPosition) withinWallet(quantity exchange.Quantity) exchange.Quantity {
	baseBalance := s.symbol.rules.FloorQuantity(s.tracker.baseBalance(s.symbol))
	return max(0, min(quantity, baseBalance-s.symbol.Baseline()-s.tracker.sellsUnknown(s.symbol)))
}

// ownBalance returns botd's share of the balance in the newest wallet.
func (s spotPosition) ownBalance() exchange.Quantity {
	return max(0, s.tracker.baseBalance(s.symbol)-s.symbol.Baseline())
}

// missingInWallet returns the quantity that fills explain, or that an unlisted purchase has bought, and that the wallet does not show. While botd stands
// down, and the wallet does not limit stops, that includes the peer's units.
func (s spotPosition) missingInWallet() exchange.Quantity {
	all := s.explainedByFills()
	switch {
	case s.tracker.StandsDown() && s.tracker.walletUntrusted(s.symbol):
		all = max(all, s.symbol.jointFills()-s.tracker.sellsUnknown(s.symbol))
	case s.symbol.contradicted == "":
		all += s.symbol.spot.unlisted.inferred
	}
	missing := all - s.withinWallet(all)
	if s.walletDecides() {
		return missing
	}
	own := s.tracker.baseBalance(s.symbol) - s.symbol.Baseline() - s.symbol.Unattributed() // purchases by others do not hide a missing part
	return max(missing, min(all, all-own))
}

// selling returns the quantity that stops and exits may still sell, without those that may be replaced.
// A quantity that fills explain and the wallet lacks may have been sold by the orders that the open list
// does not show: it is not counted twice.
func (s spotPosition) selling(replaced func(*account.Placement) bool) (sum exchange.Quantity) {
	unlisted, finished, fallen := exchange.Quantity(0), exchange.Quantity(0), exchange.Quantity(0)
	for _, p := range slices.Concat(s.stops, s.targetOrders) {
		switch {
		case p.Purpose() == placement.Entry || replaced(p):
		case s.tracker.hasEnded(p):
			finished += p.Remaining()
			if before := s.tracker.delivery(p).before; before.atMS != 0 && s.tracker.walletRead {
				fallen = max(fallen, before.asset-s.tracker.baseBalance(s.symbol))
			}
		case s.tracker.Unlisted(p):
			unlisted += p.Remaining()
		default:
			sum += p.Remaining()
		}
	}
	missing := s.missingInWallet()
	switch { // where the wallet limits what is to be protected, the missing quantity is not part of that, but what a person's units hide of a sale is
	case s.walletDecides():
		sum += max(0, min(finished, fallen)-missing)
		return sum + unlisted - min(unlisted, max(0, missing-s.tracker.soldThoughRefused(s.symbol.Key())))
	case s.tracker.StandsDown() && !s.tracker.walletUntrusted(s.symbol):
		return sum + unlisted - min(unlisted, missing)
	}
	return sum + unlisted + min(finished, max(0, missing-unlisted))
}

// restingExits returns the quantity that the plan's resting exits still hold: a stop waits for their cancels.
func (s spotPosition) restingExits() (sum exchange.Quantity) {
	for _, p := range s.keyedOrders {
		if p.Purpose() == placement.ExitOrder {
			sum += p.Remaining()
		}
	}
	return sum
}

// walletDecides reports whether the wallet limits the protected quantity: it does in a quarantine, because fills may be missing from the journal, but not
// after ExecutedBeyond, because then no fill is missing.
func (s spotPosition) walletDecides() bool {
	return s.symbol.Quarantine() != "" && s.symbol.Cause() != record.ExecutedBeyond
}

// walletBounds reports whether a new stop may cover no more than the wallet shows. A wallet that freezes less than the open orders require is wrong,
// unless sales by others confirm it.
func (s spotPosition) walletBounds() bool {
	return s.walletDecides() && (s.soldByOthers() || !s.tracker.walletWrong(s.symbol))
}

// soldByOthers reports whether the symbol is quarantined and the order history also shows that others have sold.
func (s spotPosition) soldByOthers() bool {
	return s.symbol.Quarantine() != "" && (s.symbol.Cause() == record.SoldByOthers || s.symbol.spot.confirmed > 0)
}

// unsoldByPeer returns the part of botd's position that exits by plan may sell. While botd stands down on spot, a peer with a copy of the journal may have
// sold the rest: the part of its sales that no listed purchase of its own explains. A deposit, or a purchase that no list shows, hides this from the
// wallet. Stops cover that part all the same, and a person decides.
func (s spotPosition) unsoldByPeer() exchange.Quantity {
	if s.symbol.Key().Market != exchange.Spot || s.desired.Flatten || !s.tracker.StandsDown() {
		return s.ownPosition
	}
	return min(s.ownPosition, max(0, s.symbol.ownOnSpot()+min(0, s.symbol.spot.peer.net())))
}

// unclaimedSales returns the part of the wallet's shortfall that another botd has sold, according to the newest history, until the shortfall is
// decided.
func (s spotPosition) unclaimedSales() exchange.Quantity {
	if !s.tracker.idsLeftOut || s.symbol.walletShortfall != 0 || s.desired.Flatten {
		return 0
	}
	return s.symbol.spot.unclaimedSales
}

// leftByPeer returns the part of a quantity that an exit by plan may sell: what a peer has sold, by the newest history or wallet, and what the wallet
// freezes for its orders, is not sold a second time. No stop is canceled for that part: it stays protected, and a person decides.
func (s spotPosition) leftByPeer(quantity exchange.Quantity) exchange.Quantity {
	if quantity <= 0 || s.symbol.Key().Market != exchange.Spot || s.desired.Flatten {
		return quantity
	}
	quantity = max(0, quantity-s.unclaimedSales())
	if s.tracker.walletRead && (s.tracker.StandsDown() || s.tracker.mayHaveUnnamedPeer()) {
		own := s.ownBalance()
		if s.tracker.StandsDown() {
			own -= s.symbol.spot.peer.heldByPersons(s.symbol.Unattributed())
		}
		quantity = min(quantity, max(0, own-s.saleEvidence().frozenForOthers()))
	}
	return quantity
}

// canceledByOthersWaitMS is the time for which botd does not replace botd's own stop that another party has canceled, if lists omit ids:
// another botd with a copy of the journal may be selling the stop's quantity, which wallet and order history show within that time.
const canceledByOthersWaitMS = 3_000

// recentlyCanceled returns the quantity of own stops that another party has canceled within that time.
func (s spotPosition) recentlyCanceled() (sum exchange.Quantity) {
	for _, one := range s.symbol.spot.replaced.canceled {
		if s.tracker.idsLeftOut && s.nowMS < one.untilMS-repeatedMS+canceledByOthersWaitMS {
			sum += one.quantity
		}
	}
	return sum
}

// peerStopPending returns the quantity that another botd has bought so recently that its stop may not be visible yet. Its sell orders first count
// against its older position.
func (s spotPosition) peerStopPending() exchange.Quantity {
	recent := s.symbol.spot.peer.recentPurchases(s.nowMS)
	before := max(0, s.tracker.jointStopQuantity(s.symbol)-max(0, s.symbol.ownOnSpot())-recent)
	return max(0, recent-max(0, s.tracker.sellsUnknown(s.symbol)-before))
}

// unnamedStops returns the quantity of stops without a client order id that may belong to another botd: lists that omit ids do not show who placed
// them. A protective order is not placed a second time, whoever placed the first.
func (s spotPosition) unnamedStops() (sum exchange.Quantity) {
	for i := range s.symbol.foreign {
		if o := &s.symbol.foreign[i]; o.Side == exchange.Sell && o.ClientOrderID == "" && o.Type.StopLoss() && !s.symbol.spot.replaced.includes(o.ID) {
			sum += o.Remaining()
		}
	}
	return min(sum, max(0, s.tracker.jointStopQuantity(s.symbol)-max(0, s.symbol.ownOnSpot())-s.tracker.sellsUnknown(s.symbol)))
}
