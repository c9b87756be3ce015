package overlay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// scripted returns the plan that a story sets.
type scripted struct{ plan func(*strategy.Plan) }

func (scripted) Warmup() int                                  { return 0 }
func (scripted) Candle(*strategy.View)                        {}
func (s *scripted) Decide(_ *strategy.View, p *strategy.Plan) { s.plan(p) }

// moment is one decision of a story: the changes of the view, the strategy's request, and the complete result.
type moment struct {
	after  int64   // milliseconds after the decision before
	last   float64 // the last price
	held   float64 // the position, with its entry price after @; if empty, unchanged
	entry  float64
	asks   func(*strategy.Plan)
	change func(*strategy.View)
	want   string // the plan; the memory
}

// story asks a strategy with rules at each moment, as the engine does, and compares the complete plan and memory.
type story struct {
	name    string
	rules   TradeSettings
	begin   func(*strategy.View)
	moments []moment
}

func (s *story) run(t *testing.T) {
	view := strategy.View{Symbol: testSymbol(t), Interval: exchange.Hour1, Equity: exchange.AmountOf(10_000), NowMS: 1_000}
	if s.begin != nil {
		s.begin(&view)
	}
	for i := range s.moments {
		m := &s.moments[i]
		view.NowMS += m.after
		view.Last = ticks(m.last)
		view.Position = strategy.Position{Quantity: exchange.Quantity(ticks(m.held) / 100_000), EntryPrice: view.Symbol.PriceAmount(ticks(m.entry))}
		if m.change != nil {
			m.change(&view)
		}
		inner, plan := &scripted{m.asks}, strategy.Plan{}
		switch made := Wrap(inner, s.rules); {
		case m.asks != nil:
			made.Decide(&view, &plan)
		default:
			made.(strategy.Follower).Follow(&view, &plan)
		}
		view.Memory, _ = view.Memory.With(plan.Remembered())
		if have := showPlan(view.Symbol, &plan) + "; " + showMemory(view.Memory); have != m.want {
			t.Errorf("%s, moment %d:\nwant %s\nhave %s", s.name, i+1, m.want, have)
		}
	}
}

// ticks converts a number to hundred-millionths.
func ticks(n float64) exchange.Price {
	p, err := strconv.ParseInt(strconv.FormatFloat(n*1e8, 'f', 0, 64), 10, 64)
	if err != nil {
		panic(err)
	}
	return exchange.Price(p)
}

func number(n int64) string { return strconv.FormatFloat(float64(n)/1e8, 'f', -1, 64) }

func showPlan(symbol *exchange.Symbol, p *strategy.Plan) string {
	var text []string
	add := func(format string, values ...any) { text = append(text, fmt.Sprintf(format, values...)) }
	list := func(name string, orders []strategy.DesiredOrder) {
		add("%s", name)
		for _, o := range orders {
			kind := ""
			if o.PostOnly {
				kind = " post-only"
			}
			add("%s %s %s@%s%s", o.Key, o.Side, symbol.QuantityDecimal(o.Quantity), symbol.PriceDecimal(o.Price), kind)
		}
	}
	switch p.Target.Kind {
	case strategy.NoTarget:
		add("nothing")
	case strategy.ByQuantity:
		add("hold %s", symbol.QuantityDecimal(p.Target.Quantity))
	default:
		add("hold %+v", p.Target)
	}
	if p.SignalMS != 0 {
		add("signal %d", p.SignalMS)
	}
	if p.Protection.Set {
		add("stop %s profit %s", showDistance(p.Protection.StopLoss), showDistance(p.Protection.TakeProfit))
	}
	if p.OrdersSet {
		list("orders", p.Orders)
	}
	if p.ExitsSet {
		list("exits", p.Exits)
	}
	if p.Reason != "" {
		add("(%s)", p.Reason)
	}
	return strings.Join(text, " ")
}

func showDistance(d strategy.Distance) string {
	switch {
	case d.Share != 0:
		return number(int64(100*d.Share)) + "%"
	case d.Price != 0:
		return number(int64(d.Price))
	}
	return "none"
}

// decimals are the stored values that are prices or shares.
var decimals = map[string]bool{sizeShare: true, sizeRisk: true, sizeEntry: true, exitBest: true, exitStop: true, exitProfit: true, profitTargetRisk: true,
	entryPrice: true}

func showMemory(m strategy.Memory) string {
	var text []string
	for _, e := range m.Entries() {
		switch {
		case e.Value == 0: // equivalent to a missing one
		case decimals[e.Key]:
			text = append(text, e.Key+"="+number(e.Value))
		default:
			text = append(text, fmt.Sprintf("%s=%d", e.Key, e.Value))
		}
	}
	slices.Sort(text)
	return strings.Join(text, " ")
}

// These functions are requests of a strategy.
func holds(share float64) func(*strategy.Plan) {
	return func(p *strategy.Plan) {
		p.Hold(strategy.Target{Kind: strategy.ByEquity, Share: exchange.Rate(ticks(share))}, "asked")
	}
}

func holdsQuantity(q exchange.Quantity) func(*strategy.Plan) {
	return func(p *strategy.Plan) {
		p.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, "asked")
	}
}

func holdsQuote(usdt int64) func(*strategy.Plan) {
	return func(p *strategy.Plan) {
		p.Hold(strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(usdt)}, "asked")
	}
}

func signals(share float64, ms int64) func(*strategy.Plan) {
	return func(p *strategy.Plan) { holds(share)(p); p.SignalMS = ms }
}

func long1(p *strategy.Plan) { holdsQuantity(1_000)(p) }

func short1(p *strategy.Plan) { holdsQuantity(-1_000)(p) }

// protects is long1 with the strategy's own protection.
func protects(stop, profit strategy.Distance) func(*strategy.Plan) {
	return func(p *strategy.Plan) {
		long1(p)
		p.Protection = strategy.Protection{Set: true, StopLoss: stop, TakeProfit: profit}
	}
}

// orders rests that many opening orders of the strategy's own.
func orders(n int) func(*strategy.Plan) {
	return func(p *strategy.Plan) {
		p.OrdersSet = true
		for range n {
			p.Orders = append(p.Orders, strategy.DesiredOrder{Key: "a", Side: exchange.Buy, Price: 90e8, Quantity: 1_000})
		}
	}
}

func asksNothing(*strategy.Plan) {}

func flat(p *strategy.Plan) { p.Hold(strategy.Flat(), "asked") }
