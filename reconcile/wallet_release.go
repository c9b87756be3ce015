package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// On spot a stop holds the asset that it would sell. The asset is free as soon as the cancel is answered
// with CANCELED, whatever an earlier or possibly outdated wallet read shows. The stop's replacement is
// therefore sent after that answer without waiting for a list, which may be wrong or late.

// releasedBalance is the quantity of a symbol's asset that botd's own order held until a cancel freed it.
type releasedBalance struct {
	atMS     int64
	quantity exchange.Quantity
}

// The delay after the answer to a stop's cancel until its asset counts as free: an exchange may free it
// later than it answers. If the exchange refuses the next stop, that one is sent again; a refused exit
// would have to wait for the lists.
const (
	ReleaseMS     = 400
	ExitReleaseMS = 1_000
)

// Unlisted reports whether the newest open list, which began after an order was sent and answered, does
// not show the order.
func (t *Tracker) Unlisted(p *account.Placement) bool {
	list := t.listed[p.Order().Market]
	return p.OrderID() != 0 && list.beganMS > t.arrivedMS(p) && !list.shows(p.OrderID())
}

// shows reports whether the list contains an order, at least as an unreadable row.
func (l *openList) shows(orderID int64) bool {
	return slices.Contains(l.unread, orderID) || slices.ContainsFunc(l.orders, func(o exchange.Order) bool { return o.ID == orderID })
}

// NoteCancelRefused records that the exchange refused to cancel an order.
func (t *Tracker) NoteCancelRefused(clientOrderID string, atMS int64) {
	p := t.Placement(clientOrderID)
	if p == nil {
		return
	}
	t.noteUnable(clientOrderID, atMS)
	if canceledBefore(t, p) {
		t.release(clientOrderID, cmp.Or(t.delivery(p).canceledMS, atMS))
		return
	}
	if p.Order().Market == exchange.Spot && p.Purpose() == placement.StopLoss && p.Order().Type == exchange.StopLimit {
		t.Symbol(p.Symbol()).spot.cancelRefusedMS = atMS
	}
}

// canceledBefore reports whether a spot stop has ended although a list shows it. Either the exchange has answered that it canceled the stop, and a wallet
// read since then freezes nothing for it: two witnesses against one. Or the stop is from before the start, which forgets such answers, the exchange refuses to
// cancel it again, and the wallet freezes less than the listed sales need. Then the list is old, and nobody else has canceled the stop.
func canceledBefore(t *Tracker, p *account.Placement) bool {
	known, symbol := t.delivery(p), t.Symbol(p.Symbol())
	switch {
	case symbol.rules == nil:
		return false
	case known.canceledMS != 0:
		on := t.inputs(&Desired{}, symbol, 0)
		held := on.saleEvidence().balanceAfterSales(symbol.rules.QuantityOf(t.Balance(symbol.rules.Base).Frozen))
		if known.releasedMS == 0 {
			held += p.Remaining()
		}
		return t.walletFromMS > known.canceledMS && held < p.Remaining()
	}
	return known.unableMS != 0 && forgetsCancel(t, p) && t.freezesLess(symbol)
}

// hasEnded reports whether an order that the open list does not show has ended in any way: the
// exchange refused to cancel it, or the wallet freezes nothing for it.
func (t *Tracker) hasEnded(p *account.Placement) bool {
	at := t.delivery(p).unableMS
	return t.Unlisted(p) && (at != 0 && t.listed[p.Order().Market].beganMS > at || t.delivery(p).unfrozen)
}

// ReleasedMS returns when the last of a symbol's spot stops was released, among those whose end no list has
// shown yet; 0 for none.
func (t *Tracker) ReleasedMS(key exchange.SymbolKey) (atMS int64) {
	for _, p := range t.Symbol(key).live {
		atMS = max(atMS, t.delivery(p).releasedMS)
	}
	return atMS
}

// maxRemembered limits each list of remembered facts about ended spot orders: their releases and their refusals.
const maxRemembered = 64

// NoteReleased records the answer to a cancel. It reports whether the answer proves that a spot stop has
// ended without an unknown fill, so that another order may replace it. The lists decide how the stop
// ended.
func (t *Tracker) NoteReleased(clientOrderID string, order *exchange.Order, atMS int64) bool {
	p := t.Placement(clientOrderID)
	if p == nil || p.Order().Market != exchange.Spot || p.Purpose() != placement.StopLoss || p.Order().Type != exchange.StopLimit ||
		order.ID != p.OrderID() || order.Status != exchange.StatusCanceled || order.Filled != p.Filled() {
		return false
	}
	t.noteFreed(p, atMS)
	t.noteCanceled(clientOrderID, atMS)
	return true
}

// noteFreed records that a canceled spot sale no longer holds anything.
func (t *Tracker) noteFreed(p *account.Placement, atMS int64) {
	order := p.Order()
	left := order.Quantity - p.Filled() // an ended placement has no remainder
	if order.Market != exchange.Spot || order.Side != exchange.Sell || p.OrderID() == 0 || left <= 0 || t.delivery(p).releasedMS != 0 {
		return
	}
	spot := &t.Symbol(p.Symbol()).spot
	if len(spot.freed) == maxRemembered {
		spot.freed = slices.Delete(spot.freed, 0, 1)
	}
	spot.freed = append(spot.freed, releasedBalance{atMS, left})
}

// spotEnded remembers ended spot placements, the newest of each kind.
type spotEnded struct {
	purposes  []endedSale     // of sales, oldest first
	purchases []endedPurchase // oldest first
}

// endedSale is the purpose of an ended spot sale.
type endedSale struct {
	clientOrderID string
	purpose       placement.Purpose
}

// endedPurchase is an ended spot purchase with a known exchange order.
type endedPurchase struct {
	clientOrderID string
	order         exchange.NewOrder
	sentMS        int64
}

// noteEnded remembers the purpose of a spot sale: the exchange may execute it a second time, and an exit
// does not count as one of the plan's resting exits. It also remembers purchases.
func (e *spotEnded) noteEnded(p *account.Placement) {
	if p.Order().Market != exchange.Spot {
		return
	}
	if p.Order().Side == exchange.Buy {
		if p.OrderID() == 0 {
			return // it was decided without an exchange order: an order seen now is not a repetition
		}
		if len(e.purchases) == maxRemembered {
			e.purchases = slices.Delete(e.purchases, 0, 1)
		}
		e.purchases = append(e.purchases, endedPurchase{p.ClientOrderID(), p.Order(), p.SentMS()})
		return
	}
	if len(e.purposes) == maxRemembered {
		e.purposes = slices.Delete(e.purposes, 0, 1)
	}
	e.purposes = append(e.purposes, endedSale{p.ClientOrderID(), p.Purpose()})
}

// purposeOf returns the purpose of a spot sale, live or just ended, or zero if it is unknown.
func (t *Tracker) purposeOf(clientOrderID string) placement.Purpose {
	if p := t.Placement(clientOrderID); p != nil && p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell {
		return p.Purpose()
	}
	return t.endedPurpose(clientOrderID)
}

// endedPurpose returns the purpose of a sale that has just ended, or zero if unknown.
func (e *spotEnded) endedPurpose(clientOrderID string) placement.Purpose {
	for _, one := range e.purposes {
		if one.clientOrderID == clientOrderID {
			return one.purpose
		}
	}
	return 0
}

// noteRefusedStop records when the exchange refused a spot stop, and whether that was for more than the wallet shows as free. If it was, the wallet may be
// right, and the next stop is limited to it; if it was not, the refusal shows nothing about the wallet, and the next stop is for all again.
func (t *Tracker) noteRefusedStop(p *account.Placement, atMS int64) {
	symbol := t.Symbol(p.Symbol())
	if p.Order().Market != exchange.Spot || p.Order().Type != exchange.StopLimit || symbol.rules == nil {
		return
	}
	overdrawn := p.Order().Quantity > symbol.rules.QuantityOf(t.Balance(symbol.rules.Base).Free)
	if p.Key() == UnconfirmedKey {
		symbol.spot.unconfirmedOverdrawn = overdrawn
		return
	}
	symbol.spot.stopRefusedMS, symbol.spot.overdrawn = atMS, overdrawn
}
