package overlay

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Targets close shares of the position at distances from its entry. They rest on the exchange as
// limits wherever returns would (rest.go); elsewhere, a decision that finds a target reached closes
// its share at market. Each share is a share of the position's largest size.

// Memory keys of the targets. Journals hold them, so they cannot change.
const (
	targetRisk  = "targets.risk"  // distance of the stop at the entry
	targetWhole = "targets.whole" // the largest size of the position
	targetTaken = "targets.taken" // one bit for each target that was reached
	targetOrder = "targets.order" // number of the keys, which changes when the position grows
)

// forgetTargets starts over for a new position.
func (e *exiting) forgetTargets() {
	for _, key := range []string{targetRisk, targetWhole, targetTaken} {
		e.Remember(key, 0)
	}
}

// observeTargets remembers the size, the distance of the stop, and the targets that have filled.
func (e *exiting) observeTargets() {
	if len(e.rules.Targets) == 0 || e.Recall(exitSide) == 0 {
		return
	}
	size, filled := int64(e.View.Position.Quantity.Abs()), int64(0)
	if e.Recall(exitRests) != 0 {
		for i := range e.rules.Targets {
			part := int64(e.View.Filled(e.targetKey(i)))
			if filled += part; part > 0 && part >= int64(e.targetQuantity(i)) {
				e.take(i)
			}
		}
	}
	switch whole := e.Recall(targetWhole); {
	case whole == 0 || e.Recall(targetTaken) == 0 && size+filled > whole: // the position is new or has grown
		e.Remember(targetWhole, size+filled)
		e.Remember(targetOrder, e.Recall(targetOrder)+1)
	}
	if e.Recall(targetRisk) == 0 {
		entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
		if stop := e.stopPrice(e.protection().StopLoss); stop > 0 && entry > 0 {
			e.Remember(targetRisk, int64(max(entry-stop, stop-entry)))
		}
	}
}

func (e *exiting) take(i int) { e.Remember(targetTaken, e.Recall(targetTaken)|1<<i) }

func (e *exiting) hasTaken(i int) bool { return e.Recall(targetTaken)&(1<<i) != 0 }

// targetQuantity returns the quantity that the i-th target closes. The last target of a full close
// includes the rounding remainder.
func (e *exiting) targetQuantity(i int) exchange.Quantity {
	whole := exchange.Quantity(e.Recall(targetWhole))
	part := func(share exchange.Rate) exchange.Quantity {
		amount := e.View.Symbol.QuantityAmount(whole).MulRate(share)
		return e.View.Symbol.FloorQuantity(e.View.Symbol.QuantityOf(amount))
	}
	var before exchange.Quantity
	var shares exchange.Rate
	for j := range i {
		before, shares = before+part(e.rules.Targets[j].Share), shares+e.rules.Targets[j].Share
	}
	if shares+e.rules.Targets[i].Share >= exchange.RateOne {
		return whole - before
	}
	return part(e.rules.Targets[i].Share)
}

// targetPrice returns the price of the i-th target, or 0 if it is unknown.
func (e *exiting) targetPrice(i int) exchange.Price {
	entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
	if entry <= 0 {
		return 0
	}
	return e.rules.Targets[i].price(e.View.Symbol, entry, e.Recall(exitSide), exchange.Price(e.Recall(targetRisk)))
}

// targetsRest reports whether the targets are orders in the book.
func (e *exiting) targetsRest() bool {
	if e.rules.Trailing.Distance != 0 || e.Recall(exitOwn) != 0 || e.Plan.ExitsSet && e.Recall(exitRests) == 0 {
		return false
	}
	return e.View.Symbol.Market == exchange.Futures || e.protection().StopLoss.IsZero()
}

// closeTargets closes at market the shares of reached targets that no resting order closes.
func (e *exiting) closeTargets() {
	if len(e.rules.Targets) == 0 || e.targetsRest() {
		return
	}
	side, reason := e.Recall(exitSide), ""
	for i := range e.rules.Targets {
		if at := e.targetPrice(i); !e.hasTaken(i) && e.rules.Targets[i].reached(at, e.View.Last, side) {
			e.take(i)
			reason = fmt.Sprintf("the target at %s is reached", e.View.Symbol.PriceDecimal(at))
		}
	}
	e.leaveTaken(reason)
}

// leaveTaken holds the rest of the position after the reached targets.
func (e *exiting) leaveTaken(reason string) {
	left := exchange.Quantity(e.Recall(targetWhole))
	for i := range e.rules.Targets {
		if e.hasTaken(i) {
			left -= e.targetQuantity(i)
		}
	}
	side := e.Recall(exitSide)
	asks := e.Plan.Target.Kind != strategy.NoTarget
	if e.Recall(targetTaken) == 0 || asks && int64(e.Plan.Target.Sign()) != side || !asks && reason == "" {
		return
	}
	if reason == "" {
		reason = e.Plan.Reason
	}
	if left <= 0 {
		e.close(reason)
		return
	}
	e.Plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(side) * left}, reason)
}

// restTargets keeps the targets that have not been reached in the book.
func (e *exiting) restTargets(leaves bool) {
	rests := e.Recall(exitSide) != 0 && !leaves && e.targetsRest()
	if !rests {
		if e.Recall(exitRests) != 0 {
			e.Remember(exitRests, 0)
			e.Plan.Exits, e.Plan.ExitsSet = e.Plan.Exits[:0], true
		}
		return
	}
	e.Plan.Exits, e.Plan.ExitsSet = e.Plan.Exits[:0], true
	for i := range e.rules.Targets {
		price, quantity := e.targetPrice(i), e.targetQuantity(i)
		if e.hasTaken(i) || price <= 0 || quantity <= 0 || e.View.Symbol.BelowMinimum(price, quantity) {
			continue
		}
		e.Plan.Exits = append(e.Plan.Exits, strategy.DesiredOrder{Key: e.targetKey(i), Side: exchange.SideOf(-e.View.Position.Quantity),
			Price: price, Quantity: quantity})
	}
	e.Remember(exitRests, 1)
}

// targetKey returns the plan key of the i-th target.
func (e *exiting) targetKey(i int) string {
	return fmt.Sprintf("target%d.%d", e.Recall(targetOrder), i+1)
}
