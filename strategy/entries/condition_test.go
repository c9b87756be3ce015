package entries

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

type wishing struct{ target exchange.Quantity }

func (wishing) Warmup() int           { return 0 }
func (wishing) Candle(*strategy.View) {}
func (w *wishing) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: w.target}, "a test")
}

// TestConditionsTellHowFarAnEntryIs follows an entry that nobody fills to its end.
func TestConditionsTellHowFarAnEntryIs(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	made := Wrap(&wishing{10 * symbol.QuantityTick}, Rules{Resting: true, PatienceMS: 10_000, Tries: 2})
	view := &strategy.View{Symbol: symbol, Last: 50_000e8, Equity: exchange.AmountOf(10_000)}
	told := func(ms int64) string {
		view.NowMS = ms
		var plan strategy.Plan
		made.Decide(view, &plan)
		view.Memory, _ = view.Memory.With(plan.Remembered())
		text := ""
		for _, c := range made.(strategy.Conditional).Conditions(view) {
			text += c.Name + " " + c.Value + " " + c.Wants + "; "
		}
		return text
	}
	if have := made.(strategy.Conditional).Conditions(view); len(have) != 0 {
		t.Errorf("before the first wish: want nothing told, have %+v", have)
	}
	for _, c := range []struct {
		ms   int64
		want string
	}{{1_000, "tries to enter 1 of 2; order rests for 0 s"}, {6_000, "order rests for 5 s"}, {12_000, "tries to enter 2 of 2"}, {23_000, "given up"}} {
		if have := told(c.ms); !strings.Contains(have, c.want) {
			t.Errorf("at %d s: want %q, have %s", c.ms/1000, c.want, have)
		}
	}
}
