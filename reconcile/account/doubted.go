package account

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Doubted is a spot order, or a futures opening, that the exchange refused and may have executed anyway. On spot, comparing the wallet with Wallet shows
// whether it did. Wallet is journalled, because a restarted process cannot read the wallet as it was before the order.
type Doubted struct {
	ClientOrderID string
	Purpose       placement.Purpose
	Order         exchange.NewOrder
	SentMS        int64
	RefusedMS     int64
	Wallet        record.Wallet
}

// maxDoubted bounds the number of remembered refused orders.
const maxDoubted = 16

// doubts are the refused orders, oldest first, at most maxDoubted.
type doubts struct{ refused []Doubted }

// Doubted returns the refused orders that may have been executed, oldest first.
func (d *doubts) Doubted() []Doubted { return slices.Clone(d.refused) }

// note records the refusal of a futures opening, or of a spot order whose wallet was read before it was sent.
func (d *doubts) note(p *Placement, atMS int64) {
	if opening := p.order.Market == exchange.Futures && p.purpose.Opens(); !opening && p.wallet.ReadMS == 0 {
		return
	}
	if len(d.refused) == maxDoubted {
		d.refused = slices.Delete(d.refused, 0, 1)
	}
	d.refused = append(d.refused, Doubted{ClientOrderID: p.clientOrderID, Purpose: p.purpose, Order: p.order, SentMS: p.sentMS, RefusedMS: atMS,
		Wallet: p.wallet})
}

// forget drops an order that a list has shown after all.
func (d *doubts) forget(clientOrderID string) {
	id, _, _ := strings.Cut(clientOrderID, "#")
	d.refused = slices.DeleteFunc(d.refused, func(one Doubted) bool { return one.ClientOrderID == id })
}

// decide drops a symbol's orders: the adoption of its position has decided their effect.
func (d *doubts) decide(key exchange.SymbolKey) {
	d.refused = slices.DeleteFunc(d.refused, func(one Doubted) bool { return one.Order.Key() == key })
}
