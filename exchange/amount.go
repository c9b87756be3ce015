package exchange

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"
)

// AmountScale is the number of decimal places of an Amount.
const AmountScale = 18

// Amount is an exact decimal with 18 places: money in USDT, a wallet's quantity of an asset, or a
// mean price. It is a 128-bit integer: a price of 8 places times a quantity of 8 places is exact,
// and the largest value is about 1.7e20. Arithmetic that would overflow panics: an overflow is a
// broken invariant, because every input is bounded at the edge.
type Amount struct {
	hi int64
	lo uint64
}

// Rate is a share in units of 1e-8: a fee, a funding rate, a part of the equity. 100 % is RateOne.
type Rate int64

// RateOne is a Rate of 1 (100 %).
const RateOne Rate = 100_000_000

// ErrInexact is returned when a decimal has more places or digits than its type can hold.
var ErrInexact = errors.New("not representable exactly")

// AmountOf returns whole units as an Amount: AmountOf(5) is 5 USDT.
func AmountOf(units int64) Amount { return scaled(units, 1e18) }

// MaxValue bounds every computed value, in USDT, far above any real one. A larger value counts as MaxValue, or as unknown where an exact one is required,
// so that no sum overflows.
var MaxValue = AmountOf(1_000_000_000_000_000)

// scaled returns n times unit, unit being a count of 1e-18.
func scaled(n int64, unit uint64) Amount {
	hi, lo := bits.Mul64(magnitude(n), unit)
	if hi > 1<<63-1 {
		panic("exchange: amount overflow")
	}
	a := Amount{int64(hi), lo}
	if n < 0 {
		return a.Neg()
	}
	return a
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// ParseAmount reads a decimal number such as "12.5" or "1e-05".
func ParseAmount(text string) (Amount, error) {
	d, err := decimal.NewFromString(text)
	if err != nil {
		return Amount{}, fmt.Errorf("read amount %q: %w", text, err)
	}
	return AmountFromDecimal(d)
}

// MustAmount is ParseAmount for literals; it panics on bad input.
func MustAmount(text string) Amount {
	a, err := ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// AmountFromDecimal converts exactly; more than 18 places or a value beyond
// 8.5e19 is ErrInexact.
func AmountFromDecimal(d decimal.Decimal) (Amount, error) {
	n, err := scaledInteger(d, AmountScale)
	if err != nil {
		return Amount{}, err
	}
	return amountFromBig(n)
}

// AmountRounded converts with the places beyond 18 rounded half away from zero, for means and rates
// that a venue reports with more digits.
func AmountRounded(d decimal.Decimal) (Amount, error) { return AmountFromDecimal(d.Round(AmountScale)) }

// scaledInteger returns d x 10^scale if it is whole. It bounds the exponent first, so that hostile
// input such as 1e1000000000 costs nothing.
func scaledInteger(d decimal.Decimal, scale int) (*big.Int, error) {
	exponent := int(d.Exponent()) + scale
	if exponent > 60 || exponent < -400 || d.Coefficient().BitLen() > 2000 {
		return nil, fmt.Errorf("decimal with exponent %d: %w", d.Exponent(), ErrInexact)
	}
	n := d.Coefficient()
	if exponent >= 0 {
		return n.Mul(n, pow10(exponent)), nil
	}
	rest := new(big.Int)
	n.QuoRem(n, pow10(-exponent), rest)
	if rest.Sign() != 0 {
		return nil, fmt.Errorf("%s has more than %d decimal places: %w", d, scale, ErrInexact)
	}
	return n, nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func amountFromBig(n *big.Int) (Amount, error) {
	if n.BitLen() > 126 {
		return Amount{}, fmt.Errorf("amount beyond 8.5e19: %w", ErrInexact)
	}
	abs := new(big.Int).Abs(n)
	a := Amount{int64(new(big.Int).Rsh(abs, 64).Uint64()), new(big.Int).And(abs, new(big.Int).SetUint64(^uint64(0))).Uint64()}
	if n.Sign() < 0 {
		return a.Neg(), nil
	}
	return a, nil
}

func (a Amount) big() *big.Int {
	abs := a.Abs()
	n := new(big.Int).SetUint64(uint64(abs.hi))
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(abs.lo))
	if a.hi < 0 {
		n.Neg(n)
	}
	return n
}

// Decimal returns the same number as a decimal, for the wire, the screen and files.
func (a Amount) Decimal() decimal.Decimal { return decimal.NewFromBigInt(a.big(), -AmountScale) }

// Float returns a float64 within a few units of its last place, for statistics and metrics only: 9500 may be 9500.000000000002.
func (a Amount) Float() float64 {
	abs := a.Abs()
	f := (float64(float64(uint64(abs.hi))*(1<<64)) + floatOf(abs.lo)) / 1e18
	if a.hi < 0 {
		return -f
	}
	return f
}

// floatOf returns float64(n) by its two halves, of which only the sum is rounded. The compiler's conversion branches on
// the highest bit, which no processor predicts for the low word of an amount.
func floatOf(n uint64) float64 {
	return float64(float64(int64(n>>32))*(1<<32)) + float64(int64(n&(1<<32-1)))
}

// String returns the number without trailing zeros.
func (a Amount) String() string { return string(a.Append(nil)) }

// MarshalText writes String.
func (a Amount) MarshalText() ([]byte, error) { return a.Append(nil), nil }

// Append appends the number to text.
func (a Amount) Append(text []byte) []byte {
	abs := a.Abs()
	if uint64(abs.hi) >= 1e18 { // beyond 2^64 whole units
		return append(text, a.Decimal().String()...)
	}
	if text == nil {
		text = make([]byte, 0, 40)
	}
	if a.hi < 0 {
		text = append(text, '-')
	}
	whole, part := bits.Div64(uint64(abs.hi), abs.lo, 1e18)
	text = strconv.AppendUint(text, whole, 10)
	if part == 0 {
		return text
	}
	places := AmountScale
	// Division by constants, which the compiler replaces by multiplication.
	if part%1e9 == 0 {
		part, places = part/1e9, places-9
	}
	if part%1e4 == 0 {
		part, places = part/1e4, places-4
	}
	if part%1e2 == 0 {
		part, places = part/1e2, places-2
	}
	if part%1e2 == 0 {
		part, places = part/1e2, places-2
	}
	if part%10 == 0 {
		part, places = part/10, places-1
	}
	text = append(text, ".000000000000000000"[:1+places]...)
	for i := len(text) - 1; part > 0; i-- {
		text[i] = byte('0' + part%10)
		part /= 10
	}
	return text
}

// UnmarshalText reads a decimal number.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAmount(string(text))
	return err
}

// Sign returns -1, 0 or +1.
func (a Amount) Sign() int {
	switch {
	case a.hi < 0:
		return -1
	case a.hi == 0 && a.lo == 0:
		return 0
	}
	return 1
}

// IsZero reports whether the amount is zero.
func (a Amount) IsZero() bool { return a == Amount{} }

// Add returns a + b.
func (a Amount) Add(b Amount) Amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi := a.hi + b.hi + int64(carry)
	if (a.hi >= 0) == (b.hi >= 0) && (hi >= 0) != (a.hi >= 0) {
		panic("exchange: amount overflow")
	}
	return Amount{hi, lo}
}

// Neg returns -a.
func (a Amount) Neg() Amount {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return Amount{-a.hi - int64(borrow), lo}
}

// Sub returns a - b.
func (a Amount) Sub(b Amount) Amount { return a.Add(b.Neg()) }

// Abs returns the amount without its sign.
func (a Amount) Abs() Amount {
	if a.hi < 0 {
		return a.Neg()
	}
	return a
}

// Cmp returns -1, 0 or +1 if a is below, equal to or above b.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// Less reports a < b.
func (a Amount) Less(b Amount) bool { return a.Cmp(b) < 0 }

// Min returns the smaller amount.
func (a Amount) Min(b Amount) Amount {
	if b.Less(a) {
		return b
	}
	return a
}

// Max returns the larger amount.
func (a Amount) Max(b Amount) Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// Mul returns a x n.
func (a Amount) Mul(n int64) Amount { return a.MulDiv(n, 1) }

// Div returns a / n, truncated toward zero; n is not zero.
func (a Amount) Div(n int64) Amount { return a.MulDiv(1, n) }

// MulRate returns a x rate, truncated toward zero beyond 18 places: exact if the product has no
// more places than that.
func (a Amount) MulRate(rate Rate) Amount { return a.MulDiv(int64(rate), int64(RateOne)) }

// MulDiv returns a x n / m, truncated toward zero, with a 192-bit product in between.
func (a Amount) MulDiv(n, m int64) Amount {
	if m == 0 {
		panic("exchange: amount divided by zero")
	}
	negative := (a.hi < 0) != (n < 0) != (m < 0)
	abs, factor, divisor := a.Abs(), magnitude(n), magnitude(m)
	mid, low := bits.Mul64(abs.lo, factor)
	high, part := bits.Mul64(uint64(abs.hi), factor)
	mid, carry := bits.Add64(mid, part, 0)
	high += carry
	if high >= divisor {
		panic("exchange: amount overflow")
	}
	if divisor != 1 {
		rest := mid
		if high != 0 || mid >= divisor { // otherwise the quotient has one word: one division instead of two
			mid, rest = bits.Div64(high, mid, divisor)
		} else {
			mid = 0
		}
		low, _ = bits.Div64(rest, low, divisor)
	}
	if mid > 1<<63-1 {
		panic("exchange: amount overflow")
	}
	result := Amount{int64(mid), low}
	if negative {
		return result.Neg()
	}
	return result
}

// Quo returns the number of whole times b fits into a, truncated toward zero; b is not zero. It is
// for sizing and ratios, not for the inner loop.
func (a Amount) Quo(b Amount) int64 {
	if b.IsZero() {
		panic("exchange: amount divided by zero")
	}
	q, fits := quotient(a.Abs(), b.Abs())
	if !fits || q > 1<<63-1 {
		panic("exchange: quotient overflow")
	}
	if (a.hi < 0) != (b.hi < 0) {
		return -int64(q)
	}
	return int64(q)
}

// quotient returns a / b and whether it fits 64 bits. Neither a nor b is negative, and b is not
// zero (Hacker's Delight, 9-5: the first guess is at most one too large).
func quotient(a, b Amount) (uint64, bool) {
	if b.hi == 0 {
		if uint64(a.hi) >= b.lo {
			return 0, false
		}
		q, _ := bits.Div64(uint64(a.hi), a.lo, b.lo)
		return q, true
	}
	shift := bits.LeadingZeros64(uint64(b.hi))
	divisor := uint64(b.hi)<<shift | b.lo>>(64-shift)
	q, _ := bits.Div64(uint64(a.hi)>>1, uint64(a.hi)<<63|a.lo>>1, divisor)
	if q >>= 63 - shift; q > 0 {
		q--
	}
	high, low := bits.Mul64(b.lo, q)
	low, borrow := bits.Sub64(a.lo, low, 0)
	rest := Amount{a.hi - b.hi*int64(q) - int64(high) - int64(borrow), low}
	if !rest.Less(b) {
		q++
	}
	return q, true
}

// MulQuo returns a x b / c, truncated toward zero, with a 256-bit product in between; c is not zero.
func (a Amount) MulQuo(b, c Amount) Amount {
	if c.IsZero() {
		panic("exchange: amount divided by zero")
	}
	result, fits := product(a.Abs(), b.Abs()).quotient(c.Abs())
	if !fits {
		panic("exchange: amount overflow")
	}
	if (a.hi < 0) != (b.hi < 0) != (c.hi < 0) {
		return result.Neg()
	}
	return result
}

// Ratio returns a / b as a Rate, truncated toward zero, or zero if b is zero.
func (a Amount) Ratio(b Amount) Rate {
	if b.IsZero() {
		return 0
	}
	q, fits := product(a.Abs(), Amount{lo: uint64(RateOne)}).quotient(b.Abs())
	if !fits || q.hi != 0 || q.lo > 1<<63-1 {
		return Rate(int64(a.Sign()*b.Sign()) * (1<<62 - 1))
	}
	if (a.hi < 0) != (b.hi < 0) {
		return -Rate(q.lo)
	}
	return Rate(q.lo)
}

// wide is an integer of 256 bits, the lowest 64 first.
type wide [4]uint64

// product returns a x b for a and b that are not negative.
func product(a, b Amount) (w wide) {
	var carry, part uint64
	w[1], w[0] = bits.Mul64(a.lo, b.lo)
	w[3], w[2] = bits.Mul64(uint64(a.hi), uint64(b.hi))
	for _, cross := range [2][2]uint64{{uint64(a.hi), b.lo}, {a.lo, uint64(b.hi)}} {
		high, low := bits.Mul64(cross[0], cross[1])
		w[1], carry = bits.Add64(w[1], low, 0)
		w[2], part = bits.Add64(w[2], high, carry)
		w[3] += part
	}
	return w
}

// quotient returns w / c and whether it fits an Amount. c is above zero.
func (w wide) quotient(c Amount) (Amount, bool) {
	if c.hi == 0 {
		q3, rest := w[3]/c.lo, w[3]%c.lo
		q2, rest := bits.Div64(rest, w[2], c.lo)
		q1, rest := bits.Div64(rest, w[1], c.lo)
		q0, _ := bits.Div64(rest, w[0], c.lo)
		return Amount{int64(q1), q0}, q3|q2 == 0 && q1 < 1<<62
	}
	shift := bits.LeadingZeros64(uint64(c.hi)) // at least 1: the sign
	d1, d0 := uint64(c.hi)<<shift|c.lo>>(64-shift), c.lo<<shift
	up := func(high, low uint64) uint64 { return high<<shift | low>>(64-shift) }
	q2, r1, r0 := digit(up(0, w[3]), up(w[3], w[2]), up(w[2], w[1]), d1, d0)
	q1, r1, r0 := digit(r1, r0, up(w[1], w[0]), d1, d0)
	q0, _, _ := digit(r1, r0, w[0]<<shift, d1, d0)
	return Amount{int64(q1), q0}, q2 == 0 && q1 < 1<<62
}

// digit divides three words by two. The divisor's highest bit is set, and it is larger than the
// first two words (Knuth, The Art of Computer Programming, 4.3.1, algorithm D).
func digit(u2, u1, u0, d1, d0 uint64) (q, r1, r0 uint64) {
	q, rest, carry := ^uint64(0), uint64(0), uint64(0)
	if u2 < d1 {
		q, rest = bits.Div64(u2, u1, d1)
	} else {
		rest, carry = bits.Add64(u1, d1, 0)
	}
	for carry == 0 {
		if high, low := bits.Mul64(q, d0); high < rest || high == rest && low <= u0 {
			break
		}
		q--
		rest, carry = bits.Add64(rest, d1, 0)
	}
	high, low := bits.Mul64(q, d0)
	r0, borrow := bits.Sub64(u0, low, 0)
	r1, _ = bits.Sub64(u1-q*d1, high, borrow)
	return q, r1, r0
}

// ParseRate reads "0.0005" or "2%"; more than 8 places is ErrInexact.
func ParseRate(text string) (Rate, error) {
	shift := int32(0)
	if n := len(text); n > 0 && text[n-1] == '%' {
		text, shift = text[:n-1], -2
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return 0, fmt.Errorf("read rate %q: %w", text, err)
	}
	return RateFromDecimal(d.Shift(shift))
}

// RateFromDecimal converts exactly.
func RateFromDecimal(d decimal.Decimal) (Rate, error) {
	n, err := scaledInteger(d, 8)
	if err != nil {
		return 0, err
	}
	if !n.IsInt64() {
		return 0, fmt.Errorf("rate %s: %w", d, ErrInexact)
	}
	return Rate(n.Int64()), nil
}

// Decimal returns the rate as a plain number: 0.0005 for 0.05 %.
func (r Rate) Decimal() decimal.Decimal { return decimal.New(int64(r), -8) }

// String returns the rate as a plain number.
func (r Rate) String() string { return r.Decimal().String() }

// Float returns the rate as a float64, for statistics and metrics only.
func (r Rate) Float() float64 { return float64(r) / 1e8 }

// MarshalText writes String.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a number or a percentage.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}
