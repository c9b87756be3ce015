package sim

import (
	"math"

	"botd/exchange"
)

// A still or recorded market quotes at least maxNotional at every level and renews
// it after every fill. The random market's levels hold less, so that a large order
// goes through several; what was taken is back with the market's next move.

// eaten is how much of one side's quotes was taken since the market's last move.
type eaten struct {
	levels   int               // taken whole
	quantity exchange.Quantity // of the level that is now the best
}

// Bounds of a thin level, in USDT, at the price itself; twenty ticks away it holds
// twice as much.
const (
	thinLeast = 10_000
	thinMore  = 90_000
	thinSteps = 10 // of the market, for which a level stays as it is
)

// levelQuantity returns how much the market quotes at a price: at least
// maxNotional, counted at the last price where that is lower.
func (b *book) levelQuantity(price exchange.Price) exchange.Quantity {
	if b.thin != 0 {
		return b.thinQuantity(price)
	}
	price = min(price, b.last)
	return min(quantityFor(b.symbol, b.symbol.MaxNotional, price)+b.symbol.QuantityTick, math.MaxInt64/4)
}

func (b *book) thinQuantity(price exchange.Price) exchange.Quantity {
	ticks := int64(price / b.symbol.PriceTick)
	own := mix(b.thin ^ uint64(ticks))
	// It changes with a move of the market alone, when nothing of it is eaten.
	moved := floorTo(b.exchange.nowMS, randomStepMS) + int64(own%thinSteps)*randomStepMS
	draw := mix(own ^ uint64(moved/(thinSteps*randomStepMS)))
	away := int64((price - b.last) / b.symbol.PriceTick)
	value := int64(thinLeast+draw%thinMore) * (20 + min(max(away, -away), 200)) / 20
	return max(quantityFor(b.symbol, exchange.AmountOf(value), price), b.symbol.QuantityTick)
}

// quotedFirst returns what is left of the best level that an order of the side
// would meet.
func (b *book) quotedFirst(side exchange.Side, price exchange.Price) exchange.Quantity {
	return b.levelQuantity(price) - b.eaten[eatenBy(side)].quantity
}

// eat takes from the best level; what takes all of it uncovers the next.
func (b *book) eat(side exchange.Side, price exchange.Price, quantity exchange.Quantity) {
	e := &b.eaten[eatenBy(side)]
	if e.quantity += quantity; e.quantity >= b.levelQuantity(price) {
		*e = eaten{levels: e.levels + 1}
	}
	b.updateID++
}

// eatenBy is the side of the book that an order takes from: buying makes the price
// rise.
func eatenBy(side exchange.Side) int {
	if side == exchange.Buy {
		return rising
	}
	return falling
}
