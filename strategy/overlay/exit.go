package overlay

import (
	"cmp"
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Exit holds the rules that close a position whatever the strategy decides. A side that these rules
// closed stays closed until the strategy's target has been flat or on the other side, or until its
// re-entry policy allows it, as after a stop-loss. The trailing stop and the returns are orders on
// the exchange that follow the price and the age; rest.go documents which of them rest.
type Exit struct {
	Base          strategy.Protection // applies if the strategy's plan sets none
	Trailing      Trailing
	TimeLimitMS   int64    // maximum age of a position; 0 for none
	Returns       []Return // by age, ascending
	ProfitTargets []Step   // by distance; not with returns
	CooldownMS    int64    // after a position has ended, nothing opens for this long
	Reentry       strategy.Reentry
	SellsProfit   bool // spot has no take-profit orders: a resting sale at that price replaces it
}

// Trailing is a stop that follows the best price since the entry.
type Trailing struct {
	Distance exchange.Rate // from the best price; 0 for none
	After    exchange.Rate // profit at which the stop starts
}

// Return is the profit that closes a position of at least a given age.
type Return struct {
	AgeMS  int64
	Profit exchange.Rate
}

// IsZero reports whether no rule is set.
func (e *Exit) IsZero() bool {
	return e.Trailing.Distance == 0 && e.TimeLimitMS == 0 && len(e.Returns) == 0 && len(e.ProfitTargets) == 0 && e.CooldownMS == 0 && !e.SellsProfit
}

// Memory keys of the exit rules. Journals hold them, so they cannot change.
const (
	exitSide    = "exits.side"    // side of the last known position: +1, 0, -1
	exitSince   = "exits.since"   // when that position was first seen, milliseconds
	exitBest    = "exits.best"    // best price since then
	exitEnded   = "exits.left"    // when the last position was found ended
	exitTarget  = "exits.wanted"  // side of the strategy's last target
	exitBlocked = "exits.blocked" // side that stays closed until the strategy's target changes
	exitShut    = "exits.shut"    // when that side was closed
	exitStop    = "exits.stop"    // the strategy's own stop-loss: a price, or a share as a negative number
	exitProfit  = "exits.profit"  // the strategy's own take-profit, encoded the same way
	exitRests   = "exits.rests"   // 1 while a return rests in the book
	exitOrder   = "exits.order"   // number of the order's key, which changes when the position grows
	exitSize    = "exits.size"    // position size for which the order was placed
	exitMoved   = "exits.moved"   // 1 while the protection in force differs from the strategy's or the configured one, 2 once it matches again
	exitDue     = "exits.due"     // number of the return that was due at the last decision, from 1; 0 for none
	exitOwn     = "exits.own"     // 1 once the strategy has set exits of its own
)

// exiting is one decision under the exit rules.
type exiting struct {
	strategy.Decision
	rules *Exit
	ageMS int64
}

// idle reports whether the only possible rule is a take-profit that the strategy may set and has
// not set.
func (e *exiting) idle() bool {
	r := e.rules
	none := r.Trailing.Distance == 0 && r.TimeLimitMS == 0 && len(r.Returns) == 0 && len(r.ProfitTargets) == 0 && r.CooldownMS == 0
	return none && r.Base.TakeProfit.IsZero() && e.Plan.Protection.TakeProfit.IsZero() && e.Recall(exitProfit) == 0
}

func (e *exiting) apply() {
	if e.idle() {
		return
	}
	e.observe()
	e.age()
	e.block()
	if e.Recall(exitSide) != 0 {
		e.closeByRule()
	}
	e.protect()
	e.rest()
	e.cooldown()
}

// follow applies the rules between two decisions: it does not call the strategy and closes nothing
// at market.
func (e *exiting) follow() {
	if e.idle() {
		return
	}
	e.observe()
	e.protect()
	e.rest()
}

// follows reports whether a rule's order follows the price or the position.
func (e *Exit) follows() bool {
	return e.Trailing.Distance != 0 || len(e.Returns) > 0 || len(e.ProfitTargets) > 0 || e.SellsProfit
}

// observe remembers a position that began or ended, and the best price so far.
func (e *exiting) observe() {
	now, before := int64(cmp.Compare(e.View.Position.Quantity, 0)), e.Recall(exitSide)
	if now != before {
		e.Remember(exitSide, now)
		if before != 0 {
			e.Remember(exitEnded, e.View.NowMS)
		}
		if e.Recall(exitRests) != 0 && e.Recall(exitTarget) == before { // the return has filled
			e.shut(before)
		}
		e.Remember(exitSince, e.View.NowMS)
		e.Remember(exitBest, int64(e.View.Symbol.PriceOf(e.View.Position.EntryPrice)))
		e.age()
		e.forgetProfitTargets()
	}
	e.observeProfitTargets()
	if now == 0 {
		return
	}
	e.ageMS = e.View.NowMS - e.Recall(exitSince)
	reached := e.View.Last
	if c := e.View.Candle(); c.OpenMS >= e.Recall(exitSince) { // the position has existed for the whole candle
		if now > 0 {
			reached = max(reached, c.High)
		} else {
			reached = min(reached, c.Low)
		}
	}
	at, after := exchange.Price(e.Recall(exitBest)), e.rules.Trailing.After
	begins := after > 0 && e.gain(at) < after && e.gain(reached) >= after
	if at == 0 || begins || now > 0 && reached >= at+e.stride(at) || now < 0 && reached <= at-e.stride(at) {
		e.Remember(exitBest, int64(reached))
	}
}

// stride returns the minimum improvement of the best price that is remembered: a twentieth of the
// trailing distance, so that not every price change writes a journal record.
func (e *exiting) stride(at exchange.Price) exchange.Price {
	return max(e.View.Symbol.PriceTick, portion(at, e.rules.Trailing.Distance/20))
}

// block remembers the strategy's target and protection. It keeps a side that the rules closed from
// opening until the target changes.
func (e *exiting) block() {
	if e.Plan.Protection.Set {
		e.Remember(exitStop, encoded(e.Plan.Protection.StopLoss))
		e.Remember(exitProfit, encoded(e.Plan.Protection.TakeProfit))
	}
	if e.Plan.Target.Kind != strategy.NoTarget {
		now := int64(e.Plan.Target.Sign())
		e.Remember(exitTarget, now)
		if now != e.Recall(exitBlocked) {
			e.Remember(exitBlocked, 0)
		}
	}
	// The decision that sees the end opens nothing, whatever the policy: the current target has
	// already been traded.
	now := e.Recall(exitShut) == e.View.NowMS
	if e.Recall(exitBlocked) != 0 && e.View.Position.Quantity == 0 && !now && e.mayReenter() {
		e.Remember(exitBlocked, 0)
	}
	if e.Recall(exitBlocked) != 0 && (e.Plan.Target.Kind != strategy.NoTarget || now && !e.Plan.OrdersSet && e.Recall(exitSide) == 0) {
		e.Plan.Hold(strategy.Flat(), "closed by its exit rules; waits for another target")
	}
}

// shut closes a side to entries.
func (e *exiting) shut(side int64) {
	e.Remember(exitBlocked, side)
	e.Remember(exitShut, e.View.NowMS)
}

// mayReenter reports whether the re-entry policy opens a side that the rules closed, as after a
// stop-loss.
func (e *exiting) mayReenter() bool {
	switch e.rules.Reentry {
	case strategy.ReentryImmediate:
		return true
	case strategy.ReentryNever:
		return false
	}
	return e.Plan.SignalMS > e.Recall(exitShut) || e.Plan.Target.Kind == strategy.NoTarget && !e.Plan.OrdersSet
}

// encoded returns a distance as one number: a price, or a share as a negative number.
func encoded(d strategy.Distance) int64 {
	if d.Price != 0 {
		return int64(d.Price)
	}
	return -int64(d.Share)
}

// decoded is the inverse of encoded.
func decoded(n int64) strategy.Distance {
	if n < 0 {
		return strategy.Distance{Share: exchange.Rate(-n)}
	}
	return strategy.Distance{Price: exchange.Price(n)}
}

// gain returns the profit of the position at a price, as a share of its entry price.
func (e *exiting) gain(at exchange.Price) exchange.Rate {
	entry := e.View.Position.EntryPrice
	if entry.IsZero() {
		return 0
	}
	change := e.View.Symbol.PriceAmount(at).Sub(entry)
	if e.Recall(exitSide) < 0 {
		change = change.Neg()
	}
	return change.Ratio(entry)
}

// closeByRule closes a position that has reached the time limit or the return for its age.
func (e *exiting) closeByRule() {
	if e.rules.TimeLimitMS > 0 && e.ageMS >= e.rules.TimeLimitMS {
		e.close(fmt.Sprintf("held for %s, the time limit", duration(e.ageMS)))
		return
	}
	if r, gain := e.due(), e.gain(e.View.Last); r != nil && gain >= r.Profit && !e.returnRests() {
		e.close(fmt.Sprintf("a return of %s is enough after %s", percent(gain), duration(e.ageMS)))
		return
	}
	if at := e.soldProfit(); at > 0 && e.View.Last >= at && !e.returnRests() {
		e.close(fmt.Sprintf("the take-profit of %s is reached", e.View.Symbol.PriceDecimal(at)))
		return
	}
	e.closeProfitTargets()
}

// age finds the return that is due at the position's age. Only decisions call it, so a backtest,
// which knows only the closes, behaves like the daemon.
func (e *exiting) age() {
	n := len(e.rules.Returns)
	for n > 0 && (e.Recall(exitSide) == 0 || e.ageMS < e.rules.Returns[n-1].AgeMS) {
		n--
	}
	e.Remember(exitDue, int64(n))
}

// due returns the return in force, or nil.
func (e *exiting) due() *Return {
	if n := e.Recall(exitDue); n > 0 && n <= int64(len(e.rules.Returns)) {
		return &e.rules.Returns[n-1]
	}
	return nil
}

func (e *exiting) close(reason string) {
	if e.Recall(exitTarget) == e.Recall(exitSide) { // the strategy still has this target
		e.shut(e.Recall(exitSide))
	}
	e.Plan.Orders, e.Plan.OrdersSet = e.Plan.Orders[:0], false
	e.Plan.Hold(strategy.Flat(), reason)
}

// protect sets the protection in force: the strategy's or the configured one, plus the trailing
// stop, plus the return as take-profit if it cannot be a resting order. Changes made for one
// position are undone for the next. From then on the plan in force defines the protection and hides
// a reload's new configured protection, so each decision sets it again.
func (e *exiting) protect() {
	base := e.protection()
	protection := base
	if e.Recall(exitSide) != 0 {
		e.trail(&protection)
		e.useReturn(&protection)
	}
	switch {
	case protection.StopLoss != base.StopLoss || protection.TakeProfit != base.TakeProfit:
		e.Remember(exitMoved, 1)
	case e.Recall(exitMoved) == 0:
		return
	default:
		e.Remember(exitMoved, 2)
	}
	protection.Set = true
	e.Plan.Protection = protection
}

// trail moves the stop-loss behind the best price.
func (e *exiting) trail(protection *strategy.Protection) {
	t := e.rules.Trailing
	at := exchange.Price(e.Recall(exitBest))
	if t.Distance == 0 || at == 0 || e.gain(at) < t.After {
		return
	}
	away := portion(at, t.Distance)
	own := e.stopPrice(protection.StopLoss)
	switch symbol := e.View.Symbol; {
	case e.Recall(exitSide) > 0:
		if follows := symbol.FloorPrice(at - away); follows > own {
			own = follows
		}
	default:
		if follows := symbol.CeilPrice(at + away); own == 0 || follows < own {
			own = follows
		}
	}
	protection.StopLoss = strategy.Distance{Price: own}
}

// protection returns the protection without the trailing stop.
func (e *exiting) protection() strategy.Protection {
	if e.Recall(exitStop) == 0 && e.Recall(exitProfit) == 0 {
		return e.rules.Base
	}
	return strategy.Protection{Set: true, StopLoss: decoded(e.Recall(exitStop)), TakeProfit: decoded(e.Recall(exitProfit))}
}

// stopPrice returns a stop-loss as a price, or zero if there is none.
func (e *exiting) stopPrice(at strategy.Distance) exchange.Price {
	if at.Share == 0 {
		return at.Price
	}
	entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
	away := portion(entry, at.Share)
	if e.Recall(exitSide) > 0 {
		return e.View.Symbol.FloorPrice(entry - away)
	}
	return e.View.Symbol.CeilPrice(entry + away)
}

// cooldown blocks openings for a while after a position has ended.
func (e *exiting) cooldown() {
	if e.Recall(exitSide) != 0 || e.Recall(exitEnded) == 0 || e.View.NowMS-e.Recall(exitEnded) >= e.rules.CooldownMS {
		return
	}
	reason := fmt.Sprintf("cooldown: %s left", duration(e.Recall(exitEnded)+e.rules.CooldownMS-e.View.NowMS))
	if side := int64(e.Plan.Target.Sign()); side != 0 {
		e.shut(side)
		e.Plan.Hold(strategy.Flat(), reason)
	}
	if e.Plan.OrdersSet && len(e.Plan.Orders) > 0 {
		e.Plan.Orders, e.Plan.Reason = e.Plan.Orders[:0], reason
	}
}

// conditions adds the distance of the rules from closing the position, or the rule that blocks the
// next opening.
func (e *exiting) conditions(all []strategy.Condition) []strategy.Condition {
	add := func(name, value, requires string, holds bool) {
		all = append(all, strategy.Condition{Name: name, Value: value, Requires: requires, Met: holds})
	}
	if e.Recall(exitSide) == 0 {
		if ended := e.Recall(exitEnded); e.rules.CooldownMS > 0 && ended != 0 {
			past := e.View.NowMS - ended
			add("since the last position", duration(past), "at least the cooldown "+duration(e.rules.CooldownMS), past >= e.rules.CooldownMS)
		}
	} else {
		e.positionConditions(add)
	}
	if e.Recall(exitBlocked) != 0 {
		add("a target other than the one that its exit rules closed", "not yet", "before it opens again", false)
	}
	return all
}

func (e *exiting) positionConditions(add func(name, value, requires string, holds bool)) {
	e.ageMS = e.View.NowMS - e.Recall(exitSince)
	if limit := e.rules.TimeLimitMS; limit > 0 {
		add("held for", duration(e.ageMS), "at least the time limit "+duration(limit), e.ageMS >= limit)
	}
	if r, gain := e.due(), e.gain(e.View.Last); r != nil {
		add("profit", percent(gain), fmt.Sprintf("at least %s, enough after %s", percent(r.Profit), duration(r.AgeMS)), gain >= r.Profit)
	}
	if t := e.rules.Trailing; t.Distance > 0 {
		best := exchange.Price(e.Recall(exitBest))
		gain := e.gain(best)
		add("best profit", percent(gain), "at least "+percent(t.After)+" for the stop to trail", best != 0 && gain >= t.After)
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
