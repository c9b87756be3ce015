package strategy

import "botd/exchange"

// Follower is a strategy whose exits follow the price between its decisions, such as one with a
// trailing stop.
type Follower interface {
	// Follows reports whether there is an exit to move.
	Follows() bool
	// Trails reports whether a stop moves with the price.
	Trails() (after exchange.Rate, trails bool)
	// Follow writes the changes to the plan in force for the view's position and last price. Like
	// Decide it is repeatable and has no side effects. It may run concurrently with Decide.
	Follow(view *View, plan *Plan)
}

// Batcher is a strategy that makes several decisions at once, for example because each call costs a
// message. A backtest uses it while only the strategy itself can change anything.
type Batcher interface {
	// Batch prepares the decisions at the closes of candles from:to, up to and including the first
	// one that changes the plan. Their views differ only in candle, time, last price and the equity
	// that the function returns for a candle; nil means that equity is constant. Candle and Decide
	// follow for each prepared candle. Batch returns the index after the last prepared candle, or
	// from if it prepares none.
	Batch(view *View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) (end int)
}

// Steady is a strategy that decides by its candles alone and can report that a candle has changed
// nothing. A backtest then skips its decision.
type Steady interface {
	// Stays reports whether Decide would write the same plan as before the newest candle, whatever
	// the view shows, without memory or notices.
	Stays() bool
}

// Passer is a Steady strategy that takes many candles at once by their columns, because a view of
// each candle would cost more than the candle itself.
type Passer interface {
	Steady
	// Pass takes the candles from:to as Candle would one by one, up to and including the first one
	// after which Stays is false. It takes at least one and returns the index after the last one
	// taken.
	Pass(candles *exchange.Candles, from, to int) (end int)
}

// FollowerOf returns the strategy, or the one it wraps, whose exits follow the price, or nil.
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
