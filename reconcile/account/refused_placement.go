package account

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// RefusedPlacement is a spot order, or an opening or exit on futures, that the exchange refused and may have executed anyway. On spot, comparing the
// wallet with Funds shows whether it did. Funds are journalled, because a restarted process cannot read the wallet as it was before the order.
type RefusedPlacement struct {
	ClientOrderID string
	Purpose       placement.Purpose
	Order         exchange.NewOrder
	SentMS        int64
	RefusedMS     int64
	Funds         record.Funds
}

// maxRefusedPlacements bounds the number of remembered refused orders.
const maxRefusedPlacements = 16

// refusedPlacements are the refused orders, oldest first, at most maxRefusedPlacements.
type refusedPlacements struct{ refused []RefusedPlacement }

// RefusedPlacements returns the refused orders that may have been executed, oldest first.
func (r *refusedPlacements) RefusedPlacements() []RefusedPlacement { return slices.Clone(r.refused) }

// note records the refusal of an opening or exit on futures, or of a spot order whose wallet was read before it was sent. Of the exits of a futures
// symbol only the newest counts, so that an exit that is refused again and again displaces no opening.
func (r *refusedPlacements) note(p *Placement, atMS int64) {
	onFutures := p.order.Market == exchange.Futures && (p.purpose.Opens() || p.purpose == placement.Exit)
	if !onFutures && p.funds.ReadMS == 0 {
		return
	}
	if onFutures && p.purpose == placement.Exit {
		r.refused = slices.DeleteFunc(r.refused, func(one RefusedPlacement) bool {
			return one.Purpose == placement.Exit && one.Order.Key() == p.order.Key()
		})
	}
	if len(r.refused) == maxRefusedPlacements {
		r.refused = slices.Delete(r.refused, 0, 1)
	}
	r.refused = append(r.refused, RefusedPlacement{ClientOrderID: p.clientOrderID, Purpose: p.purpose, Order: p.order, SentMS: p.sentMS, RefusedMS: atMS,
		Funds: p.funds})
}

// forget drops an order that a list has shown after all.
func (r *refusedPlacements) forget(clientOrderID string) {
	id, _, _ := strings.Cut(clientOrderID, "#")
	r.refused = slices.DeleteFunc(r.refused, func(one RefusedPlacement) bool { return one.ClientOrderID == id })
}

// decide drops a symbol's orders: the adoption of its position has decided their effect.
func (r *refusedPlacements) decide(key exchange.SymbolKey) {
	r.refused = slices.DeleteFunc(r.refused, func(one RefusedPlacement) bool { return one.Order.Key() == key })
}
