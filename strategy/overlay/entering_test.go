package overlay

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The order for 1 BTC rests. The cases are the smallest value that ends it, and the largest that does not. The smallest order is
// worth 5 USDT.
func TestEntryEndsOrIsRepriced(t *testing.T) {
	t.Parallel()
	rules := Entry{PatienceMS: 30_000, Tries: 2}
	crossing := Entry{PatienceMS: 30_000, Tries: 2, Cross: true}
	for _, c := range []struct {
		name             string
		rules            Entry
		goal, from, held int64
		filled           exchange.Quantity
		try, rested      int64
		want             string // target or price, try, outcome
	}{
		{"it rests", rules, 1_000, 0, 0, 0, 1, 29_999, "order 90 try 1"},
		{"its patience is over", rules, 1_000, 0, 0, 0, 1, 30_000, "order 99.9 try 2"},
		{"a short one", rules, -1_000, 0, 0, 0, 1, 30_000, "order 100.1 try 2"},
		{"the last try, given up", rules, 1_000, 0, 0, 0, 2, 30_000, "target 0 outcome 3"},
		{"the last try, given up in part", rules, 1_000, 0, 400, 400, 2, 30_000, "target 400 outcome 3"},
		{"the last try, crossed", crossing, 1_000, 0, 400, 400, 2, 30_000, "target 1000 outcome 2"},
		{"it has its position", rules, 1_000, 0, 1_000, 0, 1, 0, "target 1000 outcome 1"},
		{"it has more", rules, 1_000, 0, 1_001, 0, 1, 0, "target 1000 outcome 1"},
		{"a short one has more", rules, -1_000, 0, -1_001, 0, 1, 0, "target -1000 outcome 1"},
		{"the rest is too small", rules, 1_000, 0, 951, 0, 1, 0, "target 1000 outcome 1"},
		{"the rest is just large enough", rules, 1_000, 0, 950, 0, 1, 0, "order 90 try 1"},
		{"all of it was filled, and a part sold again", rules, 1_000, 0, 500, 1_000, 1, 0, "target 1000 outcome 1"},
		{"all but the least was filled", rules, 1_000, 0, 500, 999, 1, 0, "order 90 try 1"},
		{"more of what is held", rules, 1_500, 500, 1_000, 500, 1, 0, "order 90 try 1"},
		{"more of what is held, complete", rules, 1_500, 500, 1_500, 1_000, 1, 0, "target 1500 outcome 1"},
	} {
		view := &strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000, Last: 100e8, Equity: exchange.AmountOf(10_000)}
		view.Position.Quantity = exchange.Quantity(c.held)
		if c.filled != 0 {
			view.Fills = []strategy.KeyFill{{Key: entryKey, Quantity: c.filled}}
		}
		e := &entering{Decision: strategy.Decision{View: view, Plan: &strategy.Plan{}}, rules: &c.rules}
		for key, value := range map[string]int64{entryGoal: c.goal, entryFrom: c.from, entryTry: c.try, entryPrice: 90e8, entrySince: view.NowMS - c.rested} {
			e.Remember(key, value)
		}
		e.enter()
		have := fmt.Sprintf("target %d outcome %d", e.Plan.Target.Quantity, e.Recall(entryOutcome))
		if len(e.Plan.Orders) > 0 {
			o := e.Plan.Orders[0]
			have = fmt.Sprintf("order %s try %d", view.Symbol.PriceDecimal(o.Price), e.Recall(entryTry))
			reason := fmt.Sprintf("patient entry, price %d of 2", e.Recall(entryTry))
			if !e.Plan.OrdersSet || int64(o.Quantity) != max(c.goal-c.from, c.from-c.goal) || o.Side != exchange.SideOf(exchange.Quantity(c.goal)) ||
				e.Plan.Target != (strategy.Target{}) || e.Plan.Reason != reason {
				t.Errorf("%s: want the whole order alone, %q, have %+v", c.name, reason, e.Plan)
			}
		}
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// Another target counts as new.
func TestATargetOfAnyKindIsRemembered(t *testing.T) {
	t.Parallel()
	targets := []strategy.Target{{Kind: strategy.ByQuantity, Quantity: 7}, {Kind: strategy.ByQuantity, Quantity: -7},
		{Kind: strategy.ByEquity, Share: one / 3}, {Kind: strategy.ByEquity, Share: -one / 3},
		{Kind: strategy.ByQuote, Quote: exchange.MustAmount("12.345678")}, {Kind: strategy.ByQuote, Quote: exchange.MustAmount("-12.345678")}}
	for _, target := range targets {
		e := &entering{Decision: strategy.Decision{View: &strategy.View{Symbol: testSymbol(t)}, Plan: &strategy.Plan{Target: target}}, rules: &Entry{}}
		if !e.changed() || e.changed() || e.target() != target {
			t.Errorf("want %+v new once, and remembered, have %+v", target, e.target())
		}
		for _, other := range targets {
			e.Plan.Target = other
			if e.changed() != (other != target) {
				t.Errorf("%+v after %+v: want it new %t", other, target, other != target)
			}
			e.Plan.Target = target
			e.changed()
		}
	}
}

// An entry shows nothing, its progress, or how it ended.
func TestEntryConditions(t *testing.T) {
	t.Parallel()
	show := func(remembered map[string]int64) (all []string) {
		view := &strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000}
		e := &entering{Decision: strategy.Decision{View: view, Plan: &strategy.Plan{}}, rules: &Entry{PatienceMS: 30_000, Tries: 3}}
		for key, value := range remembered {
			e.Remember(key, value)
		}
		for _, c := range e.conditions(nil) {
			all = append(all, fmt.Sprintf("%s: %s (%s) %t", c.Name, c.Value, c.Requires, c.Met))
		}
		return all
	}
	for _, c := range []struct {
		remembered map[string]int64
		want       []string
	}{
		{nil, nil},
		{map[string]int64{entryTry: 2, entrySince: 1_700_000_000_000 - 29_999, entryPrice: 90e8}, []string{"tries to enter: 2 (of 3) true",
			"order rests for: 29 s (at least 30 s, then it is repriced) false", "at the price: 90 () false"}},
		{map[string]int64{entryTry: 1, entrySince: 1_700_000_000_000 - 30_000, entryPrice: 90e8}, []string{"tries to enter: 1 (of 3) true",
			"order rests for: 30 s (at least 30 s, then it is repriced) true", "at the price: 90 () false"}},
		{map[string]int64{entryTry: 3, entryOutcome: crossed}, []string{"entry: crossed at market after the last try () false"}},
		{map[string]int64{entryTry: 3, entryOutcome: gaveUp}, []string{"entry: given up after the last try: waits for another target () false"}},
	} {
		if have := show(c.remembered); !slices.Equal(have, c.want) {
			t.Errorf("%v: want %q, have %q", c.remembered, c.want, have)
		}
	}
}
