package strategy

import "botd/exchange"

// Follower is a strategy whose exits follow the price between its decisions, such as one with a
// trailing stop.
type Follower interface {
	// Follows reports whether there is anything to follow.
	Follows() bool
	// Trails reports whether a stop moves with the price.
	Trails() (after exchange.Rate, trails bool)
	// Follow writes what changes of the plan in force now that the position and the last price are
	// those of the view. Like Decide it is repeatable and has no effect. It may run beside a Decide.
	Follow(view *View, plan *Plan)
}

// Batcher is a strategy that makes several decisions at once, such as one that every question costs a
// message. A backtest uses it where nothing can happen meanwhile but by the strategy itself.
type Batcher interface {
	// Batch prepares the decisions at the closes of candles from:to, up to and with the first one that
	// changes the plan. Their views differ in nothing but candle, time, last price, and the equity that
	// the function returns for a candle; nil says that it stays. Candle and Decide follow for each
	// candle that was prepared. It returns one after the last of them; from where it prepares none.
	Batch(view *View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) (end int)
}

// Steady is a strategy that decides by its candles alone and knows when a candle has changed nothing. A backtest does
// not ask it then.
type Steady interface {
	// Stays reports whether Decide would write what it would have written before the newest candle, whatever the view
	// shows, and no memory or notice.
	Stays() bool
}

// Passer is a Steady strategy that takes many candles at once, by their columns: a view of each would cost more than they do.
type Passer interface {
	Steady
	// Pass takes the candles from:to as Candle does one by one, up to and with the first one after which Stays is false. It
	// takes at least one, and returns one after the last that it took.
	Pass(candles *exchange.Candles, from, to int) (end int)
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
