package exits

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// long wishes a long position and tells a condition of its own.
type long struct{}

func (long) Warmup() int           { return 0 }
func (long) Candle(*strategy.View) {}
func (long) Decide(view *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: view.Symbol.QuantityTick}, "always")
}
func (long) Conditions(*strategy.View) []strategy.Condition {
	return []strategy.Condition{{Name: "own", Value: "1"}}
}

// TestConditionsTellHowNearTheRulesAre follows a position from its entry to its
// time limit and through the cool-down.
func TestConditionsTellHowNearTheRulesAre(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	made := Wrap(long{}, Rules{LimitMS: 600_000, CoolMS: 300_000, Returns: []Return{{AgeMS: 120_000, Profit: exchange.RateOne / 100}}, Trailing: Trailing{Distance: exchange.RateOne / 100, After: exchange.RateOne / 50}})
	view := &strategy.View{Symbol: symbol, Last: 50_000e8}
	at := func(ms int64, held exchange.Quantity, last exchange.Price) string {
		view.NowMS, view.Last = ms, last
		view.Position = strategy.Position{Quantity: held}
		if held != 0 {
			view.Position.EntryPrice = exchange.AmountOf(50_000)
		}
		var plan strategy.Plan
		made.Decide(view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		text := ""
		for _, c := range made.(strategy.Conditional).Conditions(view) {
			text += c.Name + "=" + c.Value
			if c.Holds {
				text += "!"
			}
			text += "; "
		}
		return text
	}
	tick := symbol.QuantityTick
	for _, c := range []struct {
		ms   int64
		held exchange.Quantity
		last exchange.Price
		want []string
		not  string
	}{
		{1_000, 0, 50_000e8, []string{"own=1"}, "held for"},
		{2_000, tick, 50_000e8, []string{"own=1", "held for=0s;", "best profit=0.00%;"}, "another wish"},
		{182_000, tick, 50_100e8, []string{"held for=3m;", "profit=0.20%;"}, "!"},
		{242_000, tick, 50_600e8, []string{"profit=1.20%!"}, "held for=4m!"},
		{602_000, tick, 50_600e8, []string{"held for=10m!"}, ""},
		{603_000, 0, 50_600e8, []string{"since the last position=0s;", "another wish"}, "held for"},
		{904_000, 0, 50_600e8, []string{"since the last position=5m!"}, "held for"},
	} {
		have := at(c.ms, c.held, c.last)
		for _, want := range c.want {
			if !strings.Contains(have, want) {
				t.Errorf("at %d s: want %q told, have %s", c.ms/1000, want, have)
			}
		}
		if c.not != "" && strings.Contains(have, c.not) {
			t.Errorf("at %d s: want no %q, have %s", c.ms/1000, c.not, have)
		}
	}
}
