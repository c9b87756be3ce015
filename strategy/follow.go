package strategy

// Follower is a strategy whose exits follow the price between its decisions, such as one with a
// trailing stop.
type Follower interface {
	// Follows reports whether there is anything to follow.
	Follows() bool
	// Trails reports whether a stop moves with the price.
	Trails() bool
	// Follow writes what changes of the plan in force now that the position and the last price are
	// those of the view. Like Decide it is repeatable and has no effect. It may run beside a Decide.
	Follow(view *View, plan *Plan)
}

// FollowerOf returns the strategy, or the one it wraps, whose exits follow the price; nil for none.
func FollowerOf(s Strategy) Follower {
	for s != nil {
		if follower, is := s.(Follower); is && follower.Follows() {
			return follower
		}
		wrapper, wraps := s.(Wrapper)
		if !wraps {
			return nil
		}
		s = wrapper.Wrapped()
	}
	return nil
}
