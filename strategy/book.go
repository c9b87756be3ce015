package strategy

import "botd/exchange"

// OrderBookLevels is the maximum number of levels on each side of an OrderBook.
const OrderBookLevels = 20

// OrderBook is the top of the symbol's order book at its last read, for a strategy that watches it. Its
// lists are replaced, never changed. Recorded candles have no book: a backtest on them leaves it
// unknown, and a strategy uses the last price instead.
type OrderBook struct {
	Bids []exchange.Level // highest first
	Asks []exchange.Level // lowest first
	AtMS int64            // time of the read; 0 for never
}

// OrderBookOf returns the OrderBook of a depth that was read at a time. It is empty if a side is empty or the
// sides cross.
func OrderBookOf(depth *exchange.Depth, atMS int64) OrderBook {
	if len(depth.Bids) == 0 || len(depth.Asks) == 0 || depth.Bids[0].Price <= 0 || depth.Bids[0].Price >= depth.Asks[0].Price {
		return OrderBook{}
	}
	return OrderBook{Bids: depth.Bids[:min(len(depth.Bids), OrderBookLevels)], Asks: depth.Asks[:min(len(depth.Asks), OrderBookLevels)], AtMS: atMS}
}

// Known reports whether the book was read within the last maxAgeMS.
func (b *OrderBook) Known(nowMS, maxAgeMS int64) bool {
	return b.AtMS != 0 && nowMS-b.AtMS <= maxAgeMS && len(b.Bids) > 0 && len(b.Asks) > 0
}

// Middle returns the price halfway between the best bid and the best ask of a known book.
func (b *OrderBook) Middle() exchange.Price {
	return b.Bids[0].Price + (b.Asks[0].Price-b.Bids[0].Price)/2
}
