package overlay

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Profit targets close shares of the position at distances from its entry. They rest on the exchange as
// limits wherever returns would (rest.go); elsewhere, a decision that finds a profit target reached closes
// its share at market. Each share is a share of the position's largest size.

// Memory keys of the profit targets. Journals hold them, so they cannot change.
const (
	profitTargetRisk    = "targets.risk"  // distance of the stop at the entry
	profitTargetWhole   = "targets.whole" // the largest size of the position
	profitTargetReached = "targets.taken" // one bit for each target that was reached
	profitTargetOrder   = "targets.order" // number of the keys, which changes when the position grows
)

// forgetProfitTargets starts over for a new position.
func (e *exiting) forgetProfitTargets() {
	for _, key := range []string{profitTargetRisk, profitTargetWhole, profitTargetReached} {
		e.Remember(key, 0)
	}
}

// observeProfitTargets remembers the size, the distance of the stop, and the profit targets that have filled.
func (e *exiting) observeProfitTargets() {
	if len(e.rules.ProfitTargets) == 0 || e.Recall(exitSide) == 0 {
		return
	}
	size, filled := int64(e.View.Position.Quantity.Abs()), int64(0)
	if e.Recall(exitRests) != 0 {
		for i := range e.rules.ProfitTargets {
			part := int64(e.View.Filled(e.profitTargetKey(i)))
			if filled += part; part > 0 && part >= int64(e.profitTargetQuantity(i)) {
				e.markReached(i)
			}
		}
	}
	switch whole := e.Recall(profitTargetWhole); {
	case whole == 0 || e.Recall(profitTargetReached) == 0 && size+filled > whole: // the position is new or has grown
		e.Remember(profitTargetWhole, size+filled)
		e.Remember(profitTargetOrder, e.Recall(profitTargetOrder)+1)
	}
	if e.Recall(profitTargetRisk) == 0 {
		entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
		if stop := e.stopPrice(e.protection().StopLoss); stop > 0 && entry > 0 {
			e.Remember(profitTargetRisk, int64(max(entry-stop, stop-entry)))
		}
	}
}

// markReached remembers that the i-th profit target was reached.
func (e *exiting) markReached(i int) {
	e.Remember(profitTargetReached, e.Recall(profitTargetReached)|1<<i)
}

func (e *exiting) hasReached(i int) bool { return e.Recall(profitTargetReached)&(1<<i) != 0 }

// profitTargetQuantity returns the quantity that the i-th profit target closes. The last one of a full close
// includes the rounding remainder.
func (e *exiting) profitTargetQuantity(i int) exchange.Quantity {
	whole := exchange.Quantity(e.Recall(profitTargetWhole))
	part := func(share exchange.Rate) exchange.Quantity {
		amount := e.View.Symbol.QuantityAmount(whole).MulRate(share)
		return e.View.Symbol.FloorQuantity(e.View.Symbol.QuantityOf(amount))
	}
	var before exchange.Quantity
	var shares exchange.Rate
	for j := range i {
		before, shares = before+part(e.rules.ProfitTargets[j].Share), shares+e.rules.ProfitTargets[j].Share
	}
	if shares+e.rules.ProfitTargets[i].Share >= exchange.RateOne {
		return whole - before
	}
	return part(e.rules.ProfitTargets[i].Share)
}

// profitTargetPrice returns the price of the i-th profit target, or 0 if it is unknown.
func (e *exiting) profitTargetPrice(i int) exchange.Price {
	entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
	if entry <= 0 {
		return 0
	}
	return e.rules.ProfitTargets[i].price(e.View.Symbol, entry, e.Recall(exitSide), exchange.Price(e.Recall(profitTargetRisk)))
}

// profitTargetsRest reports whether the profit targets are orders in the book.
func (e *exiting) profitTargetsRest() bool {
	if e.rules.Trailing.Distance != 0 || e.Recall(exitOwn) != 0 || e.Plan.ExitsSet && e.Recall(exitRests) == 0 {
		return false
	}
	return e.View.Symbol.Market == exchange.Futures || e.protection().StopLoss.IsZero()
}

// closeProfitTargets closes at market the shares of reached targets that no resting order closes.
func (e *exiting) closeProfitTargets() {
	if len(e.rules.ProfitTargets) == 0 || e.profitTargetsRest() {
		return
	}
	side, reason := e.Recall(exitSide), ""
	for i := range e.rules.ProfitTargets {
		if at := e.profitTargetPrice(i); !e.hasReached(i) && e.rules.ProfitTargets[i].reached(at, e.View.Last, side) {
			e.markReached(i)
			reason = fmt.Sprintf("the target at %s is reached", e.View.Symbol.PriceDecimal(at))
		}
	}
	e.holdRemainder(reason)
}

// holdRemainder holds the rest of the position after the reached profit targets.
func (e *exiting) holdRemainder(reason string) {
	left := exchange.Quantity(e.Recall(profitTargetWhole))
	for i := range e.rules.ProfitTargets {
		if e.hasReached(i) {
			left -= e.profitTargetQuantity(i)
		}
	}
	side := e.Recall(exitSide)
	asks := e.Plan.Target.Kind != strategy.NoTarget
	if e.Recall(profitTargetReached) == 0 || asks && int64(e.Plan.Target.Sign()) != side || !asks && reason == "" {
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

// restProfitTargets keeps the profit targets that have not been reached in the book.
func (e *exiting) restProfitTargets(leaves bool) {
	rests := e.Recall(exitSide) != 0 && !leaves && e.profitTargetsRest()
	if !rests {
		if e.Recall(exitRests) != 0 {
			e.Remember(exitRests, 0)
			e.Plan.Exits, e.Plan.ExitsSet = e.Plan.Exits[:0], true
		}
		return
	}
	e.Plan.Exits, e.Plan.ExitsSet = e.Plan.Exits[:0], true
	for i := range e.rules.ProfitTargets {
		price, quantity := e.profitTargetPrice(i), e.profitTargetQuantity(i)
		if e.hasReached(i) || price <= 0 || quantity <= 0 || e.View.Symbol.BelowMinimum(price, quantity) {
			continue
		}
		e.Plan.Exits = append(e.Plan.Exits, strategy.DesiredOrder{Key: e.profitTargetKey(i), Side: exchange.SideOf(-e.View.Position.Quantity),
			Price: price, Quantity: quantity})
	}
	e.Remember(exitRests, 1)
}

// profitTargetKey returns the plan key of the i-th profit target.
func (e *exiting) profitTargetKey(i int) string {
	return fmt.Sprintf("target%d.%d", e.Recall(profitTargetOrder), i+1)
}
