package exchange

import "math/bits"

// Valuation is an amount that depends on a price: a fixed part and the value of a quantity. It is made once for many
// prices.
type Valuation struct {
	fixed Amount
	unit  Amount // value of the quantity at a price of one unit
}

// Valuation returns fixed + price x quantity for prices from zero to the highest.
func (s *Symbol) Valuation(fixed Amount, quantity Quantity, highest Price) Valuation {
	fixed.Add(s.Notional(highest, quantity)) // panics on overflow, so that none is possible below
	return Valuation{fixed, s.Notional(1, quantity)}
}

// At returns the amount at a price.
func (v *Valuation) At(price Price) Amount {
	high, low := bits.Mul64(uint64(price), v.unit.lo)
	low, carry := bits.Add64(low, v.fixed.lo, 0)
	return Amount{v.fixed.hi + int64(high) + int64(price)*v.unit.hi + int64(carry), low}
}
