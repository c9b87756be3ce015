package overlay

import (
	"strconv"

	"botd/exchange"
	"botd/strategy"
)

// The return that is due by age rests on the exchange:
//
//	futures                      a reduceOnly limit over the position
//	futures with a trailing stop its take-profit: the stop that moves needs the exchange's reduceOnly sum
//	spot without a stop          a limit over the position
//	spot with a stop             nothing: the stop holds the asset, and the return is looked at by decisions
//
// A strategy that keeps exits of its own keeps them: its returns are looked at by decisions too, and so
// is one that is too small for an order at its price. A limit beyond the market is filled at the market.

// returnKey begins the plan key of the resting return.
const returnKey = "return"

// profitReturns reports whether the returns are the take-profit of the protection.
func (e *exiting) profitReturns() bool {
	return len(e.rules.Returns) > 0 && e.rules.Trailing.Distance != 0 && e.view.Symbol.Market == exchange.Futures
}

// restReturns reports whether the returns rest as limits.
func (e *exiting) restReturns() bool {
	if len(e.rules.Returns) == 0 || e.rules.Trailing.Distance != 0 || e.get(exitOwn) != 0 {
		return false
	}
	return e.view.Symbol.Market == exchange.Futures || e.protection().StopLoss.IsZero()
}

// returnRests reports whether the return that is due is one of those, and large enough for an order.
func (e *exiting) returnRests() bool {
	if !e.restReturns() || e.plan.ExitsSet && e.get(exitRests) == 0 {
		return false
	}
	price, size := e.returnPrice(), abs(e.view.Position.Quantity)
	return price > 0 && !e.view.Symbol.Notional(price, size).Less(e.view.Symbol.MinNotional)
}

// returnPrice is the price of the return that is due; 0 for none.
func (e *exiting) returnPrice() exchange.Price {
	r, entry := e.due(), e.view.Position.EntryPrice
	if r == nil || entry.IsZero() {
		return 0
	}
	away := entry.MulRate(r.Profit)
	if e.get(exitSide) < 0 {
		return e.view.Symbol.FloorPrice(e.view.Symbol.PriceOf(entry.Sub(away)))
	}
	return e.view.Symbol.CeilPrice(e.view.Symbol.PriceOf(entry.Add(away)))
}

// takeReturn makes the return that is due the take-profit, unless a nearer one is set.
func (e *exiting) takeReturn(protection *strategy.Protection) {
	if !e.profitReturns() {
		return
	}
	price, own := e.returnPrice(), e.profitPrice(protection.TakeProfit)
	if price > 0 && (own == 0 || e.get(exitSide) > 0 && price < own || e.get(exitSide) < 0 && price > own) {
		protection.TakeProfit = strategy.Distance{Price: price}
	}
}

// profitPrice returns a take-profit as a price, zero when there is none.
func (e *exiting) profitPrice(at strategy.Distance) exchange.Price {
	if at.Share == 0 {
		return at.Price
	}
	entry := e.view.Symbol.PriceOf(e.view.Position.EntryPrice)
	if e.get(exitSide) > 0 {
		return e.view.Symbol.CeilPrice(entry + portion(entry, at.Share))
	}
	return e.view.Symbol.FloorPrice(entry - portion(entry, at.Share))
}

// rest keeps the return that is due in the book.
func (e *exiting) rest() {
	if e.plan.ExitsSet && e.get(exitRests) == 0 {
		e.set(exitOwn, 1)
	}
	price := exchange.Price(0)
	leaves := e.plan.Target.Kind != strategy.NoTarget && int64(e.plan.Target.Sign()) != e.get(exitSide)
	if e.get(exitSide) != 0 && e.returnRests() && !leaves {
		price = e.returnPrice()
	}
	if price <= 0 {
		if e.get(exitRests) != 0 {
			e.set(exitRests, 0)
			e.plan.Exits, e.plan.ExitsSet = e.plan.Exits[:0], true
		}
		return
	}
	whole := abs(e.view.Position.Quantity) + e.view.Filled(e.restKey())
	if e.get(exitRests) == 0 || int64(whole) > e.get(exitSize) { // an order that stands is never made larger
		e.set(exitOrder, e.get(exitOrder)+1)
		whole = abs(e.view.Position.Quantity)
	}
	e.set(exitSize, int64(whole))
	e.set(exitRests, 1)
	e.plan.Exits, e.plan.ExitsSet = append(e.plan.Exits[:0], strategy.DesiredOrder{Key: e.restKey(), Side: exchange.SideOf(-e.view.Position.Quantity),
		Price: price, Quantity: whole}), true
}

// restKey is the plan key of the return that rests.
func (e *exiting) restKey() string { return returnKey + strconv.FormatInt(e.get(exitOrder), 10) }
