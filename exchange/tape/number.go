package tape

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// maxDigits of a number for the fast path: 10^18 fits an int64.
const maxDigits = 18

// scan parses a plain decimal number at i: its digits as an integer, the number of decimal places,
// and its end. The end is -1 if there is no number or it is too long. Eight bytes after the data
// must be readable.
func scan(data []byte, i int) (mantissa uint64, places, end int) {
	begin := i
	if x, other := eight(data, i); other == 0 {
		mantissa, i = digits(data, number(x), i+8)
	} else {
		n := bits.TrailingZeros64(other) / 8
		mantissa, i = number(x<<(64-8*n)), i+n
	}
	whole := i - begin
	if data[i] == '.' {
		begin = i + 1
		if x, other := eight(data, begin); other == 0 {
			mantissa, i = digits(data, mantissa*1e8+number(x), begin+8)
		} else {
			n := bits.TrailingZeros64(other) / 8
			mantissa, i = mantissa*exchange.PowerOf10(n)+number(x<<(64-8*n)), begin+n
		}
		places = i - begin
	}
	if whole+places == 0 || whole+places > maxDigits {
		return 0, 0, -1
	}
	return mantissa, places, i
}

// eight loads eight bytes: x has the values of the digits, and other a high bit for each byte that
// is not a digit. It is reliable up to the first such byte.
func eight(data []byte, i int) (x, other uint64) {
	x = binary.LittleEndian.Uint64(data[i:]) ^ 0x3030303030303030
	return x, (x + 0x7676767676767676 | x) & 0x8080808080808080 // adding 0x76 to more than 9 sets the high bit
}

// number returns the values of eight digits, the first in the lowest byte, as one number.
func number(x uint64) uint64 {
	x = x*10 + x>>8
	return ((x&0x000000ff000000ff)*0x000f424000000064 + (x>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
}

// digits parses the remaining digits at i and appends them to value.
func digits(data []byte, value uint64, i int) (uint64, int) {
	for data[i]-'0' <= 9 {
		x, other := eight(data, i)
		n := bits.TrailingZeros64(other) / 8 // eight when all are digits
		value, i = value*exchange.PowerOf10(n)+number(x<<(64-8*n)), i+n
	}
	return value, i
}

// units returns a scanned number in units of 10^-scale.
func units(mantissa uint64, places, scale int) (int64, bool) {
	for places > scale { // digits beyond the scale must be zeros
		if mantissa%10 != 0 {
			return 0, false
		}
		mantissa, places = mantissa/10, places-1
	}
	if scale-places > maxDigits {
		return 0, false
	}
	high, low := bits.Mul64(mantissa, exchange.PowerOf10(scale-places))
	return int64(low), high == 0 && low < 1<<63
}

// float returns a scanned number as the nearest float64.
func float(mantissa uint64, places int) float64 {
	if mantissa <= 1<<53 {
		return float64(mantissa) / exchange.FloatPowerOf10(places) // both are exact, so the quotient is the nearest float64
	}
	// The quotient's first 63 or 64 bits; the last is set if more follow. The conversion rounds
	// them once.
	up, down := bits.LeadingZeros64(mantissa), bits.LeadingZeros64(exchange.PowerOf10(places))
	shifted := mantissa << up
	quotient, rest := bits.Div64(shifted>>1, shifted<<63, exchange.PowerOf10(places)<<down)
	if rest != 0 {
		quotient |= 1
	}
	return math.Ldexp(float64(quotient), down-up-63)
}

// wholeOf parses digits only.
func wholeOf(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// floatOf parses any decimal number from zero up.
func floatOf(text []byte) (float64, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(text), 64)
	return value, err == nil && !math.IsInf(value, 0)
}

// priceOf parses any decimal number, such as 1e-05, in units of 10^-scale. If the scale is too
// small, more is the required number of decimal places.
func priceOf(text []byte, scale int) (price int64, more int, ok bool) {
	const longest = 60
	if len(text) > longest {
		return 0, 0, false
	}
	d, err := decimal.NewFromString(string(text))
	if err != nil || d.Exponent() > longest || d.Exponent() < -longest {
		return 0, 0, false
	}
	places := 0
	for !d.Equal(d.Truncate(int32(places))) {
		places++
	}
	if places > scale {
		return 0, places, true
	}
	n := d.Shift(int32(scale)).BigInt()
	return n.Int64(), 0, n.IsInt64()
}
