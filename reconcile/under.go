package reconcile

import (
	"slices"

	"botd/strategy"
)

// Under returns the state as it would be with another plan in force. It shares
// nothing that changes with the state itself.
func (s *StrategyState) Under(plan *strategy.Plan) *StrategyState {
	state := *s
	state.Plan = *plan.Clone()
	state.Keys = slices.Clone(s.Keys)
	if state.Plan.Target != state.Target {
		state.Priced = false
	}
	state.forgetKeys()
	if state.Latch != 0 && state.Plan.Target.Sign() != state.Latch {
		state.Latch = 0
	}
	return &state
}
