package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// A process may end between the exchange's answer that it canceled a stop and the record of the next stop. The start does not know of that answer, and an
// old open list still shows the stop. The wallet shows that it has ended: it shows all units, and freezes less than the listed sales need, by exactly this
// stop. Next to a person's units no other stop is sent on that evidence alone, so botd cancels the stop once more, and the exchange decides: if it rested, it
// is placed again.

// forgottenCancelMS is the time after a start for which such a stop is looked for.
const forgottenCancelMS = 30_000

// forgetsCancel reports whether a spot stop is from before a recent start of the only botd, so that an answer to its cancel may be forgotten, and the
// newest wallet shows all units, so that nothing was sold.
func forgetsCancel(t *Tracker, p *account.Placement) bool {
	symbol := t.Symbol(p.Symbol())
	if symbol.rules == nil || t.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees() {
		return false
	}
	return p.Order().Type == exchange.StopLimit && p.Purpose() == placement.StopLoss && p.OrderID() != 0 && p.SentMS() < t.bootMS &&
		t.readBeganMS < t.bootMS+forgottenCancelMS && !t.StandsDown() && !t.HasUnnamedPeer()
}

// cancelForgotten cancels such a stop once more: the oldest one that is not at the price, because botd was moving that stop.
func (d spotStops) cancelForgotten(price exchange.Price) {
	if !d.tracker.walletRead || d.desired.Unread || !d.desired.Bridge || d.nowMS-d.tracker.bootMS <= unconfirmedWaitMS {
		return
	}
	var likeliest *account.Placement
	for _, p := range d.stops {
		if p.Remaining() == d.tracker.listedUnfrozen(d.symbol) && d.placeable(p.Remaining()) && forgetsCancel(d.tracker, p) &&
			d.tracker.readAfter(p.SentMS()+d.tracker.Bounds().StalenessMS) && (likeliest == nil || likeliest.Order().StopPrice == price) {
			likeliest = p
		}
	}
	if likeliest != nil {
		d.cancel(likeliest, "the wallet freezes nothing for it")
	}
}
