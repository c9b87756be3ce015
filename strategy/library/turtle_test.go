package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// turtleBook is a turtle after candles from 100 to 101 that close at 100: N is 1, the extremes are 101 and
// 100.
func turtleBook(t *testing.T, more strategy.Values) *book {
	t.Helper()
	values := strategy.Values{"entry": "4", "exit": "2", "failsafe": "0", "period": "2", "mode": "long_short", "max_notional": "1000%"}
	for name, value := range more {
		values[name] = value
	}
	b := newBook(t, newStrategy(t, "turtle", exchange.Futures, values), exchange.Futures)
	b.view.Equity = exchange.AmountOf(10_000)
	for range b.strategy.Warmup() {
		b.candle(101, 100, 100)
	}
	return b
}

func (b *book) candle(high, low, closed float64) {
	price := func(p float64) exchange.Price { return exchange.Price(p * 1e8) }
	show(&b.view, exchange.Candle{Open: price(closed), High: price(high), Low: price(low), Close: price(closed)})
	b.strategy.Candle(&b.view)
}

// wantTarget decides at a price, expects a target and a stop, and fills the target.
func (b *book) wantTarget(price float64, quantity exchange.Quantity, stop float64) {
	b.t.Helper()
	b.view.NowMS += 60_000
	b.decide(price)
	if have := b.plan.Target; have.Kind != strategy.ByQuantity || have.Quantity != quantity {
		b.t.Errorf("at %v: want %d, have %+v (%s)", price, quantity, have, b.plan.Reason)
	}
	if have := b.plan.Protection.StopLoss.Price; have != exchange.Price(stop*1e8) {
		b.t.Errorf("at %v: want a stop at %v, have %v", price, stop, float64(have)/1e8)
	}
	b.view.Position.Quantity, b.view.Events = b.plan.Target.Quantity, nil
}

// TestATurtleAddsUnitsAndStopsTwoNBehindTheNewest follows the example of the rules: units of 1 % / N, half an
// N apart, all stops 2 N behind the newest.
func TestATurtleAddsUnitsAndStopsTwoNBehindTheNewest(t *testing.T) {
	t.Parallel()
	b := turtleBook(t, nil)
	b.wantTarget(101, 0, 0)           // not above the high
	b.wantTarget(102, 100_000, 100)   // 1 % of 10,000 / 1
	b.wantTarget(102.4, 100_000, 100) // not half an N yet
	b.wantTarget(102.5, 200_000, 100.5)
	b.wantTarget(104, 300_000, 102) // one unit per decision
	b.wantTarget(104.5, 400_000, 102.5)
	b.wantTarget(120, 400_000, 102.5) // at most four units
	b.candle(121, 119, 120)
	b.candle(121, 119, 120)
	b.wantTarget(119, 400_000, 102.5)
	b.wantTarget(118.9, 0, 0) // below the low of the exit candles
	b.wantTarget(118.9, 0, 0)
}

func TestATurtleShortIsTheMirrorImage(t *testing.T) {
	t.Parallel()
	b := turtleBook(t, nil)
	b.wantTarget(99, -100_000, 101)
	b.wantTarget(98.5, -200_000, 100.5)
	b.wantTarget(101.5, 0, 0)
	long := turtleBook(t, strategy.Values{"mode": "long_only"})
	long.wantTarget(99, 0, 0)
}

func TestATurtleEntersAgainAfterAStopAndAfterARefusal(t *testing.T) {
	t.Parallel()
	b := turtleBook(t, nil)
	b.wantTarget(102, 100_000, 100)
	b.view.Position.Quantity = 0
	b.view.Events = []strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100_000},
		{Kind: strategy.EventStopped, Side: exchange.Sell, Reduces: true, Quantity: 100_000}}
	b.wantTarget(100.5, 0, 0)
	b.wantTarget(103, 100_000, 101)
	b.view.Position.Quantity = 0
	b.view.Events = []strategy.Event{{Kind: strategy.EventRefused, Side: exchange.Buy, Rule: "margin"}}
	b.wantTarget(100.5, 0, 0)
	b.wantTarget(102, 100_000, 100)
	b.wantTarget(102.5, 200_000, 100.5)
	b.view.Position.Quantity = 100_000 // the second unit was refused
	b.view.Events = []strategy.Event{{Kind: strategy.EventRefused, Side: exchange.Buy, Rule: "margin"}}
	b.wantTarget(102.6, 100_000, 100.5)
}

func TestTurtlePositionIsCapped(t *testing.T) {
	t.Parallel()
	b := turtleBook(t, strategy.Values{"max_notional": "150%"})
	b.wantTarget(102, 100_000, 100)
	b.wantTarget(102.5, 146_341, 100.5) // 15,000 / 102.5
	b.wantTarget(110, 146_341, 100.5)
}

// The earlier breakout won, although it was not traded. The longer breakout is traded nevertheless.
func TestATurtleSkipsABreakoutAfterAWinner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		won   bool
		price float64
		want  exchange.Quantity
	}{{"after a winner", true, 111, 0}, {"after a winner, a longer breakout", true, 131, 1}, {"after a loser", false, 111, 1}} {
		b := turtleBook(t, strategy.Values{"failsafe": "12"})
		if c.won {
			b.candle(130, 102, 130) // a breakout at 101
			b.candle(130, 129, 129)
			b.candle(130, 108, 108)
			b.candle(110, 101.5, 109) // below 108, the low of two candles: it made 7
		} else {
			b.candle(103, 100, 102)
			b.candle(102, 90, 109) // more than 2 N against it
		}
		for range 4 {
			b.candle(110, 109, 109)
		}
		b.decide(c.price)
		if have := b.plan.Target.Quantity; (have > 0) != (c.want > 0) {
			t.Errorf("%s: want %d, have %d (%s)", c.name, c.want, have, b.plan.Reason)
		}
	}
}

func TestTurtleComparesCloseWithEarlierCandles(t *testing.T) {
	t.Parallel()
	b := turtleBook(t, nil)
	b.view.Interval, b.view.NowMS = exchange.Minute1, -60_000+int64(exchange.Minute1)
	b.candle(103, 100, 102)
	b.wantTarget(102, 50_000, 98) // above 101; N is (1 + 3)/2
}
