package overlay

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"botd/exchange"
	"botd/strategy"
)

// sided returns the target or the orders that the test sets.
type sided struct {
	target     string // L, S, 0, O (orders), or nothing
	protection strategy.Protection
	exits      []strategy.DesiredOrder
}

func (*sided) Warmup() int           { return 7 }
func (*sided) Candle(*strategy.View) {}
func (x *sided) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Protection = x.protection
	plan.Exits, plan.ExitsSet = append(plan.Exits, x.exits...), x.exits != nil
	switch x.target {
	case "L":
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 1000}, "long")
	case "S":
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: -1000}, "short")
	case "0":
		plan.Hold(strategy.Flat(), "flat")
	case "O":
		plan.OrdersSet = true
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "a", Side: exchange.Buy, Price: 1000, Quantity: 1000})
	}
}

// exitStage has the market and the memory, as the engine does.
type exitStage struct {
	t     *testing.T
	inner *sided
	rules Exit
	view  strategy.View
	plan  strategy.Plan
}

func newExitStage(t *testing.T, rules Exit) *exitStage {
	return &exitStage{t: t, inner: &sided{}, rules: rules, view: strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000}}
}

// decide asks a new overlay, as after a restart, twice, and expects the same answer.
func (s *exitStage) decide(minutes int64, price string, position int64) *strategy.Plan {
	s.t.Helper()
	p, err := s.view.Symbol.Price(decimal.RequireFromString(price))
	if err != nil {
		s.t.Fatal(err)
	}
	s.view.NowMS += minutes * 60_000
	s.view.Last = p
	if q := exchange.Quantity(position); q != s.view.Position.Quantity {
		s.view.Position = strategy.Position{Quantity: q, EntryPrice: s.view.Symbol.PriceAmount(p)}
		if q == 0 {
			s.view.Position = strategy.Position{}
		}
	}
	wrapped := Wrap(s.inner, TradeSettings{Exit: s.rules})
	var again strategy.Plan
	wrapped.Decide(&s.view, &again)
	s.plan.Reset()
	wrapped.Decide(&s.view, &s.plan)
	if !s.plan.Equal(&again) {
		s.t.Errorf("asked twice: %+v, then %+v", again, s.plan)
	}
	s.view.Memory, _ = s.view.Memory.With(s.plan.Remembered())
	return &s.plan
}

func (s *exitStage) want(plan *strategy.Plan, want string) {
	s.t.Helper()
	have := "nothing"
	if plan.Target.Kind != strategy.NoTarget {
		have = []string{"short", "flat", "long"}[plan.Target.Sign()+1] + " " + plan.Reason
	}
	if !strings.HasPrefix(have, want) {
		s.t.Errorf("want %q, have %q", want, have)
	}
}

func TestATimeLimitClosesAndWaitsForAnotherTarget(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{TimeLimitMS: 60 * 60_000})
	s.inner.target = "L"
	s.want(s.decide(0, "100", 0), "long long")
	s.want(s.decide(1, "100", 1000), "long long")
	s.want(s.decide(59, "100", 1000), "long")
	s.want(s.decide(1, "100", 1000), "flat held for 1h0m, the time limit")
	s.want(s.decide(1, "100", 0), "flat closed by its exit rules")
	s.inner.target = "" // a strategy with a target at crosses only: its next one is a new signal
	s.want(s.decide(1, "100", 0), "nothing")
	s.inner.target = "L"
	s.want(s.decide(1, "100", 0), "long long")
	s.want(s.decide(1, "100", 1000), "long long")
	s.want(s.decide(60, "100", 1000), "flat held for 1h0m, the time limit")
	s.inner.target = "S"
	s.want(s.decide(1, "100", 0), "short short")
	s.inner.target = "L"
	s.want(s.decide(1, "100", 0), "long long")
}

func TestReturnsByAgeCloseThePosition(t *testing.T) {
	t.Parallel()
	rules := Exit{Returns: []Return{{0, exchange.RateOne / 10}, {60 * 60_000, exchange.RateOne / 50}, {120 * 60_000, 0}}}
	unrested := []strategy.DesiredOrder{{Key: "own", Side: exchange.Sell, Price: 1e12, Quantity: 1}}
	for _, c := range []struct {
		minutes int64
		price   string
		side    int64
		want    string
	}{
		{1, "109.9", 1000, "long"}, {1, "110", 1000, "flat a return of 10.00% is enough after 1m"},
		{60, "101.9", 1000, "long"}, {60, "102", 1000, "flat a return of 2.00% is enough after 1h0m"},
		{121, "99.9", 1000, "long"}, {121, "100", 1000, "flat a return of 0.00%"},
		{60, "98.1", -1000, "short"}, {60, "98", -1000, "flat a return of 2.00%"},
	} {
		s := newExitStage(t, rules)
		s.inner.target, s.inner.exits = map[bool]string{true: "L", false: "S"}[c.side > 0], unrested
		s.decide(0, "100", c.side)
		s.want(s.decide(c.minutes, c.price, c.side), c.want)
	}
}

func TestATrailingStopFollowsTheBestPriceOnly(t *testing.T) {
	t.Parallel()
	tick := testSymbol(t).PriceTick
	for _, c := range []struct {
		name  string
		side  int64
		rules Exit
		own   strategy.Protection
		path  string // prices after an entry at 100
		stops string // after each price; - for none
	}{
		{"long", 1000, Exit{Trailing: Trailing{Distance: exchange.RateOne / 50}}, strategy.Protection{}, "101 103 102 104", "98.9 100.9 100.9 101.9"},
		{"short", -1000, Exit{Trailing: Trailing{Distance: exchange.RateOne / 50}}, strategy.Protection{}, "99 97 98 96", "101 99 99 98"},
		{"strides of a twentieth", 1000, Exit{Trailing: Trailing{Distance: exchange.RateOne / 5}}, strategy.Protection{},
			"99.9 100.9 101 101.9 102.1", "80 80 80.8 80.8 81.6"},
		{"after a profit", 1000, Exit{Trailing: Trailing{Distance: exchange.RateOne / 50, After: exchange.RateOne / 20}}, strategy.Protection{},
			"104 105 101", "- 102.9 102.9"},
		{"never looser than the configured stop", 1000, Exit{Base: strategy.Protection{Set: true,
			StopLoss: strategy.Distance{Share: exchange.RateOne / 100}}, Trailing: Trailing{Distance: exchange.RateOne / 20}},
			strategy.Protection{}, "101 110", "99 104.5"},
		{"never looser than the strategy's own", 1000, Exit{Trailing: Trailing{Distance: exchange.RateOne / 20}},
			strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1000 * tick}, TakeProfit: strategy.Distance{Price: 2000 * tick}},
			"101 110", "100 104.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newExitStage(t, c.rules)
			s.inner.target, s.inner.protection = "L", c.own
			if c.side < 0 {
				s.inner.target = "S"
			}
			s.decide(0, "100", c.side)
			stops := strings.Fields(c.stops)
			for i, price := range strings.Fields(c.path) {
				have := "-"
				if p := s.decide(1, price, c.side).Protection; p.StopLoss.Price != 0 {
					have = s.view.Symbol.PriceDecimal(p.StopLoss.Price).String()
					if p.TakeProfit != c.own.TakeProfit {
						t.Errorf("want the take-profit unchanged, have %+v", p.TakeProfit)
					}
				}
				if have != stops[i] {
					t.Errorf("at %s: want the stop at %s, have %s", price, stops[i], have)
				}
			}
		})
	}
}

// TestAPositionWithoutAnEntryPriceIsFollowedFromTheFirstPrice covers a long and a short position.
func TestAPositionWithoutAnEntryPriceIsFollowedFromTheFirstPrice(t *testing.T) {
	t.Parallel()
	for side, want := range map[int64]int64{1: 100, -1: 100} {
		s := newExitStage(t, Exit{Trailing: Trailing{Distance: exchange.RateOne / 50}})
		s.inner.target = map[int64]string{1: "L", -1: "S"}[side]
		s.decide(0, "100", 0)
		s.view.Position = strategy.Position{Quantity: exchange.Quantity(1000 * side)}
		s.decide(1, "100", 1000*side)
		if have, _ := s.view.Memory.Get(exitBest); have != want*1e8 {
			t.Errorf("side %d: want the best price %d, have %d", side, want, have)
		}
	}
}

func TestCooldownBlocksOpenings(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{CooldownMS: 30 * 60_000})
	s.inner.target = "L"
	s.decide(0, "100", 1000)
	s.want(s.decide(1, "100", 1000), "long")
	s.inner.target = "0"
	s.want(s.decide(1, "100", 0), "flat flat")
	s.inner.target = "L"
	s.want(s.decide(29, "100", 0), "flat cooldown: 1m left")
	s.want(s.decide(2, "100", 0), "flat closed by its exit rules") // that entry is missed, not late
	s.inner.target = "0"
	s.want(s.decide(1, "100", 0), "flat flat")
	s.inner.target = "L"
	s.want(s.decide(1, "100", 0), "long long")
}

func TestOrdersWaitForTheCooldownToEnd(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{CooldownMS: 30 * 60_000, TimeLimitMS: 10 * 60_000})
	s.inner.target = "O"
	if p := s.decide(0, "100", 1000); len(p.Orders) != 1 {
		t.Errorf("want the orders, have %+v", p)
	}
	if p := s.decide(10, "100", 1000); p.OrdersSet || len(p.Orders) != 0 || p.Target != strategy.Flat() {
		t.Errorf("want flat in place of the orders, have %+v", p)
	}
	if p := s.decide(1, "100", 0); !p.OrdersSet || len(p.Orders) != 0 {
		t.Errorf("want no orders during the cooldown, have %+v", p)
	}
	if p := s.decide(30, "100", 0); len(p.Orders) != 1 {
		t.Errorf("want the orders again, have %+v", p)
	}
}

// TestATrailingStopNeverMovesBack covers random paths of the price: while the position is open, the stop only
// tightens.
func TestATrailingStopNeverMovesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := newExitStage(t, Exit{Trailing: Trailing{Distance: exchange.Rate(rapid.Int64Range(1, 50_000_000).Draw(r, "distance")),
			After: exchange.Rate(rapid.Int64Range(0, 10_000_000).Draw(r, "after"))}})
		side := rapid.SampledFrom([]int64{1000, -1000}).Draw(r, "side")
		s.inner.target = map[bool]string{true: "L", false: "S"}[side > 0]
		price := int64(1_000_0)
		s.decide(0, "1000", side)
		var before exchange.Price
		for range 50 {
			price = max(1, price+rapid.Int64Range(-500, 500).Draw(r, "move"))
			p := s.decide(1, decimal.New(price, -1).String(), side).Protection
			if now := p.StopLoss.Price; before != 0 && (side > 0 && now < before || side < 0 && now > before) {
				r.Fatalf("the stop moved from %d back to %d", before, now)
			}
			before = p.StopLoss.Price
		}
	})
}
