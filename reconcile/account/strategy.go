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
	plan     strategy.Plan // its buffers are reused
	memory   strategy.Memory
	latch    latch
	target   strategy.Target   // the target that quantity was computed for
	quantity exchange.Quantity // signed
	priced   bool
	onRemove string
	keys     []keyFill // of the plan, sorted by purpose and key
	events   events
}

// Name returns the strategy's name.
func (s *Strategy) Name() string { return s.name }

// Symbol returns the symbol that it trades.
func (s *Strategy) Symbol() exchange.SymbolKey { return s.symbol }

// Plan returns the plan in force.
func (s *Strategy) Plan() Plan { return Plan{&s.plan} }

// Memory returns the strategy's memory.
func (s *Strategy) Memory() strategy.Memory { return s.memory }

// latch closes a side to entries.
type latch struct {
	side      int // 0 for none
	atMS      int64
	protected bool // closed by a stop-loss or take-profit, or by exits placed alongside the target
	idle      bool // the strategy has desired no position since
}

// Latch returns the side of the target that is closed to entries; 0 for none.
func (s *Strategy) Latch() int { return s.latch.side }

// LatchMS returns the time at which the side was closed.
func (s *Strategy) LatchMS() int64 { return s.latch.atMS }

// LatchedByProtection reports whether a stop-loss or take-profit, or the plan's exits placed alongside
// its target, closed the side. The strategy's re-entry policy then decides when it may enter again.
func (s *Strategy) LatchedByProtection() bool { return s.latch.protected }

// LatchIdle reports whether the strategy has desired no position since the latch began.
func (s *Strategy) LatchIdle() bool { return s.latch.idle }

// OnRemove returns what happens to the position when the strategy is removed: flatten or leave.
func (s *Strategy) OnRemove() string { return s.onRemove }

// Priced returns the signed quantity at which a target was priced, or false if it was not.
func (s *Strategy) Priced(target strategy.Target) (exchange.Quantity, bool) {
	return s.quantity, s.priced && s.target == target
}

// WithPlan returns the state as if another plan were in force.
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

// Halted returns the state with its plan reduced by a halt: at level cancel the plan has no opening
// orders, at level flatten no position.
func (s *Strategy) Halted(level record.HaltLevel) *Strategy {
	if !level.Ends(placement.Order) {
		return s
	}
	state := *s
	state.plan = *s.plan.Clone()
	state.plan.Orders, state.plan.OrdersSet = nil, true
	if level.Ends(placement.ExitOrder) {
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
		s.priced = false // if the previous target returns later, it is priced again
	}
}

// setLatch forbids entries on the target's side until the target has been zero or on the other side: if
// something other than its plan ends a position, the plan that is still in force must not enter again.
func (s *Strategy) setLatch(side int, protected bool, atMS int64) {
	before := s.latch.side
	switch side {
	case 0:
		s.latch = latch{}
	case before:
	default:
		s.latch = latch{side: side, atMS: atMS, protected: protected}
	}
	s.addLatch(before, atMS)
}

// applyLatch applies a latch record.
func (s *Strategy) applyLatch(body *record.Latch, atMS int64) {
	switch {
	case body.Idle:
		s.latch.idle = true
	case body.Renewed:
		s.latch, s.priced = latch{}, false
	case body.Side == 0:
		s.latch = latch{}
	case body.Side != s.latch.side:
		s.latch = latch{side: body.Side, atMS: atMS}
	}
}

// releaseLatch ends a latch if the target is zero or has changed side.
func (s *Strategy) releaseLatch() {
	if s.latch.side != 0 && s.plan.Target.Sign() != s.latch.side {
		s.latch = latch{}
	}
}

// exitsEnded reports whether the exits placed alongside a target have ended the position: nothing is
// left or, on spot, where fees reduce the purchased quantity, at most a twentieth of the quantity they
// sold.
func (s *Strategy) exitsEnded(left exchange.Quantity) bool {
	if !s.priced || s.plan.Target.Sign() == 0 {
		return false
	}
	var sold exchange.Quantity
	for _, k := range s.keys {
		if k.purpose == placement.ExitOrder {
			sold += k.filled
		}
	}
	return s.quantity == 0 || left.Abs() <= sold/20
}

// lower subtracts an exit order's fill from a priced target.
func (s *Strategy) lower(by exchange.Quantity) {
	switch {
	case !s.priced:
	case s.quantity > 0:
		s.quantity = max(0, s.quantity-by)
	case s.quantity < 0:
		s.quantity = min(0, s.quantity+by)
	}
}
