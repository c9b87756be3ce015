package backtest_test

import (
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/strategy"
)

func TestDirectMachineFollowsTargets(t *testing.T) {
	t.Parallel()
	const even = "\n100 100 100 100\n100 100 100 100"
	for _, c := range []directCase{
		{name: "in, more, less, out", machine: "direct", fills: "1 buy 1 100 entry, 2 buy 1.5 100 entry, 4 sell 1.3 100 exit, 5 sell 1.2 100 exit", script: `
			100 100 100 100 | hold 1; why begins
			100 100 100 100 | hold 2.5; why more
			100 100 100 100 | hold 2.499; why less than an order
			100 100 100 100 | hold 1.2; why less
			100 100 100 100 | hold flat; why ends` + even},
		{name: "from one side to the other", machine: "direct",
			fills: "1 buy 1 101 entry, 2 sell 1 102 exit, 2 sell 2 102 entry, 4 buy 2 100 exit, 4 buy 0.5 100 entry", script: `
			100 100 100 100 | hold 1
			101 101 101 101 | hold -2
			102 102 102 102
			103 103 103 103 | hold 0.5; why turns` + even},
		{name: "a share of the equity is counted once", machine: "direct",
			fills: "1 buy 50 100 entry, 4 buy 4.975 120 entry, 5 sell 54.975 120 exit, 5 sell 54.939 120 entry", script: `
			100 100 100 100 | hold 50%
			100 120 100 120
			120 120 120 120 | hold 50%; why the same
			120 120 120 120 | hold 60%
			120 120 120 120 | hold -60%
			120 120 120 120` + even},
		{name: "an amount of money", machine: "direct", fills: "1 buy 5 100 entry, 3 buy 0.454 110 entry, 4 sell 5.454 100 exit, 4 sell 6 100 entry", script: `
			100 100 100 100 | hold 500u
			100 110 100 110
			110 110 110 110 | hold 600u
			110 110 110 110 | hold -600u` + even},
		{name: "differences too small for an order", machine: "direct", fills: "1 buy 1 100 entry, 3 buy 0.05 100 entry, 5 sell 0.05 100 exit", script: `
			100 100 100 100 | hold 1
			100 100 100 100 | hold 1.049
			100 100 100 100 | hold 1.05
			100 100 100 100 | hold 1.001
			100 100 100 100 | hold 1` + even},
		{name: "in parts of the largest order", machine: "direct",
			fills: "1 buy 2 100 entry, 1 buy 2 100 entry, 1 buy 1 100 entry, 3 sell 2 100 exit, 3 sell 2 100 exit, 3 sell 1 100 exit", script: `
			100 100 100 100 | hold 5
			100 100 100 100
			100 100 100 100 | hold flat
			100 100 100 100` + even, set: func(_ *backtest.Config, s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(200) }},
		{name: "a refusal that is repeated counts once", machine: "direct", fills: "3 buy 1 100 entry", refused: 3, script: `
			100 100 100 100 | hold 600
			100 100 100 100
			100 100 100 100 | hold 1
			100 100 100 100 | hold 600
			100 100 100 100 | hold 601
			100 100 100 100 | hold 601; why again` + even},
		{
			name: "two targets of one refusal count once", machine: "direct", refused: 1, script: `
			100 100 100 100 | hold 700
			100 100 100 100 | hold 800
			100 100 100 100 | hold 650` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(60_000) },
		},
		{
			name: "a refusal after an entry counts again", machine: "direct", fills: "2 buy 1 100 entry, 3 sell 1 100 exit", refused: 2, script: `
			100 100 100 100 | hold 700
			100 100 100 100 | hold 1
			100 100 100 100 | hold flat
			100 100 100 100 | hold 700` + even,
			set: func(c *backtest.Config, s *exchange.Symbol) { c.Costs = fees(0, 0) },
		},
		{name: "almost the last bracket", machine: "direct", fills: "1 buy 2 100 entry", script: `100 100 100 100 | hold 2` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) }},
		{name: "beyond the last bracket", machine: "engine: an intent that a rule may refuse", refused: 1, script: `100 100 100 100 | hold 2.001` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) }},
		{name: "beyond the bracket with what is held", machine: "engine: an intent that a rule may refuse", fills: "1 buy 1 100 entry", refused: 1,
			script: `100 100 100 100 | hold 1
			100 100 100 100 | hold 2.5` + even, set: func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) }},
		{name: "a rest that is too small to close", machine: "engine: too small for an order of its own", fills: "1 buy 0.06 100 entry", script: `
			100 100 100 100 | hold 0.06
			100 100 100 100
			70 70 70 70 | hold flat
			70 70 70 70` + even},
		{name: "a liquidation", machine: "engine: a liquidation, or an order that is filled in part",
			fills: "1 buy 450 100 entry, 1 sell 450 78.19053993 liquidation", script: `100 100 100 100 | hold 450
			100 100 60 60
			60 60 60 60` + even},
		{name: "part of the volume", machine: "engine: a liquidation, or an order that is filled in part",
			fills: "1 buy 0.5 100 entry, 2 buy 0.5 100 entry", script: `100 100 100 100 | hold 1` + even,
			set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.VolumeCap = exchange.RateOne / 2 }},
		{name: "a latency within the candle", machine: "direct", fills: "1 buy 1 100 entry, 3 sell 1 100 exit", script: `100 100 100 100 | hold 1
			100 100 100 100
			100 100 100 100 | hold flat` + even, set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.LatencyMS = 29_000 }},
		{name: "one candle later, with plans that change meanwhile", machine: "direct",
			fills: "2 buy 1 101 entry, 3 sell 1 102 exit, 4 sell 2 103 entry, 6 buy 1 100 exit", script: `
			100 100 100 100 | hold 1
			100 101 100 101 | hold -2; why turns
			101 102 101 102
			102 103 102 103
			103 104 103 104 | hold -1
			104 105 104 105 | hold -1; why the same` + even,
			set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.LaterMS = 60_000 }},
		{name: "a latency of a whole candle", machine: "direct", fills: "2 buy 1 101 entry", script: `
			100 100 100 100 | hold 1
			100 101 100 101
			101 101 101 101` + even, set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.LatencyMS = 60_000 }},
		{name: "a liquidation while the exit is under way", machine: "engine: a liquidation, or an order that is filled in part",
			fills: "1 buy 450 100 entry, 2 sell 450 78.19053993 liquidation", script: `
			100 100 100 100 | hold 450
			100 100 100 100 | hold flat
			100 100 60 60
			60 60 60 60`, set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.LatencyMS = 29_000 }},
		{name: "a notice", machine: "engine: a report to people", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even,
			change: func(at int, plan *strategy.Plan) {
				if at == 2 {
					plan.Notify("news")
				}
			}},
		{name: "a leverage", machine: "engine: a plan with stops, targets or a leverage", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` +
			even, change: func(at int, plan *strategy.Plan) { plan.Leverage = 4 }},
		{name: "the same leverage", machine: "direct", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even, change: func(at int,
			plan *strategy.Plan) {
			plan.Leverage = 5
		}},
		{name: "a stop", machine: "engine: a plan with stops, targets or a leverage", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` +
			even, change: func(at int, plan *strategy.Plan) {
			plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
		}},
		{name: "no stop", machine: "direct", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even, change: func(at int, plan *strategy.Plan) {
			plan.Protection = strategy.Protection{Set: true}
		}},
		{
			name: "a memory", machine: "direct", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even + even + even,
			change: func(at int, plan *strategy.Plan) { plan.Remember("at", int64(at/3)) },
		},
		{
			name: "a target too small for an order", machine: "direct", script: `100 100 100 100 | hold 0.04
			100 100 100 100 | hold -0.049; why less` + even,
		},
		{
			name: "a warm-up", machine: "direct", fills: "3 buy 1 100 entry", warmup: 3, script: `100 100 100 100 | hold 1` + even + even,
			change: func(int, *strategy.Plan) {},
		},
		{
			name: "candles of another symbol", machine: "direct", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even,
			set: func(c *backtest.Config, s *exchange.Symbol) {
				other := *s
				other.Name = "ETH-USDT"
				c.Legs[0].Strategy.Others = []strategy.Other{{Symbol: &other, Candles: c.Legs[0].Tape.Candles}}
			},
		},
		{name: "a mistake", machine: "engine: a strategy that failed: a mistake", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1` + even,
			change: func(at int, plan *strategy.Plan) {
				if at == 3 {
					panic("a mistake")
				}
			}},
		{name: "a reason beyond its length", machine: "engine: a plan out of bounds", script: `100 100 100 100 | hold 1` + even, change: func(at int,
			plan *strategy.Plan) {
			plan.Reason = strings.Repeat("x", 5_000)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runDirect(t, &c)
		})
	}
}

// TestEngineChangesPlansWhileAnOrderIsInFlight makes a series of orders, each of the largest size, take
// longer than a candle. If the target changes meanwhile, the engine already closes the position next to the
// part in flight. The direct machine, which has one order in flight at a time, gives up.
func TestEngineChangesPlansWhileAnOrderIsInFlight(t *testing.T) {
	t.Parallel()
	const (
		changed = "engine: a target that changed next to an order under way"
		even    = "\n102 103 102 103\n102 103 102 103"
	)
	parts := func(latencyMS, largest int64) func(*backtest.Config, *exchange.Symbol) {
		return func(c *backtest.Config, s *exchange.Symbol) {
			c.Costs.LatencyMS, s.MaxNotional = latencyMS, exchange.AmountOf(largest)
		}
	}
	for _, c := range []directCase{
		{name: "flat, beside the second part", machine: changed, set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry, 2 sell 2.97 101 exit, 3 sell 2.03 101 exit", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold flat
			101 102 101 102
			102 103 102 103` + even},
		{name: "flat, beside the third part", machine: changed, set: parts(25_000, 200),
			fills: "1 buy 2 100.64549723 entry, 1 buy 2 100.91287093 entry, 2 buy 1 101.5 entry, 2 sell 1.98 101 exit, 2 sell 1.98 101 exit, " +
				"3 sell 1.04 101 exit", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold flat
			101 102 101 102
			102 103 102 103` + even},
		{name: "the other side, beside the second part", machine: changed, set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry, 2 sell 2.97 101 exit, 3 sell 2.03 101 exit, 3 sell 1 102 entry", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold -1
			101 102 101 102
			102 103 102 103` + even + even},
		{name: "less than the position, beside the second part", machine: changed, set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry, 2 sell 2.97 101 exit, 3 sell 1.03 101 exit", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold 1
			101 102 101 102
			102 103 102 103` + even},
		{name: "more, beside the second part", machine: changed, set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry, 2 buy 2 101.86602541 entry", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold 7
			101 102 101 102
			102 103 102 103` + even},
		{name: "again long, beside the second part of the exit", machine: changed, set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry, 4 sell 2.941 102 exit, 5 sell 2.059 102 exit, " +
				"5 buy 2.941 102.86602541 entry, 6 buy 1.059 103 entry", script: `
			100 100 100 100 | hold 5
			100 101 100 101
			101 102 101 102
			102 103 102 103 | hold flat
			102 103 102 103 | hold 4` + even + even},
		{name: "another reason beside the second part", machine: "direct", set: parts(35_000, 300),
			fills: "1 buy 3 100.76376262 entry, 2 buy 2 101.4082483 entry", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold 5; why another
			101 102 101 102
			102 103 102 103` + even},
		{name: "flat, beside the entry of the other side", machine: "direct", set: parts(35_000, 5_000),
			fills: "1 buy 5 100.76376262 entry, 2 sell 5 101 exit, 3 sell 5 101 entry, 3 buy 5 102.86602541 exit, 4 buy 2 102.76376262 entry", script: `
			100 100 100 100 | hold 5
			100 101 100 101 | hold -5
			101 102 101 102 | hold flat
			102 103 102 103 | hold 2` + even + even},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runDirect(t, &c)
		})
	}
}
