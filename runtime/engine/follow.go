package engine

import (
	"botd/exchange"
	"botd/strategy"
)

// EventFollow brings a price that a recorded candle's path has reached. Only exits that follow the
// price see it (backtest; live every round does that).
type EventFollow struct {
	Series exchange.SymbolKey
	Last   exchange.Price
}

func (*EventFollow) event() {}

// Trails reports whether a strategy on the symbol holds a position whose stop follows the price.
func (e *Engine) Trails(key exchange.SymbolKey) bool {
	for _, leg := range e.legs {
		if leg.symbol.Key() != key {
			continue
		}
		if follower := leg.follower(); follower != nil && follower.Trails() {
			return true
		}
	}
	return false
}

// follower is what moves the exits of the leg's position; nil while there is nothing to move.
func (leg *leg) follower() strategy.Follower {
	if leg.symbol.Position == 0 || leg.symbol.Last <= 0 || leg.failed != "" || leg.config.Removed {
		return nil
	}
	return strategy.FollowerOf(leg.config.Strategy)
}

// followPrice has the exits on a symbol follow a price.
func (t *tick) followPrice(event *EventFollow) {
	for _, leg := range t.legs {
		if leg.symbol.Key() == event.Series {
			leg.symbol.Last, leg.symbol.Mark, leg.symbol.LastMS = event.Last, event.Last, t.nowMS
			t.follow(leg)
		}
	}
}

// follow has the exits of a position follow the price. Nobody is asked for it: a strategy that hangs
// keeps its trailing stop. While a question is out its answer decides, which was made before.
func (t *tick) follow(leg *leg) {
	follower := leg.follower()
	if follower == nil || t.config.Rehearse || leg.question.id != 0 {
		return
	}
	t.refreshView(leg, t.nowMS)
	t.guard(leg, func() { follower.Follow(&leg.view, &leg.plan) })
	if leg.failed == "" {
		t.putInForce(leg, false)
	}
}
