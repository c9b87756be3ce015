// Package entries enters positions patiently: by resting orders that follow the price, and a last resort.
//
// The rules wrap a strategy that wishes a target. An opening towards it becomes
// one order in the book, which is moved after the price when its patience is at
// an end and, after the last try, either crosses at market or is given up until the
// strategy wishes something else. What reduces a position is never made to wait.
package entries

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// Rules say how to enter; the zero value enters at market.
type Rules struct {
	Resting    bool  // by orders in the book
	PostOnly   bool  // that are never the taker (futures)
	PatienceMS int64 // how long an order stays at its price
	Tries      int   // how many prices, the first included
	Cross      bool  // after the last: at market; else not at all
}

// Names of what is remembered.
const (
	goal   = "entries.goal"   // the signed quantity wished, as priced
	from   = "entries.from"   // the position when it was wished
	price  = "entries.price"  // of the order in the book
	since  = "entries.since"  // when it got that price
	try    = "entries.try"    // how many prices there were; 0 while nothing is entered
	done   = "entries.done"   // the entry is over: 1 reached, 2 crossed, 3 given up
	kind   = "entries.kind"   // the target as wished, to see when it changes
	amount = "entries.amount" // its number
	waits  = "entries.waits"  // 1 while that target waits for the order before to be taken back
)

// The ends of an entry.
const (
	reached = iota + 1
	crossed
	gaveUp
)

const key = "enter"

// Wrap puts the rules around a strategy.
func Wrap(inner strategy.Strategy, rules Rules) strategy.Strategy {
	if !rules.Resting {
		return inner
	}
	return &patient{inner, rules}
}

type patient struct {
	inner strategy.Strategy
	rules Rules
}

// Wrapped is the strategy.
func (p *patient) Wrapped() strategy.Strategy { return p.inner }

// Warmup is the strategy's own.
func (p *patient) Warmup() int { return p.inner.Warmup() }

// Candle is the strategy's own.
func (p *patient) Candle(view *strategy.View) { p.inner.Candle(view) }

// Decide asks the strategy and turns an opening into an order.
func (p *patient) Decide(view *strategy.View, plan *strategy.Plan) {
	p.inner.Decide(view, plan)
	d := &decision{patient: p, view: view, plan: plan}
	if plan.OrdersSet {
		d.set(try, 0) // it keeps orders of its own
		return
	}
	switch {
	case plan.Target.Kind != strategy.NoTarget && d.changed():
		d.begin()
	case d.get(waits) != 0:
		plan.Target = d.wished()
		d.begin()
	}
	if d.get(waits) != 0 {
		return
	}
	if d.get(try) > 0 && d.get(done) == 0 {
		d.enter()
	} else if d.get(done) != 0 && plan.Target.Kind != strategy.NoTarget {
		d.settle()
	}
}

// decision is one Decide. What is remembered is read from the view and written to
// the plan: asked again with the same view it is the same.
type decision struct {
	*patient
	view *strategy.View
	plan *strategy.Plan
}

func (d *decision) get(name string) int64 {
	if value, is := d.plan.Remembered().Get(name); is {
		return value
	}
	value, _ := d.view.Memory.Get(name)
	return value
}

func (d *decision) set(name string, value int64) {
	if d.get(name) != value {
		d.plan.Remember(name, value)
	}
}

// changed reports another target than the one wished before.
func (d *decision) changed() bool {
	t := d.plan.Target
	number := int64(t.Quantity)
	switch t.Kind {
	case strategy.ByEquity:
		number = int64(t.Share)
	case strategy.ByQuote:
		number = t.Quote.MulDiv(1_000_000, 1).Quo(exchange.AmountOf(1))
	}
	if d.get(kind) == int64(t.Kind) && d.get(amount) == number {
		return false
	}
	d.set(kind, int64(t.Kind))
	d.set(amount, number)
	return true
}

// wished is the target as it was last wished.
func (d *decision) wished() strategy.Target {
	t, number := strategy.Target{Kind: strategy.TargetKind(d.get(kind))}, d.get(amount)
	switch t.Kind {
	case strategy.ByEquity:
		t.Share = exchange.Rate(number)
	case strategy.ByQuote:
		t.Quote = exchange.AmountOf(number).Div(1_000_000)
	default:
		t.Quantity = exchange.Quantity(number)
	}
	return t
}

// begin prices a new target. One that opens nothing is left to the engine.
func (d *decision) begin() {
	q, held := d.quantity(d.plan.Target), d.view.Position.Quantity
	d.set(try, 0)
	d.set(done, 0)
	d.set(waits, 0)
	switch {
	case q == 0, held != 0 && (q > 0) != (held > 0), abs(q) <= abs(held):
		return
	case d.working(): // it may still be filled: what is missing is known when it is gone
		d.set(waits, 1)
		d.plan.Target, d.plan.OrdersSet, d.plan.Reason = strategy.Target{}, true, "takes the order before back first"
		return
	}
	d.set(goal, int64(q))
	d.set(from, int64(held))
	d.reprice(1)
}

// quantity is a target as a signed quantity at the last price.
func (d *decision) quantity(t strategy.Target) exchange.Quantity {
	s := d.view.Symbol
	switch t.Kind {
	case strategy.ByEquity:
		return s.QuantityFor(d.view.Equity.MulRate(t.Share), d.view.Last)
	case strategy.ByQuote:
		return s.QuantityFor(t.Quote, d.view.Last)
	}
	return s.FloorQuantity(t.Quantity)
}

func abs(q exchange.Quantity) exchange.Quantity { return max(q, -q) }

func (d *decision) working() bool {
	return slices.ContainsFunc(d.view.Working, func(w strategy.Working) bool { return w.Key == key })
}

// reprice puts the order a tick on the passive side of the last price.
func (d *decision) reprice(n int64) {
	s, at := d.view.Symbol, d.view.Last
	if d.get(goal) > d.get(from) {
		at = s.FloorPrice(at) - s.PriceTick
	} else {
		at = s.CeilPrice(at) + s.PriceTick
	}
	d.set(price, int64(max(s.PriceTick, at)))
	d.set(since, d.view.NowMS)
	d.set(try, n)
}

// enter keeps the order in the book, moves it, or ends the entry.
func (d *decision) enter() {
	whole := exchange.Quantity(d.get(goal) - d.get(from))
	left := exchange.Quantity(d.get(goal)) - d.view.Position.Quantity
	if left == 0 || (left > 0) != (whole > 0) || d.small(left) || d.view.Filled(key) >= abs(whole) {
		d.set(done, reached)
		d.hold(exchange.Quantity(d.get(goal)), "entered")
		return
	}
	if n := d.get(try); d.view.NowMS-d.get(since) >= d.rules.PatienceMS {
		switch {
		case n < int64(d.rules.Tries):
			d.reprice(n + 1)
		case d.rules.Cross:
			d.set(done, crossed)
			d.hold(exchange.Quantity(d.get(goal)), "not filled in time: the rest at market")
			return
		default:
			d.set(done, gaveUp)
			d.hold(d.view.Position.Quantity, "not filled in time: given up")
			return
		}
	}
	d.plan.Target = strategy.Target{}
	d.plan.Orders, d.plan.OrdersSet = append(d.plan.Orders[:0], strategy.Wish{Key: key, Side: exchange.SideOf(whole), Price: exchange.Price(d.get(price)),
		Quantity: abs(whole), PostOnly: d.rules.PostOnly}), true
	if d.plan.Reason == "" {
		d.plan.Reason = fmt.Sprintf("enters patiently, price %d of %d", d.get(try), d.rules.Tries)
	}
}

// small reports a rest that no order can be made of.
func (d *decision) small(left exchange.Quantity) bool {
	n := d.view.Symbol.FloorQuantity(abs(left))
	return n == 0 || d.view.Symbol.Notional(d.view.Last, n).Less(d.view.Symbol.MinNotional)
}

// settle keeps what the entry came to while the same wish stands.
func (d *decision) settle() {
	if d.get(done) == gaveUp {
		if d.view.Position.Quantity == 0 {
			d.plan.Target = strategy.Flat()
			return
		}
		d.plan.Target = strategy.Target{} // what it holds, it holds
		return
	}
	d.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(d.get(goal))}
}

func (d *decision) hold(q exchange.Quantity, reason string) {
	d.plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, reason)
}
