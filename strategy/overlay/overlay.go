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

// Watches is what the strategy needs to see, and the free money where a size is bound by it.
func (o *overlay) Watches() strategy.Watching {
	w := strategy.WatchingOf(o.inner)
	w.Funds = w.Funds || o.rules.Sizing.Reduce
	return w
}

// Batch is the strategy's own while no rule changes its plan.
func (o *overlay) Batch(v *strategy.View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) (end int) {
	batcher, is := o.inner.(strategy.Batcher)
	e := exiting{Decision: strategy.Decision{View: v, Plan: &strategy.Plan{}}, rules: &o.rules.Exit}
	if !is || !o.rules.Sizing.IsZero() || o.rules.Entry.Resting || !e.idle() {
		return from
	}
	return batcher.Batch(v, candles, from, to, equity)
}

// Candle is the strategy's own.
func (o *overlay) Candle(view *strategy.View) { o.inner.Candle(view) }

// Decide asks the strategy and applies the rules to its plan.
func (o *overlay) Decide(view *strategy.View, plan *strategy.Plan) {
	o.inner.Decide(view, plan)
	d := strategy.Decision{View: view, Plan: plan}
	if !o.rules.Sizing.IsZero() {
		(&sizing{d, &o.rules.Sizing}).apply()
	}
	if !o.rules.Exit.IsZero() {
		(&exiting{Decision: d, rules: &o.rules.Exit}).apply()
	}
	if o.rules.Entry.Resting {
		(&entering{d, &o.rules.Entry}).apply()
	}
}

// Follows reports whether an exit follows the price.
func (o *overlay) Follows() bool { return o.rules.Exit.follows() }

// Trails reports whether a stop moves with the price, and from which profit on.
func (o *overlay) Trails() (after exchange.Rate, trails bool) {
	return o.rules.Exit.Trailing.After, o.rules.Exit.Trailing.Distance != 0
}

// Follow moves the trailing stop and the resting exit.
func (o *overlay) Follow(view *strategy.View, plan *strategy.Plan) {
	(&exiting{Decision: strategy.Decision{View: view, Plan: plan}, rules: &o.rules.Exit}).follow()
}

// Conditions returns the strategy's own conditions, then those of the rules in use.
func (o *overlay) Conditions(view *strategy.View) []strategy.Condition {
	var all []strategy.Condition
	if inner, is := o.inner.(strategy.Conditional); is {
		all = inner.Conditions(view)
	}
	d := strategy.Decision{View: view, Plan: &strategy.Plan{}}
	if !o.rules.Sizing.IsZero() {
		all = (&sizing{d, &o.rules.Sizing}).conditions(all)
	}
	if !o.rules.Exit.IsZero() {
		all = (&exiting{Decision: d, rules: &o.rules.Exit}).conditions(all)
	}
	if o.rules.Entry.Resting {
		all = (&entering{d, &o.rules.Entry}).conditions(all)
	}
	return all
}

// portion returns a share of a price.
func portion(price exchange.Price, share exchange.Rate) exchange.Price {
	return exchange.Price(exchange.AmountOf(int64(price)).MulRate(share).Quo(exchange.AmountOf(1)))
}
