package library

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// decisions feeds closes and returns the target's sign after each: 0 for no target.
func decisions(t *testing.T, s strategy.Strategy, closes []exchange.Price) []int {
	t.Helper()
	view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}
	plan := strategy.Plan{}
	signs := make([]int, 0, len(closes))
	for _, price := range closes {
		show(&view, exchange.Candle{Close: price})
		s.Candle(&view)
		plan.Reset()
		s.Decide(&view, &plan)
		sign := plan.Target.Sign()
		if plan.Target.Kind != strategy.NoTarget && sign == 0 {
			sign = 9 // flat is also a target
		}
		signs = append(signs, sign)
	}
	return signs
}

func TestSMACrossDecidesOnlyAtCrosses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mode string
		closes     []exchange.Price
		want       []int
	}{
		// fast 1, slow 2: the averages exist together from the second candle on.
		{"above from the start is no cross", "long_only", []exchange.Price{10, 20, 30, 40}, []int{0, 0, 0, 0}},
		{"from below to above", "long_only", []exchange.Price{20, 10, 30}, []int{0, 0, 1}},
		{"from equal to above", "long_only", []exchange.Price{10, 10, 11}, []int{0, 0, 1}},
		{"above, equal, below", "long_only", []exchange.Price{20, 10, 30, 30, 20}, []int{0, 0, 1, 1, 9}},
		{"from below to equal", "long_only", []exchange.Price{20, 10, 10, 11}, []int{0, 0, 0, 1}},
		{"from above to equal", "long_only", []exchange.Price{10, 20, 20, 19}, []int{0, 0, 0, 9}},
		{"short below", "long_short", []exchange.Price{20, 10, 30, 20}, []int{0, 0, 1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			have := decisions(t, newStrategy(t, "sma_cross", exchange.Futures, strategy.Values{"fast": "1", "slow": "2", "mode": c.mode}), c.closes)
			for i := range c.want {
				if have[i] != c.want[i] {
					t.Fatalf("want %v, have %v", c.want, have)
				}
			}
		})
	}
}

func TestRSIEntersLowAndLeavesHigh(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "rsi", exchange.Futures, strategy.Values{"period": "2"})
	// Falling for two changes: 0; then rising until the index passes 70.
	have := decisions(t, s, []exchange.Price{100e8, 90e8, 80e8, 85e8, 100e8, 130e8})
	if have[1] != 0 || have[2] != 1 || have[5] != 9 {
		t.Errorf("want nothing, then long, at last flat; have %v", have)
	}
}

func TestDecisionsDoNotAllocate(t *testing.T) {
	view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, Last: 50_000e8}
	show(&view, exchange.Candle{Open: 50_000e8, High: 50_000e8, Low: 50_000e8, Close: 50_000e8})
	plan := strategy.Plan{}
	for _, definition := range All() {
		values := strategy.Values{}
		if definition.Name == "twap" {
			values["quantity"] = "1"
			view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: began, Value: 1})
		}
		switch definition.Name {
		case "grid":
			values = strategy.Values{"lower": "40000", "upper": "60000", "quantity": "0.01"}
		case "market_making", "avellaneda":
			values = strategy.Values{"quantity": "0.1", "max_position": "1"}
			view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: "turn", Value: 1}, strategy.MemoryVariable{Key: "center", Value: 50_000e8},
				strategy.MemoryVariable{Key: "bid", Value: 49_950e8}, strategy.MemoryVariable{Key: "ask", Value: 50_050e8})
		case "funding_carry":
			values["quantity"] = "1"
			view.Funding = strategy.Funding{Rate: exchange.RateOne / 1000, Known: true}
			view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: carryOn, Value: 1})
		case "rebalance":
			values["weight"] = "40%"
			view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: rebalanced, Value: 1000})
			view.Equity = exchange.AmountOf(1)
		case "dca":
			values["amount"] = "100"
			view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: dcaBegan, Value: 1}, strategy.MemoryVariable{Key: dcaBought, Value: 1})
		}
		s := newStrategy(t, definition.Name, exchange.Futures, values)
		if n := testing.AllocsPerRun(200, func() {
			s.Candle(&view)
			plan.Reset()
			s.Decide(&view, &plan)
		}); n != 0 {
			t.Errorf("%s: want no allocation, have %v", definition.Name, n)
		}
	}
}

func BenchmarkSMACross(b *testing.B) {
	view := strategy.View{Symbol: setting(b, exchange.Futures).Symbol}
	plan := strategy.Plan{}
	s := newStrategy(b, "sma_cross", exchange.Futures, strategy.Values{})
	candles := &exchange.Candles{}
	candles.Append(exchange.Candle{Close: 50_000e8})
	view.SetHistory(candles, 1)
	b.ReportAllocs()
	for b.Loop() {
		candles.Close[0] ^= 0xff
		s.Candle(&view)
		plan.Reset()
		s.Decide(&view, &plan)
	}
}
