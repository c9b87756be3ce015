package account

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Symbol is the journalled state of one symbol.
type Symbol struct {
	key          exchange.SymbolKey
	known        exchange.Quantity
	bought       exchange.Quantity
	fees         exchange.Quantity
	rounding     exchange.Quantity // of the fees of positions that have ended since the wallet's excess was last journalled
	expected     exchange.Quantity
	baseline     exchange.Quantity
	unattributed exchange.Quantity
	meanPrice    exchange.Amount
	ignored      exchange.Quantity
	ignoredMS    int64
	owner        string
	quarantine   string
	quarantineMS int64
	cause        record.QuarantineCause
	unknownOrder string
	liquidatedID int64
	filledMS     int64
	openedMS     int64
	datedMS      int64
	adoptedMS    int64
	opened       exchange.Quantity
	traded       exchange.Quantity
	sold         exchange.Quantity
	oversold     exchange.Quantity
	decidedID    int64
}

// Key returns the symbol's key.
func (s *Symbol) Key() exchange.SymbolKey { return s.key }

// Known returns the adopted quantity plus the signed fills of all placements.
func (s *Symbol) Known() exchange.Quantity { return s.known }

// Bought returns, on spot, the gross quantity bought since fees were last reconciled with the
// wallet.
func (s *Symbol) Bought() exchange.Quantity { return s.bought }

// Fees returns, on spot, the part of the purchases taken as fees since the position was last flat.
func (s *Symbol) Fees() exchange.Quantity { return s.fees }

// FeeRounding returns the most by which Fees may be too high, or have been too high at the end of earlier positions: fees are booked in whole units,
// rounded up, and the wallet keeps the rest, which can be worth an order.
func (s *Symbol) FeeRounding() exchange.Quantity { return min(max(s.fees, s.rounding), 1) }

// ExpectedFees returns the part of Fees that was deducted at fills since fees were last reconciled
// with the wallet.
func (s *Symbol) ExpectedFees() exchange.Quantity { return s.expected }

// applyFees books fees taken from purchases.
func (s *Symbol) applyFees(body *record.Fees) {
	s.fees += body.Quantity
	if body.Expected {
		s.expected += body.Quantity
		return
	}
	s.bought, s.expected = 0, 0
}

// Baseline returns, on spot, the wallet's balance of the base asset while no strategy held any.
func (s *Symbol) Baseline() exchange.Quantity { return s.baseline }

// Unattributed returns, on spot, the wallet's excess over the baseline and the fills, as last journalled:
// a change worth less than an order is not.
func (s *Symbol) Unattributed() exchange.Quantity { return s.unattributed }

// MeanPrice returns the mean price of the spot position, for which the exchange reports no entry
// price.
func (s *Symbol) MeanPrice() exchange.Amount { return s.meanPrice }

// Ignored returns the signed part of the exchange's position that is left to others.
func (s *Symbol) Ignored() exchange.Quantity { return s.ignored }

// IgnoredMS returns when that part was last decided; 0 for never.
func (s *Symbol) IgnoredMS() int64 { return s.ignoredMS }

// Owner returns the strategy that trades the symbol, as last configured.
func (s *Symbol) Owner() string { return s.owner }

// Quarantine returns the reason why nothing opens until a person resolves it; empty for none.
func (s *Symbol) Quarantine() string { return s.quarantine }

// Cause returns the cause of the quarantine; it is meaningless without one.
func (s *Symbol) Cause() record.QuarantineCause { return s.cause }

// LiquidatedID returns the exchange's id of the last liquidated position; 0 for none.
func (s *Symbol) LiquidatedID() int64 { return s.liquidatedID }

// UnknownOrder returns the client order id with botd's prefix that was not in the journal when the
// symbol was quarantined; empty for none.
func (s *Symbol) UnknownOrder() string { return s.unknownOrder }

// QuarantineMS returns the start of the quarantine.
func (s *Symbol) QuarantineMS() int64 { return s.quarantineMS }

// FilledMS returns when a fill last changed Known.
func (s *Symbol) FilledMS() int64 { return s.filledMS }

// OpenedMS returns when the order that opened the position was sent, or when the position was adopted; 0
// if there was none.
func (s *Symbol) OpenedMS() int64 { return s.openedMS }

// DatedMS returns OpenedMS, or the exchange's date of the opening if that is earlier, because botd's
// clock was ahead.
func (s *Symbol) DatedMS() int64 { return cmp.Or(s.datedMS, s.openedMS) }

// AdoptedMS returns when a difference between exchange and journal was last adopted; 0 for never.
func (s *Symbol) AdoptedMS() int64 { return s.adoptedMS }

// Opened returns the signed position from openings and adoptions, less reductions. It is nearer zero
// than Known after a reduction of a position whose opening is not booked.
func (s *Symbol) Opened() exchange.Quantity { return s.opened }

// Traded returns the signed sum of botd's own filled openings, less its own reductions and fees, since
// the position was last settled at zero. It excludes changes that others made to the position.
func (s *Symbol) Traded(nowMS int64, bounds *placement.Bounds) exchange.Quantity {
	if s.settledZero(nowMS, bounds) {
		return 0
	}
	return s.traded - s.fees*exchange.Quantity(s.traded.Sign())
}

// settledZero reports whether the position is zero and no adoption is so recent that a late read may
// contradict it.
func (s *Symbol) settledZero(nowMS int64, bounds *placement.Bounds) bool {
	return s.known == 0 && nowMS >= s.HoldMS(bounds)
}

// HoldMS returns the time until which nothing opens on the symbol after a difference was adopted; 0
// for never.
func (s *Symbol) HoldMS(bounds *placement.Bounds) int64 {
	if s.adoptedMS == 0 {
		return 0
	}
	return s.adoptedMS + bounds.WindowMS + bounds.VisibilityMS + bounds.StalenessMS
}

// ChangedMS returns when Known last changed.
func (s *Symbol) ChangedMS() int64 { return max(s.filledMS, s.adoptedMS) }

// Sold returns, on spot, the quantity sold by the newest series of fills in which each followed the
// previous one within L.
func (s *Symbol) Sold() exchange.Quantity { return s.sold }

// Oversold returns, on spot, the quantity that botd's own orders have sold beyond Known while botd stood down, since a difference was last adopted:
// purchases of the other botd, or purchases that the journal does not know.
func (s *Symbol) Oversold() exchange.Quantity { return s.oversold }

// DecidedID returns, on spot, the id of the newest order of another botd with this prefix whose effect has been decided; 0 for none. The effects of
// that order and of earlier ones no longer count.
func (s *Symbol) DecidedID() int64 { return s.decidedID }

// release ends a quarantine.
func (s *Symbol) release() {
	s.quarantine, s.quarantineMS, s.unknownOrder, s.cause = "", 0, "", record.OtherCause
}

// adopt books a difference between exchange and journal as the strategy's.
func (s *Symbol) adopt(body *record.Adopted, atMS int64) {
	quantity := body.Quantity
	s.decidedID = max(s.decidedID, body.Decided)
	if quantity != 0 {
		s.adoptedMS = atMS
	}
	if s.known == 0 {
		s.openedMS, s.datedMS = atMS, 0
	}
	s.known += quantity
	s.opened = s.known
	s.bought, s.expected, s.oversold = 0, 0, 0
	s.release()
}

// fill books a fill of a placement.
func (s *Symbol) fill(p *Placement, grown exchange.Quantity, atMS int64, bounds *placement.Bounds) {
	if atMS-s.filledMS > bounds.StalenessMS {
		s.sold = 0
	}
	s.filledMS = atMS
	s.expose(p, grown, atMS, bounds)
	s.known += grown * exchange.Quantity(p.order.Side.Sign())
	if s.key.Market == exchange.Futures {
		s.opened = clampedTo(s.opened, s.known)
	}
	if p.order.Side == exchange.Buy {
		s.bought += grown
		return
	}
	s.sold += grown
	if s.key.Market == exchange.Spot && s.known <= s.fees {
		s.rounding = s.FeeRounding()
		s.known, s.fees, s.bought, s.expected = 0, 0, 0, 0 // flat: the fees belonged to the ended position
		s.opened, s.traded = 0, 0
	}
}

// expose counts a fill as part of the position that botd itself opened.
func (s *Symbol) expose(p *Placement, grown exchange.Quantity, atMS int64, bounds *placement.Bounds) {
	if s.settledZero(atMS, bounds) {
		s.traded = 0
	}
	if s.known == 0 {
		s.openedMS, s.datedMS, s.opened = p.sentMS, p.createdMS, 0
	}
	if signed := grown * exchange.Quantity(p.order.Side.Sign()); p.purpose.Opens() && (s.key.Market == exchange.Futures || p.order.Side == exchange.Buy) {
		s.opened, s.traded = s.opened+signed, s.traded+signed
	} else {
		s.opened, s.traded = towardZero(s.opened, signed), towardZero(s.traded, signed)
	}
}

// towardZero adds a reduction to a signed position, without going past zero. On the position's own side it reduced another one.
func towardZero(position, reduction exchange.Quantity) exchange.Quantity {
	if reduction.Sign() == position.Sign() {
		return position
	}
	if after := position + reduction; after.Sign() == position.Sign() {
		return after
	}
	return 0
}

// clampedTo bounds a part of a signed position to the position. A part can be larger if its opening was booked after its reduction.
func clampedTo(part, position exchange.Quantity) exchange.Quantity {
	if part.Sign() != position.Sign() {
		return 0
	}
	return min(max(part, min(position, 0)), max(position, 0))
}

// buy updates the mean price of the spot position with a purchase. mean is the mean price of the order's
// whole fill, of which grown is new; zero, an unreported price, changes nothing.
func (s *Symbol) buy(p *Placement, grown exchange.Quantity, mean exchange.Amount) {
	if mean.IsZero() || grown <= 0 {
		return
	}
	added := mean
	if p.filled > 0 && !p.price.IsZero() {
		added = mean.Add(mean.Sub(p.price).MulDiv(int64(p.filled), int64(grown)))
	}
	if s.known <= 0 || s.meanPrice.IsZero() {
		s.meanPrice = added
		return
	}
	s.meanPrice = s.meanPrice.Add(added.Sub(s.meanPrice).MulDiv(int64(grown), int64(s.known+grown)))
}
