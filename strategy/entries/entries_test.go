package entries

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func testSymbol(t testing.TB) *exchange.Symbol {
	t.Helper()
	d := decimal.RequireFromString
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: d("0.1"), QuantityTick: d("0.001"), MinNotional: d("5"), MaxNotional: d("1000000")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wanting wishes what it is told.
type wanting struct{ plan strategy.Plan }

func (*wanting) Warmup() int           { return 3 }
func (*wanting) Candle(*strategy.View) {}
func (w *wanting) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Target, plan.Orders, plan.OrdersSet = w.plan.Target, append(plan.Orders, w.plan.Orders...), w.plan.OrdersSet
}

type stage struct {
	t     *testing.T
	inner *wanting
	rules Rules
	view  strategy.View
	plan  strategy.Plan
}

func newStage(t *testing.T, rules Rules) *stage {
	rules.Resting = true
	return &stage{t: t, inner: &wanting{}, rules: rules, view: strategy.View{Symbol: testSymbol(t), NowMS: 1_700_000_000_000, Equity: exchange.AmountOf(10_000)}}
}

func (s *stage) wish(quantity exchange.Quantity) {
	s.inner.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}
}

// at asks some seconds later at a price, with a strategy made anew each time, and
// returns the order or the target wished.
func (s *stage) at(seconds int64, price string) string {
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
	kept := s.view.Fills[:0]
	for _, w := range s.plan.Orders {
		s.view.Working = append(s.view.Working, strategy.Working{Key: w.Key})
		for _, f := range s.view.Fills {
			if f.Key == w.Key {
				kept = append(kept, f)
			}
		}
	}
	s.view.Fills = kept
	return first
}

func (s *stage) ask() string {
	s.plan.Reset()
	Wrap(s.inner, s.rules).Decide(&s.view, &s.plan)
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

func (s *stage) fill(quantity, position exchange.Quantity) {
	s.view.Fills = append(s.view.Fills[:0], strategy.KeyFill{Key: key, Quantity: quantity})
	s.view.Position.Quantity = position
}

func (s *stage) want(have, want string) {
	s.t.Helper()
	if have != want {
		s.t.Errorf("want %s, have %s", want, have)
	}
}

func TestAnEntryFollowsThePriceAndCrossesAtLast(t *testing.T) {
	t.Parallel()
	s := newStage(t, Rules{PostOnly: true, PatienceMS: 30_000, Tries: 3, Cross: true})
	s.wish(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	if !s.plan.Orders[0].PostOnly {
		t.Error("want it post-only")
	}
	s.want(s.at(29, "105"), "BUY 1 at 99.9")
	s.want(s.at(1, "105"), "BUY 1 at 104.9")
	s.fill(400, 400)
	s.want(s.at(30, "110"), "BUY 1 at 109.9") // the whole, fills included
	s.want(s.at(30, "112"), "target 1")
	s.want(s.at(30, "112"), "target 1")
}

func TestAnEntryThatIsFilledIsHeld(t *testing.T) {
	t.Parallel()
	s := newStage(t, Rules{PatienceMS: 30_000, Tries: 1})
	s.wish(-1000)
	s.want(s.at(0, "100"), "SELL 1 at 100.1")
	s.fill(1000, -1000)
	s.want(s.at(1, "100"), "target -1")
	s.view.Fills = nil
	s.want(s.at(300, "90"), "target -1")
	s.wish(0) // what reduces is the engine's, at once
	s.want(s.at(1, "90"), "target 0")
	s.view.Position.Quantity = 0
	s.wish(-1000)
	s.want(s.at(1, "90"), "SELL 1 at 90.1")
}

func TestAnEntryGivenUpWaitsForAnotherWish(t *testing.T) {
	t.Parallel()
	s := newStage(t, Rules{PatienceMS: 30_000, Tries: 1})
	s.wish(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	s.want(s.at(30, "100"), "target 0")
	s.want(s.at(300, "100"), "target 0")
	s.wish(2000)
	s.want(s.at(1, "100"), "BUY 2 at 99.9")
	s.fill(500, 500)
	s.want(s.at(30, "100"), "target 0.5")
	s.want(s.at(30, "100"), "nothing") // it keeps what it has
}

func TestALargerWishWaitsForTheOrderBefore(t *testing.T) {
	t.Parallel()
	s := newStage(t, Rules{PatienceMS: 30_000, Tries: 2, Cross: true})
	s.wish(1000)
	s.want(s.at(0, "100"), "BUY 1 at 99.9")
	s.wish(3000)
	s.want(s.at(1, "100"), "no orders")
	s.inner.plan.Target = strategy.Target{} // it wishes at its signals only
	s.view.Working = append(s.view.Working[:0], strategy.Working{Key: key})
	s.want(s.at(1, "100"), "no orders") // still in the book
	s.view.Position.Quantity = 600      // filled while it was taken back
	s.want(s.at(1, "100"), "BUY 2.4 at 99.9")
	s.fill(2400, 3000)
	s.want(s.at(1, "100"), "target 3")
}

func TestOnlyTargetsArePatient(t *testing.T) {
	t.Parallel()
	s := newStage(t, Rules{PatienceMS: 1000, Tries: 1})
	s.inner.plan.Orders, s.inner.plan.OrdersSet = []strategy.Wish{{Key: "own", Side: exchange.Buy, Price: s.view.Symbol.PriceTick, Quantity: 1000}}, true
	s.want(s.at(0, "100"), "BUY 1 at 0.1")
	w := &wanting{}
	if Wrap(w, Rules{}) != strategy.Strategy(w) {
		t.Error("without rules: want the strategy itself")
	}
}

func TestTargetsByEquityAndQuoteArePricedOnce(t *testing.T) {
	t.Parallel()
	for _, target := range []strategy.Target{{Kind: strategy.ByEquity, Share: exchange.RateOne / 100}, {Kind: strategy.ByQuote, Quote: exchange.AmountOf(100)}} {
		s := newStage(t, Rules{PatienceMS: 30_000, Tries: 2, Cross: true})
		s.inner.plan.Target = target
		s.want(s.at(0, "100"), "BUY 1 at 99.9")
		s.want(s.at(30, "50"), "BUY 1 at 49.9")
		s.want(s.at(30, "50"), "target 1")
	}
}
