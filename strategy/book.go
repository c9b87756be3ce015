package strategy

import "botd/exchange"

// BookLevels is the maximum number of levels on each side of a Book.
const BookLevels = 20

// Book is the top of the symbol's order book at its last read, for a strategy that watches it. Its
// lists are replaced, never changed. Recorded candles have no book: a backtest on them leaves it
// unknown, and a strategy uses the last price instead.
type Book struct {
	Bids []exchange.Level // highest first
	Asks []exchange.Level // lowest first
	AtMS int64            // time of the read; 0 for never
}

// BookOf returns the Book of a depth that was read at a time. It is empty if a side is empty or the
// sides cross.
func BookOf(depth *exchange.Depth, atMS int64) Book {
	if len(depth.Bids) == 0 || len(depth.Asks) == 0 || depth.Bids[0].Price <= 0 || depth.Bids[0].Price >= depth.Asks[0].Price {
		return Book{}
	}
	return Book{Bids: depth.Bids[:min(len(depth.Bids), BookLevels)], Asks: depth.Asks[:min(len(depth.Asks), BookLevels)], AtMS: atMS}
}

// Known reports whether the book was read within the last maxAgeMS.
func (b *Book) Known(nowMS, maxAgeMS int64) bool {
	return b.AtMS != 0 && nowMS-b.AtMS <= maxAgeMS && len(b.Bids) > 0 && len(b.Asks) > 0
}

// Middle returns the price halfway between the best bid and the best ask of a known book.
func (b *Book) Middle() exchange.Price {
	return b.Bids[0].Price + (b.Asks[0].Price-b.Bids[0].Price)/2
}
