// Package exits leaves positions by rules every strategy can have: trailing stop, time limit, returns by age, cool-down.
//
// The rules wrap a strategy: they see what it sees, and change what it wishes.
// What they must know beyond a restart (since when there is a position, how far it
// went) is remembered in the journal like a strategy's own memory. A position the
// rules closed is not opened again until the strategy itself has wished something
// else on that side: the same as after a stop-loss.
package exits

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Rules are what a configuration asks for; the zero value asks for nothing.
type Rules struct {
	Base     strategy.Protection // what holds where the strategy's plan sets none
	Trailing Trailing
	LimitMS  int64    // the longest a position is held; 0 for ever
	Returns  []Return // by age, ascending
	CoolMS   int64    // after a position ended, nothing opens for so long
}

// Trailing is a stop that follows the best price since the entry.
type Trailing struct {
	Distance exchange.Rate // from the best price; 0 for none
	After    exchange.Rate // the profit at which it begins
}

// Return is a profit that is enough once a position is so old.
type Return struct {
	AgeMS  int64
	Profit exchange.Rate
}

// IsZero reports whether nothing is asked for.
func (r *Rules) IsZero() bool {
	return r.Trailing.Distance == 0 && r.LimitMS == 0 && len(r.Returns) == 0 && r.CoolMS == 0
}

// Names of what is remembered.
const (
	side    = "exits.side"    // of the position seen last: +1, 0, -1
	since   = "exits.since"   // when it was first seen, milliseconds
	best    = "exits.best"    // the best price since, as Price
	left    = "exits.left"    // when the last position was seen to have ended
	wanted  = "exits.wanted"  // the side the strategy last wished
	blocked = "exits.blocked" // the side that waits for a new wish
	stop    = "exits.stop"    // the strategy's own stop, as Price; or a share below zero
	profit  = "exits.profit"  // its own take-profit, likewise
)

// Wrap puts the rules around a strategy.
func Wrap(inner strategy.Strategy, rules Rules) strategy.Strategy {
	if rules.IsZero() {
		return inner
	}
	return &keeper{inner, rules}
}

type keeper struct {
	inner strategy.Strategy
	rules Rules
}

// Wrapped is the strategy.
func (k *keeper) Wrapped() strategy.Strategy { return k.inner }

// Warmup is the strategy's own.
func (k *keeper) Warmup() int { return k.inner.Warmup() }

// Candle is the strategy's own.
func (k *keeper) Candle(view *strategy.View) { k.inner.Candle(view) }

// Decide asks the strategy and holds its wish against the rules.
func (k *keeper) Decide(view *strategy.View, plan *strategy.Plan) {
	k.inner.Decide(view, plan)
	d := &decision{keeper: k, view: view, plan: plan}
	d.see()
	d.wishes()
	if d.get(side) != 0 {
		d.leave()
		d.trail()
	}
	d.cool()
}

// decision is one Decide. What is remembered is read from the view and written
// to the plan: asked again with the same view it is the same.
type decision struct {
	*keeper
	view *strategy.View
	plan *strategy.Plan
	age  int64
}

// get is what is remembered, as this decision has it by now.
func (d *decision) get(key string) int64 {
	if value, is := d.plan.Remembered().Get(key); is {
		return value
	}
	value, _ := d.view.Memory.Get(key)
	return value
}

func (d *decision) set(key string, value int64) {
	if d.get(key) != value {
		d.plan.Remember(key, value)
	}
}

func sign(n int64) int64 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// see notes a position that began, went further, or ended.
func (d *decision) see() {
	now, before := sign(int64(d.view.Position.Quantity)), d.get(side)
	if now != before {
		d.set(side, now)
		if before != 0 {
			d.set(left, d.view.NowMS)
		}
		d.set(since, d.view.NowMS)
		d.set(best, int64(d.view.Symbol.MeanPrice(d.view.Position.EntryPrice)))
	}
	if now == 0 {
		return
	}
	d.age = d.view.NowMS - d.get(since)
	reached := d.view.Last
	if c := &d.view.Candle; c.OpenMS >= d.get(since) { // the whole candle was with the position
		if now > 0 {
			reached = max(reached, c.High)
		} else {
			reached = min(reached, c.Low)
		}
	}
	at := exchange.Price(d.get(best))
	if at == 0 || now > 0 && reached >= at+d.stride(at) || now < 0 && reached <= at-d.stride(at) {
		d.set(best, int64(reached))
	}
}

// stride is how much further the price must go to count: a twentieth of the
// distance, so that not every tick is a record in the journal.
func (d *decision) stride(at exchange.Price) exchange.Price {
	return max(d.view.Symbol.PriceTick, exchange.Price(exchange.AmountOf(int64(at)).MulRate(d.rules.Trailing.Distance/20).Quo(exchange.AmountOf(1))))
}

// wishes follows what the strategy wants, and keeps a side closed that the rules
// closed until it wants something else.
func (d *decision) wishes() {
	if d.plan.Protection.Set {
		d.set(stop, kept(d.plan.Protection.StopLoss))
		d.set(profit, kept(d.plan.Protection.TakeProfit))
	}
	if d.plan.Target.Kind != strategy.NoTarget {
		now := int64(d.plan.Target.Sign())
		d.set(wanted, now)
		if now != d.get(blocked) {
			d.set(blocked, 0)
		}
	}
	if d.get(blocked) != 0 && d.plan.Target.Kind != strategy.NoTarget {
		d.plan.Hold(strategy.Flat(), "closed by its rules; waits for another wish")
	}
}

// kept writes a distance as one number: a price, or a share below zero.
func kept(d strategy.Distance) int64 {
	if d.Price != 0 {
		return int64(d.Price)
	}
	return -int64(d.Share)
}

func distance(n int64) strategy.Distance {
	if n < 0 {
		return strategy.Distance{Share: exchange.Rate(-n)}
	}
	return strategy.Distance{Price: exchange.Price(n)}
}

// gain is the profit of the position at a price, as a share of its entry.
func (d *decision) gain(at exchange.Price) exchange.Rate {
	entry := d.view.Position.EntryPrice
	if entry.IsZero() {
		return 0
	}
	change := d.view.Symbol.PriceAmount(at).Sub(entry)
	if d.get(side) < 0 {
		change = change.Neg()
	}
	return change.Ratio(entry)
}

// leave closes what is too old, or has earned enough for its age.
func (d *decision) leave() {
	if d.rules.LimitMS > 0 && d.age >= d.rules.LimitMS {
		d.close(fmt.Sprintf("held for %s, the time limit", duration(d.age)))
		return
	}
	gain := d.gain(d.view.Last)
	for i := len(d.rules.Returns) - 1; i >= 0; i-- {
		if r := d.rules.Returns[i]; d.age >= r.AgeMS {
			if gain >= r.Profit {
				d.close(fmt.Sprintf("a return of %s is enough after %s", percent(gain), duration(d.age)))
			}
			return
		}
	}
}

func (d *decision) close(reason string) {
	if d.get(wanted) == d.get(side) { // the strategy still wants it: not again until it wants something else
		d.set(blocked, d.get(side))
	}
	d.plan.Orders, d.plan.OrdersSet = d.plan.Orders[:0], false
	d.plan.Hold(strategy.Flat(), reason)
}

// trail moves the stop after the best price.
func (d *decision) trail() {
	t := d.rules.Trailing
	at := exchange.Price(d.get(best))
	if t.Distance == 0 || at == 0 || d.gain(at) < t.After {
		return
	}
	away := exchange.Price(exchange.AmountOf(int64(at)).MulRate(t.Distance).Quo(exchange.AmountOf(1)))
	protection := d.protection()
	own := d.stopPrice(protection.StopLoss)
	switch symbol := d.view.Symbol; {
	case d.get(side) > 0:
		if follows := symbol.FloorPrice(at - away); follows > own {
			own = follows
		}
	default:
		if follows := symbol.CeilPrice(at + away); own == 0 || follows < own {
			own = follows
		}
	}
	protection.Set, protection.StopLoss = true, strategy.Distance{Price: own}
	d.plan.Protection = protection
}

// protection is what would hold without the rules.
func (d *decision) protection() strategy.Protection {
	if d.get(stop) == 0 && d.get(profit) == 0 {
		return d.rules.Base
	}
	return strategy.Protection{Set: true, StopLoss: distance(d.get(stop)), TakeProfit: distance(d.get(profit))}
}

// stopPrice is a stop as a price, zero when there is none.
func (d *decision) stopPrice(at strategy.Distance) exchange.Price {
	if at.Share == 0 {
		return at.Price
	}
	entry := d.view.Symbol.MeanPrice(d.view.Position.EntryPrice)
	away := exchange.Price(exchange.AmountOf(int64(entry)).MulRate(at.Share).Quo(exchange.AmountOf(1)))
	if d.get(side) > 0 {
		return d.view.Symbol.FloorPrice(entry - away)
	}
	return d.view.Symbol.CeilPrice(entry + away)
}

// cool opens nothing for a while after a position ended.
func (d *decision) cool() {
	if d.rules.CoolMS == 0 || d.get(side) != 0 || d.get(left) == 0 || d.view.NowMS-d.get(left) >= d.rules.CoolMS {
		return
	}
	reason := fmt.Sprintf("cools down for %s more", duration(d.get(left)+d.rules.CoolMS-d.view.NowMS))
	if want := int64(d.plan.Target.Sign()); want != 0 {
		d.set(blocked, want)
		d.plan.Hold(strategy.Flat(), reason)
	}
	if d.plan.OrdersSet && len(d.plan.Orders) > 0 {
		d.plan.Orders, d.plan.Reason = d.plan.Orders[:0], reason
	}
}

func duration(ms int64) string {
	switch minute := int64(60_000); {
	case ms < minute:
		return fmt.Sprintf("%ds", ms/1000)
	case ms < 60*minute:
		return fmt.Sprintf("%dm", ms/minute)
	case ms < 48*60*minute:
		return fmt.Sprintf("%dh%dm", ms/(60*minute), ms/minute%60)
	}
	return fmt.Sprintf("%dd%dh", ms/86_400_000, ms/3_600_000%24)
}

func percent(r exchange.Rate) string { return fmt.Sprintf("%.2f%%", 100*r.Float()) }
