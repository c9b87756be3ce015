package strategy

import "botd/exchange"

// BookLevels is how many levels of each side a Book shows at most.
const BookLevels = 20

// Book is the top of the symbol's order book as it was read last, for a strategy that watches it.
// Its lists are never changed, only replaced. Recorded candles have no book: in a backtest on them
// nothing is known of it, and a strategy goes by the last price.
type Book struct {
	Bids []exchange.Level // highest first
	Asks []exchange.Level // lowest first
	AtMS int64            // when it was read; 0 for never
}

// BookOf returns the book of an order book that was read at a time: none where a side is empty or
// the sides cross.
func BookOf(depth *exchange.Depth, atMS int64) Book {
	if len(depth.Bids) == 0 || len(depth.Asks) == 0 || depth.Bids[0].Price <= 0 || depth.Bids[0].Price >= depth.Asks[0].Price {
		return Book{}
	}
	return Book{Bids: depth.Bids[:min(len(depth.Bids), BookLevels)], Asks: depth.Asks[:min(len(depth.Asks), BookLevels)], AtMS: atMS}
}

// Known reports whether the book was read, and no longer ago than that before a time.
func (b *Book) Known(nowMS, maxAgeMS int64) bool {
	return b.AtMS != 0 && nowMS-b.AtMS <= maxAgeMS && len(b.Bids) > 0 && len(b.Asks) > 0
}

// Middle returns the price between the best bid and the best ask of a book that is known.
func (b *Book) Middle() exchange.Price {
	return b.Bids[0].Price + (b.Asks[0].Price-b.Bids[0].Price)/2
}
