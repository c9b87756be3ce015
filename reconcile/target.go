package reconcile

import (
	"botd/exchange"
	"botd/strategy"
)

// SmallerTarget is the reason for reducing a position to a target on its side.
const SmallerTarget = "the target is smaller"

// flatTarget is the reason for closing a position whose target is flat.
const flatTarget = "the target is flat"

// ExitReason returns the reason for closing a position that is not on its target's side, with the plan's own reason.
func ExitReason(target strategy.Target, plan string) string {
	reason := flatTarget
	if target.Sign() != 0 {
		reason = "the target changed side: first flat, then the other side"
	}
	if plan != "" {
		reason += ": " + plan
	}
	return reason
}

// TargetQuantity returns the signed quantity of a target at the last price. A fee is reserved from the notional of a
// target by value.
func TargetQuantity(target strategy.Target, symbol *exchange.Symbol, last exchange.Price, equity exchange.Amount, fee exchange.Rate) exchange.Quantity {
	var notional exchange.Amount
	switch target.Kind {
	case strategy.ByQuantity:
		return symbol.FloorQuantity(target.Quantity)
	case strategy.ByEquity:
		notional = equity.MulRate(target.Share)
	case strategy.ByQuote:
		notional = target.Quote
	}
	if fee != 0 {
		notional = notional.MulDiv(int64(exchange.RateOne), int64(exchange.RateOne+fee))
	}
	return symbol.QuantityFor(notional, last)
}

// UnroundedTarget returns the size of a target by quantity before rounding to the quantity step, at most the given
// one; it is 0 for other targets. If the step has grown, only purchases are rounded to it: it never causes a sale.
func UnroundedTarget(target strategy.Target, maxQuantity exchange.Quantity) exchange.Quantity {
	if target.Kind != strategy.ByQuantity {
		return 0
	}
	return min(target.Quantity.Abs(), maxQuantity)
}
