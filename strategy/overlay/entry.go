package overlay

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// Entry says how positions are opened. The zero value opens at market. Otherwise an opening
// becomes one resting order, which is repriced when its patience has run out. After the last try
// the rest goes to market or is given up until the strategy's target changes. What reduces a
// position never waits.
type Entry struct {
	Resting    bool  // by limit orders in the book
	PostOnly   bool  // that are never the taker (futures)
	PatienceMS int64 // how long an order stays at its price
	Tries      int   // number of prices, the first included
	Cross      bool  // after the last try: at market; else give up
}

// Memory keys of the entry rules. Journals hold them, so they cannot change.
const (
	entryGoal    = "entries.goal"   // the target as a signed quantity, priced once
	entryFrom    = "entries.from"   // the position at that time
	entryPrice   = "entries.price"  // price of the order in the book
	entrySince   = "entries.since"  // when the order got that price
	entryTry     = "entries.try"    // number of prices so far; 0 when there is no entry
	entryOutcome = "entries.done"   // how the entry ended; 0 while it is under way
	entryKind    = "entries.kind"   // kind of the strategy's target, to see when it changes
	entryAmount  = "entries.amount" // amount of that target
	entryWaits   = "entries.waits"  // 1 while the target waits until the previous order is canceled
)

// Outcomes of an entry, as stored under entryOutcome.
const (
	reached = iota + 1
	crossed
	gaveUp
)

// entryKey is the plan key of the order that enters.
const entryKey = "enter"

// entering is one decision under the entry rules.
type entering struct {
	decision
	rules *Entry
}

func (e *entering) apply() {
	if e.plan.OrdersSet {
		e.set(entryTry, 0) // the strategy keeps opening orders of its own
		return
	}
	switch {
	case e.plan.Target.Kind != strategy.NoTarget && e.changed():
		e.begin()
	case e.get(entryWaits) != 0:
		e.plan.Target = e.target()
		e.begin()
	}
	if e.get(entryWaits) != 0 {
		return
	}
	if e.get(entryTry) > 0 && e.get(entryOutcome) == 0 {
		e.enter()
	} else if e.get(entryOutcome) != 0 && e.plan.Target.Kind != strategy.NoTarget {
		e.keep()
	}
}

// changed reports whether the target differs from the remembered one, and remembers it.
func (e *entering) changed() bool {
	t := e.plan.Target
	number := int64(t.Quantity)
	switch t.Kind {
	case strategy.ByEquity:
		number = int64(t.Share)
	case strategy.ByQuote:
		number = t.Quote.MulDiv(1_000_000, 1).Quo(exchange.AmountOf(1))
	}
	if e.get(entryKind) == int64(t.Kind) && e.get(entryAmount) == number {
		return false
	}
	e.set(entryKind, int64(t.Kind))
	e.set(entryAmount, number)
	return true
}

// target returns the remembered target.
func (e *entering) target() strategy.Target {
	t, number := strategy.Target{Kind: strategy.TargetKind(e.get(entryKind))}, e.get(entryAmount)
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
func (e *entering) begin() {
	q, position := e.quantity(e.plan.Target), e.view.Position.Quantity
	e.set(entryTry, 0)
	e.set(entryOutcome, 0)
	e.set(entryWaits, 0)
	switch {
	case q == 0, position != 0 && (q > 0) != (position > 0), abs(q) <= abs(position):
		return
	case e.working(): // it may still be filled: the missing quantity is known once it is canceled
		e.set(entryWaits, 1)
		e.plan.Target, e.plan.OrdersSet, e.plan.Reason = strategy.Target{}, true, "cancels the previous entry order first"
		return
	}
	e.set(entryGoal, int64(q))
	e.set(entryFrom, int64(position))
	e.reprice(1)
}

// quantity returns a target as a signed quantity at the last price.
func (e *entering) quantity(t strategy.Target) exchange.Quantity {
	s := e.view.Symbol
	switch t.Kind {
	case strategy.ByEquity:
		return s.QuantityFor(e.view.Equity.MulRate(t.Share), e.view.Last)
	case strategy.ByQuote:
		return s.QuantityFor(t.Quote, e.view.Last)
	}
	return s.FloorQuantity(t.Quantity)
}

func abs(q exchange.Quantity) exchange.Quantity { return max(q, -q) }

func (e *entering) working() bool {
	return slices.ContainsFunc(e.view.Working, func(w strategy.WorkingOrder) bool { return w.Key == entryKey })
}

// reprice puts the order one price tick on the passive side of the last price.
func (e *entering) reprice(n int64) {
	s, at := e.view.Symbol, e.view.Last
	if e.get(entryGoal) > e.get(entryFrom) {
		at = s.FloorPrice(at) - s.PriceTick
	} else {
		at = s.CeilPrice(at) + s.PriceTick
	}
	e.set(entryPrice, int64(max(s.PriceTick, at)))
	e.set(entrySince, e.view.NowMS)
	e.set(entryTry, n)
}

// enter keeps the order in the book, reprices it, or ends the entry.
func (e *entering) enter() {
	whole := exchange.Quantity(e.get(entryGoal) - e.get(entryFrom))
	left := exchange.Quantity(e.get(entryGoal)) - e.view.Position.Quantity
	if left == 0 || (left > 0) != (whole > 0) || e.small(left) || e.view.Filled(entryKey) >= abs(whole) {
		e.set(entryOutcome, reached)
		e.hold(exchange.Quantity(e.get(entryGoal)), "entered")
		return
	}
	if n := e.get(entryTry); e.view.NowMS-e.get(entrySince) >= e.rules.PatienceMS {
		switch {
		case n < int64(e.rules.Tries):
			e.reprice(n + 1)
		case e.rules.Cross:
			e.set(entryOutcome, crossed)
			e.hold(exchange.Quantity(e.get(entryGoal)), "not filled in time: the rest at market")
			return
		default:
			e.set(entryOutcome, gaveUp)
			e.hold(e.view.Position.Quantity, "not filled in time: given up")
			return
		}
	}
	e.plan.Target = strategy.Target{}
	e.plan.Orders, e.plan.OrdersSet = append(e.plan.Orders[:0], strategy.DesiredOrder{Key: entryKey, Side: exchange.SideOf(whole),
		Price:    exchange.Price(e.get(entryPrice)),
		Quantity: abs(whole), PostOnly: e.rules.PostOnly}), true
	if e.plan.Reason == "" {
		e.plan.Reason = fmt.Sprintf("patient entry, price %d of %d", e.get(entryTry), e.rules.Tries)
	}
}

// small reports a rest too small for an order.
func (e *entering) small(left exchange.Quantity) bool {
	n := e.view.Symbol.FloorQuantity(abs(left))
	return n == 0 || e.view.Symbol.Notional(e.view.Last, n).Less(e.view.Symbol.MinNotional)
}

// keep holds the result of the entry while the strategy's target stays the same.
func (e *entering) keep() {
	if e.get(entryOutcome) == gaveUp {
		if e.view.Position.Quantity == 0 {
			e.plan.Target = strategy.Flat()
			return
		}
		e.plan.Target = strategy.Target{} // leaves the position as it is
		return
	}
	e.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(e.get(entryGoal))}
}

func (e *entering) hold(q exchange.Quantity, reason string) {
	e.plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, reason)
}

// conditions adds how far an entry under way has come.
func (e *entering) conditions(all []strategy.Condition) []strategy.Condition {
	switch e.get(entryOutcome) {
	case crossed:
		return append(all, strategy.Condition{Name: "entry", Value: "crossed at market after the last try"})
	case gaveUp:
		return append(all, strategy.Condition{Name: "entry", Value: "given up after the last try: waits for another target"})
	}
	if e.get(entryTry) == 0 {
		return all
	}
	rested := e.view.NowMS - e.get(entrySince)
	return append(all,
		strategy.Condition{Name: "tries to enter", Value: fmt.Sprint(e.get(entryTry)), Requires: fmt.Sprint("of ", e.rules.Tries), Met: true},
		strategy.Condition{Name: "order rests for", Value: fmt.Sprintf("%d s", rested/1000), Met: rested >= e.rules.PatienceMS,
			Requires: fmt.Sprintf("at least %d s, then it is repriced", e.rules.PatienceMS/1000)},
		strategy.Condition{Name: "at the price", Value: e.view.Symbol.PriceDecimal(exchange.Price(e.get(entryPrice))).String()})
}
