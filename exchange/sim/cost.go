package sim

import (
	"math"
	"math/bits"

	"botd/exchange"
)

// Costs are the costs of taking from a recorded market beyond fees, and the bounds on the taken
// quantity. The zero value is a market that fills any quantity at its price, at once.
type Costs struct {
	Slippage  exchange.Rate // share of the price that the taker pays in addition
	Impact    exchange.Rate // additional slippage: this times the order's share of the candle's volume
	VolumeCap exchange.Rate // share of a candle's volume that orders can fill; 0 is unlimited
	Bounded   bool          // as in a backtest: a guess about a candle's path never favors an order (bound.go)
	LaterMS   int64         // the part of the order delay whose events are ignored, as if the order were placed later
	Through   bool          // a resting order fills when the price has passed it by a tick; otherwise on a touch
}

// slipped returns the price that an order pays for a quantity quoted at a price. It never passes
// the order's limit.
func (b *orderBook) slipped(o *order, price exchange.Price, quantity exchange.Quantity) exchange.Price {
	rate := b.costs.Slippage
	if b.costs.Impact > 0 {
		share, volume := 1.0, b.volume
		switch {
		case b.costs.Bounded:
			_, volume = b.tape.worst(o.Side, b.takesSince(o), b.exchange.nowMS)
		case b.traded != nil:
			_, volume = b.traded.worst(b, o.Side, b.takesSince(o))
		}
		if volume > 0 {
			share = min(1, b.symbol.QuantityFloat(quantity)/volume)
		}
		rate += exchange.Rate(math.Ceil(float64(float64(b.costs.Impact) * share)))
	}
	rate = max(rate, o.slippage) // a rest that waits for volume does not become cheaper
	o.slippage = rate
	if rate <= 0 {
		return price
	}
	high, low := bits.Mul64(uint64(price), uint64(rate))
	move, rest := bits.Div64(high, low, uint64(exchange.RateOne))
	if rest > 0 {
		move++ // always against the order
	}
	if o.Side == exchange.Buy {
		price += exchange.Price(move)
		if o.priced() {
			price = min(price, o.Price)
		}
		return price
	}
	price = max(1, price-exchange.Price(move))
	if o.priced() {
		price = max(price, o.Price)
	}
	return price
}

// renew sets the quantity that a new candle's volume allows.
func (b *orderBook) renew(volume float64) {
	b.volume = volume
	if b.costs.VolumeCap <= 0 {
		return
	}
	units := float64(float64(volume/b.symbol.QuantityFloat(1)) * b.costs.VolumeCap.Float())
	b.allowance = b.symbol.FloorQuantity(exchange.Quantity(min(units, math.MaxInt64/4)))
}

// capped returns how much of a quantity the candle's volume still allows.
func (b *orderBook) capped(quantity exchange.Quantity) exchange.Quantity {
	if b.costs.VolumeCap <= 0 {
		return quantity
	}
	return min(quantity, b.allowance)
}

// spend deducts an executed quantity from the candle's allowance.
func (b *orderBook) spend(quantity exchange.Quantity) {
	if b.costs.VolumeCap > 0 {
		b.allowance -= quantity
	}
}

// postpone delays an order that would take during a gap in the record until the next candle, and
// reports whether it must wait. Until then it is not visible, like an order within the delay. An
// order that finds no volume left is visible and waits in the order book (enter).
func (b *orderBook) postpone(o *order) bool {
	if !b.recorded() || o.dead || !b.executable(o) || o.priced() && !b.matches(o) {
		return false
	}
	at := b.market.pricedMS(b)
	if at <= b.exchange.nowMS {
		return false
	}
	o.visible = false
	b.exchange.queue.push(at, o, false)
	return true
}

// recorded reports whether taking orders are filled from a record, as in a backtest.
func (b *orderBook) recorded() bool { return b.costs.Bounded || b.traded != nil }

// await puts the rest of an order back into the order book when a candle opens. Until then it is visible and can be
// canceled.
func (b *orderBook) await(o *order) {
	b.exchange.queue.push(b.market.opensMS(b), o, false)
}
