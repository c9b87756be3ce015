package sim

import "botd/exchange"

// PathOrder says which of low and high a candle's path takes first.
type PathOrder uint8

// The path orders. The zero value guesses from the candle: a rising one went
// down first, a falling one up first. Worst and Best choose for each candle by
// what is held and what rests within it (book.adverse).
const (
	ByDirection PathOrder = iota
	LowFirst
	HighFirst
	Worst
	Best
)

// Step is one price of a candle's path, OffsetMS after its open time.
type Step struct {
	OffsetMS int64
	Price    exchange.Price
}

// Path returns the prices that playback takes through a candle: the open at its
// beginning, low and high after a quarter and a half of the interval, the close
// in its last millisecond. From the open on, the price slides through every one
// between.
func Path(candle exchange.Candle, interval exchange.Interval) [4]Step {
	return PathBy(ByDirection, candle, interval)
}

// PathBy is Path with a chosen order; Worst and Best, which depend on who holds
// what, count as ByDirection.
func PathBy(order PathOrder, candle exchange.Candle, interval exchange.Interval) [4]Step {
	second, third := candle.Low, candle.High
	if order == HighFirst || order != LowFirst && candle.Close < candle.Open {
		second, third = third, second
	}
	return [4]Step{
		{0, candle.Open}, {int64(interval) / 4, second}, {int64(interval) / 2, third}, {int64(interval) - 1, candle.Close},
	}
}

// adverse returns the order that is the worse one for who holds what here, when
// the price goes through low and high.
//
//	held   within reach                     first
//	long   its stop, or nothing             low: out at the stop before any target
//	long   more to buy, and no stop         high: out at the target before buying lower
//	flat   only buys                        high: in at the low, or at the top
//	flat   only sells                       low
//	flat   both or nothing                  by direction
//
// A short is the mirror image.
func (b *book) adverse(low, high exchange.Price) PathOrder {
	buys, sells := b.bids.within(low, high) || b.entering(exchange.Buy, low, high), b.asks.within(low, high) || b.entering(exchange.Sell, low, high)
	switch held := b.held(); {
	case held > 0 && (b.stopped(falling, low, high) || !buys), held < 0 && sells && !b.stopped(rising, low, high):
		return LowFirst
	case held != 0:
		return HighFirst
	case buys && !sells:
		return HighFirst
	case sells && !buys:
		return LowFirst
	}
	return ByDirection
}

// held is the sign of what the accounts hold together.
func (b *book) held() int {
	sum := exchange.Quantity(0)
	for _, p := range b.positions {
		if p.side == exchange.Long {
			sum += p.remaining
		} else {
			sum -= p.remaining
		}
	}
	if b.symbol.Market == exchange.Spot {
		for _, a := range b.exchange.accounts {
			held := a.balances[b.base]
			sum += b.symbol.FloorQuantity(b.symbol.QuantityOf(held.free.Add(held.frozen)))
		}
	}
	return int(max(-1, min(1, sum)))
}

// stopped reports whether a price within low..high that is reached from that
// direction triggers an order which lets go of what is held, or liquidates.
func (b *book) stopped(direction int, low, high exchange.Price) bool {
	for i := range b.waiting {
		if b.waiting[i][direction].within(low, high) {
			return true
		}
	}
	return direction == falling && b.endsLow >= low || direction == rising && b.endsHigh <= high
}

// entering reports whether a conditional order of a side waits within low..high.
func (b *book) entering(side exchange.Side, low, high exchange.Price) bool {
	for i := range b.waiting {
		for j := range b.waiting[i] {
			if o := b.waiting[i][j].best(); o != nil && o.Side == side && b.waiting[i][j].within(low, high) && (o.Market == exchange.Spot || o.opens()) {
				return true
			}
		}
	}
	return false
}

// within reports whether the best price lies within low..high.
func (l *ladder) within(low, high exchange.Price) bool {
	price, ok := l.price()
	return ok && price >= low && price <= high
}

// mirrored is the other way round.
func (p PathOrder) mirrored() PathOrder {
	switch p {
	case LowFirst:
		return HighFirst
	case HighFirst:
		return LowFirst
	}
	return p
}
