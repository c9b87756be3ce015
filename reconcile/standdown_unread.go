package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// While botd stands down and the open list of spot cannot be read, only the wallet shows the stops of the other botd: it freezes the coins of every
// open sale, whoever placed it. What is free beyond a person's coins has no stop.

// youngerWaitMS is the time after the last open list for which the botd of the later start leaves the missing stops to the other one. Later wallets show
// the coins that those hold.
const youngerWaitMS = 3_000

// MayProtectUnread reports whether the wallet, read with the newest snapshot, shows which coins of a spot symbol no stop holds. Before the first
// complete read since the start it does not: orders that the journal lacks may have sold the position.
func (w *spotWallet) MayProtectUnread(symbol *SymbolState) bool { return w.walletRead && symbol.read }

// protectFree places a stop over the free part of the coins that both botds hold. Nothing is sold at market and nothing is canceled.
func (d spotStops) protectFree() {
	protection := d.desired.Protection
	if !protection.Set || protection.StopLoss.IsZero() || d.book.younger() && d.nowMS-d.book.listed[exchange.Spot].beganMS < youngerWaitMS {
		return
	}
	price := d.protectionPrice(placement.StopLoss, protection.StopLoss)
	if d.pricePassed(placement.StopLoss, price) {
		price = d.stopFromLast(price)
	}
	rules, balance := d.symbol.rules, d.book.Balance(d.symbol.rules.Base)
	own := d.spotPosition().selling(func(p *account.Placement) bool { return d.book.delivery(p).releasedMS != 0 || d.leavesUncovered(p) })
	held := max(own+d.book.sellsUnknown(d.symbol), rules.QuantityOf(balance.Frozen))
	missing := d.book.jointStopQuantity(d.symbol) - held - d.symbol.spot.peer.recentPurchases(d.nowMS)
	free := rules.QuantityOf(balance.Free) - d.symbol.Baseline()
	d.addStop(rules.FloorQuantity(d.withinMaximum(d.withoutRefused(max(0, min(missing, free))))), price)
}
