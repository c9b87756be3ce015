package reconcile

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// stableGapMS is the minimum time between the two equal snapshots that decide an uncertain order. If
// lists may lag by more than this, the snapshots must be L apart: a fill that the first one shows in the
// positions is then in the list of the second.
const stableGapMS = 3_000

func (t *tracked) anyOutcomeUncertain(key exchange.SymbolKey) bool {
	return t.AnyInFlightOn(key, func(p *account.Placement) bool { return p.State().OutcomeUncertain() })
}

// awaitsAnswer reports whether a symbol would be settled, as the snapshot shows it, if a resting opening were answered.
func (s *Snapshot) awaitsAnswer(symbol *SymbolState) bool {
	read := s.Positions.Done() && s.FuturesOrders.Done() && symbol.residual == 0
	if symbol.Key().Market == exchange.Spot {
		read = s.Balances.Done() && s.SpotOrders.Done()
	}
	return read && symbol.read && symbol.Quarantine() == "" && !s.isUnread(symbol.Key()) &&
		!slices.ContainsFunc(symbol.inFlight, func(p *account.Placement) bool {
			resting := p.State() == placement.Sending && p.Purpose() == placement.Order
			return p.State().OutcomeUncertain() && !resting
		})
}

// anyUnanswered reports whether a placement on the symbol waits for its answer: it may have filled
// already, and part of the residual may be its fill.
func (t *tracked) anyUnanswered(key exchange.SymbolKey) bool {
	return t.AnyInFlightOn(key, func(p *account.Placement) bool { return p.State() == placement.Sending })
}

// anyUnlisted reports whether an accepted placement may not be visible yet: it could have filled without
// any list showing it (exactly-once.md, case 11).
func (e *evidence) anyUnlisted(key exchange.SymbolKey) bool {
	return e.anyUnlistedThat(key, func(*account.Placement) bool { return true })
}

// anyUnlistedThat reports the same for the placements that satisfy a predicate.
func (e *evidence) anyUnlistedThat(key exchange.SymbolKey, that func(*account.Placement) bool) bool {
	return e.tracker.AnyInFlightOn(key, func(p *account.Placement) bool {
		return !p.State().OutcomeUncertain() && !p.Seen() && e.fetched.BeganMS < p.Fence(e.tracker.Bounds()) && that(p)
	})
}

// uncertainOrders decides the uncertain placements, unless an unclaimed row or a change of the wallet may be one of them.
type uncertainOrders struct {
	*evidence
	*recorder
}

func (s *survey) uncertainOrders() uncertainOrders { return uncertainOrders{&s.evidence, &s.recorder} }

// decideUncertain decides the uncertain placements of a symbol by the position equation: two equal
// snapshots at least three seconds and L apart, the first begun after the fence, with no known fill
// changed for L (exactly-once.md, The fence and the equation). The open list was checked before and
// contains none of them. Repeated exits do not wait for newer ones if the position is
// complete.
func (s uncertainOrders) decideUncertain(symbol *SymbolState, uncertain []*account.Placement) {
	alone := symbol.residual == 0 && symbol.onlyReductionsUncertain()
	fence := uncertain[0].Fence(s.tracker.Bounds())
	for _, p := range uncertain {
		if !alone {
			fence = max(fence, p.Fence(s.tracker.Bounds()))
		}
	}
	fresh := s.mayPredateFill(symbol)
	if s.fetched.BeganMS < fence || !s.fetched.FuturesOrders.Done() || !s.fetched.Before.Done() || fresh ||
		s.anyUnlisted(symbol.Key()) || !alone && s.tracker.anyUnanswered(symbol.Key()) {
		symbol.equal.reset()
		return
	}
	cut := stable{symbol.Known(), symbol.residual, symbol.positionID, alone}
	if symbol.equal.sinceMS == 0 || symbol.stable != cut {
		symbol.stable, symbol.equalFromMS = cut, s.fetched.BeganMS
		symbol.equal.restart(s.fetched)
		return
	}
	symbol.equal.extend(s.fetched)
	if symbol.equal.forMS < max(stableGapMS, s.tracker.Bounds().StalenessMS) {
		return
	}
	if symbol.Missing() && symbol.AtVenue() == 0 && symbol.futuresEvidence.by == noWitness {
		return // only the list shows this end; positions/history is read with the next snapshot
	}
	if symbol.residual == 0 && symbol.AtVenue() == 0 && s.positionEvidence().protectsOneOf(uncertain) {
		return // the exchange would have ended the closePosition order together with the position that a list has shown
	}
	if symbol.residual == 0 && s.positionEvidence().mayHaveClosed(symbol, uncertain) && !slices.Contains(s.fetched.ClosedOf, symbol.Key().Name) {
		return // positions/history is read with the next snapshot (case 9)
	}
	if s.marginShowsMore(symbol, uncertain) {
		return // only the list shows that less was opened, or nothing
	}
	symbol.equal.reset()
	if alone {
		uncertain = slices.DeleteFunc(uncertain, func(p *account.Placement) bool { return p.Fence(s.tracker.Bounds()) > symbol.equalFromMS })
	}
	s.attribute(symbol, uncertain)
}

// onlyReductionsUncertain reports whether all uncertain orders of a symbol reduce it on one side and no resting order
// may open: then no other order can offset the fill of one of them in the position.
func (s *SymbolState) onlyReductionsUncertain() bool {
	var first *account.Placement
	for _, p := range s.live {
		switch {
		case !p.Reduces():
			return false
		case !p.State().OutcomeUncertain():
		case first == nil:
			first = p
		case p.Order().Side != first.Order().Side:
			return false
		}
	}
	return true
}

// attribute assigns the residual to uncertain placements. A single one is decided by it. Of several, the
// oldest on the residual's side are booked first: the position is then right, although it is not certain
// which of them filled (case 18).
func (s uncertainOrders) attribute(symbol *SymbolState, uncertain []*account.Placement) {
	left := symbol.residual
	for _, p := range uncertain {
		left -= explained(p, left)
	}
	if left != 0 {
		s.quarantine(
			symbol,
			"the position differs by "+symbol.residualText()+", which the uncertain placement "+uncertain[0].ClientOrderID()+" does not explain",
		)
		return
	}
	if symbol.residual == 0 && slices.ContainsFunc(uncertain, func(p *account.Placement) bool { return s.quarantineCandidate(p) }) {
		return
	}
	left = symbol.residual
	for _, p := range uncertain {
		part := explained(p, left)
		left -= part
		ended := record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: "the position after the fence does not contain a fill of it"}
		switch {
		case part != 0:
			ended.State, ended.Filled, ended.Evidence = placement.Filled, p.Filled()+part.Abs(), "inferred from the position after the fence"
			if ended.Filled < p.Order().Quantity {
				ended.State = placement.Canceled
			}
			if len(uncertain) > 1 {
				ended.Evidence += "; several placements were uncertain, and it is not certain which of them filled"
			}
		case symbol.residual == 0 && p.Purpose().Opens():
			if s.closedAlready(symbol, p) {
				continue
			}
		}
		s.emit(p.About(ended))
	}
}

// explained returns the part of a residual that an uncertain placement can have caused. A closePosition
// order may have closed the whole position.
func explained(p *account.Placement, residual exchange.Quantity) exchange.Quantity {
	side := exchange.Quantity(p.Order().Side.Sign())
	switch most := p.Order().Quantity - p.Filled(); {
	case side*residual <= 0:
		return 0
	case p.Order().ClosePosition:
		return residual
	default:
		return side * min(side*residual, most)
	}
}

// Explained returns the part of a difference between position and fills that an opening can have caused; 0
// for any other placement.
func Explained(p *account.Placement, residual exchange.Quantity) exchange.Quantity {
	if !p.Purpose().Opens() {
		return 0
	}
	return explained(p, residual)
}

// Ahead returns by how much a futures position, as last read, exceeds the booked fills.
func (s *SymbolState) Ahead() exchange.Quantity {
	if s.Key().Market != exchange.Futures {
		return 0
	}
	return s.position - s.Known()
}

// closedAlready finds a position that the uncertain opening made and that has closed again: it was
// created after the opening was sent, on its side, and never seen open (case 9). It books both as
// inferred.
func (s uncertainOrders) closedAlready(symbol *SymbolState, p *account.Placement) bool {
	if symbol.FilledMS() >= p.SentMS() {
		return false // a known order's fill may have caused it
	}
	for i := range s.fetched.Closed {
		c := &s.fetched.Closed[i]
		if c.Symbol != symbol.Key().Name || (c.Side == exchange.Long) != (p.Order().Side == exchange.Buy) ||
			c.CreatedMS < exchange.WholeSecond(p.SentMS()) ||
			slices.Contains(symbol.seen, c.ID) {
			continue
		}
		filled := min(c.Quantity, p.Order().Quantity)
		state := placement.Filled
		if filled < p.Order().Quantity {
			state = placement.Canceled
		}
		grown := filled - p.Filled()
		s.emit(p.About(record.Ended{State: state, Filled: filled, Price: c.EntryPrice, Evidence: "inferred: filled and closed before the first read"}))
		s.emit(
			symbol.about(
				record.Adopted{Quantity: -grown * exchange.Quantity(p.Order().Side.Sign()), Evidence: "the position was closed before it was seen"},
			),
		)
		symbol.noteSeen(c.ID)
		return true
	}
	return false
}

// maxSeenIDs bounds the number of position ids remembered per symbol.
const maxSeenIDs = 32

// noteSeen remembers a position's id: a position that was seen open does not belong to an uncertain order.
func (t *futuresReads) noteSeen(id int64) {
	if id == 0 || slices.Contains(t.seen, id) {
		return
	}
	if len(t.seen) == maxSeenIDs {
		t.seen = slices.Delete(t.seen, 0, 1)
	}
	t.seen = append(t.seen, id)
}

// stable is the content that must be equal in the two snapshots that decide an uncertain order.
type stable struct {
	known, residual exchange.Quantity
	positionID      int64
	alone           bool // each exit is decided by its own fence
}

// A list proves that an order is absent only if it would show that order. The interface does not promise
// the client order id in any list: as long as there is an unclaimed row that could be the order, nothing
// counts as absent (exactly-once.md, case 42).

// createdSlackMS is the maximum time by which an order's date may precede its journalled time: futures
// dates are in whole seconds.
const createdSlackMS = 1_000

// quarantineCandidate reports whether an unclaimed row exists, or may exist, that could be an
// uncertain placement. If one exists, it quarantines the symbol.
func (s uncertainOrders) quarantineCandidate(p *account.Placement) bool {
	symbol := s.tracker.Symbol(p.Symbol())
	o := s.tracker.unclaimedRows().candidate(p, s.fetched)
	if p.Order().Side == exchange.Buy {
		symbol.unclaimedBought = s.tracker.unclaimedRows().boughtBy(o, p, symbol)
	}
	if o != nil {
		s.quarantine(symbol, fmt.Sprintf("order %d, which no placement claims, could be the uncertain placement %s", o.ID, p.ClientOrderID()))
		return true
	}
	moved, persistent := s.walletMoved(symbol, p)
	if moved && persistent {
		s.quarantine(symbol, "the wallet has changed as the uncertain placement "+p.ClientOrderID()+" would have changed it, and no list shows the cause")
	}
	return moved
}

// heldInQuarantine returns the quantity that the kill switch closes on a quarantined spot symbol: the
// explained quantity plus the result of an uncertain purchase, as far as the wallet shows it.
func (t *Tracker) heldInQuarantine(symbol *SymbolState) exchange.Quantity {
	own := symbol.heldOnSpot()
	if t.purchaseUncertain(symbol) {
		own += max(0, symbol.unclaimedBought-symbol.unclaimedSold)
	}
	return max(0, min(own, t.baseBalance(symbol)-symbol.Baseline()))
}

// couldBe reports whether a row may be the given order, sent at a given time, whatever its id.
func couldBe(o *exchange.Order, order exchange.NewOrder, sentMS int64) bool {
	if o.Key() != order.Key() || o.Side != order.Side || o.CreatedMS < sentMS-createdSlackMS || o.Status.Final() && o.Filled == 0 {
		return false
	}
	if o.ClientOrderID == "" {
		return o.ClosePosition == order.ClosePosition || order.Market == exchange.Spot
	}
	if !order.QuoteAmount.IsZero() { // placed by amount: the list's quantity cannot be predicted
		return o.Type == order.Type
	}
	return o.Quantity == order.Quantity && o.ClosePosition == order.ClosePosition && o.Type.Conditional() == order.Type.Conditional()
}

// claimed reports whether a row is the order of a placement, live or ended.
func (t *tracked) claimed(o *exchange.Order) bool {
	if t.match(o) != nil {
		return true
	}
	if former, ended := t.Ended(o.ClientOrderID); ended && o.ClientOrderID != "" {
		return former.OrderID == 0 || former.OrderID == o.ID
	}
	_, _, ended := t.EndedAs(o.Key(), o.ID)
	return ended
}

// walletMoved reports whether the wallet's balance of a spot symbol's asset deviates from the fills in
// the placement's direction, and whether the deviation has persisted. A wallet that may be older than
// the last fill proves nothing.
func (s uncertainOrders) walletMoved(symbol *SymbolState, p *account.Placement) (moved, persistent bool) {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || !s.fetched.Balances.Done() || s.mayPredateFill(symbol) {
		return false, false
	}
	tolerance := symbol.rules.QuantityOf(symbol.rules.QuantityAmount(symbol.Bought()).MulRate(spotFeeBound)) + 2*symbol.rules.QuantityTick
	by := s.walletEvidence().shownInWallet(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees()
	if by*exchange.Quantity(p.Order().Side.Sign()) <= tolerance {
		symbol.walletChangeFor.reset()
		return false, false
	}
	if by != symbol.walletChange {
		symbol.walletChangeFor.reset()
	}
	symbol.walletChange = by
	symbol.walletChangeFor.extend(s.fetched)
	others := s.tracker.AnyLive(func(q *account.Placement) bool { return q != p && q.Symbol() == symbol.Key() })
	return true, !others || symbol.walletChangeFor.exceeds(s.tracker.Bounds().StalenessMS)
}

// Unclaimed returns by how much the wallet's balance of a spot symbol's asset exceeds the quantity that
// the kill switch would close plus the balance before botd bought; zero if the excess is not larger than
// fees can explain.
func (t *Tracker) Unclaimed(symbol *SymbolState) exchange.Quantity {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || t.WalletMS() == 0 {
		return 0
	}
	more := t.baseBalance(symbol) - symbol.Baseline() - t.ToClose(symbol)
	if more <= symbol.ExpectedFees()+symbol.rules.QuantityTick {
		return 0
	}
	return more
}
