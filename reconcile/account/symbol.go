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
	expected     exchange.Quantity
	baseline     exchange.Quantity
	unattributed exchange.Quantity
	meanPrice    exchange.Amount
	ignored      exchange.Quantity
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
}

// Key names the symbol.
func (s *Symbol) Key() exchange.SymbolKey { return s.key }

// Known is what is adopted plus the signed fills of all placements.
func (s *Symbol) Known() exchange.Quantity { return s.known }

// Bought is, on spot, the gross quantity bought since fees were last squared with
// the wallet.
func (s *Symbol) Bought() exchange.Quantity { return s.bought }

// Fees is, on spot, what fees took of the quantity bought, since it was last flat.
func (s *Symbol) Fees() exchange.Quantity { return s.fees }

// ExpectedFees is the part of Fees that was expected at fills, since fees were last
// squared with the wallet.
func (s *Symbol) ExpectedFees() exchange.Quantity { return s.expected }

// takeFees takes what fees took of what was bought.
func (s *Symbol) takeFees(body *record.Fees) {
	s.fees += body.Quantity
	if body.Expected {
		s.expected += body.Quantity
		return
	}
	s.bought, s.expected = 0, 0
}

// Baseline is, on spot, what the wallet held of the base asset while no strategy did.
func (s *Symbol) Baseline() exchange.Quantity { return s.baseline }

// Unattributed is, on spot, what the wallet held beyond the baseline and what fills explain, when a
// wallet that proves something was last read.
func (s *Symbol) Unattributed() exchange.Quantity { return s.unattributed }

// MeanPrice is the mean price of what is held on spot, which reports no entry price.
func (s *Symbol) MeanPrice() exchange.Amount { return s.meanPrice }

// Ignored is the signed part of the exchange's position that is left to others.
func (s *Symbol) Ignored() exchange.Quantity { return s.ignored }

// Owner is the strategy that trades the symbol, as last configured.
func (s *Symbol) Owner() string { return s.owner }

// Quarantine is why nothing opens until a person resolves it; empty for none.
func (s *Symbol) Quarantine() string { return s.quarantine }

// Cause is what the quarantine comes from; of no meaning without one.
func (s *Symbol) Cause() record.QuarantineCause { return s.cause }

// LiquidatedID is the exchange's id of the position that it liquidated last; 0 for none.
func (s *Symbol) LiquidatedID() int64 { return s.liquidatedID }

// UnknownOrder is the client order id under our prefix that the journal did not know when the symbol
// was quarantined; empty for none.
func (s *Symbol) UnknownOrder() string { return s.unknownOrder }

// QuarantineMS is since when.
func (s *Symbol) QuarantineMS() int64 { return s.quarantineMS }

// FilledMS is when Known last changed by a fill.
func (s *Symbol) FilledMS() int64 { return s.filledMS }

// OpenedMS is when what is held was first asked for, or adopted; 0 for never.
func (s *Symbol) OpenedMS() int64 { return s.openedMS }

// DatedMS is the same by the exchange's clock, as far as a clock of botd's that was ahead of it is known.
func (s *Symbol) DatedMS() int64 { return cmp.Or(s.datedMS, s.openedMS) }

// AdoptedMS is when a difference between exchange and journal was last adopted; 0 for never.
func (s *Symbol) AdoptedMS() int64 { return s.adoptedMS }

// Opened is the signed position that openings and adoptions made, less what reduced it.
// It is less than Known where something was reduced that botd did not know it had opened.
func (s *Symbol) Opened() exchange.Quantity { return s.opened }

// Traded is the signed sum of botd's own filled openings, less its own reductions, since
// the last zero that had settled: what others did to the position is no part of it.
func (s *Symbol) Traded(nowMS int64, settle *placement.Settle) exchange.Quantity {
	if s.settledZero(nowMS, settle) {
		return 0
	}
	return s.traded - s.fees*exchange.Quantity(sign(s.traded))
}

// settledZero reports whether nothing is held, and no adoption is so young that a late
// read could still belie it.
func (s *Symbol) settledZero(nowMS int64, settle *placement.Settle) bool {
	return s.known == 0 && nowMS >= s.HoldMS(settle)
}

// HoldMS is until when nothing opens on the symbol since a difference was adopted; 0 for never.
func (s *Symbol) HoldMS(settle *placement.Settle) int64 {
	if s.adoptedMS == 0 {
		return 0
	}
	return s.adoptedMS + settle.WindowMS + settle.VisibilityMS + settle.StalenessMS
}

// ChangedMS is when Known last changed.
func (s *Symbol) ChangedMS() int64 { return max(s.filledMS, s.adoptedMS) }

// Sold is, on spot, what the last fills sold, none of which was followed by L without one.
func (s *Symbol) Sold() exchange.Quantity { return s.sold }

// release ends a quarantine.
func (s *Symbol) release() {
	s.quarantine, s.quarantineMS, s.unknownOrder, s.cause = "", 0, "", record.OtherCause
}

// adopt takes a difference between exchange and journal as the strategy's.
func (s *Symbol) adopt(quantity exchange.Quantity, atMS int64) {
	if quantity != 0 {
		s.adoptedMS = atMS
	}
	if s.known == 0 {
		s.openedMS, s.datedMS = atMS, 0
	}
	s.known += quantity
	s.opened = s.known
	s.bought, s.expected = 0, 0
	s.release()
}

// fill takes what filled of a placement.
func (s *Symbol) fill(p *Placement, grown exchange.Quantity, atMS int64, settle *placement.Settle) {
	if atMS-s.filledMS > settle.StalenessMS {
		s.sold = 0
	}
	s.filledMS = atMS
	s.expose(p, grown, atMS, settle)
	s.known += grown * exchange.Quantity(p.order.Side.Sign())
	if p.order.Side == exchange.Buy {
		s.bought += grown
		return
	}
	s.sold += grown
	if s.key.Market == exchange.Spot && s.known <= s.fees {
		s.known, s.fees, s.bought, s.expected = 0, 0, 0, 0 // flat: what fees took is gone with it
		s.opened, s.traded = 0, 0
	}
}

// expose takes a fill as part of what botd itself has opened.
func (s *Symbol) expose(p *Placement, grown exchange.Quantity, atMS int64, settle *placement.Settle) {
	if s.settledZero(atMS, settle) {
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

// towardZero adds a reduction to a position, of which no other side comes.
func towardZero(position, reduction exchange.Quantity) exchange.Quantity {
	if after := position + reduction; sign(after) == sign(position) {
		return after
	}
	return 0
}

func sign(q exchange.Quantity) int { return cmp.Compare(q, 0) }

// buy keeps the mean price of what is held on spot, given the mean price of all
// that the order has filled now, which is more by grown than before. A price that
// is not reported changes nothing.
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
