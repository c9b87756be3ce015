package overlay

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// Entry defines how positions are opened. The zero value opens at market. Otherwise an opening becomes
// one resting order, which is repriced when its patience has run out. After the last try the rest
// goes to market or is given up until the strategy's target changes. Reducing orders never wait.
type Entry struct {
	Resting    bool  // by limit orders in the book
	PostOnly   bool  // orders are never takers (futures)
	PatienceMS int64 // how long an order stays at its price
	Tries      int   // number of prices, the first included
	Cross      bool  // after the last try go to market; else give up
}

// Memory keys of the entry rules. Journals hold them, so they cannot change.
const (
	entryGoal    = "entries.goal"   // the target as a signed quantity, priced once
	entryFrom    = "entries.from"   // the position at that time
	entryPrice   = "entries.price"  // price of the resting order
	entrySince   = "entries.since"  // when the order got that price
	entryTry     = "entries.try"    // number of prices so far; 0 when there is no entry
	entryOutcome = "entries.done"   // how the entry ended; 0 while it is under way
	entryKind    = "entries.kind"   // kind of the strategy's target, to detect a change
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
	strategy.Decision
	rules *Entry
}

func (e *entering) apply() {
	if e.Plan.OrdersSet {
		e.Remember(entryTry, 0) // the strategy places its own opening orders
		return
	}
	switch {
	case e.Plan.Target.Kind != strategy.NoTarget && e.changed():
		e.begin()
	case e.Recall(entryWaits) != 0:
		e.Plan.Target = e.target()
		e.begin()
	}
	if e.Recall(entryWaits) != 0 {
		return
	}
	if e.Recall(entryTry) > 0 && e.Recall(entryOutcome) == 0 {
		e.enter()
	} else if e.Recall(entryOutcome) != 0 && e.Plan.Target.Kind != strategy.NoTarget {
		e.keep()
	}
}

// changed reports whether the target differs from the remembered one, and remembers the new one.
func (e *entering) changed() bool {
	t := e.Plan.Target
	number := int64(t.Quantity)
	switch t.Kind {
	case strategy.ByEquity:
		number = int64(t.Share)
	case strategy.ByQuote:
		number = t.Quote.MulDiv(1_000_000, 1).Quo(exchange.AmountOf(1))
	}
	if e.Recall(entryKind) == int64(t.Kind) && e.Recall(entryAmount) == number {
		return false
	}
	e.Remember(entryKind, int64(t.Kind))
	e.Remember(entryAmount, number)
	return true
}

// target returns the remembered target.
func (e *entering) target() strategy.Target {
	t, number := strategy.Target{Kind: strategy.TargetKind(e.Recall(entryKind))}, e.Recall(entryAmount)
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

// begin prices a new target. The engine handles a target that opens nothing.
func (e *entering) begin() {
	q, position := e.quantity(e.Plan.Target), e.View.Position.Quantity
	e.Remember(entryTry, 0)
	e.Remember(entryOutcome, 0)
	e.Remember(entryWaits, 0)
	switch {
	case q == 0, position != 0 && (q > 0) != (position > 0), q.Abs() <= position.Abs():
		return
	case e.working(): // it may still fill: the missing quantity is known once it is canceled
		e.Remember(entryWaits, 1)
		e.Plan.Target, e.Plan.OrdersSet, e.Plan.Reason = strategy.Target{}, true, "cancels the previous entry order first"
		return
	}
	e.Remember(entryGoal, int64(q))
	e.Remember(entryFrom, int64(position))
	e.reprice(1)
}

// quantity returns a target as a signed quantity at the last price.
func (e *entering) quantity(t strategy.Target) exchange.Quantity {
	s := e.View.Symbol
	switch t.Kind {
	case strategy.ByEquity:
		return s.QuantityFor(e.View.Equity.MulRate(t.Share), e.View.Last)
	case strategy.ByQuote:
		return s.QuantityFor(t.Quote, e.View.Last)
	}
	return s.FloorQuantity(t.Quantity)
}

func (e *entering) working() bool {
	return slices.ContainsFunc(e.View.Working, func(w strategy.WorkingOrder) bool { return w.Key == entryKey })
}

// reprice puts the order one price tick on the passive side of the last price.
func (e *entering) reprice(n int64) {
	s, at := e.View.Symbol, e.View.Last
	if e.Recall(entryGoal) > e.Recall(entryFrom) {
		at = s.FloorPrice(at) - s.PriceTick
	} else {
		at = s.CeilPrice(at) + s.PriceTick
	}
	e.Remember(entryPrice, int64(max(s.PriceTick, at)))
	e.Remember(entrySince, e.View.NowMS)
	e.Remember(entryTry, n)
}

// enter keeps the order in the book, reprices it, or ends the entry.
func (e *entering) enter() {
	whole := exchange.Quantity(e.Recall(entryGoal) - e.Recall(entryFrom))
	left := exchange.Quantity(e.Recall(entryGoal)) - e.View.Position.Quantity
	if left == 0 || (left > 0) != (whole > 0) || e.small(left) || e.View.Filled(entryKey) >= whole.Abs() {
		e.Remember(entryOutcome, reached)
		e.hold(exchange.Quantity(e.Recall(entryGoal)), "entered")
		return
	}
	if n := e.Recall(entryTry); e.View.NowMS-e.Recall(entrySince) >= e.rules.PatienceMS {
		switch {
		case n < int64(e.rules.Tries):
			e.reprice(n + 1)
		case e.rules.Cross:
			e.Remember(entryOutcome, crossed)
			e.hold(exchange.Quantity(e.Recall(entryGoal)), "not filled in time: the rest at market")
			return
		default:
			e.Remember(entryOutcome, gaveUp)
			e.hold(e.View.Position.Quantity, "not filled in time: given up")
			return
		}
	}
	e.Plan.Target = strategy.Target{}
	e.Plan.Orders, e.Plan.OrdersSet = append(e.Plan.Orders[:0], strategy.DesiredOrder{Key: entryKey, Side: exchange.SideOf(whole),
		Price:    exchange.Price(e.Recall(entryPrice)),
		Quantity: whole.Abs(), PostOnly: e.rules.PostOnly}), true
	if e.Plan.Reason == "" {
		e.Plan.Reason = fmt.Sprintf("patient entry, price %d of %d", e.Recall(entryTry), e.rules.Tries)
	}
}

// small reports whether the rest is too small for an order.
func (e *entering) small(left exchange.Quantity) bool {
	n := e.View.Symbol.FloorQuantity(left.Abs())
	return n == 0 || e.View.Symbol.BelowMinimum(e.View.Last, n)
}

// keep holds the result of the entry while the strategy's target stays the same.
func (e *entering) keep() {
	if e.Recall(entryOutcome) == gaveUp {
		if e.View.Position.Quantity == 0 {
			e.Plan.Target = strategy.Flat()
			return
		}
		e.Plan.Target = strategy.Target{} // leaves the position as it is
		return
	}
	e.Plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(e.Recall(entryGoal))}
}

func (e *entering) hold(q exchange.Quantity, reason string) {
	e.Plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, reason)
}

// conditions adds the progress of an entry.
func (e *entering) conditions(all []strategy.Condition) []strategy.Condition {
	switch e.Recall(entryOutcome) {
	case crossed:
		return append(all, strategy.Condition{Name: "entry", Value: "crossed at market after the last try"})
	case gaveUp:
		return append(all, strategy.Condition{Name: "entry", Value: "given up after the last try: waits for another target"})
	}
	if e.Recall(entryTry) == 0 {
		return all
	}
	rested := e.View.NowMS - e.Recall(entrySince)
	return append(all,
		strategy.Condition{Name: "tries to enter", Value: fmt.Sprint(e.Recall(entryTry)), Requires: fmt.Sprint("of ", e.rules.Tries), Met: true},
		strategy.Condition{Name: "order rests for", Value: fmt.Sprintf("%d s", rested/1000), Met: rested >= e.rules.PatienceMS,
			Requires: fmt.Sprintf("at least %d s, then it is repriced", e.rules.PatienceMS/1000)},
		strategy.Condition{Name: "at the price", Value: e.View.Symbol.PriceDecimal(exchange.Price(e.Recall(entryPrice))).String()})
}
