package overlay

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// exiter is an exit on a view of a position entered at 100, with its memory.
func exiter(t *testing.T, rules Exit, side int64, remembered map[string]int64) *exiting {
	view := &strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000, Last: 110e8}
	view.Position = strategy.Position{Quantity: exchange.Quantity(1_000 * side), EntryPrice: exchange.AmountOf(100)}
	e := &exiting{Decision: strategy.Decision{View: view, Plan: &strategy.Plan{}}, rules: &rules}
	e.Remember(exitSide, side)
	for key, value := range remembered {
		e.Remember(key, value)
	}
	return e
}

// The stop is behind the best price, never behind the existing stop, and exists only from a profit on. The entry is at 100.
func TestTrailingStopPrice(t *testing.T) {
	t.Parallel()
	trailing := Trailing{Distance: one / 20, After: one / 10}
	none, share := strategy.Distance{}, strategy.Distance{Share: one / 50}
	price := func(p exchange.Price) strategy.Distance { return strategy.Distance{Price: p} }
	for _, c := range []struct {
		name     string
		trailing Trailing
		side     int64
		best     int64
		stop     strategy.Distance
		want     strategy.Distance
	}{
		{"5 % below the best", trailing, 1, 120e8, none, price(114e8)},
		{"just enough profit", trailing, 1, 110e8, none, price(104.5e8)},
		{"too little", trailing, 1, 109.9e8, none, none},
		{"no best price yet", trailing, 1, 0, none, none},
		{"none configured", Trailing{}, 1, 120e8, share, share},
		{"the configured stop is behind it", trailing, 1, 120e8, share, price(114e8)},
		{"the strategy's stop is nearer", trailing, 1, 120e8, price(115e8), price(115e8)},
		{"rounded down", trailing, 1, 120.1e8, none, price(114e8)}, // 114.095
		{"a short one: 5 % above the best", trailing, -1, 80e8, none, price(84e8)},
		{"just enough profit of a short one", trailing, -1, 90e8, none, price(94.5e8)},
		{"too little of it", trailing, -1, 90.1e8, none, none},
		{"its configured stop is behind", trailing, -1, 80e8, share, price(84e8)},
		{"its strategy's stop is nearer", trailing, -1, 80e8, price(83e8), price(83e8)},
		{"rounded up", trailing, -1, 79.9e8, none, price(83.9e8)}, // 83.895
	} {
		e := exiter(t, Exit{Trailing: c.trailing}, c.side, map[string]int64{exitBest: c.best})
		protection := strategy.Protection{StopLoss: c.stop}
		if e.trail(&protection); protection.StopLoss != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, protection.StopLoss)
		}
	}
	for side, want := range map[int64]exchange.Price{1: 98e8, -1: 102e8} {
		if have := exiter(t, Exit{}, side, nil).stopPrice(share); have != want {
			t.Errorf("a share on side %d: want %d, have %d", side, want, have)
		}
	}
	e := exiter(t, Exit{Base: strategy.Protection{Set: true, StopLoss: share}}, 1, nil)
	if have := e.protection(); have != (strategy.Protection{Set: true, StopLoss: share}) {
		t.Errorf("nothing of the strategy's: want the configured one, have %+v", have)
	}
	for key, want := range map[string]strategy.Protection{exitStop: {Set: true, StopLoss: price(90e8)}, exitProfit: {Set: true, TakeProfit: price(90e8)}} {
		e := exiter(t, Exit{Base: strategy.Protection{StopLoss: share}}, 1, map[string]int64{key: 90e8})
		if have := e.protection(); have != want {
			t.Errorf("%s alone is the strategy's: want %+v, have %+v", key, want, have)
		}
	}
}

// An exit shows how near each rule is, at its bound and just before.
func TestExitConditions(t *testing.T) {
	t.Parallel()
	const nowMS = int64(1_700_000_000_000)
	rules := Exit{TimeLimitMS: 3_600_000, CooldownMS: 60_000, Returns: []Return{{AgeMS: 0, Profit: one / 10}}, Trailing: Trailing{Distance: one / 50,
		After: one / 5}}
	for _, c := range []struct {
		name       string
		rules      Exit
		side       int64
		remembered map[string]int64
		want       []string
	}{
		{"at its bounds", rules, 1, map[string]int64{exitSince: nowMS - 3_600_000, exitDue: 1, exitBest: 120e8}, []string{
			"held for: 1h0m (at least the time limit 1h0m) true", "profit: 10.00% (at least 10.00%, enough after 0s) true",
			"best profit: 20.00% (at least 20.00% for the stop to trail) true"}},
		{"just before the time limit and the trailing stop", rules, 1, map[string]int64{exitSince: nowMS - 3_599_999, exitBest: 119.9e8}, []string{
			"held for: 59m (at least the time limit 1h0m) false", "best profit: 19.90% (at least 20.00% for the stop to trail) false"}},
		{"a short one loses", Exit{Returns: []Return{{Profit: one / 10}}}, -1, map[string]int64{exitDue: 1}, []string{
			"profit: -10.00% (at least 10.00%, enough after 0s) false"}},
		{"no rules", Exit{}, 1, map[string]int64{exitSince: nowMS}, nil},
		{"cooling down", rules, 0, map[string]int64{exitEnded: nowMS - 59_999}, []string{"since the last position: 59s (at least the cooldown 1m) false"}},
		{"cooled down", rules, 0, map[string]int64{exitEnded: nowMS - 60_000}, []string{"since the last position: 1m (at least the cooldown 1m) true"}},
		{"there was no position yet", rules, 0, nil, nil},
		{"no cooldown", Exit{}, 0, map[string]int64{exitEnded: nowMS - 60_000}, nil},
		{"it waits for another target", Exit{}, 0, map[string]int64{exitBlocked: 1}, []string{
			"a target other than the one that its exit rules closed: not yet (before it opens again) false"}},
	} {
		e := exiter(t, c.rules, c.side, c.remembered)
		var have []string
		for _, shown := range e.conditions(nil) {
			have = append(have, fmt.Sprintf("%s: %s (%s) %t", shown.Name, shown.Value, shown.Requires, shown.Met))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}
