package account

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Apply changes the state by one record. Replaying a journal means applying its records in order.
func (s *State) Apply(r *record.Record) {
	switch r.Kind() {
	case record.KindPosting, record.KindTransfer, record.KindCheckpoint: // these change nothing that a round acts on
	default:
		s.version++
		s.starts.noteID(r)
	}
	switch body := r.Body.(type) {
	case record.Posting:
		s.books.Post(&body.Posting)
	case record.Transfer:
		s.books.Declare(&body.Transfer, r.AtMS)
	case record.Boot:
		s.boot(r, &body)
	case record.Config, record.Audit, record.Checkpoint:
	case record.Limit:
		s.setLimits.apply(r, &body)
	case record.Assigned, record.Plan, record.Memory, record.Latch, record.Priced, record.Declined:
		s.applyToStrategy(r)
	default:
		s.applied = true
		s.applyFact(r)
	}
}

// applyToStrategy applies the records that change one strategy's state.
func (s *State) applyToStrategy(r *record.Record) {
	t := s.strategy(r.Strategy)
	defer t.addLatch(t.latch.side, r.AtMS)
	switch body := r.Body.(type) {
	case record.Assigned:
		s.symbol(r.Symbol).owner = r.Strategy
		t.symbol, t.onRemove = r.Symbol, body.OnRemove
		t.events.watched = body.Events
	case record.Plan:
		t.symbol = r.Symbol
		t.setPlan(body.Plan)
		t.forgetKeys()
		t.releaseLatch()
	case record.Memory:
		t.memory = strategy.MemoryOf(slices.Clone(body.Entries)...)
		t.events.drop(body.Events)
	case record.Declined:
		t.events.addDeclined(&body, r.AtMS)
	case record.Latch:
		t.applyLatch(&body, r.AtMS)
	case record.Priced:
		t.target, t.quantity, t.priced = body.Target, body.Quantity, true
	}
}

// applyFact applies the facts about orders, symbols and the account.
func (s *State) applyFact(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Sending:
		p := placementOf(r, &body)
		s.begin(p)
		if p.purpose.Opens() {
			s.refusedIntents.endPosition(s.symbol(p.order.Key()))
		}
		s.circuit.sent(r.AtMS)
		s.recentPlacements.note(r.AtMS, r.Strategy)
	case record.Found:
		s.begin(found(r, &body))
		s.refusedPlacements.forget(r.ClientOrderID)
	case record.Acknowledged, record.Uncertain, record.Fill, record.Refused, record.Ended, record.Withdrawn:
		s.advance(r)
	case record.Quarantined:
		symbol := s.symbol(r.Symbol)
		symbol.quarantine, symbol.quarantineMS, symbol.unknownOrder = body.Reason, r.AtMS, r.ClientOrderID
		symbol.cause = cmp.Or(body.Cause, body.FormerCause())
	case record.Adopted:
		s.adopted(s.symbol(r.Symbol), &body, r.AtMS)
		s.refusedPlacements.decide(r.Symbol)
	case record.Liquidated:
		s.liquidated(s.symbol(r.Symbol), body.PositionID, r.AtMS)
	case record.Ignored:
		s.ignored(r, &body)
	case record.Fees:
		s.symbol(r.Symbol).applyFees(&body)
	case record.Baseline:
		symbol := s.symbol(r.Symbol)
		symbol.baseline, symbol.unattributed, symbol.rounding = body.Quantity, body.Unattributed, 0
	case record.Day:
		s.watch(r.Strategy).measure(r.AtMS, Day(body))
	case record.Result:
		w := s.watch(r.Strategy)
		w.result, w.losses, w.known, w.fills = body, body.Losses, true, nil
	case record.Accounted:
		s.account(&body)
	case record.Breach:
		s.watch(r.Strategy).breached(r.AtMS, &body)
	case record.Halt:
		s.halts.apply(r, &body, s.starts.newest)
	case record.Breaker:
		s.circuit.tripped(r.AtMS, &body)
	default:
		panic(fmt.Sprintf("account: a %s record has the unknown body %T: its change would be missing from the state", r.Kind(), r.Body))
	}
}

// boot begins a new epoch: orders that were being sent when the last one ended become uncertain.
func (s *State) boot(r *record.Record, body *record.Boot) {
	s.starts.boot(body)
	for _, p := range s.live {
		p.advance(r)
	}
}

func (s *State) begin(p *Placement) {
	s.symbol(p.order.Key())
	s.placements[p.clientOrderID] = p
	s.live = append(s.live, p)
}

// advance applies a record to one placement. A record about a placement that has ended is stale and
// changes nothing.
func (s *State) advance(r *record.Record) {
	p := s.placements[r.ClientOrderID]
	if p == nil {
		return
	}
	before := *p
	if grown := p.advance(r); grown > 0 {
		s.fill(p, &before, grown, r)
	}
	if p.state == placement.Uncertain && r.Kind() == record.KindUncertain {
		s.circuit.uncertain(r.AtMS)
	}
	s.refusedIntents.note(p, r)
	if r.Kind() == record.KindRefused {
		s.refusedPlacements.note(p, r.AtMS)
	}
	if p.state.Final() {
		s.end(p, r.AtMS)
	}
}

// fill books a fill of a placement.
func (s *State) fill(p, before *Placement, grown exchange.Quantity, r *record.Record) {
	symbol := s.symbol(p.order.Key())
	if p.order.Market == exchange.Spot && p.order.Side == exchange.Buy {
		_, price, _ := r.Filled()
		symbol.buy(before, grown, price)
	}
	beyond := s.beyond(p, symbol, grown)
	if s.halts.Halted().Unknown != "" || symbol.unknownOrder != "" {
		symbol.oversold += beyond
	}
	if beyond != 0 && s.buys(symbol.key) {
		beyond = 0 // a purchase that is booked later may explain it
	}
	s.watch(p.strategy).filled(p, before, grown, beyond)
	symbol.fill(p, grown, r.AtMS, &s.bounds)
	s.refusedIntents.endPosition(symbol)
	if !s.withoutLedger {
		s.books.Fill(p.booked(), grown)
	}
	t := s.strategy(p.strategy)
	t.events.addFill(p, before, grown, r.AtMS)
	switch {
	case p.purpose == placement.Order:
		t.ofKey(placement.Order, p.key).filled += grown
	case p.purpose == placement.ExitOrder:
		t.ofKey(placement.ExitOrder, p.key).filled += grown
		t.lower(grown)                                // fills of exits placed alongside a target lower it
		if t.exitsEnded(symbol.known - symbol.fees) { // like a take-profit: the re-entry policy decides when it opens again
			t.setLatch(t.plan.Target.Sign(), true, r.AtMS)
		}
	case p.purpose.Protects():
		t.setLatch(t.plan.Target.Sign(), true, r.AtMS)
	}
}

// beyond returns the part of a fill by which a spot order has sold more than the fills explain.
func (s *State) beyond(p *Placement, symbol *Symbol, grown exchange.Quantity) exchange.Quantity {
	if p.order.Market != exchange.Spot || p.order.Side != exchange.Sell {
		return 0
	}
	return max(0, grown-max(0, symbol.known))
}

// buys reports whether the symbol has a purchase that has not ended.
func (s *State) buys(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.live, func(p *Placement) bool { return p.order.Side == exchange.Buy && p.order.Key() == key })
}

func (s *State) end(p *Placement, atMS int64) {
	s.circuit.ended(p)
	if i, known := s.findStrategy(p.strategy); known {
		s.recorded.strategies[i].events.addEnd(p, atMS)
	}
	if (p.purpose == placement.Order || p.purpose == placement.ExitOrder) && (p.state == placement.Rejected || p.state == placement.Refused) {
		s.strategy(p.strategy).ofKey(p.purpose, p.key).refusedMS = atMS
	}
	if !s.withoutLedger {
		s.books.End(p.clientOrderID, p.orderID)
	}
	delete(s.placements, p.clientOrderID)
	s.live = slices.DeleteFunc(s.live, func(q *Placement) bool { return q == p })
	s.endings.remember(p.clientOrderID, Ending{
		Symbol: p.Symbol(), OrderID: p.orderID, Filled: p.filled, Strategy: p.strategy, Absent: p.state == placement.Absent,
	})
}

// liquidated latches the strategies that trade the symbol of a position that the exchange has
// liquidated. The position itself ends when the difference is adopted.
func (s *State) liquidated(symbol *Symbol, positionID, atMS int64) {
	symbol.liquidatedID = positionID
	for _, t := range s.recorded.strategies {
		if t.symbol == symbol.key {
			t.setLatch(t.plan.Target.Sign(), false, atMS)
		}
	}
}

// adopted books a difference between exchange and journal as the strategy's. If this ends a futures
// position, it latches the strategies that trade the symbol.
func (s *State) adopted(symbol *Symbol, body *record.Adopted, atMS int64) {
	symbol.adopt(body, atMS)
	s.refusedIntents.endPosition(symbol)
	if symbol.known != 0 || symbol.key.Market != exchange.Futures {
		return
	}
	for _, t := range s.recorded.strategies {
		if t.symbol == symbol.key {
			t.setLatch(t.plan.Target.Sign(), false, atMS)
		}
	}
}

// ignored leaves a part of the position, or one order, to its owner.
func (s *State) ignored(r *record.Record, body *record.Ignored) {
	symbol := s.symbol(r.Symbol)
	symbol.ignored, symbol.ignoredMS = body.Quantity, r.AtMS
	symbol.release()
	if r.ClientOrderID != "" {
		s.endings.remember(r.ClientOrderID, Ending{Symbol: r.Symbol, OrderID: body.OrderID, Left: true})
	}
}
