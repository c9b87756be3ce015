package simulation

import (
	"math/big"

	"botd/exchange"
	"botd/internal/tally"
)

// others tracks sales on spot beyond a strategy's purchases: two of its orders sold the same units, so one of
// them sold a person's. Those proceeds are not the strategy's gain. No list shows which of the two sold the
// strategy's own units, so the price difference, and the remainder of a step, may be on either side.
type others struct {
	proceeds, either big.Rat
	low, high        *big.Rat // prices of the sales since the last purchase
}

// addFill adds a spot fill to the strategy's fills, without the part that sold others' units. A remainder that
// no order can sell does not count as such a part.
func (o *others) addFill(s *tally.Strategy, fill *tally.Fill, rest *big.Rat) {
	if fill.Buy {
		o.low, o.high = nil, nil
		s.Add(fill)
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
		s.Add(fill)
		return
	}
	part := *fill
	part.Quantity = own
	s.Add(&part)
	value := new(big.Rat).Mul(beyond, fill.Price)
	s.SoldFor.Add(&s.SoldFor, value)
	s.Value.Add(&s.Value, value)
	o.proceeds.Add(&o.proceeds, value)
	o.either.Add(&o.either, value.Mul(beyond, new(big.Rat).Sub(o.high, o.low)))
	o.either.Add(&o.either, new(big.Rat).Mul(rest, fill.Price))
}

// restOf is the maximum remainder of a symbol after complete sales.
func restOf(rules *exchange.Symbol) *big.Rat {
	return fraction(int64(maxRest*rules.QuantityTick), rules.QuantityScale)
}
