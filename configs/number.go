package configs

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/notation"
)

// whole returns the value of an integer between two inclusive bounds.
func whole(into *int, low, high int) value {
	return value{kind: KindWhole, low: strconv.Itoa(low), high: strconv.Itoa(high),
		text: func() string { return strconv.Itoa(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			n, problem, hint := notation.Whole(text, low, high)
			return notation.Store(into, n, problem, hint)
		}}
}

// duration returns the value of a duration, in milliseconds, between two inclusive bounds: 500ms, 90s, 10m, 4h, 30d or a sum of such terms.
func duration(into *int64, low, high int64) value {
	return value{kind: KindDuration, low: notation.DurationText(low), high: notation.DurationText(high),
		text: func() string { return notation.DurationText(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			ms, problem, hint := notation.DurationWithin(text, low, high)
			return notation.Store(into, ms, problem, hint)
		}}
}

// share returns the value of a number or a percentage between two inclusive bounds.
func share(into *exchange.Rate, low, high exchange.Rate) value {
	return value{kind: KindShare, low: notation.Percent(low), high: notation.Percent(high),
		text: func() string { return notation.Percent(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			rate, problem, hint := notation.Share(text, low, high)
			return notation.Store(into, rate, problem, hint)
		}}
}

// number returns the value of a decimal number. take stores it or returns a problem.
func number(show func() string, store func(text string, d decimal.Decimal) (problem, hint string)) value {
	return value{kind: KindNumber, text: show, parse: func(text string) (string, string) {
		d, hint, err := notation.Decimal(text)
		if err != nil {
			return ": " + err.Error(), cmp.Or(hint, "write a plain number, such as 0.5")
		}
		return store(text, d)
	}}
}

// maxAmount exceeds any account. Values derived from it must not overflow.
var maxAmount = exchange.AmountOf(1_000_000_000_000_000)

// amount returns the value of an amount of money, at least low.
func amount(into *exchange.Amount, low exchange.Amount) value {
	v := number(func() string { return into.String() }, func(text string, d decimal.Decimal) (string, string) {
		amount, err := exchange.AmountFromDecimal(d)
		switch {
		case err != nil:
			return fmt.Sprintf(" %s has more than %d decimal places or is too large", text, exchange.AmountScale), ""
		case amount.Less(low):
			return fmt.Sprintf(" %s is below %s", text, low), ""
		case maxAmount.Less(amount):
			return fmt.Sprintf(" %s is above %s", text, maxAmount), ""
		}
		*into = amount
		return "", ""
	})
	v.low, v.high, v.zero = low.String(), maxAmount.String(), into.IsZero
	return v
}
