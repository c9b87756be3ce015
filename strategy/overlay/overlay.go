// Package overlay adds sizes, entry and exit rules to any strategy: patient entries, trailing stop, time limit, returns by age, cooldown.
//
// An overlay sees what the strategy sees and changes the plan the strategy returns. It decides
// from the view and from memory that the journal stores, like a strategy, so a restart changes
// nothing and asking twice gives the same plan.
package overlay

import (
	"botd/exchange"
	"botd/strategy"
)

// Rules are what a configuration asks for. The zero value changes nothing.
type Rules struct {
	Sizing Sizing
	Entry  Entry
	Exit   Exit
}

// Wrap puts the rules around a strategy. The size applies first, then exit rules; the entry rules work
// on the plan that is left.
func Wrap(inner strategy.Strategy, rules Rules) strategy.Strategy {
	if rules.Exit.IsZero() && !rules.Entry.Resting && rules.Sizing.IsZero() {
		return inner
	}
	return &overlay{inner, rules}
}

type overlay struct {
	inner strategy.Strategy
	rules Rules
}

// Wrapped returns the strategy inside.
func (o *overlay) Wrapped() strategy.Strategy { return o.inner }

// Warmup is the strategy's own.
func (o *overlay) Warmup() int { return o.inner.Warmup() }

// Candle is the strategy's own.
func (o *overlay) Candle(view *strategy.View) { o.inner.Candle(view) }

// Decide asks the strategy and applies the rules to its plan.
func (o *overlay) Decide(view *strategy.View, plan *strategy.Plan) {
	o.inner.Decide(view, plan)
	d := decision{view, plan}
	if !o.rules.Sizing.IsZero() {
		(&sizing{d, &o.rules.Sizing}).apply()
	}
	if !o.rules.Exit.IsZero() {
		(&exiting{decision: d, rules: &o.rules.Exit}).apply()
	}
	if o.rules.Entry.Resting {
		(&entering{d, &o.rules.Entry}).apply()
	}
}

// Follows reports whether an exit follows the price.
func (o *overlay) Follows() bool { return o.rules.Exit.follows() }

// Trails reports whether a stop moves with the price.
func (o *overlay) Trails() bool { return o.rules.Exit.Trailing.Distance != 0 }

// Follow moves the trailing stop and the resting exit.
func (o *overlay) Follow(view *strategy.View, plan *strategy.Plan) {
	(&exiting{decision: decision{view, plan}, rules: &o.rules.Exit}).follow()
}

// Conditions returns the strategy's own conditions, then those of the rules in use.
func (o *overlay) Conditions(view *strategy.View) []strategy.Condition {
	var all []strategy.Condition
	if inner, is := o.inner.(strategy.Conditional); is {
		all = inner.Conditions(view)
	}
	d := decision{view, &strategy.Plan{}}
	if !o.rules.Sizing.IsZero() {
		all = (&sizing{d, &o.rules.Sizing}).conditions(all)
	}
	if !o.rules.Exit.IsZero() {
		all = (&exiting{decision: d, rules: &o.rules.Exit}).conditions(all)
	}
	if o.rules.Entry.Resting {
		all = (&entering{d, &o.rules.Entry}).conditions(all)
	}
	return all
}

// decision is one call of Decide. Memory is read from the view and written to the plan.
type decision struct {
	view *strategy.View
	plan *strategy.Plan
}

// get returns a remembered value as this decision has changed it so far.
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

// portion returns a share of a price.
func portion(price exchange.Price, share exchange.Rate) exchange.Price {
	return exchange.Price(exchange.AmountOf(int64(price)).MulRate(share).Quo(exchange.AmountOf(1)))
}
