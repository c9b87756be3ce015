package overlay

import (
	"strconv"

	"botd/exchange"
	"botd/strategy"
)

// The return that is due at the position's age rests on the exchange:
//
//	futures                      a reduceOnly limit over the position
//	futures with a trailing stop its take-profit: the stop that moves needs the exchange's reduceOnly sum
//	spot without a stop          a limit over the position
//	spot with a stop             nothing: the stop holds the asset, and decisions check the return
//
// The take-profit rests the same way on spot, which has no take-profit orders; the nearer of the
// two applies.
//
// A strategy with exits of its own keeps them, and decisions check the returns instead. Decisions
// also check a return that is too small for an order. A limit beyond the market fills at the
// market.

// returnKey begins the plan key of the resting return.
const returnKey = "return"

// profitReturns reports whether the returns act as the protection's take-profit.
func (e *exiting) profitReturns() bool {
	return len(e.rules.Returns) > 0 && e.rules.Trailing.Distance != 0 && e.View.Symbol.Market == exchange.Futures
}

// restReturns reports whether the returns rest as limits.
func (e *exiting) restReturns() bool {
	none := len(e.rules.Returns) == 0 && !e.rules.SellsProfit
	if none || len(e.rules.ProfitTargets) > 0 || e.rules.Trailing.Distance != 0 || e.Recall(exitOwn) != 0 {
		return false
	}
	return e.View.Symbol.Market == exchange.Futures || e.protection().StopLoss.IsZero()
}

// returnRests reports whether the return that is due is a resting limit and large enough for an
// order.
func (e *exiting) returnRests() bool {
	if !e.restReturns() || e.Plan.ExitsSet && e.Recall(exitRests) == 0 {
		return false
	}
	price, size := e.restingPrice(), e.View.Position.Quantity.Abs()
	return price > 0 && !e.View.Symbol.BelowMinimum(price, size)
}

// restingPrice returns the price of the return that is due, or of the spot take-profit if that is
// nearer; 0 for none.
func (e *exiting) restingPrice() exchange.Price {
	price, profit := e.returnPrice(), e.soldProfit()
	if price == 0 || profit != 0 && profit < price {
		return profit
	}
	return price
}

// soldProfit returns the price of the spot take-profit; 0 for none.
func (e *exiting) soldProfit() exchange.Price {
	if !e.rules.SellsProfit || e.Recall(exitSide) <= 0 || e.View.Position.EntryPrice.IsZero() {
		return 0
	}
	return e.profitPrice(e.protection().TakeProfit)
}

// returnPrice returns the price of the return that is due; 0 for none.
func (e *exiting) returnPrice() exchange.Price {
	r, entry := e.due(), e.View.Position.EntryPrice
	if r == nil || entry.IsZero() {
		return 0
	}
	away := entry.MulRate(r.Profit)
	if e.Recall(exitSide) < 0 {
		return e.View.Symbol.FloorPrice(e.View.Symbol.PriceOf(entry.Sub(away)))
	}
	return e.View.Symbol.CeilPrice(e.View.Symbol.PriceOf(entry.Add(away)))
}

// useReturn uses the return that is due as the take-profit, unless a nearer one is set.
func (e *exiting) useReturn(protection *strategy.Protection) {
	if !e.profitReturns() {
		return
	}
	price, own := e.returnPrice(), e.profitPrice(protection.TakeProfit)
	if price > 0 && (own == 0 || e.Recall(exitSide) > 0 && price < own || e.Recall(exitSide) < 0 && price > own) {
		protection.TakeProfit = strategy.Distance{Price: price}
	}
}

// profitPrice returns a take-profit as a price, or zero if there is none.
func (e *exiting) profitPrice(at strategy.Distance) exchange.Price {
	if at.Share == 0 {
		return at.Price
	}
	entry := e.View.Symbol.PriceOf(e.View.Position.EntryPrice)
	if e.Recall(exitSide) > 0 {
		return e.View.Symbol.CeilPrice(entry + portion(entry, at.Share))
	}
	return e.View.Symbol.FloorPrice(entry - portion(entry, at.Share))
}

// rest keeps the return that is due in the book.
func (e *exiting) rest() {
	if e.Plan.ExitsSet && e.Recall(exitRests) == 0 {
		e.Remember(exitOwn, 1)
	}
	if len(e.rules.ProfitTargets) > 0 {
		e.restProfitTargets(e.Plan.Target.Kind != strategy.NoTarget && int64(e.Plan.Target.Sign()) != e.Recall(exitSide))
		return
	}
	price := exchange.Price(0)
	leaves := e.Plan.Target.Kind != strategy.NoTarget && int64(e.Plan.Target.Sign()) != e.Recall(exitSide)
	if e.Recall(exitSide) != 0 && e.returnRests() && !leaves {
		price = e.restingPrice()
	}
	if price <= 0 {
		if e.Recall(exitRests) != 0 {
			e.Remember(exitRests, 0)
			e.Plan.Exits, e.Plan.ExitsSet = e.Plan.Exits[:0], true
		}
		return
	}
	whole := e.View.Position.Quantity.Abs() + e.View.Filled(e.restKey())
	if e.Recall(exitRests) == 0 || int64(whole) > e.Recall(exitSize) { // a resting order is never enlarged
		e.Remember(exitOrder, e.Recall(exitOrder)+1)
		whole = e.View.Position.Quantity.Abs()
	}
	e.Remember(exitSize, int64(whole))
	e.Remember(exitRests, 1)
	e.Plan.Exits, e.Plan.ExitsSet = append(e.Plan.Exits[:0], strategy.DesiredOrder{Key: e.restKey(), Side: exchange.SideOf(-e.View.Position.Quantity),
		Price: price, Quantity: whole}), true
}

// restKey returns the plan key of the resting return.
func (e *exiting) restKey() string { return returnKey + strconv.FormatInt(e.Recall(exitOrder), 10) }
