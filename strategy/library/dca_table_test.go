package library

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// TestWhatBecomesOfABuy: what a strategy that has bought 100 for 100 USDT, and waits for 50 more, remembers of what happened.
func TestWhatBecomesOfABuy(t *testing.T) {
	t.Parallel()
	type event = strategy.Event
	buy := func(quantity exchange.Quantity, price int64) event {
		return event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: quantity, Price: exchange.AmountOf(price)}
	}
	for _, c := range []struct {
		name    string
		event   event
		falling bool
		held    exchange.Quantity // the position, by now
		want    string            // quantity, USDT spent, pending, owed, fallen, falling
	}{
		{"half of it is filled", buy(25, 1000), false, 125, "125 125 25 1 2 0"},
		{"all of it is filled", buy(50, 2000), false, 150, "150 200 0 1 2 0"},
		{"at a price that is not known: the one of before", event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 50}, false, 150,
			"150 150 0 1 2 0"},
		{"more than was asked for", buy(60, 1000), false, 160, "160 160 0 1 2 0"},
		{"less is left than the smallest order", buy(46, 1000), false, 146, "146 146 0 1 2 0"},
		{"as much is left as the smallest order", buy(45, 1000), false, 145, "145 145 5 1 2 0"},
		{"a buy on a fall", buy(50, 1000), true, 150, "150 150 0 1 3 0"},
		{"it is refused", event{Kind: strategy.EventRefused}, false, 100, "100 100 0 0 2 0"},
		{"an exit is refused", event{Kind: strategy.EventRefused, Reduces: true}, false, 100, "100 100 50 1 2 0"},
		{"it is canceled", event{Kind: strategy.EventCanceled}, false, 100, "100 100 0 1 2 0"},
		{"an exit is canceled", event{Kind: strategy.EventCanceled, Reduces: true}, false, 100, "100 100 50 1 2 0"},
		{"a stop takes half", event{Kind: strategy.EventStopped, Reduces: true, Quantity: 50}, false, 50, "50 50 50 1 2 0"},
		{"a stop takes all", event{Kind: strategy.EventStopped, Reduces: true, Quantity: 100}, false, 0, "0 0 0 1 0 0"},
		{"a take-profit takes more", event{Kind: strategy.EventTookProfit, Reduces: true, Quantity: 120}, false, 0, "0 0 0 1 0 0"},
		{"a person sells a part", event{Kind: strategy.EventLatched}, false, 40, "40 40 50 1 2 0"},
		{"a target of its configuration sells a part", event{Key: "t", Kind: strategy.EventFilled, Side: exchange.Sell, Reduces: true, Quantity: 20}, false,
			80, "80 80 50 1 2 0"},
		{"another order by a key is filled", event{Key: "t", Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 20}, false, 100, "100 100 50 1 2 0"},
		{"another order by a key is refused", event{Key: "t", Kind: strategy.EventRefused}, false, 100, "100 100 50 1 2 0"},
	} {
		s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"}).(*averaging)
		falling := int64(0)
		if c.falling {
			falling = 1
		}
		entries := []strategy.MemoryEntry{{Key: dcaQuantity, Value: 100}, {Key: dcaSpent, Value: 100e8}, {Key: dcaPending, Value: 50},
			{Key: dcaPrice, Value: 1000e8}, {Key: dcaDue, Value: 1}, {Key: dcaFallen, Value: 2}, {Key: dcaFalling, Value: falling}}
		view := strategy.View{Symbol: s.symbol, NowMS: 1, Last: 1000e8, Position: strategy.Position{Quantity: c.held}, Events: []event{c.event}}
		view.Memory, _ = view.Memory.With(strategy.MemoryOf(entries...))
		turn := &averagingTurn{s, strategy.Decision{View: &view, Plan: &strategy.Plan{}}}
		turn.happened()
		have := []string{}
		for _, key := range []string{dcaQuantity, dcaSpent, dcaPending, dcaDue, dcaFallen, dcaFalling} {
			value := turn.Recall(key)
			if key == dcaSpent {
				value /= 1e8
			}
			have = append(have, fmt.Sprint(value))
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}
