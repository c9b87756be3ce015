package sim

import (
	"fmt"

	"botd/exchange"
)

// FeedUpdate is another venue's public data of a symbol. Feed applies it to a Fed market.
type FeedUpdate struct {
	AsOfMS int64            // when it was requested: Depth and Last do not affect orders accepted since then
	Depth  *exchange.Depth  // the whole order book; nil leaves the rest of the last one
	Trades []exchange.Trade // since the last call, oldest first
	Last   exchange.Price   // 0 leaves last and mark price
}

// fed is a market whose price, order book and trades come from another venue. Its quotes are finite: a
// taken quantity is unavailable until the next depth arrives.
type fed struct {
	unmoved
	bids, asks []exchange.Level // remaining quotes, best first, in whole quantity ticks
}

// Fed returns a market that follows Feed. Before the first update it has no quotes, and no price
// unless a snapshot had one, so nothing fills.
//
// An arriving order takes the remaining depth. A resting order fills if the venue traded strictly
// through its price, up to that trade's quantity, or if the depth crosses it. Trades and the last
// price trigger conditional orders. An update affects only orders accepted before the trade or the
// request, because the venue's market moved without the others.
func Fed() Market { return &fed{} }

func (m *fed) begin(b *orderBook) int64 {
	b.quoteFrom(0)
	b.fed = m
	b.candles = builder{off: true}
	if !b.restored {
		b.last, b.mark = 0, 0
	}
	b.restored = false
	return never
}

// side returns the quotes that an order of the side meets.
func (m *fed) side(side exchange.Side) *[]exchange.Level {
	if side == exchange.Buy {
		return &m.asks
	}
	return &m.bids
}

// best returns the price that an order of the side meets first.
func (m *fed) best(side exchange.Side) (exchange.Price, bool) {
	if levels := *m.side(side); len(levels) > 0 {
		return levels[0].Price, true
	}
	return 0, false
}

// take removes a quantity, up to the best level's, from the quotes that an order of the side meets.
func (m *fed) take(side exchange.Side, quantity exchange.Quantity) {
	levels := m.side(side)
	if (*levels)[0].Quantity -= quantity; (*levels)[0].Quantity <= 0 {
		*levels = (*levels)[1:]
	}
}

// quote replaces the quotes. Level quantities below a quantityTick cannot be taken.
func (m *fed) quote(s *exchange.Symbol, depth *exchange.Depth) {
	whole := func(into, levels []exchange.Level) []exchange.Level {
		into = into[:0:0]
		for _, level := range levels {
			if level.Quantity = s.FloorQuantity(level.Quantity); level.Quantity > 0 && level.Price > 0 {
				into = append(into, level)
			}
		}
		return into
	}
	m.bids, m.asks = whole(m.bids, depth.Bids), whole(m.asks, depth.Asks)
}

// Feed applies an update to a symbol's Fed market. It refuses the whole update when a price is out
// of bounds.
func (x *Exchange) Feed(key exchange.SymbolKey, update FeedUpdate) error {
	b := x.find(key)
	if b == nil || b.fed == nil {
		return fmt.Errorf("symbol %s has no market that is fed", key)
	}
	if update.Last != 0 {
		if err := b.checkPrice("last price", update.Last); err != nil {
			return err
		}
	}
	for i := range update.Trades {
		if err := b.checkPrice("trade's price", update.Trades[i].Price); err != nil {
			return err
		}
	}
	b.stale = true
	if update.Depth != nil {
		b.fed.quote(b.symbol, update.Depth)
		b.updateID++
	}
	for i := range update.Trades {
		b.passTrade(&update.Trades[i])
	}
	if update.Last > 0 {
		b.moveTo(update.Last, update.AsOfMS)
	}
	b.fillQuoted(update.AsOfMS)
	x.clearing.settleAccounts()
	return nil
}

// passTrade applies one of the venue's trades: it fills resting orders at better prices, up to its
// quantity, then moves the price.
func (b *orderBook) passTrade(trade *exchange.Trade) {
	left := b.symbol.FloorQuantity(trade.Quantity)
	for left > 0 {
		o := b.crossed(&b.bids, trade.Price+1, trade.TimeMS)
		if o == nil {
			o = b.crossed(&b.asks, trade.Price-1, trade.TimeMS)
		}
		if o == nil {
			break
		}
		left -= b.fillResting(o, left)
	}
	b.moveTo(trade.Price, trade.TimeMS)
}

// fillQuoted fills the resting orders that the quotes have crossed.
func (b *orderBook) fillQuoted(timeMS int64) {
	for _, side := range [2]exchange.Side{exchange.Buy, exchange.Sell} {
		orders := &b.bids
		if side == exchange.Sell {
			orders = &b.asks
		}
		for quote, ok := b.fed.best(side); ok; quote, ok = b.fed.best(side) {
			o := b.crossed(orders, quote, timeMS)
			if o == nil {
				break
			}
			if filled := b.fillResting(o, (*b.fed.side(side))[0].Quantity); filled > 0 {
				b.fed.take(side, filled)
			}
		}
	}
}

// crossed returns the first order of a side, best price first, whose price reaches the given one
// and that was accepted before a time.
func (b *orderBook) crossed(orders *ladder, price exchange.Price, beforeMS int64) *order {
	for i := len(orders.levels) - 1; i >= 0 && orders.levels[i].key >= orders.sign*int64(price); i-- {
		for o := orders.levels[i].head; o != nil; o = o.next {
			if o.CreatedMS < beforeMS {
				return o
			}
		}
	}
	return nil
}

// fillResting fills a resting order at its own price, up to a quantity, and returns the filled
// quantity. It cancels an order that may not fill any more.
func (b *orderBook) fillResting(o *order, most exchange.Quantity) exchange.Quantity {
	quantity := exchange.Quantity(0)
	if b.executable(o) {
		quantity = b.fillable(o, o.Price)
	}
	if quantity <= 0 {
		b.exchange.finish(o, canceled)
		return 0
	}
	quantity = min(quantity, most)
	b.publish(o.Price, quantity, o.Side == exchange.Buy)
	b.exchange.apply(o, o.Price, quantity, true)
	return quantity
}

// moveTo sets last and mark price to their value at a time, then liquidates positions and triggers
// older orders.
func (b *orderBook) moveTo(price exchange.Price, timeMS int64) {
	b.setPrice(price, price)
	for _, a := range b.exchange.accounts {
		if a.holds(b) && a.holdings[b.index].position.UpdatedMS < timeMS {
			b.exchange.clearing.settleAccount(a)
		}
	}
	for o := b.reachedBefore(timeMS); o != nil; o = b.reachedBefore(timeMS) {
		b.remove(o)
		b.activate(o, b.last)
	}
}

// reachedBefore returns a conditional order, accepted before a time, whose stop price is reached,
// or nil.
func (b *orderBook) reachedBefore(timeMS int64) *order {
	for i, price := range [2]exchange.Price{b.last, b.mark} {
		for _, direction := range [2]int{falling, rising} {
			if o := b.crossed(&b.conditional[i][direction], price, timeMS); o != nil {
				return o
			}
		}
	}
	return nil
}
