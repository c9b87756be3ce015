package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// spotFeeBound is the largest share of what was bought that fees in the
// received asset may have taken, before the wallet counts as not understood.
const spotFeeBound exchange.Rate = 500_000 // 0.5 %

// observePosition compares the position the exchange tells with the one the
// fills explain, and decides what is unknown.
func (b *Book) observePosition(s *Snapshot, truth *SymbolTruth, emit func(record.Record)) {
	if truth.calm.sinceMS != 0 {
		truth.calm.again(s)
	}
	if truth.Key.Market == exchange.Spot {
		b.forgetGone(s, truth)
		b.observeWallet(s, truth, emit)
		return
	}
	if !s.Positions.Done() {
		return
	}
	if !b.takePosition(s, truth, emit) {
		return
	}
	truth.Read = true
	b.measureResidual(s, truth)
	if unknown := b.unknownOn(truth.Key); len(unknown) > 0 {
		truth.Settled = false
		b.decideUnknown(s, truth, unknown, emit)
		b.measureResidual(s, truth)
	} else if truth.residual != 0 && truth.Quarantine == "" && truth.differs.longer(b.settle.StalenessMS) {
		b.foreign(truth, emit)
	} else if truth.residual == 0 && truth.outweighed() {
		b.ignore(truth, "the exchange has one position: what is left of it beside others is botd's", emit)
	}
	truth.Settled = truth.residual == 0 && !b.anyUnresolved(truth.Key) && truth.Quarantine == ""
}

// takePosition reads the symbol's position out of the list. It reports false
// when the full snapshot moved while it was taken.
func (b *Book) takePosition(s *Snapshot, truth *SymbolTruth, emit func(record.Record)) bool {
	now, count := find(s.Positions.Items(), truth.Key.Name)
	if count > 1 { // a list put together from replicas may show the one that ended and the next; lasting, it breaks the contract (case 38)
		if truth.doubled.again(s); truth.doubled.longer(b.settle.StalenessMS) {
			b.quarantine(truth, "the exchange shows two positions on one symbol", emit)
		}
		truth.lasts.over()
		truth.Settled = false
		return false
	}
	truth.doubled.over()
	if s.Before.Done() {
		if before, _ := find(s.Before.Items(), truth.Key.Name); before.Signed() != now.Signed() || before.ID != now.ID {
			truth.lasts.over()
			return false
		}
	}
	if now.ID != 0 && now.ID == truth.PositionID && signOf(now.Signed()) == -signOf(truth.AtVenue()) && now.Remaining != 0 {
		b.quarantine(truth, "the position changed its side by itself", emit) // case 38
	}
	if now.ID != truth.PositionID || now.Signed() != truth.AtVenue() {
		b.version++
	}
	truth.saw(now.ID)
	if now.ID != truth.PositionID || truth.AtVenue() == 0 {
		truth.SinceMS = s.EndedMS
	}
	truth.Position, truth.EntryPrice, truth.PositionID, truth.LiqPrice = now.Signed()-truth.Ignored, now.EntryPrice, now.ID, now.LiqPrice
	truth.MarkedAt = truth.Price()
	if now.Leverage > 0 {
		truth.Leverage = now.Leverage
	}
	return true
}

func find(positions []exchange.Position, symbol string) (found exchange.Position, count int) {
	for i := range positions {
		if positions[i].Symbol == symbol && positions[i].Remaining != 0 {
			found = positions[i]
			count++
		}
	}
	return found, count
}

// measureResidual notes the difference and since when nothing explains it. While
// a placement could, by being unresolved or not visible yet, that does not begin;
// it begins anew when fills were booked, since the same figure is another one's
// then.
func (b *Book) measureResidual(s *Snapshot, truth *SymbolTruth) {
	residual := truth.Position - truth.Known
	if residual != truth.residual || truth.Known != truth.residualOf || residual == 0 || b.anyUnresolved(truth.Key) || b.unseen(s, truth.Key) {
		truth.differs.anew(s)
	} else {
		truth.differs.again(s)
	}
	truth.residual, truth.residualOf = residual, truth.Known
}

// Residual returns Position minus Known, and since when.
func (t *SymbolTruth) Residual() (exchange.Quantity, int64) { return t.residual, t.differs.sinceMS }

// observeWallet squares the fills of a spot symbol with the wallet, whose base
// asset pays the fees of what was bought.
func (b *Book) observeWallet(s *Snapshot, truth *SymbolTruth, emit func(record.Record)) {
	if !s.Balances.Done() || !s.SpotOrders.Done() || truth.Rules == nil {
		return
	}
	truth.Read = true
	truth.Position = truth.heldOnSpot()
	live := b.liveOn(truth.Key)
	if b.anyUnresolved(truth.Key) || live && (b.filledLately(s, truth) || b.unseen(s, truth.Key)) {
		truth.Settled = !b.anyUnresolved(truth.Key) && truth.Quarantine == ""
		truth.misses.over()
		b.boundByWallet(s, truth)
		return
	}
	if b.filledLately(s, truth) {
		b.boundByWallet(s, truth)
		return // a read this soon may be older than the last fill: it proves nothing, and nothing opens until one does
	}
	held := b.inWallet(truth)
	if truth.Known == 0 {
		if held != truth.Baseline && !live {
			emit(truth.about(record.Baseline{Quantity: held}))
		}
		truth.Settled = truth.Quarantine == ""
		return
	}
	b.squareWallet(s, truth, held, live, emit)
	truth.Position = truth.heldOnSpot()
	truth.Settled = truth.Quarantine == "" && truth.misses.sinceMS == 0
}

// filledLately reports whether a read of this snapshot may be older than the
// symbol's last fill, by the clock and, since that may have jumped ahead, by what
// lies between snapshots too: more than one of them, where L is no longer than
// what may count of the time between two.
func (b *Book) filledLately(s *Snapshot, truth *SymbolTruth) bool {
	return s.BeganMS < truth.filledMS+b.settle.StalenessMS ||
		b.settle.StalenessMS > 0 && truth.calm.sinceMS != 0 && !truth.calm.longer(b.settle.StalenessMS)
}

// inWallet is how much of a spot symbol's base asset the account has.
func (b *Book) inWallet(truth *SymbolTruth) exchange.Quantity {
	balance := b.Balance(truth.Rules.Base)
	return truth.Rules.FloorQuantity(truth.Rules.QuantityOf(balance.Free.Add(balance.Frozen)))
}

// boundByWallet keeps what may be sold within the wallet where the journal is
// known to miss orders: it may miss the sale of what it believes to be held, and
// an exit on spot sells whatever there is. A wallet that may be older than the
// last fills may still show what they sold.
func (b *Book) boundByWallet(s *Snapshot, truth *SymbolTruth) {
	if truth.Alien == "" && truth.Quarantine == "" {
		return
	}
	held := b.inWallet(truth)
	if b.filledLately(s, truth) {
		held -= truth.sold
	}
	truth.short = min(0, held-truth.Baseline-truth.Known+truth.Fees)
	truth.Position = truth.heldOnSpot()
}

// squareWallet takes what the wallet misses of the fills as fees, within their
// bound; more of it is somebody else's doing. While an order rests, which may
// fill between the list and the wallet, that is so when it lasts.
func (b *Book) squareWallet(s *Snapshot, truth *SymbolTruth, held exchange.Quantity, live bool, emit func(record.Record)) {
	fees := truth.Rules.QuantityOf(truth.Rules.QuantityAmount(truth.Bought).MulRate(spotFeeBound)) + truth.Rules.QuantityTick
	short := truth.Known - truth.Fees - (held - truth.Baseline)
	explained := short <= fees && truth.Bought > 0
	if short <= 0 || explained {
		truth.short = 0
		truth.misses.over()
		if short > 0 && !live {
			emit(truth.about(record.Fees{Quantity: short, Evidence: "fees taken from the asset bought"}))
		}
		return
	}
	if short != truth.missed {
		truth.misses.over()
	}
	truth.missed = short
	if truth.misses.again(s); !live || truth.misses.longer(b.settle.StalenessMS) {
		truth.misses.over()
		b.missing(truth, short, emit)
	}
}

// heldOnSpot is what fills and fees explain, without what the wallet misses of
// it: the rest of the asset may be the user's, and is not sold.
func (t *SymbolTruth) heldOnSpot() exchange.Quantity {
	return max(0, t.Known-t.Fees+t.short)
}

func (b *Book) liveOn(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool { return p.Order.Key() == key })
}

// missing decides a wallet that holds less than the fills explain: somebody sold
// or withdrew it. What is gone can not be ignored, so it is adopted as gone or
// waits for a person.
func (b *Book) missing(truth *SymbolTruth, short exchange.Quantity, emit func(record.Record)) {
	truth.short = -short
	if b.Foreign == ForeignAdopt || b.Foreign == ForeignIgnore {
		emit(truth.about(record.Adopted{Quantity: -short, Evidence: "the wallet holds less: sold or withdrawn outside botd"}))
		truth.short = 0
		return
	}
	b.quarantine(truth, "the wallet holds less than the fills explain", emit)
}
