package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// number is a decimal that may arrive as a JSON number or string. It is encoded as a decimal
// string.
type number struct {
	decimal.Decimal
	given bool // false if the field was absent, null or an empty string
}

func numberOf(d decimal.Decimal) number { return number{d, true} }

// Bounds of numbers. A number beyond them is refused without being computed.
const (
	maxMagnitude  = 30  // digits before the point: 1e31 is refused
	maxFraction   = 300 // digits after it, to be rounded
	maxNumberText = 100 // bytes
)

// UnmarshalJSON reads a number, a string holding one, or null as zero.
func (n *number) UnmarshalJSON(text []byte) error {
	*n = number{}
	if bytes.Equal(text, []byte("null")) || bytes.Equal(text, []byte(`""`)) {
		return nil
	}
	if len(text) > maxNumberText {
		return fmt.Errorf("a number of %d characters", len(text))
	}
	unquoted := bytes.Trim(text, `"`)
	d, err := decimal.NewFromString(string(unquoted))
	if err != nil {
		return fmt.Errorf("%s is not a number", text)
	}
	if outOfRange(d) {
		return fmt.Errorf("%s is out of range", text)
	}
	*n = number{d, true}
	return nil
}

// outOfRange checks only digits and exponent, so that 1e1000000000 costs nothing.
func outOfRange(d decimal.Decimal) bool {
	exponent := int(d.Exponent())
	return exponent < -maxFraction || exponent > maxMagnitude || !d.IsZero() && d.NumDigits()+exponent > maxMagnitude+1
}

// MarshalJSON writes a decimal string.
func (n number) MarshalJSON() ([]byte, error) {
	if !n.given {
		return nil, errNoNumber
	}
	return []byte(`"` + n.Decimal.String() + `"`), nil
}

var errNoNumber = errors.New("not a number")

// float returns the zero number for NaN and infinity.
func float(f float64) number {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	return numberOf(decimal.NewFromFloat(f))
}

// plain is a decimal that is encoded as a JSON number, below 0.0001 in scientific notation.
type plain number

func plainOf(d decimal.Decimal) plain { return plain{d, true} }

// UnmarshalJSON reads like number.
func (p *plain) UnmarshalJSON(text []byte) error { return (*number)(p).UnmarshalJSON(text) }

// scientificBelow is the smallest value that is encoded without an exponent.
var scientificBelow = decimal.New(1, -4)

// MarshalJSON writes a JSON number.
func (p plain) MarshalJSON() ([]byte, error) {
	if p.IsZero() || p.Abs().GreaterThanOrEqual(scientificBelow) {
		return []byte(p.Decimal.String()), nil
	}
	digits, exponent := p.Coefficient().String(), int(p.Exponent())
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	exponent += len(digits) - 1
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Appendf(nil, "%s%se-%02d", sign, digits, -exponent), nil
}

// whole is an integer that may arrive as a JSON number or string.
type whole int64

// UnmarshalJSON reads an integer, or a decimal number without a fraction; null
// and an empty string are zero.
func (w *whole) UnmarshalJSON(text []byte) error {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*w = whole(n)
		return nil
	}
	var n number
	if err := n.UnmarshalJSON(text); err != nil {
		return err
	}
	if !n.IsInteger() || n.BigInt().BitLen() > 63 {
		return fmt.Errorf("%s is not a whole number", text)
	}
	*w = whole(n.IntPart())
	return nil
}

// millisText is milliseconds in a string, like the spot ticker's updateTime.
type millisText int64

// UnmarshalJSON reads like whole.
func (m *millisText) UnmarshalJSON(text []byte) error { return (*whole)(m).UnmarshalJSON(text) }

// MarshalJSON writes a string.
func (m millisText) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(strconv.FormatInt(int64(m), 10))), nil
}

// laterThanSeconds is later than any time in seconds (the year 5138). A larger number is in
// milliseconds, whatever the interface's samples show.
const laterThanSeconds = 100_000_000_000

// seconds is a time in whole seconds.
type seconds int64

func secondsOf(ms int64) seconds { return seconds(ms / 1000) }

// UnmarshalJSON reads like whole.
func (s *seconds) UnmarshalJSON(text []byte) error { return (*whole)(s).UnmarshalJSON(text) }

func (s seconds) ms() int64 {
	if s > laterThanSeconds || s < -laterThanSeconds {
		return int64(s)
	}
	return int64(s) * 1000
}

// flag is a boolean that may also arrive as text or number.
type flag bool

// UnmarshalJSON reads true, false, null, 0, 1, or one of them as a string.
func (f *flag) UnmarshalJSON(text []byte) error {
	switch string(bytes.ToLower(bytes.Trim(text, `"`))) {
	case "true", "1":
		*f = true
	case "false", "0", "null", "":
		*f = false
	default:
		return fmt.Errorf("%s is neither true nor false", excerpt(text))
	}
	return nil
}

// reader converts decimals into a symbol's units and remembers the first error.
type reader struct {
	symbol  *exchange.Symbol
	profile *Profile // nil for none
	err     error
}

// need reports a missing required field.
func (r *reader) need(field string, given bool) {
	if !given {
		r.note(fmt.Errorf("no %s", field))
	}
}

// price reads a price. Digits finer than the scale are cut off.
func (r *reader) price(field string, n number) exchange.Price {
	p, err := r.symbol.Price(n.Truncate(int32(r.symbol.PriceScale)))
	r.keep(field, n, err)
	return p
}

// quantity reads one of the account's own quantities: it must be exact, except for float noise, and
// not negative.
func (r *reader) quantity(field string, n number) exchange.Quantity {
	d, noise := withoutNoise(n.Decimal, int32(r.symbol.QuantityScale))
	q, err := r.symbol.Quantity(d)
	if err != nil && !noise && r.profile != nil && r.profile.HalfTick {
		q, err = r.nearestTick(n.Decimal)
	}
	if err == nil && q < 0 {
		err = fmt.Errorf("below zero")
	}
	r.keep(field, n, err)
	return q
}

// noiseDigits is the minimum number of digits or decimal places of a number with binary float
// noise: 0.9970000000000002 is 0.997 and 0.0040000000000002 is 0.004, but 0.9970002 stays.
const noiseDigits = 15

// withoutNoise rounds a number that differs from its scale only by float noise.
func withoutNoise(d decimal.Decimal, scale int32) (rounded decimal.Decimal, noise bool) {
	if -d.Exponent() <= scale || d.NumDigits() < noiseDigits && -d.Exponent() < noiseDigits {
		return d, false
	}
	rounded = d.Round(scale)
	if d.Sub(rounded).Abs().GreaterThan(decimal.New(1, -scale-2)) { // a hundredth of a step
		return d, false
	}
	return rounded, true
}

// nearestTick reads a quantity within half a tick as the tick.
func (r *reader) nearestTick(d decimal.Decimal) (exchange.Quantity, error) {
	tick := r.symbol.QuantityDecimal(r.symbol.QuantityTick)
	nearest := d.DivRound(tick, 0).Mul(tick)
	if d.Sub(nearest).Abs().GreaterThanOrEqual(tick.Div(decimal.NewFromInt(2))) {
		return 0, fmt.Errorf("half a tick from the nearest: %w", exchange.ErrInexact)
	}
	return r.symbol.Quantity(nearest)
}

// publicQuantity reads a quantity of the public market. Digits finer than the scale are cut off.
func (r *reader) publicQuantity(field string, n number) exchange.Quantity {
	q, err := r.symbol.Quantity(n.Truncate(int32(r.symbol.QuantityScale)))
	r.keep(field, n, err)
	return q
}

// amount reads money or a mean price, rounded to 18 places.
func (r *reader) amount(field string, n number) exchange.Amount {
	a, err := exchange.AmountRounded(n.Decimal)
	r.keep(field, n, err)
	return a
}

// orderAmountPlaces is the number of decimal places of an order's amount, beyond which float noise is removed.
const orderAmountPlaces = 8

// orderAmount reads the amount of an order without float noise: an order is recognized by its amount.
func (r *reader) orderAmount(field string, n number) exchange.Amount {
	n.Decimal, _ = withoutNoise(n.Decimal, orderAmountPlaces)
	return r.amount(field, n)
}

// rate reads a share, rounded to 8 places.
func (r *reader) rate(field string, n number) exchange.Rate {
	rate, err := exchange.RateFromDecimal(n.Round(8))
	r.keep(field, n, err)
	return rate
}

func (r *reader) keep(field string, n number, err error) {
	if err != nil {
		r.note(fmt.Errorf("%s %s: %w", field, n, err))
	}
}

func (r *reader) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}
