// Package overlay adds sizes, entry and exit rules to any strategy: patient entries, trailing stop,
// time limit, returns by age, cooldown.
//
// An overlay sees the strategy's view and changes the plan that the strategy returns. Like a
// strategy, it decides from the view and from memory stored in the journal, so a restart changes
// nothing and deciding twice returns the same plan.
package overlay

import (
	"botd/exchange"
	"botd/strategy"
)

// TradeSettings are the sizing, entry and exit settings of a strategy. The zero value changes nothing.
type TradeSettings struct {
	Sizing Sizing
	Entry  Entry
	Exit   Exit
}

// Wrap puts the rules around a strategy. The size applies first, then the exit rules, then the
// entry rules.
func Wrap(inner strategy.Strategy, rules TradeSettings) strategy.Strategy {
	if rules.Exit.IsZero() && !rules.Entry.Resting && rules.Sizing.IsZero() {
		return inner
	}
	return &overlay{inner, rules}
}

type overlay struct {
	inner strategy.Strategy
	rules TradeSettings
}

// Wrapped returns the wrapped strategy.
func (o *overlay) Wrapped() strategy.Strategy { return o.inner }

// Warmup returns the strategy's own warmup.
func (o *overlay) Warmup() int { return o.inner.Warmup() }

// Watches returns what the strategy watches, plus the free funds if they bound a size.
func (o *overlay) Watches() strategy.Watching {
	w := strategy.WatchingOf(o.inner)
	w.Funds = w.Funds || o.rules.Sizing.Reduce
	return w
}

// Batch calls the strategy's own Batch while no rule changes its plan.
func (o *overlay) Batch(v *strategy.View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) (end int) {
	batcher, is := o.inner.(strategy.Batcher)
	e := exiting{Decision: strategy.Decision{View: v, Plan: &strategy.Plan{}}, rules: &o.rules.Exit}
	if !is || !o.rules.Sizing.IsZero() || o.rules.Entry.Resting || !e.idle() {
		return from
	}
	return batcher.Batch(v, candles, from, to, equity)
}

// Candle passes the candle to the strategy.
func (o *overlay) Candle(view *strategy.View) { o.inner.Candle(view) }

// Decide calls the strategy and applies the rules to its plan.
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

// Follows reports whether an exit order follows the price.
func (o *overlay) Follows() bool { return o.rules.Exit.follows() }

// Trails reports whether a stop moves with the price, and the profit at which it starts.
func (o *overlay) Trails() (after exchange.Rate, trails bool) {
	return o.rules.Exit.Trailing.After, o.rules.Exit.Trailing.Distance != 0
}

// Follow moves the trailing stop and the resting exit.
func (o *overlay) Follow(view *strategy.View, plan *strategy.Plan) {
	(&exiting{Decision: strategy.Decision{View: view, Plan: plan}, rules: &o.rules.Exit}).follow()
}

// Conditions returns the strategy's own conditions, followed by those of the rules in use.
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
