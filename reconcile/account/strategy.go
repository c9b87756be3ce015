package account

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Strategy is the journalled state of one strategy.
type Strategy struct {
	name     string
	symbol   exchange.SymbolKey
	plan     strategy.Plan // its buffers are used again
	memory   strategy.Memory
	latch    int
	target   strategy.Target   // the one that quantity is the size of
	quantity exchange.Quantity // signed
	priced   bool
	onRemove string
	keys     []keyFill // of the plan, sorted by purpose and key
	events   events
}

// Name is the strategy's name.
func (s *Strategy) Name() string { return s.name }

// Symbol is the symbol it trades.
func (s *Strategy) Symbol() exchange.SymbolKey { return s.symbol }

// Plan is a copy of the plan in force. Its lists are shared and must not be changed.
func (s *Strategy) Plan() strategy.Plan { return s.plan }

// ClonePlan returns a copy of the plan in force that shares nothing with it.
func (s *Strategy) ClonePlan() *strategy.Plan { return s.plan.Clone() }

// Covers reports whether a newer plan changes nothing of the one in force.
func (s *Strategy) Covers(newer *strategy.Plan) bool { return s.plan.Covers(newer) }

// Memory is what the strategy remembers.
func (s *Strategy) Memory() strategy.Memory { return s.memory }

// Latch is the side of the target on which nothing enters; 0 for none.
func (s *Strategy) Latch() int { return s.latch }

// OnRemove is what becomes of it when it is removed: flatten, leave.
func (s *Strategy) OnRemove() string { return s.onRemove }

// Priced returns the signed size that a target was priced at; false when it was not.
func (s *Strategy) Priced(target strategy.Target) (exchange.Quantity, bool) {
	return s.quantity, s.priced && s.target == target
}

// WithPlan returns the state as it would be with another plan in force.
func (s *Strategy) WithPlan(plan *strategy.Plan) *Strategy {
	state := *s
	state.plan, state.keys = *plan.Clone(), slices.Clone(s.keys)
	if state.plan.Target != state.target {
		state.priced = false
	}
	state.keys = slices.DeleteFunc(state.keys, func(k keyFill) bool {
		orders := state.plan.Orders
		if k.purpose == placement.ExitOrder {
			orders = state.plan.Exits
		}
		return !slices.ContainsFunc(orders, func(o strategy.DesiredOrder) bool { return o.Key == k.key })
	})
	state.releaseLatch()
	return &state
}

// Halted returns the state with what a halt leaves of the plan: cancel keeps no
// opening orders, flatten no position.
func (s *Strategy) Halted(level record.HaltLevel) *Strategy {
	if level < record.LevelCancel {
		return s
	}
	state := *s
	state.plan = *s.plan.Clone()
	state.plan.Orders, state.plan.OrdersSet = nil, true
	if level == record.LevelFlatten {
		state.plan.Exits, state.plan.ExitsSet = nil, true
		state.plan.Target = strategy.Flat()
	}
	return &state
}

// setPlan puts a plan in force.
func (s *Strategy) setPlan(plan *strategy.Plan) {
	s.plan.Reset()
	s.plan.Merge(plan)
	if s.plan.Target != s.target {
		s.priced = false // another target: the same one later is priced anew
	}
}

// setLatch forbids entries on the target's side until the target was zero or
// changed side: a position ended by anything but its plan must not be re-entered
// by the plan that still stands.
func (s *Strategy) setLatch(atMS int64) {
	before := s.latch
	s.latch = s.plan.Target.Sign()
	s.noteLatch(before, atMS)
}

// releaseLatch ends a latch when the target is zero or has changed side.
func (s *Strategy) releaseLatch() {
	if s.latch != 0 && s.plan.Target.Sign() != s.latch {
		s.latch = 0
	}
}

// lower takes what an exit order filled from a priced target.
func (s *Strategy) lower(by exchange.Quantity) {
	switch {
	case !s.priced:
	case s.quantity > 0:
		s.quantity = max(0, s.quantity-by)
	case s.quantity < 0:
		s.quantity = min(0, s.quantity+by)
	}
}
