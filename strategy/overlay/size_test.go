package overlay

import (
	"math"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// asking is a strategy that requests a share of its size on a side, and gives signals.
type asking struct {
	share  exchange.Rate
	signal int64
}

func (asking) Warmup() int           { return 0 }
func (asking) Candle(*strategy.View) {}
func (a *asking) Decide(_ *strategy.View, plan *strategy.Plan) {
	if a.share == 0 {
		plan.Hold(strategy.Flat(), "out")
		return
	}
	plan.Hold(strategy.Target{Kind: strategy.ByEquity, Share: a.share}, "in")
	plan.SignalMS = a.signal
}

// sizer asks a sized strategy step by step and fills its targets.
type sizer struct {
	t     *testing.T
	asks  *asking
	sized strategy.Strategy
	view  strategy.View
}

func newSizer(t *testing.T, rules Sizing) *sizer {
	t.Helper()
	a := &asking{}
	if rules.Max == 0 {
		rules.Max = 10 * exchange.RateOne
	}
	s := &sizer{t: t, asks: a, sized: Wrap(a, TradeSettings{Sizing: rules})}
	s.view = strategy.View{Symbol: testSymbol(t), Interval: exchange.Hour1, Equity: exchange.AmountOf(10_000), NowMS: 1}
	return s
}

func (s *sizer) want(share exchange.Rate, last float64, want exchange.Quantity) {
	s.t.Helper()
	var plan strategy.Plan
	s.asks.share, s.view.Last = share, exchange.Price(last*1e8)
	s.view.NowMS += 1_000
	s.sized.Decide(&s.view, &plan)
	if plan.Target.Kind != strategy.ByQuantity || plan.Target.Quantity != want {
		s.t.Errorf("at %v: want %d, have %+v (%s)", last, want, plan.Target, plan.Reason)
	}
	s.view.Memory, _ = s.view.Memory.With(plan.Remembered())
	if s.view.Position.Quantity != plan.Target.Quantity {
		s.view.Position = strategy.Position{Quantity: plan.Target.Quantity, EntryPrice: s.view.Symbol.PriceAmount(s.view.Last)}
	}
}

const one = exchange.RateOne

func TestASizeByRiskIsComputedOnceAtTheEntry(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 50}})
	s.want(one, 50_000, 100) // 100 USDT / 1,000
	s.want(one, 60_000, 100) // not again
	s.view.Equity = exchange.AmountOf(20_000)
	s.want(one, 40_000, 100)
	s.want(-one, 50_000, -200) // the other side is a new entry
	s.want(0, 50_000, 0)
	s.want(one/2, 50_000, 100) // half of the size
	s.want(one, 50_000, 200)   // another share is another size
}

func TestASizeFollowsTheNextSignalAfterAStop(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 50}})
	s.asks.signal = 5
	s.want(one, 50_000, 100)
	s.want(one, 50_000, 100)
	s.view.Position = strategy.Position{} // a stop
	s.view.Equity = exchange.AmountOf(5_000)
	s.want(one, 50_000, 50)
	s.want(one, 50_000, 50)
	s.view.Position = strategy.Position{}
	s.view.Equity = exchange.AmountOf(2_500)
	s.asks.signal = 6
	s.want(one, 50_000, 25)
}

func TestASizeByRiskNeedsAStopOnTheLosingSide(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Price: 49_000e8}})
	s.want(-one, 50_000, 0)
	s.want(one, 50_000, 100)
	none := newSizer(t, Sizing{Risk: one / 100})
	none.want(one, 50_000, 0)
}

func TestASizeIsNeverAboveItsMaximum(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 1_000}, Max: 2 * one})
	s.want(one, 50_000, 400) // the risk alone would allow 2 BTC
}

// A size that used the complete equity was once refused when the price had moved, at each candle, forever.
func TestASizeLeavesRoomForAPriceThatMovesOn(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 1_000}, Max: one})
	s.view.Leverage = 1
	s.want(one, 50_000, 199)
	s = newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 1_000}, Max: one})
	s.view.Leverage = 2
	s.want(one, 50_000, 200)
}

func TestASizeByVolatilityIsTheSharePerYear(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Volatility: one * 15 / 100})
	s.want(one, 50_000, 0) // no candles yet
	candles := &exchange.Candles{Interval: exchange.Hour1}
	for i := range 31 {
		closed := 50_000.0
		if i%2 == 1 {
			closed *= math.Exp(0.01)
		}
		candles.Append(exchange.Candle{OpenMS: int64(i) * int64(exchange.Hour1), Close: exchange.Price(math.Round(closed * 1e8))})
	}
	s.view.SetHistory(candles, 31)
	// Hourly changes of 1 % up and down: 0.01 x sqrt(8760) = 93.6 % a year. 15 / 93.6 of 10,000 is 1,602.6 USDT.
	s.want(one, 50_000, 32)
}

func TestASizeByKellyLearnsFromItsTrades(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Kelly: one / 4, Max: 3 * one})
	for i := range 20 {
		s.want(one, 50_000, 2) // 1 % of the equity while nothing is known
		if i%2 == 0 {
			s.want(0, 52_000, 0) // 4 %
			s.want(0, 52_000, 0)
		} else {
			s.want(0, 49_000, 0) // -2 %
			s.want(0, 49_000, 0)
		}
	}
	s.want(one, 50_000, 600) // 0.5/0.02 - 0.5/0.04 = 12.5, a quarter is 3.125: the maximum of 3
	lower := newSizer(t, Sizing{Kelly: one / 25, Max: 3 * one})
	for k, v := range map[string]int64{sizeWins: 10, sizeWon: 40_000_000, sizeLosses: 10, sizeLost: 20_000_000} {
		lower.view.Memory, _ = lower.view.Memory.With(strategy.MemoryOf(strategy.MemoryVariable{Key: k, Value: v}))
	}
	lower.want(one, 50_000, 100) // half of the equity
	worse := newSizer(t, Sizing{Kelly: one, Max: 3 * one})
	for k, v := range map[string]int64{sizeWins: 5, sizeWon: 10_000_000, sizeLosses: 15, sizeLost: 40_000_000} {
		worse.view.Memory, _ = worse.view.Memory.With(strategy.MemoryOf(strategy.MemoryVariable{Key: k, Value: v}))
	}
	worse.want(one, 50_000, 2) // no edge
}

func TestOtherTargetsKeepTheirSize(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Volatility: one})
	fixed := Wrap(&fixedTarget{}, TradeSettings{Sizing: Sizing{Risk: one / 100, Max: one}})
	var plan strategy.Plan
	fixed.Decide(&s.view, &plan)
	if plan.Target.Quantity != 7 {
		t.Errorf("want 7 as the strategy asked, have %+v", plan.Target)
	}
}

// The half of seven is rounded down.
func TestATargetOfAQuantityIsEnteredInPartsToo(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Volatility: one})
	var plan strategy.Plan
	Wrap(&fixedTarget{}, TradeSettings{Sizing: Sizing{Max: one, Steps: []Step{{Share: one / 2}}}}).Decide(&s.view, &plan)
	if plan.Target.Quantity != 3 {
		t.Errorf("want 3, have %+v", plan.Target)
	}
}

type fixedTarget struct{ asking }

func (*fixedTarget) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 7}, "seven")
}

// The position was entered and stopped between two decisions, and its size would exceed the remaining money.
func TestASizeIsComputedAgainAfterAPositionThatNoDecisionSaw(t *testing.T) {
	t.Parallel()
	s := newSizer(t, Sizing{Risk: one / 100, Stop: strategy.Distance{Share: one / 50}})
	s.want(one, 50_000, 100)
	s.view.Position = strategy.Position{}
	s.view.Equity = exchange.AmountOf(5_000)
	s.want(one, 50_000, 50)
	s.view.Position = strategy.Position{}
	s.view.Equity = exchange.AmountOf(10_000)
	s.view.Working = []strategy.WorkingOrder{{Side: exchange.Buy, Quantity: 50}} // an entry in flight keeps its size
	s.want(one, 50_000, 50)
}
