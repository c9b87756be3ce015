package reconcile

import (
	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// SymbolTruth is what is known about one symbol.
type SymbolTruth struct {
	Key        exchange.SymbolKey
	Rules      *exchange.Symbol // nil until the engine gives them
	Last       exchange.Price   // last trade price
	Mark       exchange.Price   // mark price, Last when not known
	LastMS     int64
	Leverage   int // set on the exchange; 0 not known
	LeverageMS int64

	Position   exchange.Quantity // signed, as the exchange last told
	EntryPrice exchange.Amount
	MeanPrice  exchange.Amount // spot, which tells no entry price: of what is held, by its fills
	MarkedAt   exchange.Price  // the price when the position and the account were fetched
	PositionID int64
	SinceMS    int64 // when this position was first seen
	LiqPrice   exchange.Amount

	Known   exchange.Quantity // adopted plus the signed fills of all placements
	Bought  exchange.Quantity // spot: gross quantity bought since fees were last squared with the wallet
	Read    bool              // fetched since this start
	Settled bool              // Position equals Known, and nothing on the symbol is unknown

	Fees     exchange.Quantity // spot: what fees took of the quantity bought, since it was last flat
	Baseline exchange.Quantity // spot: what the wallet held of the base asset while the book held none

	Owner       string // whose strategy it is, as last configured
	BareSinceMS int64  // since when the position lacks the stop wished for it; 0 while it does not
	BareMS      int64  // how long positions lacked one in all since the start, BareSinceMS not counted

	Quarantine   string // cause; empty for none
	QuarantineMS int64
	Foreign      []exchange.Order // open orders botd did not make
	left         []exchange.Order // open orders under our prefix that a person left to whoever made them
	ForeignMS    int64            // since when one of them holds openings back (Book.HoldsBack); 0 while none does
	Alien        string           // spot: the client order id of an ended order with our prefix that the journal does not know

	Ignored exchange.Quantity // part of the exchange's position that is not botd's; Position is without it

	differs    lasting           // Position and Known, by residual
	residual   exchange.Quantity // Position - Known
	residualOf exchange.Quantity // Known then
	doubled    lasting           // the list shows two positions
	stable     stable            // what the snapshots that count towards the fence tell
	lasts      lasting           // since the first of them
	filledMS   int64             // when Known last changed by a fill
	calm       lasting           // since then, or since the start that followed soon; else not measured
	seen       []int64           // ids of positions seen open, oldest first
	gone       exchange.Quantity // spot: what orders under our prefix that the journal does not know, and that left the list, may have sold
	goneFor    lasting           // since then
	missed     exchange.Quantity // spot: what the wallet misses while an order rests
	misses     lasting           // the wallet, that much
	sold       exchange.Quantity // spot: by the last fills, none of which was followed by L without one
	short      exchange.Quantity // spot: by how much the wallet misses what the fills explain, negative
}

// Price is the price profit is counted at: the mark, else the last trade's.
func (t *SymbolTruth) Price() exchange.Price {
	if t.Mark > 0 {
		return t.Mark
	}
	return t.Last
}

// about is a record about the symbol.
func (t *SymbolTruth) about(body record.Body) record.Record {
	return record.Record{Symbol: t.Key, Body: body}
}

// Forget lets go of what was read of a symbol that is not traded any more, or was
// not until now: nothing is concluded from it before it is read again.
func (t *SymbolTruth) Forget() {
	t.Read, t.Settled, t.Leverage, t.LeverageMS = false, false, 0, 0
	t.Last, t.Mark, t.LastMS = 0, 0, 0
}

// Moved is how much a futures position's profit has changed since it and the
// account were fetched.
func (t *SymbolTruth) Moved() exchange.Amount {
	if t.AtVenue() == 0 || t.MarkedAt == 0 || t.Rules == nil || t.Key.Market != exchange.Futures {
		return exchange.Amount{}
	}
	return t.Rules.Notional(t.Price()-t.MarkedAt, t.AtVenue())
}

// StrategyState is what must survive a restart of one strategy.
type StrategyState struct {
	Name     string
	Symbol   exchange.SymbolKey
	Plan     strategy.Plan // in force
	Memory   strategy.Memory
	Latch    int               // side of the target that is latched; 0 none
	Target   strategy.Target   // the wish Resolved belongs to
	Resolved exchange.Quantity // its signed quantity
	Priced   bool              // Resolved counts
	OnRemove string            // what becomes of it when it is removed: flatten, leave
	Keys     []KeyFill         // what was filled under each key of the plan, sorted by purpose and key
}

// Day is the equity at the start of the UTC day and its peak ever.
type Day struct {
	StartMS int64
	Equity  exchange.Amount
	Peak    exchange.Amount
	Markets string          // of the account: whose equity it is
	Spot    exchange.Amount // of the account: the part of Equity that is on spot
}
