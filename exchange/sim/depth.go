package sim

import "botd/exchange"

// depth answers a depth or books request: accounts' orders and the market's quotes in one order book.
func (b marketData) depth(request *exchange.Request) (exchange.Depth, *exchange.Refusal) {
	maximum := maxDepth
	if request.Operation == exchange.SpotDepth {
		maximum = spotMaxDepth
	}
	count, refusal := limit(request, 100, maximum)
	if refusal != nil {
		return exchange.Depth{}, refusal
	}
	if request.Operation == exchange.SpotDepth && count != 5 && count != 10 && count != 20 && count != 50 && count != 100 {
		return exchange.Depth{}, refuse(request.Operation, CodeParameter, "limit %d is not one of 5, 10, 20, 50, 100", count)
	}
	depth := exchange.Depth{ID: b.updateID}
	if b.fed != nil { // the venue's own order book applies, without the accounts' orders
		depth.Bids = append(depth.Bids, b.fed.bids[:min(count, len(b.fed.bids))]...)
		depth.Asks = append(depth.Asks, b.fed.asks[:min(count, len(b.fed.asks))]...)
		return depth, nil
	}
	bid, bids := b.bid()
	ask, asks := b.ask()
	if b.spread == 0 {
		bid, ask = b.symbol.FloorPrice(bid), b.symbol.CeilPrice(ask)
	}
	depth.Bids = b.side(&b.bids, bid, bids, -b.symbol.PriceTick, count)
	depth.Asks = b.side(&b.asks, ask, asks, b.symbol.PriceTick, count)
	return depth, nil
}

// side merges one side's orders with quotes that begin at a price and continue in steps.
func (b marketData) side(orders *ladder, quote exchange.Price, quoted bool, step exchange.Price, count int) []exchange.Level {
	levels := make([]exchange.Level, 0, count)
	next, away := len(orders.levels)-1, rising
	if step < 0 {
		away = falling
	}
	for quotes := 0; len(levels) < count; {
		hasQuote := quoted && quotes < maxDepth && quote > 0
		if next < 0 && !hasQuote {
			break
		}
		var level exchange.Level
		if next >= 0 {
			level.Price = exchange.Price(orders.sign * orders.levels[next].key)
		}
		if hasQuote && (next < 0 || level.Price == quote || (level.Price < quote) == (step < 0)) {
			orderHere := next >= 0 && level.Price == quote
			level = exchange.Level{Price: quote, Quantity: b.levelQuantity(quote)}
			if quotes == 0 {
				level.Quantity -= b.consumed[away].quantity
			}
			quote, quotes = quote+step, quotes+1
			if !orderHere {
				levels = append(levels, level)
				continue
			}
		}
		for o := orders.levels[next].head; o != nil; o = o.next {
			level.Quantity += b.fillable(o, level.Price)
		}
		next--
		if level.Quantity > 0 {
			levels = append(levels, level)
		}
	}
	return levels
}
