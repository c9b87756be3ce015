package reconcile

import (
	"slices"

	"botd/exchange"
)

// stableGapMS is how far apart the two equal snapshots must be that decide an unknown.
const stableGapMS = 3_000

// spotFeeBound is the largest share of what was bought that fees in the
// received asset may have taken, before the wallet counts as not understood.
const spotFeeBound exchange.Rate = 500_000 // 0.5 %

// observePosition compares the position the exchange tells with the one the
// fills explain, and decides what is unknown.
func (b *Book) observePosition(s *Snapshot, truth *SymbolTruth, emit func(Record)) {
	if truth.Key.Market == exchange.Spot {
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
	} else if truth.residual != 0 && s.EndedMS-truth.residualMS > b.settle.StalenessMS && !b.anyUnresolved(truth.Key) {
		b.foreign(truth, emit)
	}
	truth.Settled = truth.residual == 0 && !b.anyUnresolved(truth.Key) && truth.Quarantine == ""
}

// takePosition reads the symbol's position out of the list. It reports false
// when the full snapshot moved while it was taken.
func (b *Book) takePosition(s *Snapshot, truth *SymbolTruth, emit func(Record)) bool {
	now, count := find(s.Positions.Items(), truth.Key.Name)
	if count > 1 && truth.Quarantine == "" {
		emit(Record{Kind: RecordQuarantined, Symbol: truth.Key, Why: "the exchange shows two positions on one symbol"})
	}
	if s.Before.Done() {
		if before, _ := find(s.Before.Items(), truth.Key.Name); before.Signed() != now.Signed() || before.ID != now.ID {
			truth.stableMS = 0
			return false
		}
	}
	if now.ID != truth.PositionID || now.Signed() != truth.Position {
		b.version++
	}
	if now.ID != truth.PositionID || truth.Position == 0 {
		truth.SinceMS = s.EndedMS
	}
	truth.Position, truth.EntryPrice, truth.PositionID, truth.LiqPrice = now.Signed(), now.EntryPrice, now.ID, now.LiqPrice
	if truth.MarkedAt = truth.Mark; truth.MarkedAt == 0 {
		truth.MarkedAt = truth.Last
	}
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

func (b *Book) measureResidual(s *Snapshot, truth *SymbolTruth) {
	residual := truth.Position - truth.Known
	if residual != truth.residual || residual == 0 || truth.residualMS == 0 {
		truth.residualMS = s.EndedMS
	}
	truth.residual = residual
}

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

// decideUnknown ends an unknown by the position equation: two equal snapshots
// at least three seconds apart, the first begun after the fence
// (exactly-once.md, Snapshot and equation). The open list was looked at before:
// what is here was not in it.
func (b *Book) decideUnknown(s *Snapshot, truth *SymbolTruth, unknown []*Placement, emit func(Record)) {
	fence := int64(0)
	for _, p := range unknown {
		fence = max(fence, p.Fence(b.settle))
	}
	if s.BeganMS < fence || !s.FuturesOrders.Done() || !s.Before.Done() {
		truth.stableMS = 0
		return
	}
	if truth.stableMS == 0 || truth.stableSum != truth.Known || truth.residualMS > truth.stableMS && truth.residual != 0 {
		truth.stableMS, truth.stableSum = s.BeganMS, truth.Known
		return
	}
	if s.BeganMS-truth.stableMS < stableGapMS {
		return
	}
	truth.stableMS = 0
	if len(unknown) > 1 && truth.residual != 0 {
		b.quarantine(truth, "two placements are unknown and the position moved", emit)
		return
	}
	for _, p := range unknown {
		b.decideOne(truth, p, emit)
	}
}

func (b *Book) decideOne(truth *SymbolTruth, p *Placement, emit func(Record)) {
	explained := truth.residual * exchange.Quantity(p.Order.Side.Sign())
	ended := Record{Kind: RecordEnded, ClientOrderID: p.ClientOrderID, Strategy: p.Strategy, Symbol: truth.Key, Filled: p.Filled}
	limit := p.Order.Quantity - p.Filled
	if p.Order.ClosePosition {
		limit = explained // a closePosition order may take all there was
	}
	switch {
	case explained == 0:
		ended.State, ended.Evidence = Absent, "the position after the fence needs no fill of it"
	case explained > 0 && explained <= limit:
		ended.State, ended.Filled, ended.Evidence = Filled, p.Filled+explained, "inferred from the position after the fence"
		if ended.Filled < p.Order.Quantity {
			ended.State = Canceled
		}
	default:
		b.quarantine(truth, "the position does not fit the unknown placement "+p.ClientOrderID, emit)
		return
	}
	emit(ended)
}

func (b *Book) quarantine(truth *SymbolTruth, why string, emit func(Record)) {
	if truth.Quarantine == "" {
		emit(Record{Kind: RecordQuarantined, Symbol: truth.Key, Why: why})
	}
}

// foreign decides a lasting difference that no unknown explains. A position
// that is gone was ended by a hand or a liquidation: nothing is left to be wrong
// about, so it is adopted, and the latch keeps its strategy from re-entering.
// Anything else needs a person.
func (b *Book) foreign(truth *SymbolTruth, emit func(Record)) {
	if truth.Position == 0 {
		emit(Record{Kind: RecordAdopted, Symbol: truth.Key, Filled: truth.residual, Evidence: "the position was closed from outside"})
		truth.residual = 0
		return
	}
	b.quarantine(truth, "the position differs from the fills by "+residualText(truth)+", which nothing explains", emit)
}

func residualText(truth *SymbolTruth) string {
	if truth.Rules == nil {
		return "an unknown quantity"
	}
	return truth.Rules.QuantityDecimal(truth.residual).String()
}

// Residual returns Position minus Known, and since when.
func (t *SymbolTruth) Residual() (exchange.Quantity, int64) { return t.residual, t.residualMS }

// observeWallet squares the fills of a spot symbol with the wallet, whose base
// asset pays the fees of what was bought.
func (b *Book) observeWallet(s *Snapshot, truth *SymbolTruth, emit func(Record)) {
	if !s.Balances.Done() || !s.SpotOrders.Done() || truth.Rules == nil {
		return
	}
	truth.Read = true
	truth.Position = truth.Known - truth.Fees
	if b.anyUnresolved(truth.Key) || b.liveOn(truth.Key) {
		truth.Settled = !b.anyUnresolved(truth.Key) && truth.Quarantine == ""
		return
	}
	balance := b.Balance(truth.Rules.Base)
	held := truth.Rules.FloorQuantity(truth.Rules.QuantityOf(balance.Free.Add(balance.Frozen)))
	fees := truth.Rules.QuantityOf(truth.Rules.QuantityAmount(truth.Bought).MulRate(spotFeeBound)) + truth.Rules.QuantityTick
	if truth.Known == 0 {
		if held != truth.Baseline {
			emit(Record{Kind: RecordBaseline, Symbol: truth.Key, Filled: held})
		}
		truth.Settled = truth.Quarantine == ""
		return
	}
	if short := truth.Known - truth.Fees - (held - truth.Baseline); short > 0 && short <= fees && truth.Bought > 0 {
		emit(Record{Kind: RecordFees, Symbol: truth.Key, Filled: short, Evidence: "fees taken from the asset bought"})
	} else if short > 0 {
		b.quarantine(truth, "the wallet holds less than the fills explain", emit)
	}
	truth.Position = truth.Known - truth.Fees
	truth.Settled = truth.Quarantine == ""
}

func (b *Book) liveOn(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool { return p.Order.Key() == key })
}
