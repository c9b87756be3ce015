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
	state.Keys = slices.DeleteFunc(state.Keys, func(k KeyFill) bool {
		wishes := state.Plan.Orders
		if k.Purpose == ExitOrder {
			wishes = state.Plan.Exits
		}
		return !slices.ContainsFunc(wishes, func(w strategy.DesiredOrder) bool { return w.Key == k.Key })
	})
	if state.Latch != 0 && state.Plan.Target.Sign() != state.Latch {
		state.Latch = 0
	}
	return &state
}
