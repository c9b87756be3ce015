package overlay

import (
	"cmp"
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Exit says when a position is closed whatever the strategy decides. A side that these rules
// closed stays closed until the strategy's target has been flat or on the other side, the same
// as after a stop-loss. The trailing stop and the returns are orders on the exchange, which follow
// the price and the age; what rests where is in rest.go.
type Exit struct {
	Base        strategy.Protection // applies where the strategy's plan sets none
	Trailing    Trailing
	TimeLimitMS int64    // maximum age of a position; 0 for none
	Returns     []Return // by age, ascending
	CooldownMS  int64    // after a position has ended, nothing opens for this long
}

// Trailing is a stop that follows the best price since the entry.
type Trailing struct {
	Distance exchange.Rate // from the best price; 0 for none
	After    exchange.Rate // the profit at which it starts
}

// Return is the profit that closes a position of at least that age.
type Return struct {
	AgeMS  int64
	Profit exchange.Rate
}

// IsZero reports whether there is no rule.
func (e *Exit) IsZero() bool {
	return e.Trailing.Distance == 0 && e.TimeLimitMS == 0 && len(e.Returns) == 0 && e.CooldownMS == 0
}

// Memory keys of the exit rules. Journals hold them, so they cannot change.
const (
	exitSide    = "exits.side"    // side of the position seen last: +1, 0, -1
	exitSince   = "exits.since"   // when that position was first seen, milliseconds
	exitBest    = "exits.best"    // best price since then
	exitEnded   = "exits.left"    // when the last position was seen to have ended
	exitTarget  = "exits.wanted"  // side of the strategy's last target
	exitBlocked = "exits.blocked" // side that stays closed until the strategy's target changes
	exitStop    = "exits.stop"    // the strategy's own stop-loss: a price, or a share as a negative number
	exitProfit  = "exits.profit"  // its own take-profit, likewise
	exitRests   = "exits.rests"   // 1 while a return rests in the book
	exitOrder   = "exits.order"   // number of its key: another one when the position grows
	exitSize    = "exits.size"    // size of the position that it was placed for
	exitMoved   = "exits.moved"   // 1 while the protection in force is not the strategy's or the configured one
	exitDue     = "exits.due"     // which return was due at the last decision, from 1; 0 for none
	exitOwn     = "exits.own"     // 1 once the strategy has set exits of its own
)

// exiting is one decision under the exit rules.
type exiting struct {
	decision
	rules *Exit
	ageMS int64
}

func (e *exiting) apply() {
	e.observe()
	e.age()
	e.block()
	if e.get(exitSide) != 0 {
		e.closeByRule()
	}
	e.protect()
	e.rest()
	e.cooldown()
}

// follow is apply between two decisions: the strategy is not asked, and nothing is closed at market.
func (e *exiting) follow() {
	e.observe()
	e.protect()
	e.rest()
}

// follows reports whether a rule is an order that follows the price or the position.
func (e *Exit) follows() bool { return e.Trailing.Distance != 0 || len(e.Returns) > 0 }

// observe remembers a position that began or ended, and the best price it has reached.
func (e *exiting) observe() {
	now, before := int64(cmp.Compare(e.view.Position.Quantity, 0)), e.get(exitSide)
	if now != before {
		e.set(exitSide, now)
		if before != 0 {
			e.set(exitEnded, e.view.NowMS)
		}
		if e.get(exitRests) != 0 && e.get(exitTarget) == before { // the return was reached
			e.set(exitBlocked, before)
		}
		e.set(exitSince, e.view.NowMS)
		e.set(exitBest, int64(e.view.Symbol.PriceOf(e.view.Position.EntryPrice)))
		e.age()
	}
	if now == 0 {
		return
	}
	e.ageMS = e.view.NowMS - e.get(exitSince)
	reached := e.view.Last
	if c := &e.view.Candle; c.OpenMS >= e.get(exitSince) { // the position is as old as the whole candle
		if now > 0 {
			reached = max(reached, c.High)
		} else {
			reached = min(reached, c.Low)
		}
	}
	at := exchange.Price(e.get(exitBest))
	if at == 0 || now > 0 && reached >= at+e.stride(at) || now < 0 && reached <= at-e.stride(at) {
		e.set(exitBest, int64(reached))
	}
}

// stride is how far the best price must improve to be remembered: a twentieth of the trailing
// distance, so that not every price change is a record in the journal.
func (e *exiting) stride(at exchange.Price) exchange.Price {
	return max(e.view.Symbol.PriceTick, portion(at, e.rules.Trailing.Distance/20))
}

// block remembers the strategy's target and protection, and keeps a side closed that the rules
// closed until the target changes.
func (e *exiting) block() {
	if e.plan.Protection.Set {
		e.set(exitStop, encoded(e.plan.Protection.StopLoss))
		e.set(exitProfit, encoded(e.plan.Protection.TakeProfit))
	}
	if e.plan.Target.Kind != strategy.NoTarget {
		now := int64(e.plan.Target.Sign())
		e.set(exitTarget, now)
		if now != e.get(exitBlocked) {
			e.set(exitBlocked, 0)
		}
	}
	if e.get(exitBlocked) != 0 && e.plan.Target.Kind != strategy.NoTarget {
		e.plan.Hold(strategy.Flat(), "closed by its exit rules; waits for another target")
	}
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

// gain is the profit of the position at a price, as a share of its entry price.
func (e *exiting) gain(at exchange.Price) exchange.Rate {
	entry := e.view.Position.EntryPrice
	if entry.IsZero() {
		return 0
	}
	change := e.view.Symbol.PriceAmount(at).Sub(entry)
	if e.get(exitSide) < 0 {
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
	if r, gain := e.due(), e.gain(e.view.Last); r != nil && gain >= r.Profit && !e.returnRests() {
		e.close(fmt.Sprintf("a return of %s is enough after %s", percent(gain), duration(e.ageMS)))
	}
}

// age finds the return that is due at the position's age. Only decisions do, so that a backtest, which
// knows the moments of closes, does as the daemon.
func (e *exiting) age() {
	n := len(e.rules.Returns)
	for n > 0 && (e.get(exitSide) == 0 || e.ageMS < e.rules.Returns[n-1].AgeMS) {
		n--
	}
	e.set(exitDue, int64(n))
}

// due returns the return that applies, nil for none.
func (e *exiting) due() *Return {
	if n := e.get(exitDue); n > 0 && n <= int64(len(e.rules.Returns)) {
		return &e.rules.Returns[n-1]
	}
	return nil
}

func (e *exiting) close(reason string) {
	if e.get(exitTarget) == e.get(exitSide) { // the strategy still has this target
		e.set(exitBlocked, e.get(exitSide))
	}
	e.plan.Orders, e.plan.OrdersSet = e.plan.Orders[:0], false
	e.plan.Hold(strategy.Flat(), reason)
}

// protect sets the protection in force: the strategy's or the configured one, with the trailing stop,
// and with the return as its take-profit where a resting order cannot be it. What was moved for one
// position is taken back for the next.
func (e *exiting) protect() {
	base := e.protection()
	protection := base
	if e.get(exitSide) != 0 {
		e.trail(&protection)
		e.takeReturn(&protection)
	}
	moved := int64(0)
	if protection.StopLoss != base.StopLoss || protection.TakeProfit != base.TakeProfit {
		moved = 1
	}
	if moved == 0 && e.get(exitMoved) == 0 {
		return
	}
	e.set(exitMoved, moved)
	protection.Set = true
	e.plan.Protection = protection
}

// trail moves the stop-loss behind the best price.
func (e *exiting) trail(protection *strategy.Protection) {
	t := e.rules.Trailing
	at := exchange.Price(e.get(exitBest))
	if t.Distance == 0 || at == 0 || e.gain(at) < t.After {
		return
	}
	away := portion(at, t.Distance)
	own := e.stopPrice(protection.StopLoss)
	switch symbol := e.view.Symbol; {
	case e.get(exitSide) > 0:
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

// protection is what applies without the trailing stop.
func (e *exiting) protection() strategy.Protection {
	if e.get(exitStop) == 0 && e.get(exitProfit) == 0 {
		return e.rules.Base
	}
	return strategy.Protection{Set: true, StopLoss: decoded(e.get(exitStop)), TakeProfit: decoded(e.get(exitProfit))}
}

// stopPrice returns a stop-loss as a price, zero when there is none.
func (e *exiting) stopPrice(at strategy.Distance) exchange.Price {
	if at.Share == 0 {
		return at.Price
	}
	entry := e.view.Symbol.PriceOf(e.view.Position.EntryPrice)
	away := portion(entry, at.Share)
	if e.get(exitSide) > 0 {
		return e.view.Symbol.FloorPrice(entry - away)
	}
	return e.view.Symbol.CeilPrice(entry + away)
}

// cooldown opens nothing for a while after a position has ended.
func (e *exiting) cooldown() {
	if e.rules.CooldownMS == 0 || e.get(exitSide) != 0 || e.get(exitEnded) == 0 || e.view.NowMS-e.get(exitEnded) >= e.rules.CooldownMS {
		return
	}
	reason := fmt.Sprintf("cooldown: %s left", duration(e.get(exitEnded)+e.rules.CooldownMS-e.view.NowMS))
	if side := int64(e.plan.Target.Sign()); side != 0 {
		e.set(exitBlocked, side)
		e.plan.Hold(strategy.Flat(), reason)
	}
	if e.plan.OrdersSet && len(e.plan.Orders) > 0 {
		e.plan.Orders, e.plan.Reason = e.plan.Orders[:0], reason
	}
}

// conditions adds how near the rules are to closing the position, or what keeps the next one
// from being opened.
func (e *exiting) conditions(all []strategy.Condition) []strategy.Condition {
	add := func(name, value, wants string, holds bool) {
		all = append(all, strategy.Condition{Name: name, Value: value, Requires: wants, Met: holds})
	}
	if e.get(exitSide) == 0 {
		if ended := e.get(exitEnded); e.rules.CooldownMS > 0 && ended != 0 {
			past := e.view.NowMS - ended
			add("since the last position", duration(past), "at least the cooldown "+duration(e.rules.CooldownMS), past >= e.rules.CooldownMS)
		}
	} else {
		e.positionConditions(add)
	}
	if e.get(exitBlocked) != 0 {
		add("another target than the one its exit rules closed", "not yet", "before it opens again", false)
	}
	return all
}

func (e *exiting) positionConditions(add func(name, value, wants string, holds bool)) {
	e.ageMS = e.view.NowMS - e.get(exitSince)
	if limit := e.rules.TimeLimitMS; limit > 0 {
		add("held for", duration(e.ageMS), "at least the time limit "+duration(limit), e.ageMS >= limit)
	}
	if r, gain := e.due(), e.gain(e.view.Last); r != nil {
		add("profit", percent(gain), fmt.Sprintf("at least %s, enough after %s", percent(r.Profit), duration(r.AgeMS)), gain >= r.Profit)
	}
	if t := e.rules.Trailing; t.Distance > 0 {
		best := exchange.Price(e.get(exitBest))
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
