package overlay

import (
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

func TestWrapWithoutRulesReturnsStrategy(t *testing.T) {
	t.Parallel()
	w := &sided{}
	if Wrap(w, TradeSettings{Exit: Exit{Base: strategy.Protection{Set: true}}}) != strategy.Strategy(w) {
		t.Error("want the strategy as it is")
	}
	if n := Wrap(w, TradeSettings{Exit: Exit{TimeLimitMS: 1}}).Warmup(); n != 7 {
		t.Errorf("want its warm-up, have %d", n)
	}
}

// watched is a strategy that prepares, watches and takes profits.
type watched struct {
	long
	candles *int
}

func (watched) Watches() strategy.Watching { return strategy.Watching{OrderBook: true} }
func (w watched) Candle(*strategy.View)    { *w.candles++ }
func (watched) Warmup() int                { return 7 }
func (watched) Batch(_ *strategy.View, _ *exchange.Candles, _, to int, _ func(int) exchange.Amount) int {
	return to
}

// The rules keep the strategy's watched inputs, warm-up and candles, and its preparation unless a rule changes plans.
func TestRulesLeaveTheRestOfAStrategyAsItIs(t *testing.T) {
	t.Parallel()
	profit := strategy.Protection{Set: true, TakeProfit: strategy.Distance{Price: 1}}
	sells := TradeSettings{Exit: Exit{SellsProfit: true}}
	for _, c := range []struct {
		name     string
		rules    TradeSettings
		memory   map[string]int64
		funds    bool // it also watches the free money
		prepares bool
		follows  bool
		after    exchange.Rate
		trails   bool
	}{
		{name: "sells a profit that was not set", rules: sells, prepares: true, follows: true},
		{name: "that the strategy set", rules: sells, memory: map[string]int64{exitProfit: 5}, follows: true},
		{name: "that is configured", rules: TradeSettings{Exit: Exit{SellsProfit: true, Base: profit}}, follows: true},
		{name: "a size", rules: TradeSettings{Sizing: Sizing{Risk: one}}},
		{name: "a size in parts", rules: TradeSettings{Sizing: Sizing{Steps: []Step{{Share: one}}}}},
		{name: "a size that is reduced", rules: TradeSettings{Sizing: Sizing{Reduce: true}}, funds: true},
		{name: "a patient entry", rules: TradeSettings{Entry: Entry{Resting: true}}},
		{name: "a time limit", rules: TradeSettings{Exit: Exit{TimeLimitMS: 1}}},
		{name: "a cooldown", rules: TradeSettings{Exit: Exit{CooldownMS: 1}}},
		{name: "a return", rules: TradeSettings{Exit: Exit{Returns: []Return{{}}}}, follows: true},
		{name: "a target", rules: TradeSettings{Exit: Exit{ProfitTargets: []Step{{}}}}, follows: true},
		{name: "a trailing stop", rules: TradeSettings{Exit: Exit{Trailing: Trailing{Distance: 1, After: 3}}}, follows: true, after: 3, trails: true},
	} {
		candles := 0
		inner := watched{candles: &candles}
		made := Wrap(inner, c.rules)
		view := &strategy.View{Symbol: testSymbol(t)}
		remembers(c.memory)(view)
		made.Candle(view)
		after, trails := made.(interface {
			Trails() (exchange.Rate, bool)
		}).Trails()
		end := map[bool]int{true: 9, false: 4}[c.prepares]
		batched := made.(strategy.Batcher).Batch(view, nil, 4, 9, nil)
		if watching := strategy.WatchingOf(made); watching != (strategy.Watching{OrderBook: true, Funds: c.funds}) || candles != 1 || made.Warmup() != 7 ||
			made.(strategy.Wrapper).Wrapped() != strategy.Strategy(inner) || after != c.after || trails != c.trails || batched != end {
			t.Errorf("%s: have %+v, %d candles, warm-up %d, trails %d %t, prepared to %d", c.name, watching, candles, made.Warmup(), after, trails, batched)
		}
		if have := made.(strategy.Follower).Follows(); have != c.follows {
			t.Errorf("%s: want it to follow %t, have %t", c.name, c.follows, have)
		}
		shown := made.(strategy.Conditional).Conditions(view)
		if len(shown) == 0 || shown[0].Name != "own" {
			t.Errorf("%s: want the strategy's own condition first, have %+v", c.name, shown)
		}
	}
	if batched := Wrap(long{}, sells).(strategy.Batcher).Batch(&strategy.View{}, nil, 4, 9, nil); batched != 4 {
		t.Errorf("a strategy that prepares nothing: want 4, have %d", batched)
	}
	sizes := Wrap(long{}, TradeSettings{Sizing: Sizing{Risk: one}})
	view := &strategy.View{Symbol: testSymbol(t)}
	remembers(map[string]int64{sizeSide: 1, sizeQuantity: 20})(view)
	if have := sizes.(strategy.Conditional).Conditions(view); len(have) != 2 || have[1].Value != "0.02 BTC" {
		t.Errorf("want the size in force after its own, have %+v", have)
	}
}
