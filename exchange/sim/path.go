package sim

import "botd/exchange"

// PathOrder sets whether a candle's path reaches its low or its high first.
type PathOrder uint8

// The path orders. The zero value guesses from the candle: a rising one went down first, a falling
// one up first. Worst and Best choose for each candle by the positions and orders within it
// (orderBook.adverse).
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

// stepOf returns one of the four prices of a candle's playback: the open at its beginning, low and
// high after a quarter and a half of the interval, the close in its last millisecond. From the open
// on, the price slides through every price in between. Worst and Best, which depend on positions
// and orders, are treated as ByDirection.
func stepOf(order PathOrder, candles *exchange.Candles, at, step int) Step {
	offsetMS := offsetOf(step, candles.Interval)
	switch step {
	case 0:
		return Step{offsetMS, candles.Open[at]}
	case 3:
		return Step{offsetMS, candles.Close[at]}
	}
	highFirst := order == HighFirst || order != LowFirst && candles.Close[at] < candles.Open[at]
	if highFirst == (step == 1) {
		return Step{offsetMS, candles.High[at]}
	}
	return Step{offsetMS, candles.Low[at]}
}

// offsetOf returns the time of a step, in milliseconds after its candle's open time.
func offsetOf(step int, interval exchange.Interval) int64 {
	if step == 3 {
		return int64(interval) - 1
	}
	return int64(interval) * int64(step) / 4
}

// adverse returns the order that is worse for the accounts when the price goes through low and
// high.
//
//	position  within reach             first
//	long      its stop, or nothing     low: out at the stop before any target
//	long      more to buy, and no stop high: out at the target before buying lower
//	flat      only buys                high: in at the low, or at the top
//	flat      only sells               low
//	flat      both or nothing          by direction
//	long      no stop, one that trails high: the stop moves up first, and is met on the way down
//
// A short is the mirror image.
func (b *orderBook) adverse(low, high exchange.Price) PathOrder {
	buys, sells := b.bids.bestWithin(low, high) || b.entering(exchange.Buy, low, high), b.asks.bestWithin(low, high) || b.entering(exchange.Sell, low, high)
	switch side := b.netSide(); {
	case b.trails && side > 0 && !b.stopped(falling, low, high):
		return HighFirst
	case b.trails && side < 0 && !b.stopped(rising, low, high):
		return LowFirst
	case side > 0 && (b.stopped(falling, low, high) || !buys), side < 0 && sells && !b.stopped(rising, low, high):
		return LowFirst
	case side != 0:
		return HighFirst
	case buys && !sells:
		return HighFirst
	case sells && !buys:
		return LowFirst
	}
	return ByDirection
}

// netSide returns the sign of the accounts' total position.
func (b *orderBook) netSide() int {
	sum := exchange.Quantity(0)
	for _, p := range b.positions {
		if p.Side == exchange.Long {
			sum += p.Remaining
		} else {
			sum -= p.Remaining
		}
	}
	if b.symbol.Market == exchange.Spot {
		for _, a := range b.exchange.accounts {
			balance := a.balances[b.base]
			sum += b.symbol.FloorQuantity(b.symbol.QuantityOf(balance.free.Add(balance.frozen)))
		}
	}
	return int(max(-1, min(1, sum)))
}

// stopped reports whether a price within low..high, reached from that direction, triggers an order
// that reduces the position, or liquidates, or is the target of the trailing stop, which ends the
// position as soon as it is moved there.
func (b *orderBook) stopped(direction int, low, high exchange.Price) bool {
	if b.trailing >= low && b.trailing <= high {
		return true
	}
	for i := range b.conditional {
		if b.conditional[i][direction].bestWithin(low, high) {
			return true
		}
	}
	return direction == falling && b.liquidationLow >= low || direction == rising && b.liquidationHigh <= high
}

// entering reports whether a conditional order of a side waits within low..high.
func (b *orderBook) entering(side exchange.Side, low, high exchange.Price) bool {
	for i := range b.conditional {
		for j := range b.conditional[i] {
			if o := b.conditional[i][j].best(); o != nil && o.Side == side && b.conditional[i][j].bestWithin(low, high) &&
				(o.Market == exchange.Spot || o.opens()) {
				return true
			}
		}
	}
	return false
}

// bestWithin reports whether the best price is within low..high.
func (l *ladder) bestWithin(low, high exchange.Price) bool {
	price, ok := l.price()
	return ok && price >= low && price <= high
}

// mirrored returns the opposite order.
func (p PathOrder) mirrored() PathOrder {
	switch p {
	case LowFirst:
		return HighFirst
	case HighFirst:
		return LowFirst
	}
	return p
}
