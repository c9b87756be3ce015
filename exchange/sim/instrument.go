package sim

import "botd/exchange"

// Instrument is one symbol of an exchange, looked up once and used many times.
type Instrument struct{ orderBook *orderBook }

// Instrument returns a symbol. When it is unknown, the Instrument must not be used.
func (x *Exchange) Instrument(key exchange.SymbolKey) (Instrument, bool) {
	b := x.find(key)
	return Instrument{b}, b != nil
}

// Price returns the symbol's last and mark price.
func (i Instrument) Price() (last, mark exchange.Price) { return i.orderBook.last, i.orderBook.mark }

// Known returns the last known price. Inside a recorded candle, whose path is a guess, that is its
// open or the price at which one of the account's orders was last filled or triggered.
func (i Instrument) Known() exchange.Price { return i.orderBook.current(exchange.ContractPrice) }

// Trail sets whether a stop follows the price of the account's position, its current target price,
// or 0 while it does not follow, and the price from which it follows. The worse path of a recorded
// candle depends on it.
func (i Instrument) Trail(stop, from exchange.Price, trails bool) {
	i.orderBook.trailing, i.orderBook.trailsFrom, i.orderBook.trails = stop, from, trails
}

// Reveal sets whether the known price is the price that a recorded candle's path has reached, for a
// stop that follows it.
func (i Instrument) Reveal(path bool) {
	if i.orderBook.tape != nil {
		i.orderBook.tape.revealed = path
	}
}

// Revealed reports whether Reveal is set.
func (i Instrument) Revealed() bool { return i.orderBook.tape != nil && i.orderBook.tape.revealed }

// Trailed reports whether the trailing stop in the order book is at its target price.
func (i Instrument) Trailed() bool {
	for _, ladders := range i.orderBook.conditional {
		for j := range ladders {
			if ladders[j].holds(i.orderBook.trailing) {
				return true
			}
		}
	}
	return i.orderBook.trailing == 0
}

// Quiet reports whether nothing could happen on the symbol if its price stayed within low..high
// until untilMS, inclusive: no fill, trigger, liquidation or funding, and no order of any symbol
// reaching its order book.
//
// With coupled positions, every symbol must stay within its corridor, and the corridors must be the
// same for all (CorridorVersion).
func (i Instrument) Quiet(low, high exchange.Price, untilMS int64) bool {
	b := i.orderBook
	x := b.exchange
	if untilMS >= b.positionFundingMS || untilMS >= x.queue.dueMS || b.follows() {
		return false
	}
	if !x.coupled {
		b.fresh()
		return low > b.floor && high < b.ceiling
	}
	if b.stale {
		b.boundOrders()
	}
	if low <= b.orderLow || high >= b.orderHigh {
		return false
	}
	if len(b.positions) == 0 {
		return true
	}
	if !x.corridor {
		x.findCorridor()
	}
	if low > b.safeLow && high < b.safeHigh {
		return true
	}
	x.findCorridor() // it may have moved with the marks
	return low > b.safeLow && high < b.safeHigh
}

// Bounds returns the prices between which nothing happens on the symbol before a time, exclusive:
// Quiet for many candles at once. With coupled positions there are no bounds, because each price
// moves them.
func (i Instrument) Bounds() (floor, ceiling exchange.Price, beforeMS int64, apart bool) {
	b := i.orderBook
	b.fresh()
	if b.follows() {
		return b.floor, b.ceiling, b.exchange.nowMS, false
	}
	return b.floor, b.ceiling, min(b.positionFundingMS, b.exchange.queue.dueMS), !b.exchange.coupled
}

// follows reports whether the path is tracked for an order on its way to the order book.
func (b *orderBook) follows() bool { return b.tape != nil && len(b.tape.followed) > 0 }

// SkipTo moves the clock and the symbol's price without further work; Quiet must have allowed it.
// The symbol's market continues after nowMS. Only a tape's candles stay complete.
func (i Instrument) SkipTo(nowMS int64, last exchange.Price) {
	b := i.orderBook
	x := b.exchange
	x.nowMS = max(x.nowMS, nowMS)
	b.last, b.mark = last, last
	b.skipped, x.skipped = true, true
	x.markVersion++
}
