package sim

import (
	"math"

	"botd/exchange"
)

// A still or recorded market quotes at least maxNotional at every level and renews it after every
// fill. The random market's levels are thinner, so that a large order goes through several; the
// market's next move renews the consumed quantity.

// consumed is the quantity of one side's quotes taken since the market's last move.
type consumed struct {
	levels   int               // taken completely
	quantity exchange.Quantity // taken from the current best level
}

// Bounds of a thin level, in USDT, at the price itself; twenty ticks away it is twice as thick.
const (
	minLevelUSDT   = 10_000
	levelRangeUSDT = 90_000
	levelSteps     = 10 // of the market, for which a level stays the same
)

// levelQuantity returns the quantity that the market quotes at a price: at least maxNotional,
// computed at the last price if that is lower.
func (b *orderBook) levelQuantity(price exchange.Price) exchange.Quantity {
	if b.liquiditySeed != 0 {
		return b.randomQuantity(price)
	}
	price = min(price, b.last)
	return min(quantityFor(b.symbol, b.symbol.MaxNotional, price)+b.symbol.QuantityTick, math.MaxInt64/4)
}

func (b *orderBook) randomQuantity(price exchange.Price) exchange.Quantity {
	ticks := int64(price / b.symbol.PriceTick)
	own := mix(b.liquiditySeed ^ uint64(ticks))
	// It changes only with a move of the market, when none of it is consumed.
	moved := floorTo(b.exchange.nowMS, randomStepMS) + int64(own%levelSteps)*randomStepMS
	draw := mix(own ^ uint64(moved/(levelSteps*randomStepMS)))
	away := int64((price - b.last) / b.symbol.PriceTick)
	value := int64(minLevelUSDT+draw%levelRangeUSDT) * (20 + min(max(away, -away), 200)) / 20
	return max(quantityFor(b.symbol, exchange.AmountOf(value), price), b.symbol.QuantityTick)
}

// quotedFirst returns the remaining quantity of the best level that an order of the side would
// meet.
func (b *orderBook) quotedFirst(side exchange.Side, price exchange.Price) exchange.Quantity {
	return b.levelQuantity(price) - b.consumed[consumedSide(side)].quantity
}

// consume takes from the best level; taking all of it uncovers the next.
func (b *orderBook) consume(side exchange.Side, price exchange.Price, quantity exchange.Quantity) {
	e := &b.consumed[consumedSide(side)]
	if e.quantity += quantity; e.quantity >= b.levelQuantity(price) {
		*e = consumed{levels: e.levels + 1}
	}
	b.updateID++
}

// consumedSide returns the side of the order book that an order takes from: a buy takes asks, where
// prices rise.
func consumedSide(side exchange.Side) int {
	if side == exchange.Buy {
		return rising
	}
	return falling
}
