package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalledSymbol is a symbol's journalled state: its methods are SymbolState's too.
type journalledSymbol = account.Symbol

// SymbolState is what is known about one symbol: what is journalled, and what is
// observed of it.
type SymbolState struct {
	*journalledSymbol

	Rules    *exchange.Symbol // nil until the engine gives them
	Last     exchange.Price   // last trade price
	Mark     exchange.Price   // mark price, Last when not known
	LastMS   int64
	pricedMS int64 // when a price was last asked for and came
	Leverage int   // set on the exchange; 0 not known

	Position   exchange.Quantity // signed, as the exchange last reported it, without what is ignored of it
	EntryPrice exchange.Amount
	MarkedAt   exchange.Price // the price that the account was fetched at
	PositionID int64
	SinceMS    int64 // when this position was first seen
	LiqPrice   exchange.Amount

	Read    bool // fetched since this start
	Settled bool // Position equals Known, and nothing on the symbol is unknown

	live                []*account.Placement // of the account's, those on it
	inFlight            []*account.Placement // of them, those that do not rest
	keyed               []*account.Placement // its live orders of a plan, as they were sorted last
	keyedAt             []int                // where the plan named each of them then
	extends             bool                 // the newest snapshot left it settled, but for answers to resting openings; since then only such came about
	Contradicted        string               // why the newest list is not believed; empty while it is
	ContradictedSinceMS int64
	ContradictedNoted   bool // a person was notified of it
	testimony           testimony
	traded              exchange.Quantity // signed: what botd itself opened and has not reduced
	spot                spotTestimony

	UnprotectedSinceMS int64 // since when the position lacks its stop; 0 while it does not
	UnprotectedMS      int64 // how long positions lacked one in all since the start, without the time under way

	Foreign        []exchange.Order         // open orders botd did not make
	Unreadable     []exchange.UnreadableRow // of them, rows that cannot be read
	ForeignSinceMS int64                    // since when one of them holds openings back (Book.ForeignOpening); 0 while none does
	UnknownEnded   string                   // spot: the client order id of an ended order with our prefix that the journal does not know
	leftToMaker    []exchange.Order         // open orders under our prefix that a person left to whoever made them

	refusedMS         int64             // when the exchange refused an opening last; 0 for never
	positionMS        int64             // futures: when the snapshot began in which the list was read last
	readAlone         bool              // spot: since this start the wallet was read, and not all the rest
	unread            bool              // a read about it failed or is late: nothing was concluded from the newest snapshot
	differs           persistence       // Position and Known, by residual
	residual          exchange.Quantity // Position - Known
	residualOf        exchange.Quantity // Known then
	unexplainedMS     int64             // futures: when the snapshot began that last showed a position which fills do not explain; 0 for none
	unexplainedFromMS int64             // futures: since when that position is shown so
	unexplainedID     int64             // that position's, until positions/history shows its end or fills explain what is there; 0 for none
	closedMS          int64             // futures: when the last position ended that positions/history has shown
	differed          exchange.Quantity // the difference that differs measures
	agrees            persistence       // no difference, since the last one
	doubled           persistence       // the list shows two positions
	stable            stable            // what the snapshots that count towards the fence show
	equal             persistence       // since the first of them
	equalFromMS       int64             // when that was begun
	calm              persistence       // since the last fill, or since the start that followed soon; else not measured
	seen              []int64           // ids of positions seen open, oldest first
	unlistedSales     []twinOrder       // spot: what orders under our prefix that the journal does not know, and that left the list, may have sold
	unlistedFor       persistence       // since then
	missed            exchange.Quantity // spot: what the wallet misses while an order rests
	misses            persistence       // the wallet, that much
	squares           persistence       // spot: the wallet differs from the fees expected
	unsquared         exchange.Quantity // by that much
	feeRate           exchange.Rate     // spot: the fee of purchases, as executions showed it last
	moved             persistence       // spot: the wallet, as an unknown placement would have moved it
	leftOver          exchange.Quantity // spot: what an order without any id, which nothing else claims, has bought for an unknown placement
	leftSold          exchange.Quantity // spot: what was sold beyond what fills explain, out of that
	movedBy           exchange.Quantity
	feeRateKnown      bool
	short             exchange.Quantity // spot: by how much the wallet misses what the fills explain, negative
}

// Live returns the live placements on the symbol, oldest first.
func (s *SymbolState) Live() []*account.Placement { return slices.Clip(s.live) }

// MeanEntry is the mean price of what is held: the exchange's entry price, or what was paid where it
// reports none, as on spot. Zero when nothing is held.
func (s *SymbolState) MeanEntry() exchange.Amount {
	switch {
	case !s.EntryPrice.IsZero():
		return s.EntryPrice
	case s.Known() == 0: // else it is the price of what was held before
		return exchange.Amount{}
	}
	return s.MeanPrice()
}

// Price is the price profit is counted at: the mark, else the last trade's.
func (s *SymbolState) Price() exchange.Price {
	if s.Mark > 0 {
		return s.Mark
	}
	return s.Last
}

// Forget drops what was read of a symbol that is not traded any more, or was not
// until now: nothing is concluded from it before it is read again.
func (s *SymbolState) Forget() {
	s.Read, s.Settled, s.extends, s.Leverage = false, false, false, 0
	s.Last, s.Mark, s.LastMS = 0, 0, 0
}

// Traded is how much botd itself opened on a side and has not reduced since the last zero
// that had settled, whatever a list or the wallet shows: no read, right or wrong, makes
// room for more.
func (s *SymbolState) Traded(side exchange.Side) exchange.Quantity {
	return max(0, s.traded*exchange.Quantity(side.Sign()))
}

// AtVenue is the position as the exchange reported it, what is ignored included.
func (s *SymbolState) AtVenue() exchange.Quantity { return s.Position + s.Ignored() }

// TakePrice takes a price that was asked for. What the exchange says of the account may be older or newer than the
// prices beside it, by L; so what the account has made is counted on from a price that is certainly of no earlier
// time, else a jump between the two would be counted twice.
func (b *Book) TakePrice(key exchange.SymbolKey, price exchange.Price, trueMS, nowMS int64) {
	symbol := b.Symbol(key)
	symbol.Last, symbol.Mark, symbol.LastMS = price, price, trueMS
	if symbol.pricedMS < b.accountMS || nowMS <= b.accountMS+b.Settle().StalenessMS {
		symbol.MarkedAt = price
	}
	symbol.pricedMS = nowMS
}

// Moved is how much a futures position's profit has changed since the account was fetched.
func (s *SymbolState) Moved() exchange.Amount {
	if s.AtVenue() == 0 || s.MarkedAt == 0 || s.Rules == nil || s.Key().Market != exchange.Futures {
		return exchange.Amount{}
	}
	return s.Rules.Notional(s.Price()-s.MarkedAt, s.AtVenue())
}

// Residual returns Position minus Known, and since when.
func (s *SymbolState) Residual() (exchange.Quantity, int64) { return s.residual, s.differs.sinceMS }

// maxClockStepMS is how far a start may set the clock right by which the epoch
// before it stamped its records.
const maxClockStepMS = 10_000

// calmSince begins to measure again how long ago the last fill was, where the clock
// before the start may have stamped it too early.
func (s *SymbolState) calmSince(settle placement.Settle, bootMS int64) persistence {
	near, filledMS := settle.StalenessMS+maxClockStepMS, s.FilledMS()
	if filledMS == 0 || bootMS < filledMS-near || bootMS > filledMS+near {
		return persistence{}
	}
	return persistence{sinceMS: bootMS, lastMS: bootMS}
}

// about is a record about the symbol.
func (s *SymbolState) about(body record.Body) record.Record {
	return record.Record{Symbol: s.Key(), Body: body}
}
