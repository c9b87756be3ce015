package engine

import (
	"cmp"

	"botd/exchange"
	"botd/strategy"
)

// EventFollow delivers a price from within a recorded candle. Only exits that follow the price use it
// (backtest; live, every round does that).
type EventFollow struct {
	Series exchange.SymbolKey
	Last   exchange.Price
}

func (*EventFollow) event() {}

// Trails returns the trailing stop of a position on the symbol: its level, 0 before it trails, and
// the price from which it trails. trails is false if no position there has a trailing stop.
func (e *Engine) Trails(key exchange.SymbolKey) (stop, from exchange.Price, trails bool) {
	for _, leg := range e.legs {
		if leg.symbol.Key() != key {
			continue
		}
		follower := leg.follower()
		if follower == nil {
			continue
		}
		if after, trails := follower.Trails(); trails {
			entry := leg.symbol.MeanEntryPrice()
			side := cmp.Compare(leg.symbol.Position(), 0)
			from = leg.symbol.Rules().PriceOf(entry.Add(entry.MulRate(after).Mul(int64(side)))) + exchange.Price(max(0, side)) // rounded up for a long position
			if stop = leg.state.Plan().Protection().StopLoss.Price; side < 0 {
				return leg.symbol.Rules().CeilPrice(stop), from, true
			}
			return leg.symbol.Rules().FloorPrice(stop), from, true
		}
	}
	return 0, 0, false
}

// DecidesMS returns when a strategy next decides without waiting for a candle to close; math.MaxInt64
// for never.
func (e *Engine) DecidesMS() int64 {
	next := int64(never)
	for _, leg := range e.legs {
		next = min(next, leg.schedule.nextMS, leg.askMS())
	}
	return next
}

// follower returns the strategy that moves the exits of the leg's position, or nil if there is nothing
// to move.
func (leg *leg) follower() strategy.Follower {
	if leg.symbol.Position() == 0 || leg.symbol.Last() <= 0 || leg.failure.why != "" || leg.config.Removed {
		return nil
	}
	return strategy.FollowerOf(leg.config.Strategy)
}

// followPrice lets the exits on a symbol follow a price.
func (t *tick) followPrice(event *EventFollow) {
	for _, leg := range t.legs {
		if leg.symbol.Key() == event.Series {
			leg.symbol.SetPrice(event.Last, event.Last, t.nowMS)
			t.follow(leg)
			if f := leg.follower(); f != nil {
				if _, trails := f.Trails(); trails {
					t.roundMS = t.nowMS // a stop that was moved too recently may move now, even if its target has not changed
				}
			}
		}
	}
}

// follow lets the exits of a position follow the price. It does not call a worker: a strategy that hangs
// keeps its trailing stop. While a call is in progress it does nothing, because the answer decides and
// is based on an earlier state.
func (t *tick) follow(leg *leg) {
	follower := leg.follower()
	if follower == nil || t.config.Rehearse || leg.question.id != 0 {
		return
	}
	t.refreshView(leg, t.nowMS)
	t.guard(leg, func() { follower.Follow(&leg.view, &leg.plan) })
	if leg.failure.why == "" {
		t.putInForce(leg, false)
	}
}
