package overlay

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// long always has a long target and returns its own condition.
type long struct{}

func (long) Warmup() int           { return 0 }
func (long) Candle(*strategy.View) {}
func (long) Decide(view *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: view.Symbol.QuantityTick}, "always")
}
func (long) Conditions(*strategy.View) []strategy.Condition {
	return []strategy.Condition{{Name: "own", Value: "1"}}
}

// TestExitConditionsShowDistance follows a position from its entry to its time limit and through
// the cool-down.
func TestExitConditionsShowDistance(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	made := Wrap(long{}, TradeSettings{Exit: Exit{TimeLimitMS: 600_000, CooldownMS: 300_000,
		Returns:  []Return{{AgeMS: 120_000, Profit: exchange.RateOne / 100}},
		Trailing: Trailing{Distance: exchange.RateOne / 100, After: exchange.RateOne / 50}}})
	view := &strategy.View{Symbol: symbol, Last: 50_000e8}
	at := func(ms int64, position exchange.Quantity, last exchange.Price) string {
		view.NowMS, view.Last = ms, last
		view.Position = strategy.Position{Quantity: position}
		if position != 0 {
			view.Position.EntryPrice = exchange.AmountOf(50_000)
		}
		var plan strategy.Plan
		made.Decide(view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		text := ""
		for _, c := range made.(strategy.Conditional).Conditions(view) {
			text += c.Name + "=" + c.Value
			if c.Met {
				text += "!"
			}
			text += "; "
		}
		return text
	}
	tick := symbol.QuantityTick
	for _, c := range []struct {
		ms       int64
		position exchange.Quantity
		last     exchange.Price
		want     []string
		not      string
	}{
		{1_000, 0, 50_000e8, []string{"own=1"}, "held for"},
		{2_000, tick, 50_000e8, []string{"own=1", "held for=0s;", "best profit=0.00%;"}, "a target other than"},
		{182_000, tick, 50_100e8, []string{"held for=3m;", "profit=0.20%;"}, "!"},
		{242_000, tick, 50_600e8, []string{"profit=1.20%!"}, "held for=4m!"},
		{602_000, tick, 50_600e8, []string{"held for=10m!"}, ""},
		{603_000, 0, 50_600e8, []string{"since the last position=0s;", "a target other than"}, "held for"},
		{904_000, 0, 50_600e8, []string{"since the last position=5m!"}, "held for"},
	} {
		have := at(c.ms, c.position, c.last)
		for _, want := range c.want {
			if !strings.Contains(have, want) {
				t.Errorf("at %d s: want %q, have %s", c.ms/1000, want, have)
			}
		}
		if c.not != "" && strings.Contains(have, c.not) {
			t.Errorf("at %d s: want no %q, have %s", c.ms/1000, c.not, have)
		}
	}
}

// TestEntryConditionsShowProgress follows an unfilled entry to its end.
func TestEntryConditionsShowProgress(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	inner := &planned{strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10 * symbol.QuantityTick}}}
	made := Wrap(inner, TradeSettings{Entry: Entry{Resting: true, PatienceMS: 10_000, Tries: 2}})
	view := &strategy.View{Symbol: symbol, Last: 50_000e8, Equity: exchange.AmountOf(10_000)}
	conditions := func(ms int64) string {
		view.NowMS = ms
		var plan strategy.Plan
		made.Decide(view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		text := ""
		for _, c := range made.(strategy.Conditional).Conditions(view) {
			text += c.Name + " " + c.Value + " " + c.Requires + "; "
		}
		return text
	}
	if have := made.(strategy.Conditional).Conditions(view); len(have) != 0 {
		t.Errorf("before the first target: want no conditions, have %+v", have)
	}
	for _, c := range []struct {
		ms   int64
		want string
	}{{1_000, "tries to enter 1 of 2; order rests for 0 s"}, {6_000, "order rests for 5 s"}, {12_000, "tries to enter 2 of 2"}, {23_000, "given up"}} {
		if have := conditions(c.ms); !strings.Contains(have, c.want) {
			t.Errorf("at %d s: want %q, have %s", c.ms/1000, c.want, have)
		}
	}
}
