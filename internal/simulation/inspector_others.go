package simulation

import (
	"math/big"

	"botd/exchange"
	"botd/internal/tally"
)

// others is what a strategy has sold on spot beyond what it had bought: two of its orders sold the same coins, so that one of them sold a person's.
// Those proceeds are no gain of the strategy's. No list shows which of the orders sold its own coins, so that the difference between their prices may
// be on either side, and so may the rest of a step.
type others struct {
	proceeds, either big.Rat
	low, high        *big.Rat // prices of the sales since the last purchase
}

// take adds a fill on spot to a strategy's, without the part that sells others' coins. A rest that no order can sell is none of these.
func (o *others) take(s *tally.Strategy, fill *tally.Fill, rest *big.Rat) {
	if fill.Buy {
		o.low, o.high = nil, nil
		s.Take(fill)
		return
	}
	if o.low == nil || fill.Price.Cmp(o.low) < 0 {
		o.low = fill.Price
	}
	if o.high == nil || fill.Price.Cmp(o.high) > 0 {
		o.high = fill.Price
	}
	own := new(big.Rat).Set(&s.Quantity)
	if own.Cmp(rest) <= 0 {
		own.SetInt64(0)
	}
	beyond := new(big.Rat).Sub(fill.Quantity, own)
	if beyond.Cmp(rest) <= 0 {
		s.Take(fill)
		return
	}
	part := *fill
	part.Quantity = own
	s.Take(&part)
	value := new(big.Rat).Mul(beyond, fill.Price)
	s.SoldFor.Add(&s.SoldFor, value)
	s.Value.Add(&s.Value, value)
	o.proceeds.Add(&o.proceeds, value)
	o.either.Add(&o.either, value.Mul(beyond, new(big.Rat).Sub(o.high, o.low)))
	o.either.Add(&o.either, new(big.Rat).Mul(rest, fill.Price))
}

// restOf is the most that complete sales leave of a symbol.
func restOf(rules *exchange.Symbol) *big.Rat {
	return fraction(int64(mostRest*rules.QuantityTick), rules.QuantityScale)
}
