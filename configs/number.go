package configs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/risk"
)

// whole is a whole number between two inclusive bounds.
func whole(into *int, low, high int) value {
	return value{kind: KindWhole, low: strconv.Itoa(low), high: strconv.Itoa(high),
		text: func() string { return strconv.Itoa(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			d, hint, err := parseDecimal(text)
			if err == nil && !d.IsInteger() {
				err, hint = fmt.Errorf("%q is not a whole number", text), ""
			}
			switch {
			case err != nil:
				return ": " + err.Error(), cmp.Or(hint, fmt.Sprintf("write a whole number from %d to %d", low, high))
			case d.LessThan(decimal.NewFromInt(int64(low))) || d.GreaterThan(decimal.NewFromInt(int64(high))):
				return fmt.Sprintf(" %s is not between %d and %d", text, low, high), ""
			}
			*into = int(d.IntPart())
			return "", ""
		}}
}

// duration is 500ms, 90s, 10m, 4h, 30d or a sum of such terms, in milliseconds, between two inclusive bounds.
func duration(into *int64, low, high int64) value {
	return value{kind: KindDuration, low: durationText(low), high: durationText(high),
		text: func() string { return durationText(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			ms, err := parseDuration(text)
			switch {
			case err != nil:
				return ": " + err.Error(), durationHint(text)
			case ms < low || ms > high:
				return fmt.Sprintf(" %s is not between %s and %s", text, durationText(low), durationText(high)), ""
			}
			*into = ms
			return "", ""
		}}
}

// share is a number or a percentage between two inclusive bounds.
func share(into *exchange.Rate, low, high exchange.Rate) value {
	return value{kind: KindShare, low: percent(low), high: percent(high),
		text: func() string { return percent(*into) }, zero: func() bool { return *into == 0 },
		parse: func(text string) (string, string) {
			rate, hint, err := parseRate(text)
			switch {
			case err != nil:
				return ": " + err.Error(), cmp.Or(hint, "write a share, such as 5% or 0.05")
			case rate > high:
				if rate >= exchange.RateOne && rate/100 >= low && rate/100 <= high && !strings.HasSuffix(text, "%") {
					hint = fmt.Sprintf("did you mean %s%%?", text)
				}
				return fmt.Sprintf(" %s is above %s", text, percent(high)), hint
			case rate < low && low == 1:
				return fmt.Sprintf(" %s is not above zero", text), ""
			case rate < low:
				return fmt.Sprintf(" %s is below %s", text, percent(low)), ""
			}
			*into = rate
			return "", ""
		}}
}

// number is a decimal number. take stores it or returns a problem.
func number(show func() string, take func(text string, d decimal.Decimal) (problem, hint string)) value {
	return value{kind: KindNumber, text: show, parse: func(text string) (string, string) {
		d, hint, err := parseDecimal(text)
		if err != nil {
			return ": " + err.Error(), cmp.Or(hint, "write a plain number, such as 0.5")
		}
		return take(text, d)
	}}
}

// mostAmount exceeds any account. Values derived from it must not overflow.
var mostAmount = exchange.AmountOf(1_000_000_000_000_000)

// amount is money, at least low.
func amount(into *exchange.Amount, low exchange.Amount) value {
	v := number(func() string { return into.String() }, func(text string, d decimal.Decimal) (string, string) {
		amount, err := exchange.AmountFromDecimal(d)
		switch {
		case err != nil:
			return fmt.Sprintf(" %s has more than %d decimal places or is too large", text, exchange.AmountScale), ""
		case amount.Less(low):
			return fmt.Sprintf(" %s is below %s", text, low), ""
		case mostAmount.Less(amount):
			return fmt.Sprintf(" %s is above %s", text, mostAmount), ""
		}
		*into = amount
		return "", ""
	})
	v.low, v.high, v.zero = low.String(), mostAmount.String(), into.IsZero
	return v
}

const noLimitHint = "take the line out for no limit of its own"

// units is a quantity in base units, above zero.
func units(into *exchange.Amount) value {
	return number(func() string { return into.String() }, func(text string, d decimal.Decimal) (string, string) {
		amount, err := exchange.AmountFromDecimal(d)
		switch {
		case d.Sign() <= 0:
			return fmt.Sprintf(" %s is not above zero", text), noLimitHint
		case err != nil:
			return fmt.Sprintf(" %s is too large, or has too many decimal places", text), ""
		}
		*into = amount
		return "", ""
	})
}

// loss is a limit of a loss: a share, 5%, or an amount, 500 USDT.
func loss(into *risk.Loss) value {
	return value{kind: KindLoss, high: "100%", text: func() string { return into.String() }, parse: func(text string) (string, string) {
		money, absolute := strings.CutSuffix(strings.TrimSpace(text), "USDT")
		d, hint, err := parseDecimal(strings.TrimSpace(money))
		if !absolute {
			if err == nil && d.GreaterThan(decimal.NewFromInt(100)) {
				return fmt.Sprintf(" %s is above 100%%", text), fmt.Sprintf("did you mean %s USDT?", text)
			}
			var of risk.Loss
			problem, hint := share(&of.Share, 1, exchange.RateOne).parse(text)
			if problem == "" {
				*into = of
			}
			return problem, hint
		}
		amount, inexact := exchange.AmountFromDecimal(d)
		switch {
		case err != nil:
			return ": " + err.Error(), "write a share, 5%, or money, 500 USDT"
		case inexact != nil:
			return fmt.Sprintf(" %s has more than %d decimal places or is too large", text, exchange.AmountScale), hint
		case amount.Sign() <= 0:
			return fmt.Sprintf(" %s is not above zero", text), noLimitHint
		}
		*into = risk.Loss{USDT: amount}
		return "", ""
	}}
}
