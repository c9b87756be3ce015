// Package tally recomputes a strategy's activity and profit from its fills alone, in exact fractions.
//
// Tests compare botd's own figures with this second computation, so it imports no package
// of botd: no amounts, no ledger, no book.
package tally

import "math/big"

// Fill is one execution of a strategy's order.
type Fill struct {
	Buy       bool
	Price     *big.Rat
	Quantity  *big.Rat // base units, positive
	Fee       *big.Rat
	FeeInBase bool // the fee reduces the bought quantity
}

// Strategy sums up one strategy's trading on one symbol.
type Strategy struct {
	Quantity big.Rat // position; positive is long
	Cost     big.Rat // of the position: quantity times mean entry price, negative for a short one
	Cash     big.Rat // proceeds of sales minus costs of purchases, with fees in the quote asset
	Realized big.Rat // price differences of closed quantities
	Fees     big.Rat // in the quote asset
	Funding  big.Rat // paid less received
	Bought   big.Rat
	Sold     big.Rat
	Value    big.Rat // of all fills
	SoldFor  big.Rat // of the sales only
}

// Add adds a fill.
func (s *Strategy) Add(f *Fill) {
	value := new(big.Rat).Mul(f.Price, f.Quantity)
	s.Value.Add(&s.Value, value)
	signed := new(big.Rat).Set(f.Quantity)
	if f.Buy {
		s.Bought.Add(&s.Bought, f.Quantity)
		s.Cash.Sub(&s.Cash, value)
	} else {
		signed.Neg(signed)
		s.Sold.Add(&s.Sold, f.Quantity)
		s.Cash.Add(&s.Cash, value)
		s.SoldFor.Add(&s.SoldFor, value)
	}
	s.move(signed, f.Price)
	if f.FeeInBase {
		s.shrink(f.Fee)
		return
	}
	s.Fees.Add(&s.Fees, f.Fee)
	s.Cash.Sub(&s.Cash, f.Fee)
}

// Pay deducts a funding payment; a negative one was received.
func (s *Strategy) Pay(payment *big.Rat) {
	s.Funding.Add(&s.Funding, payment)
	s.Cash.Sub(&s.Cash, payment)
}

// move changes the position: a reduction realizes the difference to the mean price, an opening adds to the cost.
func (s *Strategy) move(signed, price *big.Rat) {
	opening := new(big.Rat).Set(signed)
	if s.Quantity.Sign()*signed.Sign() < 0 {
		closing := new(big.Rat).Set(signed)
		if new(big.Rat).Add(&s.Quantity, signed).Sign() == signed.Sign() { // through zero: the remainder opens the other side
			closing.Neg(&s.Quantity)
		}
		opening.Sub(signed, closing)
		cost := new(big.Rat).Mul(s.Entry(), closing) // of the closed part, with the sign of the order
		s.Realized.Add(&s.Realized, cost)
		s.Realized.Sub(&s.Realized, new(big.Rat).Mul(price, closing))
		s.Cost.Add(&s.Cost, cost)
		s.Quantity.Add(&s.Quantity, closing)
	}
	s.Quantity.Add(&s.Quantity, opening)
	s.Cost.Add(&s.Cost, new(big.Rat).Mul(price, opening))
}

// shrink deducts a fee from the position, whose cost stays the same.
func (s *Strategy) shrink(fee *big.Rat) { s.Quantity.Sub(&s.Quantity, fee) }

// Entry returns the mean price of the position; zero if it is flat.
func (s *Strategy) Entry() *big.Rat {
	if s.Quantity.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(&s.Cost, &s.Quantity)
}

// Net returns the realized profit after fees and funding.
func (s *Strategy) Net() *big.Rat {
	net := new(big.Rat).Sub(&s.Realized, &s.Fees)
	return net.Sub(net, &s.Funding)
}

const dayMS = 24 * 60 * 60 * 1000

// Curve follows an equity through time: its day, its peak and its drawdown.
type Curve struct {
	Values   int     // number of values
	StartMS  int64   // start of the UTC day of the last value
	Began    big.Rat // the first value of that day
	Equity   big.Rat // the last value
	Peak     big.Rat
	Drawdown big.Rat // the largest fall from a peak
}

// Add adds a value.
func (c *Curve) Add(atMS int64, equity *big.Rat) {
	if c.Values == 0 || equity.Cmp(&c.Peak) > 0 {
		c.Peak.Set(equity)
	}
	if start := atMS - atMS%dayMS; c.Values == 0 || start != c.StartMS {
		c.StartMS = start
		c.Began.Set(equity)
	}
	c.Values++
	c.Equity.Set(equity)
	if fall := c.Fall(); fall.Cmp(&c.Drawdown) > 0 {
		c.Drawdown.Set(fall)
	}
}

// Fall returns the distance from the peak to the last value.
func (c *Curve) Fall() *big.Rat { return new(big.Rat).Sub(&c.Peak, &c.Equity) }
