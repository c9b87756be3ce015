package backtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// planned decides by a script, and writes down what it sees. A line of the script is a candle and the plan at its close:
//
//	open high low close | in KEY SIDE PRICE QUANTITY, ... ; out KEY SIDE PRICE QUANTITY, ... ; hold QUANTITY ; why WORDS
//
// Without a plan the last one is repeated. A dash in place of orders is an empty list.
type planned struct {
	t      testing.TB
	symbol *exchange.Symbol
	plans  []string
	change func(at int, plan *strategy.Plan)
	warmup int
	seen   int
	last   string
	saw    []string
}

func (p *planned) Warmup() int           { return p.warmup }
func (p *planned) Candle(*strategy.View) { p.seen++ }

func (p *planned) Decide(v *strategy.View, plan *strategy.Plan) {
	for _, own := range p.plans[:p.seen] {
		if own != "" {
			p.last = own
		}
	}
	if (v.Position.Quantity == 0) != (v.Position.SinceMS == 0) {
		p.t.Errorf("candle %d: a position of %d since %d", p.seen, v.Position.Quantity, v.Position.SinceMS)
	}
	var orders []string
	for i := range v.Working {
		w := &v.Working[i]
		orders = append(orders, fmt.Sprintf("%s %s/%s at %s", w.Key, v.Symbol.QuantityDecimal(w.Filled), v.Symbol.QuantityDecimal(w.Quantity),
			v.Symbol.PriceDecimal(w.Price)))
	}
	for i := range v.Fills {
		orders = append(orders, fmt.Sprintf("%s filled %s", v.Fills[i].Key, v.Symbol.QuantityDecimal(v.Fills[i].Quantity)))
	}
	p.saw = append(p.saw, fmt.Sprintf("%d: %d closed, the newest %+v, %d others; %s at %s since %d, %s of %s: %s; memory %v", p.seen, v.Closed(),
		v.Candle(), len(v.Others), v.Symbol.QuantityDecimal(v.Position.Quantity),
		v.Position.EntryPrice, (v.Position.SinceMS-midnight)/60_000, v.Equity, v.Symbol.PriceDecimal(v.Last), strings.Join(orders, ", "), v.Memory.Entries()))
	for part := range strings.SplitSeq(p.last, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch word {
		case "in":
			plan.OrdersSet, plan.Orders = true, p.orders(plan.Orders, rest)
		case "out":
			plan.ExitsSet, plan.Exits = true, p.orders(plan.Exits, rest)
		case "hold":
			plan.Hold(p.target(rest), plan.Reason)
		case "why":
			plan.Reason = rest
		}
	}
	if p.change != nil {
		p.change(p.seen, plan)
	}
}

func (p *planned) target(text string) strategy.Target {
	switch {
	case text == "flat":
		return strategy.Flat()
	case strings.HasSuffix(text, "%"):
		share := decimal.RequireFromString(strings.TrimSuffix(text, "%"))
		return strategy.Size{Equity: exchange.Rate(share.Abs().Mul(decimal.NewFromInt(int64(exchange.RateOne) / 100)).IntPart())}.Target(int64(share.Sign()))
	case strings.HasSuffix(text, "u"):
		quote := decimal.RequireFromString(strings.TrimSuffix(text, "u"))
		return strategy.Size{Quote: exchange.MustAmount(quote.Abs().String())}.Target(int64(quote.Sign()))
	}
	return hold(p.t, p.symbol, text)[0]
}

func (p *planned) orders(list []strategy.DesiredOrder, text string) []strategy.DesiredOrder {
	if text == "-" {
		return list
	}
	for part := range strings.SplitSeq(text, ",") {
		word := strings.Fields(part)
		price, err := p.symbol.Price(decimal.RequireFromString(word[2]))
		if err != nil {
			p.t.Fatal(err)
		}
		side := exchange.Buy
		if word[1] == "sell" {
			side = exchange.Sell
		}
		list = append(list, strategy.DesiredOrder{Key: word[0], Side: side, Price: price, Quantity: hold(p.t, p.symbol, word[3])[0].Quantity})
	}
	return list
}

// steadyPlanned is a planned that reports when a candle changes nothing, and takes candles by column.
type steadyPlanned struct {
	*planned
	passed int
}

func (s *steadyPlanned) Stays() bool { return s.plans[s.seen-1] == "" }

func (s *steadyPlanned) Pass(_ *exchange.Candles, from, to int) (end int) {
	for end = from; end < to; {
		end++
		s.seen++
		if s.passed++; !s.Stays() {
			break
		}
	}
	return end
}

// directCase is a run of a script: what the direct machine must do, and that the engine does the same.
type directCase struct {
	name    string
	script  string
	machine string // and why not the direct one
	fills   string // "MINUTE SIDE QUANTITY PRICE PURPOSE", by commas
	refused int
	warmup  int
	set     func(c *backtest.Config, s *exchange.Symbol)
	change  func(at int, plan *strategy.Plan)
}

func runDirect(t *testing.T, c *directCase) {
	t.Helper()
	s := symbol(t, exchange.Futures, "0.1", "0.001")
	var candles []string
	var plans []string
	for line := range strings.Lines(strings.TrimSpace(c.script)) {
		candle, plan, _ := strings.Cut(strings.TrimSpace(line), "|")
		candles, plans = append(candles, candle), append(plans, strings.TrimSpace(plan))
	}
	var made []*planned
	config := caseConfig(candlesOf(t, s, exchange.Minute1, midnight, strings.Join(candles, "\n")), nil)
	config.Legs[0].Strategy.Protection = strategy.Protection{Set: true}
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
		made = append(made, &planned{t: t, symbol: s, plans: plans, change: c.change, warmup: c.warmup})
		return made[len(made)-1], nil
	}
	if c.set != nil {
		c.set(&config, s)
	}
	have := mustRun(t, config)
	saw := made[len(made)-1].saw
	want := mustRun(t, backtest.ByEngine(config))
	if have.Machine != c.machine || have.Refusals != c.refused {
		t.Errorf("want %d refusals by %q, have %d by %q", c.refused, c.machine, have.Refusals, have.Machine)
	}
	var fills []string
	for _, e := range have.Executions {
		fills = append(fills, fmt.Sprintf("%d %s %s %s %s", (e.TimeMS-midnight)/60_000, strings.ToLower(e.Side), e.Quantity, e.Price, e.Purpose))
	}
	if text := strings.Join(fills, ", "); text != c.fills {
		t.Errorf("fills: want %q\nhave %q", c.fills, text)
	}
	for i, line := range made[len(made)-1].saw {
		if i >= len(saw) || saw[i] != line {
			t.Fatalf("candle %d: the engine shows %q\nand the direct machine %q", i, line, lineAt(saw, i))
		}
	}
	if c.change == nil && !strings.HasPrefix(c.machine, "engine") {
		steadyDirect(t, config, plans, have, saw)
	}
	if diff := cmp.Diff([]any{explained(want), want.Orders}, []any{explained(have), have.Orders}); diff != "" {
		t.Errorf("-engine +direct machine:\n%s", diff)
	}
	if have.ResultSHA256 != want.ResultSHA256 {
		t.Errorf("want the engine's result %s, have %s: %s", want.ResultSHA256[:8], have.ResultSHA256[:8], difference(have, want))
	}
}

// steadyDirect runs the script once more with a strategy that is not asked about candles that change nothing. The result
// is the same, and so is what it sees when it is asked.
func steadyDirect(t *testing.T, config backtest.Config, plans []string, want *backtest.Result, saw []string) {
	t.Helper()
	make, made := config.Legs[0].Make, (*steadyPlanned)(nil)
	config.Legs[0].Make = func(recorded *tape.Tape) (strategy.Strategy, error) {
		one, err := make(recorded)
		if err == nil {
			made = &steadyPlanned{planned: one.(*planned)}
		}
		return made, err
	}
	have := mustRun(t, config)
	if have.Machine != "direct" || have.ResultSHA256 != want.ResultSHA256 || made.passed == 0 && len(plans) > 1 {
		t.Errorf("steady, with %d candles by column: want the same result by the direct machine, have it by %q: %s", made.passed, have.Machine,
			difference(have, want))
	}
	var asked []string
	for i, plan := range plans {
		if i == 0 || plan != "" {
			asked = append(asked, saw[i])
		}
	}
	for i, line := range asked {
		if i >= len(made.saw) || made.saw[i] != line {
			t.Fatalf("steady, decision %d: want %q, have %q", i, line, lineAt(made.saw, i))
		}
	}
	if len(made.saw) != len(asked) {
		t.Errorf("steady: want %d decisions, have %q", len(asked), made.saw)
	}
}

func TestDirectMachineFollowsPlansOfOrders(t *testing.T) {
	t.Parallel()
	const even = "\n100 100 100 100\n100 100 100 100"
	for _, c := range []directCase{
		{name: "one order after the other, and their exits", machine: "direct",
			fills: "1 buy 1 99 order, 2 buy 2 98 order, 3 sell 1 101 exit_order, 4 sell 2 102 exit_order", script: `
			100 100 100 100 | in a buy 99 1, b buy 98 2, c buy 97 3
			100 100 98.5 99
			99 99 97.5 98 | in a buy 99 1, b buy 98 2, c buy 97 3; out x sell 101 1, y sell 102 2
			98 101.5 98 101
			101 103 101 103
			103 103 103 103`},
		{name: "prices, quantities and places that change", machine: "direct", fills: "3 buy 1.5 98 order, 3 buy 4 96 order, 3 buy 1 95 order", script: `
			100 100 100 100 | in a buy 99 1, b buy 98 2, c buy 97 3, d buy 96 4
			100 100 100 100 | in d buy 96 4, c buy 97.5 3, b buy 98 1.5, a buy 99 2
			100 100 100 100 | in b buy 98 1.5, e buy 95 1, d buy 96 4
			100 100 94 95 | in b buy 98 1.5, e buy 95 1, d buy 96 4
			95 95 95 95`},
		{name: "a key that ends and begins again", machine: "direct", fills: "1 buy 1 99 order, 3 buy 0.5 99 order, 5 buy 1 99 order, 6 buy 1 98 order",
			script: `
			100 100 100 100 | in a buy 99 1, b buy 98 1
			100 100 98.5 100
			100 100 98.5 100 | in a buy 99 1.5, b buy 98 1
			100 100 98.5 100 | in b buy 98 1
			100 100 98.5 100 | in a buy 99 1, b buy 98 1
			100 100 98.5 100
			100 100 97 100
			100 100 97 100`},
		{name: "a side that changes while flat", machine: "engine: openings of both sides",
			fills: "1 sell 1 101 order, 2 buy 1 100 exit_order, 4 buy 1 99 order", refused: 1, script: `
			100 100 100 100 | in a sell 101 1, b sell 102 1
			100 101.5 100 101 | in b sell 102 1; out x buy 100 1
			101 101 99 100
			100 100 100 100 | in a buy 99 1
			100 100 98 99
			99 99 99 99`},
		{name: "partial fills under a cap", machine: "direct",
			fills: "1 buy 0.5 99 order, 2 buy 0.5 98 order, 3 buy 0.5 98 order, 4 buy 0.5 98 order, " +
				"5 buy 0.5 98 order, 6 sell 0.5 99 exit_order, 7 sell 0.5 99 exit_order", script: `
			100 100 100 100 | in a buy 99 1, b buy 98 1
			99 99 97 98
			98 98 97 98 | in a buy 99 0.7, b buy 98 2
			98 98 97 98
			98 98 97 98 | in b buy 98 2; out x sell 99 5
			98 99.5 98 99
			99 99.5 98 99
			99 99.5 98 99`, set: func(c *backtest.Config, s *exchange.Symbol) {
				c.Costs.VolumeCap = exchange.RateOne / 2 // of a volume of 1 a candle
			}},
		{name: "an exit larger than the position", machine: "direct",
			fills: "1 buy 1 99 order, 2 sell 0.4 101 exit_order, 2 sell 0.4 102 exit_order, 2 sell 0.2 103 exit_order", script: `
			100 100 100 100 | in a buy 99 1
			100 100 98 99 | in a buy 99 1; out x sell 101 0.4, y sell 102 0.4, z sell 103 0.4, w sell 104 0.4
			99 104 99 104
			104 104 104 104`},
		{name: "too little for an order", machine: "direct", fills: "1 buy 0.052 97 order, 2 sell 0.05 101 exit_order", script: `
			100 100 100 100 | in a buy 99 0.05, b buy 98 0.051, c buy 97 0.052
			100 100 96 97 | in a buy 99 0.05, b buy 98 0.051, c buy 97 0.052; out x sell 101 0.049, y sell 101 0.05
			97 102 97 101
			101 101 101 101`},
		{name: "an order beyond the last price", machine: "direct", fills: "1 buy 1 100 order, 3 sell 0.5 101 exit_order", script: `
			100 100 100 100 | in a buy 105 1, b buy 99 1
			100 101 100 101
			101 101 101 101 | out x sell 100 0.5
			101 101 101 101`},
		{name: "lists that become empty", machine: "direct", fills: "1 buy 1 99 order", script: `
			100 100 100 100 | in a buy 99 1, b buy 98 1
			100 100 98.5 100 | in -; out x sell 103 1
			100 100 97 100 | in -; out -
			100 105 97 100
			100 100 100 100`},
		{name: "larger openings before smaller ones", machine: "direct",
			fills: "1 buy 5 99 order, 1 buy 1 98 order, 1 buy 1 97 order, 1 buy 0.2 96 order", script: `
			100 100 100 100 | in a buy 99 5, b buy 98 1, c buy 97 1, d buy 96 0.2
			100 100 95 96
			96 96 96 96`},
		{name: "small openings before a large one", machine: "direct", script: `
			100 100 100 100 | in a buy 90 1, b buy 89 1, c buy 88 5, d buy 87 1, e buy 86 1
			100 100 100 100
			100 100 100 100 | in a buy 90 1, f buy 85 3, b buy 89 1, c buy 88 5, g buy 84 9, d buy 87 1, e buy 86 1, h buy 83 1
			100 100 100 100`},
		{name: "an opening of exactly half of what is missing", machine: "direct", fills: "1 buy 2 90 order", script: `
			100 100 100 100 | in a buy 90 2, b buy 89 2, c buy 88 1, d buy 87 1
			100 100 89.5 100`},
		{name: "an opening of more than half of what is missing", machine: "direct", fills: "1 buy 2.001 90 order", script: `
			100 100 100 100 | in a buy 90 2.001, b buy 89 2, c buy 88 1, d buy 87 1
			100 100 89.5 100`},
		{name: "exits before further openings", machine: "direct", fills: "1 buy 2 100 order", script: `
			100 100 100 100 | in a buy 100 2
			100 100 100 100 | in a buy 100 2, b buy 90 1, c buy 89 1, d buy 88 4; out x sell 110 1, y sell 111 1
			100 100 100 100
			100 100 100 100 | in a buy 100 2, b buy 90 1, c buy 89 1, d buy 88 4; out x sell 110 0.5, y sell 111 1, z sell 112 1
			100 100 100 100`},
		{name: "all orders filled", machine: "direct", fills: "1 buy 1 99 order, 1 buy 1 98 order, 3 sell 1 103 exit_order, 3 sell 1 103 exit_order", script: `
			100 100 100 100 | in a buy 99 1, b buy 98 1; out x sell 103 2
			100 100 97 100
			100 100 97 100
			100 104 97 100
			100 100 97 100`},
		{name: "openings of both sides", machine: "engine: an intent that a rule may refuse", refused: 1,
			script: `100 100 100 100 | in a buy 99 1, b sell 101 1` + even},
		{name: "an opening of the other side beside one in the book", machine: "engine: openings of both sides", refused: 1,
			script: `100 100 100 100 | in a buy 99 1
			100 100 100 100 | in a buy 99 1, b sell 101 1` + even},
		{name: "an opening against the position", machine: "engine: an intent that a rule may refuse", fills: "1 buy 1 99 order", refused: 1,
			script: `100 100 100 100 | in a buy 99 1
			100 100 98 99 | in b sell 101 2
			99 102 99 101
			101 101 101 101`},
		{
			name: "an opening against a short position", machine: "engine: an intent that a rule may refuse", fills: "1 sell 1 101 order",
			refused: 1, script: `100 100 100 100 | in a sell 101 1
			100 102 100 101 | in b buy 99 2
			101 101 100 100
			100 100 100 100`,
		},
		{
			name: "an opening of one side after one of the other has ended", machine: "direct",
			fills: "1 sell 1 101 order, 2 buy 1 99 exit_order, 4 buy 1 98 order",
			script: `100 100 100 100 | in a sell 101 1
			100 102 100 101 | in a sell 101 1; out x buy 99 1
			101 101 98.5 100
			100 100 100 100 | in b buy 98 1
			100 100 97 98`,
		},
		{
			name: "beyond the last bracket with orders in the book", machine: "engine: an intent that a rule may refuse", refused: 1, script: `
			100 100 100 100 | in a buy 90 1.5
			100 100 100 100 | in a buy 90 1.5, b buy 89 0.6` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) },
		},
		{name: "an exit of the position's side", machine: "engine: an intent that a rule may refuse", fills: "1 buy 1 99 order", refused: 1,
			script: `100 100 100 100 | in a buy 99 1
			100 100 98 99 | in a buy 99 1; out x buy 98 0.5
			99 99 97 98
			98 98 98 98`},
		{name: "post-only", machine: "engine: orders that are post-only, or wait for a price", script: `100 100 100 100 | in a buy 99 1` + even,
			change: func(_ int, plan *strategy.Plan) { plan.Orders[0].PostOnly = true }},
		{name: "post-only exits", machine: "engine: orders that are post-only, or wait for a price", script: `100 100 100 100 | out a sell 101 1` + even,
			change: func(_ int, plan *strategy.Plan) { plan.Exits[0].PostOnly = true }},
		{name: "a latency", machine: "engine: resting orders and latency", script: `100 100 100 100 | in a buy 99 1` + even, set: func(c *backtest.Config,
			_ *exchange.Symbol) {
			c.Costs.LatencyMS = 1
		}},
		{name: "a later execution", machine: "engine: resting orders and latency", script: `100 100 100 100 | in a buy 99 1` + even,
			set: func(c *backtest.Config, _ *exchange.Symbol) { c.Costs.LaterMS = 1 }},
		{name: "no cancels", machine: "engine: a symbol without limit orders or cancels", script: `100 100 100 100 | in a buy 99 1` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.Cancelable = false }},
		{name: "no limit orders", machine: "engine: a symbol without limit orders or cancels", refused: 1, script: `100 100 100 100 | in a buy 99 1` +
			even, set: func(_ *backtest.Config, s *exchange.Symbol) {
			s.OrderTypes = []exchange.OrderType{exchange.MarketOrder}
		}},
		{name: "limit orders by name", machine: "direct", script: `100 100 100 100 | in a buy 99 1` + even, set: func(_ *backtest.Config, s *exchange.Symbol) {
			s.OrderTypes = []exchange.OrderType{exchange.MarketOrder, exchange.Limit}
		}},
		{name: "orders after a target", machine: "engine: a target and resting orders", fills: "1 buy 1 100 entry", script: `100 100 100 100 | hold 1
			100 100 100 100 | in a buy 99 1` + even},
		{name: "a target after orders", machine: "engine: a target and resting orders", fills: "2 buy 1 100 entry", script: `100 100 100 100 | in a buy 99 1
			100 100 100 100 | hold 1` + even},
		{name: "almost the largest order", machine: "direct", script: `100 100 100 100 | in a buy 50 4` + even, set: func(_ *backtest.Config,
			s *exchange.Symbol) {
			s.MaxNotional = exchange.AmountOf(200)
		}},
		{name: "more than the largest order", machine: "engine: an intent that a rule may refuse", refused: 1,
			script: `100 100 100 100 | in a buy 50 4.001` + even, set: func(_ *backtest.Config, s *exchange.Symbol) {
				s.MaxNotional = exchange.AmountOf(200)
			}},
		{name: "an exit of more than the largest order", machine: "engine: an intent that a rule may refuse",
			fills: "1 buy 1 100 order, 1 buy 1.5 100 order", refused: 1, script: `100 100 100 100 | in a buy 100 1, b buy 100 1.5
			100 100 99 100 | out x sell 110 2.5` + even, set: func(_ *backtest.Config, s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(200) }},
		{name: "almost the last bracket", machine: "direct", fills: "1 buy 1 100 order", script: `100 100 100 100 | in a buy 100 1, b buy 99 1` + even,
			set: func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) }},
		{name: "beyond the last bracket", machine: "engine: an intent that a rule may refuse", fills: "1 buy 1 100 order", refused: 1,
			script: `100 100 100 100 | in a buy 100 1, b buy 99 1.001` + even,
			set:    func(_ *backtest.Config, s *exchange.Symbol) { s.Brackets[0].Max = exchange.AmountOf(200) }},
		{name: "almost all of the money", machine: "direct", fills: "1 buy 490 100 order", script: `100 100 100 100 | in a buy 100 490` + even},
		{name: "more than the money", machine: "engine: an intent that a rule may refuse", fills: "1 buy 498 100 order",
			script: `100 100 100 100 | in a buy 100 498` + even},
		{name: "the money, with orders in the book", machine: "engine: an intent that a rule may refuse", fills: "1 buy 250 100 order",
			script: `100 100 100 100 | in a buy 100 250
			100 100 100 100 | in a buy 100 250, b buy 99 250` + even},
		{name: "a sale below the last price costs its loss", machine: "engine: an intent that a rule may refuse", fills: "1 sell 300 100 order",
			script: `100 100 100 100 | in a sell 60 300` + even},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runDirect(t, &c)
		})
	}
}
