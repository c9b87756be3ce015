package overlay

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// planned returns the plan that the test sets.
type planned struct{ plan strategy.Plan }

func (*planned) Warmup() int           { return 3 }
func (*planned) Candle(*strategy.View) {}
func (p *planned) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Target, plan.Orders, plan.OrdersSet = p.plan.Target, append(plan.Orders, p.plan.Orders...), p.plan.OrdersSet
}

type entryStage struct {
	t     *testing.T
	inner *planned
	rules Entry
	view  strategy.View
	plan  strategy.Plan
}

func newEntryStage(t *testing.T, rules Entry) *entryStage {
	rules.Resting = true
	return &entryStage{t: t, inner: &planned{}, rules: rules, view: strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000,
		Equity: exchange.AmountOf(10_000)}}
}

func (s *entryStage) target(quantity exchange.Quantity) {
	s.inner.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}
}

// at asks some seconds later at a price, each time with a new overlay as after a restart, and returns the
// order or the target.
func (s *entryStage) at(seconds int64, price string) string {
	s.t.Helper()
	s.view.NowMS += seconds * 1000
	p, err := s.view.Symbol.Price(decimal.RequireFromString(price))
	if err != nil {
		s.t.Fatal(err)
	}
	s.view.Last = p
	first := s.ask()
	if again := s.ask(); again != first {
		s.t.Errorf("asked twice: %s, then %s", first, again)
	}
	s.view.Memory, _ = s.view.Memory.With(s.plan.Remembered())
	s.view.Working = s.view.Working[:0]
	open := s.view.Fills[:0]
	for _, w := range s.plan.Orders {
		s.view.Working = append(s.view.Working, strategy.WorkingOrder{Key: w.Key})
		for _, f := range s.view.Fills {
			if f.Key == w.Key {
				open = append(open, f)
			}
		}
	}
	s.view.Fills = open
	return first
}

func (s *entryStage) ask() string {
	s.plan.Reset()
	Wrap(s.inner, TradeSettings{Entry: s.rules}).Decide(&s.view, &s.plan)
	symbol := s.view.Symbol
	switch {
	case len(s.plan.Orders) > 0:
		w := s.plan.Orders[0]
		return fmt.Sprintf("%s %s at %s", w.Side, symbol.QuantityDecimal(w.Quantity), symbol.PriceDecimal(w.Price))
	case s.plan.OrdersSet:
		return "no orders"
	case s.plan.Target.Kind == strategy.NoTarget:
		return "nothing"
	}
	return "target " + symbol.QuantityDecimal(s.plan.Target.Quantity).String()
}

func (s *entryStage) fill(quantity, position exchange.Quantity) {
	s.view.Fills = append(s.view.Fills[:0], strategy.KeyFill{Key: entryKey, Quantity: quantity})
	s.view.Position.Quantity = position
}

func (s *entryStage) want(have, want string) {
	s.t.Helper()
	if have != want {
		s.t.Errorf("want %s, have %s", want, have)
	}
}

func TestAnEntryFollowsThePriceAndCrossesAfterTheLastTry(t *testing.T) {
	t.Parallel()
	s := newEntryStage(t, Entry{PostOnly: true, PatienceMS: 30_000, Tries: 3, Cross: true})
	s.target(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	if !s.plan.Orders[0].PostOnly {
		t.Error("want it post-only")
	}
	s.want(s.at(29, "105"), "BUY 1 at 99.9")
	s.want(s.at(1, "105"), "BUY 1 at 104.9")
	s.fill(400, 400)
	s.want(s.at(30, "110"), "BUY 1 at 109.9") // the total quantity, including fills
	s.want(s.at(30, "112"), "target 1")
	s.want(s.at(30, "112"), "target 1")
}

func TestFilledEntryKeepsPosition(t *testing.T) {
	t.Parallel()
	s := newEntryStage(t, Entry{PatienceMS: 30_000, Tries: 1})
	s.target(-1000)
	s.want(s.at(0, "100"), "SELL 1 at 100.1")
	s.fill(1000, -1000)
	s.want(s.at(1, "100"), "target -1")
	s.view.Fills = nil
	s.want(s.at(300, "90"), "target -1")
	s.view.Position.Quantity = 0 // a stop ended it: the latch decides whether it is entered again
	s.want(s.at(300, "90"), "target -1")
	s.view.Position.Quantity = -1000
	s.target(0) // a reduction is left to the engine, immediately
	s.want(s.at(1, "90"), "target 0")
	s.view.Position.Quantity = 0
	s.target(-1000)
	s.want(s.at(1, "90"), "SELL 1 at 90.1")
}

func TestAnEntryGivenUpWaitsForAnotherTarget(t *testing.T) {
	t.Parallel()
	s := newEntryStage(t, Entry{PatienceMS: 30_000, Tries: 1})
	s.target(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	s.want(s.at(30, "100"), "target 0")
	s.want(s.at(300, "100"), "target 0")
	s.target(2000)
	s.want(s.at(1, "100"), "BUY 2 at 99.9")
	s.fill(500, 500)
	s.want(s.at(30, "100"), "target 0.5")
	s.want(s.at(30, "100"), "nothing") // the position stays
}

func TestALargerTargetWaitsForThePreviousOrder(t *testing.T) {
	t.Parallel()
	s := newEntryStage(t, Entry{PatienceMS: 30_000, Tries: 2, Cross: true})
	s.target(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	s.target(3000)
	s.want(s.at(1, "100"), "no orders")
	s.inner.plan.Target = strategy.Target{} // a strategy with a target at signals only
	s.view.Working = append(s.view.Working[:0], strategy.WorkingOrder{Key: entryKey})
	s.want(s.at(1, "100"), "no orders") // still in the book
	s.view.Position.Quantity = 600      // filled while it was being canceled
	s.want(s.at(1, "100"), "BUY 2.4 at 99.9")
	s.fill(2400, 3000)
	s.want(s.at(1, "100"), "target 3")
}

func TestOnlyTargetsBecomePatientEntries(t *testing.T) {
	t.Parallel()
	s := newEntryStage(t, Entry{PatienceMS: 1000, Tries: 1})
	s.inner.plan.Orders, s.inner.plan.OrdersSet = []strategy.DesiredOrder{
		{Key: "own", Side: exchange.Buy, Price: s.view.Symbol.PriceTick, Quantity: 1000}}, true
	s.want(s.at(0, "100"), "BUY 1 at 0.1")
}

func TestTargetsByEquityAndQuoteArePricedOnce(t *testing.T) {
	t.Parallel()
	for _, target := range []strategy.Target{{Kind: strategy.ByEquity, Share: exchange.RateOne / 100},
		{Kind: strategy.ByQuote, Quote: exchange.AmountOf(100)}} {
		s := newEntryStage(t, Entry{PatienceMS: 30_000, Tries: 2, Cross: true})
		s.inner.plan.Target = target
		s.want(s.at(0, "100"), "BUY 1 at 99.9")
		s.want(s.at(30, "50"), "BUY 1 at 49.9")
		s.want(s.at(30, "50"), "target 1")
	}
}
