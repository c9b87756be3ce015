package library

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The strategy has bought 100 for 100 USDT, and waits for 50 more. The cases list its memory after each event.
func TestDCABuyEvents(t *testing.T) {
	t.Parallel()
	type event = strategy.Event
	buy := func(quantity exchange.Quantity, price int64) event {
		return event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: quantity, Price: exchange.AmountOf(price)}
	}
	for _, c := range []struct {
		name    string
		event   event
		falling bool
		held    exchange.Quantity // the position by then
		want    string            // quantity, USDT spent, pending, owed, fallen, falling, price of the last buy
	}{
		{"half of it is filled", buy(25, 1000), false, 125, "125 125 25 1 2 0 1000"},
		{"all of it is filled", buy(50, 2000), false, 150, "150 200 0 1 2 0 2000"},
		{"at a price that is not known: the one of before", event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 50}, false, 150,
			"150 150 0 1 2 0 1000"},
		{"more than was asked for", buy(60, 1000), false, 160, "160 160 0 1 2 0 1000"},
		{"less is left than the smallest order", buy(46, 1000), false, 146, "146 146 0 1 2 0 1000"},
		{"as much is left as the smallest order", buy(45, 1000), false, 145, "145 145 5 1 2 0 1000"},
		{"a buy on a dip", buy(50, 1000), true, 150, "150 150 0 1 3 0 1000"},
		{"it is refused", event{Kind: strategy.EventRefused}, false, 100, "100 100 0 0 2 0 1000"},
		{"an exit is refused", event{Kind: strategy.EventRefused, Reduces: true}, false, 100, "100 100 50 1 2 0 1000"},
		{"it is canceled", event{Kind: strategy.EventCanceled}, false, 100, "100 100 0 1 2 0 1000"},
		{"an exit is canceled", event{Kind: strategy.EventCanceled, Reduces: true}, false, 100, "100 100 50 1 2 0 1000"},
		{"a stop takes half", event{Kind: strategy.EventStopped, Reduces: true, Quantity: 50}, false, 50, "50 50 50 1 2 0 1000"},
		{"a stop takes all", event{Kind: strategy.EventStopped, Reduces: true, Quantity: 100}, false, 0, "0 0 0 1 0 0 1000"},
		{"a take-profit takes more", event{Kind: strategy.EventTookProfit, Reduces: true, Quantity: 120}, false, 0, "0 0 0 1 0 0 1000"},
		{"a person sells a part", event{Kind: strategy.EventLatched}, false, 40, "40 40 50 1 2 0 1000"},
		{"a target of its configuration sells a part", event{Key: "t", Kind: strategy.EventFilled, Side: exchange.Sell, Reduces: true, Quantity: 20}, false,
			80, "80 80 50 1 2 0 1000"},
		{"another order by a key is filled", event{Key: "t", Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 20}, false, 100,
			"100 100 50 1 2 0 1000"},
		{"another order by a key is refused", event{Key: "t", Kind: strategy.EventRefused}, false, 100, "100 100 50 1 2 0 1000"},
	} {
		s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"}).(*averaging)
		falling := int64(0)
		if c.falling {
			falling = 1
		}
		entries := []strategy.MemoryVariable{{Key: dcaQuantity, Value: 100}, {Key: dcaSpent, Value: 100e8}, {Key: dcaPending, Value: 50},
			{Key: dcaPrice, Value: 1000e8}, {Key: dcaDue, Value: 1}, {Key: dcaFallen, Value: 2}, {Key: dcaFalling, Value: falling}}
		view := strategy.View{Symbol: s.symbol, NowMS: 1, Last: 1000e8, Position: strategy.Position{Quantity: c.held}, Events: []event{c.event}}
		view.Memory, _ = view.Memory.With(strategy.MemoryOf(entries...))
		turn := &averagingTurn{s, strategy.Decision{View: &view, Plan: &strategy.Plan{}}}
		turn.happened()
		have := []string{}
		for _, key := range []string{dcaQuantity, dcaSpent, dcaPending, dcaDue, dcaFallen, dcaFalling, dcaPrice} {
			value := turn.Recall(key)
			if key == dcaSpent || key == dcaPrice {
				value /= 1e8
			}
			have = append(have, fmt.Sprint(value))
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}

// On spot the average price for the sale depends on it.
func TestFillWithoutPriceUsesRequestedPrice(t *testing.T) {
	t.Parallel()
	b := newBook(t, newStrategy(t, "dca", exchange.Spot, strategy.Values{"amount": "100", "every": "1h", "take_profit": "10%"}), exchange.Spot)
	b.decide(1000)
	b.view.Position.Quantity, b.view.Events = 100, []strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: 100}}
	for _, c := range []struct {
		price float64
		want  exchange.Quantity
	}{{1099.9, 100}, {1100, 0}} {
		b.decide(c.price)
		if want := (strategy.Target{Kind: strategy.ByQuantity, Quantity: c.want}); b.plan.Target != want {
			t.Errorf("at %v: want %+v, have %+v (%s)", c.price, want, b.plan.Target, b.plan.Reason)
		}
		b.view.Events = nil
	}
}

// The rest is smaller than a step of the quantity, or worth less than the exchange's minimum.
func TestUnsellableRestEndsSale(t *testing.T) {
	t.Parallel()
	where := setting(t, exchange.Futures)
	finer, err := where.Symbol.WithScales(where.Symbol.PriceScale, 4) // a step is 10 units
	if err != nil {
		t.Fatal(err)
	}
	where.Symbol = finer
	s := newStrategyIn(t, where, "dca", strategy.Values{"amount": "100", "take_profit": "10%"})
	for _, c := range []struct {
		held  exchange.Quantity
		price exchange.Price
		over  bool
	}{{20, 10_000e8, false}, {10, 5_000e8, false}, {10, 4_999_9e7, true}, {9, 50_000e8, true}, {0, 5_000e8, true}} {
		view := strategy.View{Symbol: finer, NowMS: 7, Last: c.price, Position: strategy.Position{Quantity: c.held},
			Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: dcaSelling, Value: 1}, strategy.MemoryVariable{Key: dcaQuantity, Value: 500})}
		var plan strategy.Plan
		s.Decide(&view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		selling, _ := view.Memory.Get(dcaSelling)
		quantity, _ := view.Memory.Get(dcaQuantity)
		if plan.Target != strategy.Flat() || plan.Reason != "sells everything above the mean" || (selling == 0) != c.over || (quantity == 0) != c.over {
			t.Errorf("%d at %d: want flat, and the sale over: %t; have %+v, selling %d of %d", c.held, c.price, c.over, plan, selling, quantity)
		}
	}
}

// The parameters are 100 USDT each hour, falls of 10 % and a take-profit of 10 %.
func TestDCADecisions(t *testing.T) {
	t.Parallel()
	const clock, under, holds = "a scheduled buy is due", "the last buy is in progress", "holds the position"
	const above, fell = "the price is above the mean by the take-profit", "the price fell below the last buy"
	for _, c := range []struct {
		name   string
		market exchange.Market
		values strategy.Values
		memory map[string]int64
		held   exchange.Quantity
		entry  int64 // price of the position
		price  exchange.Price
		want   exchange.Quantity
		reason string
	}{
		{"at first", exchange.Futures, nil, nil, 0, 0, 1000e8, 100, clock},
		{"one buy of one is made", exchange.Futures, strategy.Values{"buys": "1"}, map[string]int64{dcaBegan: 1, dcaBought: 1, dcaQuantity: 100}, 100, 1000,
			1000e8,
			100, holds},
		{"one buy of two is made", exchange.Futures, strategy.Values{"buys": "2"}, map[string]int64{dcaBegan: 1, dcaBought: 1, dcaQuantity: 100}, 100, 1000,
			1000e8,
			200, clock},
		{"the smallest quantity is under way", exchange.Futures, nil, map[string]int64{dcaBegan: 1, dcaBought: 2, dcaDue: 1, dcaPending: 1}, 0, 0, 1000e8, 1,
			under},
		{"at a very small fall", exchange.Futures, strategy.Values{"fall": "0.00000001"}, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaPrice: 1000e8}, 0, 0,
			999_9e7, 100, fell},
		{"without buys on dips", exchange.Futures, strategy.Values{"fall": "0"}, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaPrice: 1000e8}, 0, 0, 500e8, 0,
			holds},
		{"the position was not bought by it", exchange.Futures, nil, nil, 100, 900, 1000e8, 100, clock},
		{"its purchase is not in the position yet", exchange.Futures, nil, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 100, dcaSpent: 100e8,
			dcaPrice: 1000e8}, 0, 0, 2000e8, 100, holds},
		{"the smallest quantity above its mean", exchange.Futures, nil, map[string]int64{dcaBegan: 1, dcaQuantity: 1, dcaSpent: 1e8}, 1, 1000, 1100e8, 0,
			above},
		{"at a very small take-profit", exchange.Futures, strategy.Values{"take_profit": "0.00000001"}, map[string]int64{dcaBegan: 1, dcaQuantity: 100}, 100,
			1000,
			1000_1e7, 0, above},
		{"without a take-profit", exchange.Futures, strategy.Values{"take_profit": "0"}, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 100}, 100,
			1000,
			9000e8, 100, holds},
		{"futures: by the price of the position", exchange.Futures, nil, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 100, dcaSpent: 200e8}, 100,
			1000,
			1100e8, 0, above},
		{"futures, no price of the position is known: by what was spent", exchange.Futures, nil,
			map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 100, dcaSpent: 200e8, dcaPrice: 1e8}, 100, 0, 2199_9e7, 100, holds},
		{"spot: by what was spent", exchange.Spot, nil, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 100, dcaSpent: 200e8, dcaPrice: 1e8}, 100,
			1000,
			2199_9e7, 100, holds},
		{"spot, the smallest quantity", exchange.Spot, nil, map[string]int64{dcaBegan: 1, dcaBought: 9, dcaQuantity: 1, dcaSpent: 2e8, dcaPrice: 1e8}, 1, 1000,
			2199_9e7, 1, holds},
	} {
		values := strategy.Values{"amount": "100", "every": "1h", "fall": "10%", "take_profit": "10%"}
		maps.Copy(values, c.values)
		b := newBook(t, newStrategy(t, "dca", c.market, values), c.market)
		b.view.NowMS, b.view.Last = 1+3_600_000, c.price
		b.view.Position = strategy.Position{Quantity: c.held, EntryPrice: exchange.AmountOf(c.entry)}
		for key, value := range c.memory {
			b.view.Memory, _ = b.view.Memory.With(strategy.MemoryOf(strategy.MemoryVariable{Key: key, Value: value}))
		}
		b.strategy.Decide(&b.view, &b.plan)
		if want := (strategy.Target{Kind: strategy.ByQuantity, Quantity: c.want}); b.plan.Target != want || b.plan.Reason != c.reason {
			t.Errorf("%s: want %d, %q, have %+v, %q", c.name, c.want, c.reason, b.plan.Target, b.plan.Reason)
		}
		selling, _ := b.plan.Remembered().Get(dcaSelling)
		falling, _ := b.plan.Remembered().Get(dcaFalling)
		if is := map[bool]int64{true: 1}; selling != is[c.reason == above] || falling != is[c.reason == fell] {
			t.Errorf("%s: want it remembered that it sells or buys on a dip, have %d and %d", c.name, selling, falling)
		}
	}
}

// An earlier buy on a dip was canceled.
func TestScheduledBuyIsNotCountedAsFall(t *testing.T) {
	t.Parallel()
	b := newBook(t, newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h", "fall": "10%"}), exchange.Futures)
	filled := func(quantity exchange.Quantity) []strategy.Event {
		return []strategy.Event{{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: quantity, Price: exchange.AmountOf(1000)}}
	}
	for i, c := range []struct {
		atMS   int64
		price  float64
		events []strategy.Event
		fallen int64
	}{{0, 1000, nil, 0}, {1, 900, filled(100), 0}, {hourMS, 950, []strategy.Event{{Kind: strategy.EventCanceled}}, 0}, {hourMS + 1, 950, filled(105), 0},
		{hourMS + 2, 900, nil, 0}, {hourMS + 3, 900, filled(111), 1}} {
		b.view.NowMS, b.view.Events = 1+c.atMS, c.events
		b.decide(c.price)
		if fallen, _ := b.view.Memory.Get(dcaFallen); fallen != c.fallen {
			t.Errorf("step %d: want %d buys on dips, have %d (%s)", i, c.fallen, fallen, b.plan.Reason)
		}
	}
}

// The holding and its cost never fall below 0.
func TestStopReducesBoughtQuantity(t *testing.T) {
	t.Parallel()
	for _, quantity := range []int64{0, 1, 2} {
		s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "every": "1h"}).(*averaging)
		view := strategy.View{Symbol: s.symbol, NowMS: 1, Last: 1000e8, Events: []strategy.Event{{Kind: strategy.EventStopped, Reduces: true, Quantity: 1}},
			Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: dcaQuantity, Value: quantity},
				strategy.MemoryVariable{Key: dcaSpent, Value: quantity * 7e8})}
		turn := &averagingTurn{s, strategy.Decision{View: &view, Plan: &strategy.Plan{}}}
		turn.happened()
		if left := max(0, quantity-1); turn.Recall(dcaQuantity) != left || turn.Recall(dcaSpent) != left*7e8 {
			t.Errorf("1 of %d sold: want %d left, for 7 each, have %d for %d", quantity, left, turn.Recall(dcaQuantity), turn.Recall(dcaSpent))
		}
	}
}

// The n-th buy is for amount x scale^n, at fall x step_scale^(n-1).
func TestTheScalesOfManyFalls(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "dca", exchange.Futures, strategy.Values{"amount": "100", "fall": "1%", "falls": "400", "scale": "1.01",
		"step_scale": "1.005"}).(*averaging)
	for _, n := range []int64{1, 2, 100, 101, 300, 400} {
		if have, want := s.larger(n).Float(), 100*math.Pow(1.01, float64(n)); math.Abs(have/want-1) > 1e-9 {
			t.Errorf("buy %d: want %v USDT, have %v", n, want, have)
		}
		if have, want := s.step(n-1).Float(), 0.01*math.Pow(1.005, float64(n-1)); math.Abs(have-want) > 2e-8 {
			t.Errorf("fall %d: want %v, have %v", n, want, have)
		}
	}
}
