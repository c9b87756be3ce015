package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// unapplied is what reads of futures have shown before a round applies it. A round applies its reads at its end, and a late one never; a queued opening
// must not wait for that.
type unapplied struct {
	filled    map[int64]exchange.Quantity // of orders, by id: fills never shrink, so a late read shows them too
	positions []exchange.Position         // of the current round
}

// begin begins a round: the positions are applied, and fills stay until they are booked.
func (u *unapplied) begin(tracker *reconcile.Tracker) {
	u.positions = nil
	if len(u.filled) == 0 {
		return
	}
	left := map[int64]exchange.Quantity{}
	for p := range tracker.Live() {
		if filled := u.filled[p.OrderID()]; filled > p.Filled() {
			left[p.OrderID()] = filled
		}
	}
	u.filled = left
}

// note notes what the answer to a read shows; late reports whether its round no longer awaits it.
func (u *unapplied) note(answer *exchange.Answer, late bool) {
	switch operation := answer.Operation; {
	case operation == exchange.FuturesOrder:
		u.noteFilled(&answer.Order)
	case operation == exchange.FuturesOpenOrders && answer.Orders.Done():
		for i := range answer.Orders.Items() {
			u.noteFilled(&answer.Orders.Items()[i])
		}
	case operation == exchange.FuturesOpenPositions && answer.Positions.Done() && !late:
		u.positions = answer.Positions.Items()
	}
}

func (u *unapplied) noteFilled(o *exchange.Order) {
	if o.Filled == 0 {
		return
	}
	if u.filled == nil {
		u.filled = map[int64]exchange.Quantity{}
	}
	u.filled[o.ID] = max(u.filled[o.ID], o.Filled)
}

// oppose reports whether an opening on that side is against a position that reads have shown, themselves or by the fills of botd's orders.
func (u *unapplied) oppose(tracker *reconcile.Tracker, key exchange.SymbolKey, side exchange.Side) bool {
	against := func(position exchange.Quantity) bool { return int64(position)*side.Sign() < 0 }
	position := tracker.Symbol(key).AtVenue()
	if len(u.filled) > 0 {
		for p := range tracker.Live() {
			if p.Symbol() == key {
				position += max(0, u.filled[p.OrderID()]-p.Filled()) * exchange.Quantity(p.Side().Sign())
			}
		}
	}
	return key.Market == exchange.Futures && (against(position) ||
		slices.ContainsFunc(u.positions, func(row exchange.Position) bool { return row.Symbol == key.Name && against(row.Signed()) }))
}
