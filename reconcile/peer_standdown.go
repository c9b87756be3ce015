package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// UnknownOrder returns the client order id of an order that carries this instance's prefix but is not in
// the journal: one seen now, or since a person last rearmed the account, or one that caused a quarantine
// still in force; empty for none. The journal contains the last two, so a start stands down before it
// has read anything. Another botd, or this one with a later journal, may be running (case 15):
// nothing opens, existing orders are neither moved nor canceled, and existing protection is not placed
// again, whoever placed it.
func (p *peer) UnknownOrder() string { return p.unknownOrder.once(p.pass, p.findUnknown) }

// StandsDown reports whether such an order exists.
func (p *peer) StandsDown() bool { return p.UnknownOrder() != "" }

func (p *peer) findUnknown() string {
	if id := p.account.Halted().Unknown; id != "" {
		return id
	}
	for symbol := range p.account.Symbols() {
		if id := symbol.UnknownOrder(); id != "" {
			return id
		}
		if id := p.shownUnknown(symbol); id != "" {
			return id
		}
	}
	return ""
}

// jointProtection protects a position while botd stands down, in addition to the stops of another botd.
type jointProtection struct{ *safeguards }

func (d *safeguards) jointProtection() jointProtection { return jointProtection{d} }

// converge protects the unprotected quantity and leaves existing orders unchanged: two botds
// that both move stops would cancel each other's.
func (d jointProtection) converge() {
	before := len(d.intents)
	d.positionProtection().converge()
	defer d.cancelSoldStops()
	if d.symbol.AtVenue() == 0 && (d.symbol.Key().Market == exchange.Futures || d.tracker.jointStopQuantity(d.symbol) == 0) {
		return // there is no position: this journal's own protection is removed
	}
	stop := d.isProtected(d.stops, exchange.StopMarket, exchange.StopLimit)
	profit := d.isProtected(d.profits, exchange.TakeProfitMarket, exchange.TakeProfitLimit)
	spot := d.symbol.Key().Market == exchange.Spot // a spot stop has a quantity, and only a quantity that no stop sells gets one
	excess := d.symbol.spot.excess.quantity
	protecting := slices.DeleteFunc(slices.Clone(d.intents[before:]), func(i Intent) bool {
		switch i.Purpose {
		case placement.Cancel:
			return !spot || !d.mayRemoveExcessStop(&i, &excess)
		case placement.StopLoss:
			return stop && !spot
		}
		return profit && !spot // a take-profit
	})
	d.intents = append(d.intents[:before], protecting...)
}

// mayProtectPeer reports whether spot stops from before the start may protect the purchases of another botd: the start has forgotten those purchases,
// and a history that omits them proves nothing while the wallet shows the stops' quantity. A stop that was sent after botd's last fill can only protect such
// a purchase, which the balance from before botd bought may include.
func (d jointProtection) mayProtectPeer() bool {
	if d.symbol.Key().Market != exchange.Spot {
		return false
	}
	shown := min(d.tracker.inheritedSince(d.symbol, 0), d.spotPosition().ownBalance())
	if len(d.symbol.spot.peer.orders) == 0 {
		shown = max(shown, min(d.tracker.inheritedSince(d.symbol, d.symbol.FilledMS()+1), d.tracker.baseBalance(d.symbol)))
	}
	return !d.symbol.tooSmallToTrade(shown)
}

// cancelSoldStops removes, on spot, this journal's own stops for quantity that has already been sold: by orders that the journal does not know, as the
// order history and the wallet show. Those orders may sell what they have bought themselves. On futures a stop cannot sell more than the position.
func (d jointProtection) cancelSoldStops() {
	seen := &d.symbol.spot
	if d.symbol.Key().Market != exchange.Spot || seen.walletInconclusive || seen.soldUnknown == 0 || !d.tracker.walletRead || d.desired.Unread {
		return
	}
	recent := func(one peerOrder) bool { return d.nowMS-one.seenMS < peerStopMS }
	if slices.ContainsFunc(seen.peer.orders, recent) {
		return // the list that showed the sale may omit other orders, such as the purchase of the sold quantity
	}
	canceled := func(p *account.Placement) bool { return d.tracker.delivery(p).releasedMS != 0 }
	if excess := min(d.spotPosition().selling(canceled)-d.symbol.jointPosition(), seen.soldUnknown-d.symbol.spot.peer.purchases()); excess > 0 {
		d.spotStops().cancelStops(excess, "orders that the journal does not know have already sold its quantity")
	}
}

// isProtected reports whether an order of one of the types protects the whole position: one of botd's, or one
// with its prefix that the journal does not know.
func (d jointProtection) isProtected(own []*account.Placement, types ...exchange.OrderType) bool {
	side := exchange.Sell
	if d.symbol.Key().Market == exchange.Futures {
		side = exchange.SideOf(-d.symbol.AtVenue())
	}
	covers := func(closes bool, remaining exchange.Quantity) bool {
		return closes || remaining >= d.symbol.position.Abs()
	}
	for _, p := range own {
		o := p.Order()
		if slices.Contains(types, o.Type) && o.Side == side && covers(o.ClosePosition, p.Remaining()) && !d.mayRepeat(p) {
			return true
		}
	}
	return d.tracker.protectedBy(d.symbol, side, covers, types) != ""
}

// protectedBy returns the client order id of an order of the peer that protects the position; empty for none.
func (p *peer) protectedBy(symbol *SymbolState, side exchange.Side, covers func(bool, exchange.Quantity) bool, types []exchange.OrderType) string {
	for _, o := range symbol.foreignOrders() {
		if p.prefixed(o.ClientOrderID) && slices.Contains(types, o.Type) && o.Side == side && o.Reduces() && covers(o.ClosePosition, o.Remaining()) {
			return o.ClientOrderID
		}
	}
	return ""
}

// PeerStop returns, while botd stands down, the client order id of a stop of the peer that protects the position, on spot together with the given quantity
// of botd's own stops; empty for none.
func (t *Tracker) PeerStop(symbol *SymbolState, own exchange.Quantity) (id string) {
	if !t.StandsDown() || symbol.TrustedPosition() == 0 || symbol.rules == nil {
		return ""
	}
	if symbol.Key().Market == exchange.Futures {
		whole := symbol.TrustedVenuePosition()
		if whole == 0 { // others hold as much on the other side
			return ""
		}
		covers := func(closes bool, remaining exchange.Quantity) bool {
			return closes || remaining >= symbol.TrustedPosition().Abs()
		}
		return t.protectedBy(symbol, exchange.SideOf(-whole), covers, []exchange.OrderType{exchange.StopMarket, exchange.StopLimit})
	}
	left := t.jointStopQuantity(symbol) - own
	for _, o := range symbol.foreignOrders() {
		if t.prefixed(o.ClientOrderID) && o.Type.StopLoss() && o.Side == exchange.Sell {
			left, id = left-o.Remaining(), o.ClientOrderID
		}
	}
	if !symbol.tooSmallToTrade(left) {
		return ""
	}
	return id
}

// The stops of two botds together may exceed the position for this long before one of them removes its
// own: first the botd with the later start, then the other if the first does not act.
const (
	excessMS      = 1_500
	excessLastMS  = 10_000
	excessStartMS = 60_000 // after a start, while the wallet shows the units of all these stops
)

// forgotPeer reports whether stops of both from before a recent start cover no more than the wallet shows: the start has forgotten what the peer has bought,
// and a history that omits it proves nothing.
func (d jointProtection) forgotPeer(p *account.Placement) bool {
	return p.SentMS() < d.tracker.bootMS && d.nowMS-d.tracker.bootMS < excessStartMS && d.spotPosition().ownBalance() >= d.tracker.jointSales(d.symbol)
}

// mayRemoveExcessStop reports whether botd's own stop may be removed because stops of the peer replace it,
// as the newest complete read shows. The removed stops never exceed the excess; each removal reduces the
// excess.
func (d jointProtection) mayRemoveExcessStop(i *Intent, excess *exchange.Quantity) bool {
	t, after, p := &d.symbol.spot, int64(excessLastMS), d.tracker.Placement(i.ClientID)
	if d.tracker.startedLater() {
		after = excessMS
	}
	if p == nil || !slices.Contains(d.shrunk, p) || t.excess.sinceMS == 0 || d.nowMS-t.excess.sinceMS < after ||
		d.symbol.unread || d.desired.Unread || d.unsettled || d.forgotPeer(p) {
		return false
	}
	left := *excess - p.Remaining()
	if !d.symbol.tooSmallToTrade(-left) {
		return false
	}
	*excess = left
	return true
}

// While botd stands down and the open list of spot cannot be read, only the wallet shows the stops of the other botd: it freezes the units of every
// open sale, whoever placed it. What is free beyond a person's units has no stop.

// laterStartWaitMS is the time after the last open list for which the botd of the later start leaves the missing stops to the other one. Later wallets show
// the units that those hold.
const laterStartWaitMS = 3_000

// recentWalletMS is the age up to which an earlier wallet shows which units no stop holds, while the open list is read and the wallet is not.
const recentWalletMS = 5_000

// MayProtectUnread reports whether the newest snapshot shows which units of a spot symbol no stop holds: by its wallet, or by its open list, which shows the
// stops since a recent wallet. Before the first complete read since the start it does not: orders that the journal lacks may have sold the position.
func (o *observedAccount) MayProtectUnread(symbol *SymbolState) bool {
	listed := o.listed[exchange.Spot].beganMS == o.readBeganMS && o.readBeganMS-o.walletFromMS <= recentWalletMS
	return symbol.read && (o.walletRead || listed)
}

// protectFree places a stop over the free part of the units that both botds hold. Nothing is sold at market and nothing is canceled.
func (d spotStops) protectFree() {
	protection := d.desired.Protection
	if !protection.Set || protection.StopLoss.IsZero() || d.tracker.startedLater() && d.nowMS-d.tracker.listed[exchange.Spot].beganMS < laterStartWaitMS {
		return
	}
	price := d.protectionPrice(placement.StopLoss, protection.StopLoss)
	if d.pricePassed(placement.StopLoss, price) {
		price = d.stopFromLast(price)
	}
	rules, balance := d.symbol.rules, d.tracker.Balance(d.symbol.rules.Base)
	own := d.spotPosition().selling(func(p *account.Placement) bool { return d.tracker.delivery(p).releasedMS != 0 || d.leavesUncovered(p) })
	held := max(own+d.tracker.sellsUnknown(d.symbol), rules.QuantityOf(balance.Frozen))
	missing := d.tracker.jointStopQuantity(d.symbol) - held - d.symbol.spot.peer.recentPurchases(d.nowMS)
	free := rules.QuantityOf(balance.Free) - d.symbol.Baseline()
	d.addStop(rules.FloorQuantity(d.withinMaximum(d.withoutRefused(max(0, min(missing, free))))), price)
}
