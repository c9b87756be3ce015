package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// number is a decimal that may come as a JSON number or string. It is written
// as a decimal string.
type number struct{ decimal.Decimal }

// maxExponent bounds what is read: 1e31 and beyond is refused, not computed.
const maxExponent = 30

// UnmarshalJSON reads a number, a string holding one, or null as zero.
func (n *number) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) || bytes.Equal(text, []byte(`""`)) {
		n.Decimal = decimal.Zero
		return nil
	}
	if len(text) > 80 {
		return fmt.Errorf("a number of %d characters", len(text))
	}
	d, err := decimal.NewFromString(string(bytes.Trim(text, `"`)))
	if err != nil {
		return fmt.Errorf("%s is not a number", text)
	}
	if d.Exponent() > maxExponent || d.Exponent() < -maxExponent {
		return fmt.Errorf("%s is out of range", text)
	}
	n.Decimal = d
	return nil
}

// MarshalJSON writes a decimal string.
func (n number) MarshalJSON() ([]byte, error) { return []byte(`"` + n.Decimal.String() + `"`), nil }

// plain is a decimal written as a JSON number, below 0.0001 in scientific notation.
type plain struct{ decimal.Decimal }

// UnmarshalJSON reads like number.
func (p *plain) UnmarshalJSON(text []byte) error { return (*number)(p).UnmarshalJSON(text) }

// MarshalJSON writes a JSON number.
func (p plain) MarshalJSON() ([]byte, error) {
	abs := p.Abs()
	if abs.IsZero() || abs.GreaterThanOrEqual(decimal.New(1, -4)) {
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

// whole is an integer that may come as a JSON number or string.
type whole int64

// UnmarshalJSON reads an integer, or a decimal number without a fraction.
func (w *whole) UnmarshalJSON(text []byte) error {
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

// millisText is milliseconds in a string, as the spot ticker's updateTime.
type millisText int64

// UnmarshalJSON reads like whole.
func (m *millisText) UnmarshalJSON(text []byte) error { return (*whole)(m).UnmarshalJSON(text) }

// MarshalJSON writes a string.
func (m millisText) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(strconv.FormatInt(int64(m), 10))), nil
}

// reader converts decimals into a symbol's whole units and remembers the first fault.
type reader struct {
	symbol *exchange.Symbol
	err    error
}

// price converts exactly where it can; a venue's price finer than the scale is cut to it.
func (r *reader) price(n number) exchange.Price {
	p, err := r.symbol.Price(n.Truncate(int32(r.symbol.PriceScale)))
	r.keep("price", n, err)
	return p
}

func (r *reader) quantity(n number) exchange.Quantity {
	q, err := r.symbol.Quantity(n.Decimal)
	r.keep("quantity", n, err)
	return q
}

func (r *reader) amount(n number) exchange.Amount {
	a, err := exchange.AmountRounded(n.Decimal)
	r.keep("amount", n, err)
	return a
}

func (r *reader) keep(what string, n number, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s %s of %s: %w", what, n, r.symbol.Name, err)
	}
}

func readAmount(n number) (exchange.Amount, error) { return exchange.AmountRounded(n.Decimal) }

func float(f float64) number { return number{decimal.NewFromFloat(f)} }

func unmarshal(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("more after the answer")
	}
	return nil
}
