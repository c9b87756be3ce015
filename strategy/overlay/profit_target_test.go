package overlay

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// wantTargets compares the resting targets, as key quantity@price.
func (s *exitStage) wantTargets(plan *strategy.Plan, want string) {
	s.t.Helper()
	var have []string
	for _, o := range plan.Exits {
		have = append(have, fmt.Sprintf("%s %s %d@%s", o.Key, o.Side, o.Quantity, s.view.Symbol.PriceDecimal(o.Price)))
	}
	if text := strings.Join(have, ", "); !plan.ExitsSet || text != want {
		s.t.Errorf("want %q, have %q", want, text)
	}
}

var (
	stopOfTwo = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	thirds    = []Step{{R: exchange.RateOne, Share: exchange.RateOne / 3}, {R: 2 * exchange.RateOne, Share: exchange.RateOne / 3}}
	halves    = []Step{{Away: exchange.RateOne / 50, Share: exchange.RateOne / 2}, {Away: exchange.RateOne / 25, Share: exchange.RateOne / 2}}
)

func TestTargetsRestAtMultiplesOfTheStopsDistance(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Base: stopOfTwo, ProfitTargets: thirds})
	s.inner.target = "L"
	s.wantTargets(s.decide(0, "100", 1000), "target1.1 SELL 333@102, target1.2 SELL 333@104")
	s.view.Fills = []strategy.KeyFill{{Key: "target1.1", Quantity: 100}}
	s.view.Position.Quantity = 900
	s.wantTargets(s.follow("102", 900), "target1.1 SELL 333@102, target1.2 SELL 333@104") // the total quantity, including fills
	s.view.Fills[0].Quantity = 333
	s.view.Position.Quantity = 667
	s.wantTargets(s.follow("102", 667), "target1.2 SELL 333@104")
	s.view.Fills = nil
	p := s.decide(1, "98", 0) // the stop closed the rest
	if len(p.Exits) != 0 || !p.ExitsSet {
		t.Errorf("want no exits without a position, have %+v", p.Exits)
	}
	s.inner.target = "S"
	s.want(s.decide(1, "100", 0), "short")
	s.wantTargets(s.decide(1, "100", -1000), "target2.1 BUY 333@98, target2.2 BUY 333@96")
}

func TestTargetsGrowWithThePosition(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Base: stopOfTwo, ProfitTargets: halves})
	s.inner.target = "L"
	s.wantTargets(s.decide(0, "100", 400), "target1.1 SELL 200@102, target1.2 SELL 200@104")
	s.wantTargets(s.follow("100", 1001), "target2.1 SELL 500@102, target2.2 SELL 501@104") // the rounding remainder belongs to the last one
}

// The half of the smallest quantity is zero, so the target was not reached.
func TestTargetOfZeroWaitsForLargerPosition(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Base: stopOfTwo, ProfitTargets: halves})
	s.inner.target = "L"
	s.wantTargets(s.decide(0, "100", 1), "")
	s.wantTargets(s.follow("100", 1), "")
	s.wantTargets(s.follow("100", 400), "target2.1 SELL 200@102, target2.2 SELL 200@104")
}

// Targets cannot rest on spot with a stop, which holds the asset, and with a trailing stop.
func TestTargetsThatCannotRestCloseAtDecisions(t *testing.T) {
	t.Parallel()
	for _, trails := range []bool{false, true} {
		rules := Exit{Base: stopOfTwo, ProfitTargets: halves}
		if trails {
			rules.Trailing = Trailing{Distance: exchange.RateOne / 10, After: exchange.RateOne / 2}
		}
		s := newExitStage(t, rules)
		if !trails {
			spot := *s.view.Symbol
			spot.Market = exchange.Spot
			s.view.Symbol = &spot
		}
		s.inner.target = "L"
		s.want(s.decide(0, "100", 1000), "long long")
		s.view.Last = 0
		held := func(price string, position int64, want exchange.Quantity) {
			t.Helper()
			s.view.Position.Quantity = exchange.Quantity(position) // the entry stays
			if p := s.decide(1, price, position); p.Target != (strategy.Target{Kind: strategy.ByQuantity, Quantity: want}) || len(p.Exits) > 0 {
				t.Errorf("at %s: want %d held, have %+v %+v", price, want, p.Target, p.Exits)
			}
		}
		held("101.9", 1000, 1000)
		held("102", 1000, 500)
		held("100", 500, 500) // it is not bought again
		s.inner.target = ""
		held("104.5", 500, 0)
		s.inner.target = "L"
		s.want(s.decide(1, "104", 0), "flat")
	}
}

// TestOneTargetClosesAtItsPrice uses a single target that cannot rest.
func TestOneTargetClosesAtItsPrice(t *testing.T) {
	t.Parallel()
	s := newExitStage(t, Exit{Base: stopOfTwo, ProfitTargets: halves[:1]})
	spot := *s.view.Symbol
	spot.Market = exchange.Spot
	s.view.Symbol, s.inner.target = &spot, "L"
	s.decide(0, "100", 1000)
	if p := s.decide(1, "102", 1000); p.Target != (strategy.Target{Kind: strategy.ByQuantity, Quantity: 500}) || p.Reason != "the target at 102 is reached" {
		t.Errorf("want half of it held, have %+v, %s", p.Target, p.Reason)
	}
}

// TestAPositionIsEnteredInParts also follows it over a signal, and over a size that is too large for the account.
func TestAPositionIsEnteredInParts(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Steps: []Step{{Share: one / 2}, {Away: -one / 100, Share: one / 4}, {Away: one / 50, Share: one / 4}}})
	s.want(one, 50_000, 100) // half of 10,000 / 50,000
	s.want(one, 49_600, 100)
	s.want(one, 49_500, 150) // 1 % below the entry
	s.want(one, 52_000, 200) // 2 % above it
	s.want(one, 40_000, 200)
	s.want(0, 50_000, 0)
	s.want(-one, 50_000, -100)
	s.want(-one, 50_500, -150)
	s.want(-one/2, 50_000, -75) // half of the size: three quarters of 100
}

// The strategy requests the same as before.
func TestTheFirstPartIsEnteredAgainAfterAStop(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Steps: []Step{{Share: one / 2}, {Away: -one / 100, Share: one / 2}}})
	s.want(one, 50_000, 100)
	s.want(one, 49_500, 200)
	s.view.Position = strategy.Position{}
	s.want(one, 50_000, 100)
}

func TestSizeIsReducedToFreeMoney(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Reduce: true})
	s.view.BuyingPower = exchange.AmountOf(20_000)
	s.want(one, 50_000, 200)
	s.want(0, 50_000, 0)
	s.view.BuyingPower = exchange.AmountOf(4_000)
	s.want(one, 50_000, 79) // 4,000 less a half percent
	s.view.BuyingPower = exchange.Amount{}
	s.want(one, 60_000, 79) // it stays: spent money is not free any more
	s.want(-one, 50_000, -78)
	s.want(0, 50_000, 0)
	s.want(one, 50_000, 0) // nothing is free
	s.view.BuyingPower = exchange.AmountOf(1_000)
	s.want(one, 50_000, 19)
}
