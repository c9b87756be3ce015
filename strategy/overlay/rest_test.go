package overlay

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// follow evaluates only the rules, as a round between two decisions does.
func (s *exitStage) follow(price string, position int64) *strategy.Plan {
	s.t.Helper()
	at, err := s.view.Symbol.Price(decimal.RequireFromString(price))
	if err != nil {
		s.t.Fatal(err)
	}
	s.view.Last, s.view.Position.Quantity = at, exchange.Quantity(position)
	s.plan.Reset()
	follower := strategy.FollowerOf(Wrap(s.inner, TradeSettings{Exit: s.rules}))
	if follower == nil {
		s.t.Fatal("want rules that follow the price")
	}
	follower.Follow(&s.view, &s.plan)
	s.view.Memory, _ = s.view.Memory.With(s.plan.Remembered())
	return &s.plan
}

func (s *exitStage) wantRests(plan *strategy.Plan, key, price string, quantity int64) {
	s.t.Helper()
	if !plan.ExitsSet || len(plan.Exits) != 1 {
		s.t.Fatalf("want one resting exit, have %+v", plan.Exits)
	}
	have := plan.Exits[0]
	if have.Key != key || s.view.Symbol.PriceDecimal(have.Price).String() != price || int64(have.Quantity) != quantity {
		s.t.Errorf("want %d at %s under %s, have %+v", quantity, price, key, have)
	}
}

var byAge = []Return{{0, exchange.RateOne / 10}, {60 * 60_000, exchange.RateOne / 50}}

func TestTheReturnThatIsDueRestsInTheBook(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Returns: byAge})
	s.inner.target = "L"
	s.wantRests(s.decide(0, "100", 1000), "return1", "110", 1000)
	s.wantRests(s.decide(60, "100", 1000), "return1", "102", 1000)
	s.view.Fills = []strategy.KeyFill{{Key: "return1", Quantity: 400}}
	s.view.Position.Quantity = 600
	s.wantRests(s.follow("102", 600), "return1", "102", 1000) // the total quantity, including fills
	s.view.Fills = nil
	p := s.decide(1, "102", 0)
	s.want(p, "flat closed by its exit rules")
	if !p.ExitsSet || len(p.Exits) != 0 {
		t.Errorf("want no exit without a position, have %+v", p.Exits)
	}
	s.inner.target = "S"
	s.want(s.decide(1, "100", 0), "short")
	s.wantRests(s.decide(1, "100", -1000), "return2", "90", 1000)
}

func TestARestingReturnGrowsWithThePosition(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Returns: byAge})
	s.inner.target = "L"
	s.wantRests(s.decide(0, "100", 500), "return1", "110", 500)
	s.wantRests(s.follow("100", 1000), "return2", "110", 1000)
	s.wantRests(s.follow("100", 700), "return2", "110", 700)
	s.wantRests(s.follow("100", 900), "return3", "110", 900)
	for n := range int64(7) {
		s.wantRests(s.follow("100", 1_000+n*100), fmt.Sprint("return", 4+n), "110", 1_000+n*100)
	}
}

func TestAReturnRestsForAPositionThatBeganBetweenTwoDecisions(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Returns: byAge})
	s.inner.target = "L"
	s.want(s.decide(0, "100", 0), "long")
	s.view.Position.EntryPrice = exchange.AmountOf(100)
	s.wantRests(s.follow("100", 1000), "return1", "110", 1000)
}

func TestReturnRestsUnlessItConflicts(t *testing.T) {
	t.Parallel()
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 20}}
	profit := strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: exchange.RateOne / 20}}
	both := strategy.Protection{Set: true, StopLoss: stop.StopLoss, TakeProfit: profit.TakeProfit}
	for _, c := range []struct {
		name   string
		market exchange.Market
		rules  Exit
		own    bool
		rests  bool
		profit string // price of the take-profit; - for none
	}{
		{"futures with a stop", exchange.Futures, Exit{Returns: byAge, Base: stop}, false, true, "-"},
		{"futures with a trailing stop", exchange.Futures, Exit{Returns: byAge, Trailing: Trailing{Distance: exchange.RateOne / 50}}, false, false, "110"},
		{"spot without a stop", exchange.Spot, Exit{Returns: byAge}, false, true, "-"},
		{"spot with a stop: it holds the asset", exchange.Spot, Exit{Returns: byAge, Base: stop}, false, false, "-"},
		{"a take-profit on spot", exchange.Spot, Exit{Base: profit, SellsProfit: true}, false, true, "-"},
		{"a take-profit beside a stop on spot", exchange.Spot, Exit{Base: both, SellsProfit: true}, false, false, "-"},
		{"exits of the strategy's own", exchange.Futures, Exit{Returns: byAge}, true, false, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newExitStage(t, c.rules)
			symbol := *s.view.Symbol
			symbol.Market = c.market
			s.view.Symbol = &symbol
			if s.inner.target = "L"; c.own {
				s.inner.exits = []strategy.DesiredOrder{{Key: "own", Side: exchange.Sell, Price: 2000, Quantity: 500}}
			}
			p := s.decide(0, "100", 1000)
			if rests := p.ExitsSet && len(p.Exits) == 1 && p.Exits[0].Key == "return1"; rests != c.rests {
				t.Errorf("want it to rest: %v, have %+v", c.rests, p.Exits)
			}
			have := "-"
			if at := p.Protection.TakeProfit.Price; at != 0 {
				have = symbol.PriceDecimal(at).String()
			}
			if have != c.profit {
				t.Errorf("want the take-profit %s, have %s", c.profit, have)
			}
		})
	}
}

func TestATrailingStopFollowsBetweenDecisions(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Trailing: Trailing{Distance: exchange.RateOne / 100, After: exchange.RateOne / 50}})
	s.inner.target = "L"
	s.decide(0, "100", 1000)
	for _, c := range []struct{ price, stop string }{{"101", "0"}, {"102", "100.9"}, {"101", "100.9"}, {"110", "108.9"}} {
		p := s.follow(c.price, 1000)
		if have := s.view.Symbol.PriceDecimal(p.Protection.StopLoss.Price).String(); have != c.stop {
			t.Errorf("at %s: want the stop at %s, have %s", c.price, c.stop, have)
		}
	}
}

// The plan in force keeps a protection until another is set. The stop of an ended position must not stay for
// the next one.
func TestTrailingStopEndsWithItsPosition(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Trailing: Trailing{Distance: exchange.RateOne / 100, After: exchange.RateOne / 20}})
	s.inner.target = "L"
	s.decide(0, "100", 1000)
	if p := s.decide(1, "110", 1000); p.Protection.StopLoss.Price == 0 {
		t.Fatal("want a trailing stop")
	}
	if p := s.decide(1, "90", 0); !p.Protection.Set || !p.Protection.StopLoss.IsZero() {
		t.Errorf("want no stop in force, have %+v", p.Protection)
	}
	if p := s.decide(1, "90", 1000); !p.Protection.StopLoss.IsZero() {
		t.Errorf("want no stop in force, have %+v", p.Protection)
	}
}

// The withdrawal is part of the plan in force. The stop that a new version configures must count nevertheless.
func TestAConfiguredStopCountsAfterATrailingStopWasTakenBack(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Trailing: Trailing{Distance: exchange.RateOne / 100, After: exchange.RateOne / 20}})
	s.inner.target = "L"
	s.decide(0, "100", 1000)
	s.decide(1, "110", 1000)
	s.decide(1, "90", 0)
	s.rules.Base = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 200}}
	if p := s.decide(1, "90", 1000); p.Protection != s.rules.Base {
		t.Errorf("want the configured stop in force, have %+v", p.Protection)
	}
}
