package reconcile

import (
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalledSymbol is a symbol's journalled state. SymbolState promotes its methods.
type journalledSymbol = account.Symbol

// SymbolState is the known state of one symbol, journalled and observed. Records change the
// journalled part, and snapshots the observed one. The rest of botd reads both, and changes them only by
// the methods of quotation and declarations, and by Tracker.ObservePrice, Forget and EndContradiction.
type SymbolState struct {
	*journalledSymbol
	quotation
	observation
	declarations
	difference
	futuresReads
	futuresEvidence futuresEvidence
	walletReads
	spot spotEvidence
	planOrder

	live                []*account.Placement // the account's live placements on it
	inFlight            []*account.Placement // of these, the placements that do not rest
	onlyOpeningsPending bool                 // settled except for resting openings not yet acknowledged; nothing else was sent since
	traded              exchange.Quantity    // signed: the position that botd itself opened and has not reduced
	refusedMS           int64                // when the exchange last refused an opening; 0 for never
	unread              bool
	sinceFill           persistence // time since the last fill, or since a start soon after it; otherwise not measured
	stable              stable      // content of the snapshots that count toward the fence
	equal               persistence // for how long it has been equal
	equalFromMS         int64       // start of the first of these snapshots
}

// difference is the part of a symbol's position that fills do not explain, and how long snapshots have shown it.
type difference struct {
	residual         exchange.Quantity // position - Known
	residualOf       exchange.Quantity // Known at that time
	residualFor      persistence       // the difference between position and Known
	measuredResidual exchange.Quantity // the difference whose persistence residualFor measures
	agrees           persistence       // no difference since the last one
}

// futuresReads records what the lists of futures positions have shown of a symbol over time.
type futuresReads struct {
	positionMS        int64       // begin of the snapshot with the last read of the list
	seen              []int64     // ids of positions seen open, oldest first
	doubled           persistence // the list shows two positions
	unexplainedMS     int64       // begin of the last snapshot with a position that fills do not explain; 0 for none
	unexplainedFromMS int64       // start of the time for which that position has been shown
	unexplainedID     int64       // its id, until positions/history shows its end or fills explain the position; 0 for none
	closedMS          int64       // end of the last position shown in positions/history
	refusedStopMS     int64       // since when a stop shows that an opening which the exchange refused was executed; 0 if none does
}

// walletReads records what the wallet has shown of a spot symbol over time.
type walletReads struct {
	walletOnlyRead   bool              // since this start the wallet was read, but not everything else
	walletShortfall  exchange.Quantity // the wallet's shortfall against the fills, negative
	missed           exchange.Quantity // the wallet's newest shortfall that is larger than fees can explain
	missedFor        persistence       // how long that shortfall has persisted
	unlistedSales    []peerOrder       // possible sales of unlisted orders with botd's prefix that the journal does not know
	unlistedFor      persistence       // time since then
	feeDifference    exchange.Quantity // a difference from the expected fees
	feeDifferenceFor persistence       // how long that difference has persisted
	feeRate          exchange.Rate     // the fee rate of purchases, as last shown by executions
	feeRateKnown     bool
	walletChange     exchange.Quantity // a change that an uncertain placement may have caused
	walletChangeFor  persistence       // how long that change has persisted
	unclaimedBought  exchange.Quantity // quantity that an unclaimed order without an id bought for an uncertain placement
	unclaimedSold    exchange.Quantity // the part of it that was sold beyond the quantity that fills explain
}

// planOrder keeps a symbol's orders with keys in the order of its plan from one derivation to the next, so that none is looked up by key. It holds no
// knowledge about the symbol: a derivation without it has the same result.
type planOrder struct {
	keyed   []*account.Placement // the live orders of a plan, as last ordered
	keyedAt []int                // their indexes in the plan at that time
}

// Live yields the live placements on the symbol, oldest first.
func (s *SymbolState) Live() iter.Seq[*account.Placement] { return slices.Values(s.live) }

// LiveCount returns the number of live placements on the symbol.
func (s *SymbolState) LiveCount() int { return len(s.live) }

// MeanEntryPrice returns the mean price of the position: the exchange's entry price, or the price paid
// if it reports none, as on spot. It is zero without a position.
func (s *SymbolState) MeanEntryPrice() exchange.Amount {
	switch {
	case !s.entryPrice.IsZero():
		return s.entryPrice
	case s.Known() == 0: // otherwise the price belongs to the previous position
		return exchange.Amount{}
	}
	return s.MeanPrice()
}

// Forget marks a symbol that is no longer traded, or was not traded until now, as not read, and drops its
// prices and leverage: nothing is concluded about it until it is read again.
func (s *SymbolState) Forget() {
	s.read, s.settled, s.onlyOpeningsPending, s.leverage = false, false, false, 0
	s.last, s.mark, s.lastMS, s.pricedMS = 0, 0, 0, 0
}

// Traded returns the quantity that botd itself opened on a side and has not reduced since the position
// was last settled at zero. It does not depend on what a list or the wallet shows: no read, right or
// wrong, allows more openings.
func (s *SymbolState) Traded(side exchange.Side) exchange.Quantity {
	return max(0, s.traded*exchange.Quantity(side.Sign()))
}

// AtVenue returns the position as reported by the exchange, including the ignored part.
func (s *SymbolState) AtVenue() exchange.Quantity { return s.position + s.Ignored() }

// ObservePrice applies a requested price. The account's data may be older or newer than the prices by L, so
// profit changes are counted from a price that is certainly not older than the account's data; otherwise
// a price jump in between would count twice.
func (t *Tracker) ObservePrice(key exchange.SymbolKey, price exchange.Price, trueMS, nowMS int64) {
	symbol := t.Track(key)
	symbol.last, symbol.mark, symbol.lastMS = price, price, trueMS
	if symbol.pricedMS < t.accountFromMS || nowMS <= t.accountFromMS+t.Bounds().StalenessMS {
		symbol.markedAt = price
	}
	symbol.pricedMS = nowMS
}

// ProfitChange returns the change of a futures position's profit since the account was fetched.
func (s *SymbolState) ProfitChange() exchange.Amount {
	if s.AtVenue() == 0 || s.markedAt == 0 || s.rules == nil || s.Key().Market != exchange.Futures {
		return exchange.Amount{}
	}
	return s.rules.Notional(s.Price()-s.markedAt, s.AtVenue())
}

// Unread reports whether a read about the symbol failed or is late, so that nothing was concluded
// from the newest snapshot.
func (s *SymbolState) Unread() bool { return s.unread }

// Residual returns the position minus Known, and since when they have differed.
func (s *SymbolState) Residual() (exchange.Quantity, int64) { return s.residual, s.residualFor.sinceMS }

// maxClockStepMS is the maximum assumed correction of the clock that stamped the records of the epoch
// before a start.
const maxClockStepMS = 10_000

// sinceFillAtStart restarts the measurement of the time since the last fill if the clock before the
// start may have stamped the fill too early.
func (s *SymbolState) sinceFillAtStart(bounds placement.Bounds, bootMS int64) persistence {
	near, filledMS := bounds.StalenessMS+maxClockStepMS, s.FilledMS()
	if filledMS == 0 || bootMS < filledMS-near || bootMS > filledMS+near {
		return persistence{}
	}
	return persistence{sinceMS: bootMS, lastMS: bootMS}
}

// about returns a record about the symbol.
func (s *SymbolState) about(body record.Body) record.Record {
	return record.Record{Symbol: s.Key(), Body: body}
}
