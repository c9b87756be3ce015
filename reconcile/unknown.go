package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// stableGapMS is how far apart the two equal snapshots must at least be that
// decide an unknown. Where lists may lag for longer they are L apart: a fill that
// the positions of the first told of is in the list of the second then.
const stableGapMS = 3_000

func (b *Book) unknownOn(key exchange.SymbolKey) []*Placement {
	var unknown []*Placement
	for _, p := range b.live {
		if p.State == Uncertain && p.Order.Key() == key {
			unknown = append(unknown, p)
		}
	}
	return unknown
}

func (b *Book) anyUnresolved(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool { return p.State.Unresolved() && p.Order.Key() == key })
}

// UnresolvedBeside reports whether a placement on the symbol that is older than
// this opening is not answered, or an exit of any age, which could eat the new
// position, or whether any is unknown.
func (b *Book) UnresolvedBeside(clientOrderID string, key exchange.SymbolKey) bool {
	for i, own := 0, false; i < len(b.live); i++ {
		p := b.live[i]
		own = own || p.ClientOrderID == clientOrderID
		if p.ClientOrderID != clientOrderID && p.Order.Key() == key && (p.State == Uncertain || p.State == Sending && (!own || p.Order.Reduces() && p.Order.Type == exchange.MarketOrder)) {
			return true
		}
	}
	return false
}

// awaited reports whether a placement on the symbol waits for its answer: it may
// have filled already, so the residual is not the unknown ones' alone.
func (b *Book) awaited(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool { return p.State == Sending && p.Order.Key() == key })
}

// unseen reports whether an accepted placement may not be visible yet: it could
// have filled without any list telling (exactly-once.md, case 11).
func (b *Book) unseen(s *Snapshot, key exchange.SymbolKey) bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool {
		return !p.State.Unresolved() && !p.Seen && p.Order.Key() == key && s.BeganMS < p.Fence(b.settle)
	})
}

// Overdue returns the oldest unknown placement whose fence passed that long ago
// and that is still not decided (cases 24 and 37), or nil.
func (b *Book) Overdue(key exchange.SymbolKey, nowMS, byMS int64) *Placement {
	for _, p := range b.live {
		if p.State == Uncertain && p.Order.Key() == key && nowMS > p.Fence(b.settle)+byMS {
			return p
		}
	}
	return nil
}

// decideUnknown ends what is unknown on a symbol by the position equation: two
// equal snapshots at least three seconds and L apart, the first begun after the
// fence, with no known fill changed for L (exactly-once.md, Snapshot and equation). The
// open list was looked at before: what is here was not in it.
func (b *Book) decideUnknown(s *Snapshot, truth *SymbolTruth, unknown []*Placement, emit func(record.Record)) {
	fence := int64(0)
	for _, p := range unknown {
		fence = max(fence, p.Fence(b.settle))
	}
	fresh := b.filledLately(s, truth)
	if s.BeganMS < fence || !s.FuturesOrders.Done() || !s.Before.Done() || fresh || b.unseen(s, truth.Key) || b.awaited(truth.Key) {
		truth.lasts.over()
		return
	}
	cut := stable{truth.Known, truth.residual, truth.PositionID}
	if truth.lasts.sinceMS == 0 || truth.stable != cut {
		truth.stable = cut
		truth.lasts.anew(s)
		return
	}
	truth.lasts.again(s)
	if truth.lasts.forMS < max(stableGapMS, b.settle.StalenessMS) {
		return
	}
	if truth.residual == 0 && b.mayHaveClosed(truth, unknown) && !slices.Contains(s.ClosedOf, truth.Key.Name) {
		return // positions/history is asked for with the next snapshot (case 9)
	}
	truth.lasts.over()
	b.attribute(s, truth, unknown, emit)
}

// attribute says which unknowns explain the residual. One of them alone decides
// itself; of several the oldest on the residual's side are booked first: the
// position is right then, and which of them it was is not certain (case 18).
func (b *Book) attribute(s *Snapshot, truth *SymbolTruth, unknown []*Placement, emit func(record.Record)) {
	left := truth.residual
	for _, p := range unknown {
		left -= explained(p, left)
	}
	if left != 0 {
		b.quarantine(truth, "the position differs by "+residualText(truth)+", which the unknown placement "+unknown[0].ClientOrderID+" does not explain", emit)
		return
	}
	left = truth.residual
	for _, p := range unknown {
		part := explained(p, left)
		left -= part
		ended := record.Ended{State: Absent, Filled: p.Filled, Evidence: "the position after the fence needs no fill of it"}
		switch {
		case part != 0:
			ended.State, ended.Filled, ended.Evidence = Filled, p.Filled+abs(part), "inferred from the position after the fence"
			if ended.Filled < p.Order.Quantity {
				ended.State = Canceled
			}
			if len(unknown) > 1 {
				ended.Evidence += "; several were unknown at once, so which of them filled is not certain"
			}
		case truth.residual == 0 && p.Purpose.Opens():
			if b.closedAlready(s, truth, p, emit) {
				continue
			}
		}
		emit(p.about(ended))
	}
}

// explained is the part of a residual that an unknown placement can have made.
// A closePosition order may have taken all there was.
func explained(p *Placement, residual exchange.Quantity) exchange.Quantity {
	side := exchange.Quantity(p.Order.Side.Sign())
	switch most := p.Order.Quantity - p.Filled; {
	case side*residual <= 0:
		return 0
	case p.Order.ClosePosition:
		return residual
	default:
		return side * min(side*residual, most)
	}
}

// mayHaveClosed reports whether an unknown opening could have been filled and
// closed before anybody looked: there is no position, and none is missing.
func (b *Book) mayHaveClosed(truth *SymbolTruth, unknown []*Placement) bool {
	return truth.Position == 0 && slices.ContainsFunc(unknown, func(p *Placement) bool { return p.Purpose.Opens() })
}

// AsksClosed returns the symbol's oldest unknown opening when positions/history
// must be read to decide it, or nil.
func (b *Book) AsksClosed(truth *SymbolTruth, nowMS int64) *Placement {
	if truth.Key.Market != exchange.Futures || truth.Position != 0 {
		return nil
	}
	for _, p := range b.live {
		if p.State == Uncertain && p.Purpose.Opens() && p.Order.Key() == truth.Key && nowMS >= p.Fence(b.settle) {
			return p
		}
	}
	return nil
}

// closedAlready looks for a position that the unknown opening made and that is
// closed again: created since it was sent, on its side, and never seen open
// (case 9). Both are booked, inferred.
func (b *Book) closedAlready(s *Snapshot, truth *SymbolTruth, p *Placement, emit func(record.Record)) bool {
	if truth.filledMS >= p.SentMS {
		return false // a known order's fill may have made it
	}
	for i := range s.Closed {
		c := &s.Closed[i]
		if c.Symbol != truth.Key.Name || (c.Side == exchange.Long) != (p.Order.Side == exchange.Buy) || c.CreatedMS < p.SentMS-p.SentMS%1000 || slices.Contains(truth.seen, c.ID) {
			continue
		}
		filled := min(c.Quantity, p.Order.Quantity)
		state := Filled
		if filled < p.Order.Quantity {
			state = Canceled
		}
		grown := filled - p.Filled
		emit(p.about(record.Ended{State: state, Filled: filled, Price: c.EntryPrice, Evidence: "inferred: filled and closed before the first read"}))
		emit(truth.about(record.Adopted{Quantity: -grown * exchange.Quantity(p.Order.Side.Sign()), Evidence: "the position was closed before it was seen"}))
		truth.saw(c.ID)
		return true
	}
	return false
}

// keepSeen bounds how many position ids a symbol remembers.
const keepSeen = 32

// saw remembers a position's id: a position seen open is nobody's unknown.
func (t *SymbolTruth) saw(id int64) {
	if id == 0 || slices.Contains(t.seen, id) {
		return
	}
	if len(t.seen) == keepSeen {
		t.seen = slices.Delete(t.seen, 0, 1)
	}
	t.seen = append(t.seen, id)
}

// stable is what must be equal in the two snapshots that decide an unknown.
type stable struct {
	known, residual exchange.Quantity
	positionID      int64
}
