// Package notation reads and writes numbers, shares, durations and quantities as configuration files write them.
//
// Configuration files, limits that are set while botd runs, and flags use the same
// notation. A refused value has a problem and a hint. The problem continues a sentence that
// begins with the name of the setting (" 0 is not between 1 and 9"). The hint, which may be
// empty, shows what to write.
package notation

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Durations in milliseconds.
const (
	Second int64 = 1000
	Minute       = 60 * Second
	Hour         = 60 * Minute
	Day          = 24 * Hour
	Week         = 7 * Day
)

// Shortened cuts a text that is quoted in an error to a line's length.
func Shortened(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

var (
	plainNumber = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$`)
	leadingZero = regexp.MustCompile(`^[+-]?0+[0-9]`)
	otherBase   = regexp.MustCompile(`^[+-]?0[xXoObB]`)
)

// maxDigits bounds the length of a number; an Amount has at most 18 + 20 digits.
const maxDigits = 64

// Decimal parses a number exactly as written. It refuses numbers that YAML would read as octal or hexadecimal: 010
// would silently be 8.
func Decimal(text string) (value decimal.Decimal, hint string, err error) {
	text = strings.TrimSpace(text)
	quoted := Shortened(text)
	switch {
	case leadingZero.MatchString(text):
		digits := strings.TrimLeft(text, "+-0")
		if digits == "" || digits[0] < '0' || digits[0] > '9' {
			digits = "0" + digits
		}
		if strings.HasPrefix(text, "-") {
			digits = "-" + digits
		}
		return value, "write " + Shortened(digits), fmt.Errorf("%q begins with a zero, which YAML may read as an octal number", quoted)
	case otherBase.MatchString(text):
		return value, "write it as a decimal number", fmt.Errorf("%q is not a decimal number", quoted)
	case strings.ContainsAny(text, "_,") && plainNumber.MatchString(strings.NewReplacer("_", "", ",", "").Replace(text)):
		return value, "write it without separators, with a point before the decimals", fmt.Errorf("%q is not a number", quoted)
	case strings.HasSuffix(text, "%") && plainNumber.MatchString(strings.TrimSuffix(text, "%")):
		return value, "this value is not a share; write a plain number", fmt.Errorf("%q is a percentage", quoted)
	case len(text) > maxDigits || !plainNumber.MatchString(text):
		return value, "", fmt.Errorf("%q is not a number", quoted)
	}
	value, err = decimal.NewFromString(strings.TrimPrefix(text, "+"))
	if err != nil || value.Exponent() > 30 || value.Exponent() < -30 {
		return decimal.Decimal{}, "", fmt.Errorf("%q is out of range", quoted)
	}
	return value, "", nil
}

// Store sets a value that was read without a problem, and returns the problem and the hint.
func Store[T any](into *T, read T, problem, hint string) (string, string) {
	if problem == "" {
		*into = read
	}
	return problem, hint
}

// Whole reads a whole number between two inclusive bounds.
func Whole(text string, low, high int) (n int, problem, hint string) {
	d, hint, err := Decimal(text)
	if err == nil && !d.IsInteger() {
		err = fmt.Errorf("%q is not a whole number", text)
	}
	switch {
	case err != nil:
		return 0, ": " + err.Error(), cmp.Or(hint, fmt.Sprintf("write a whole number from %d to %d", low, high))
	case d.LessThan(decimal.NewFromInt(int64(low))) || d.GreaterThan(decimal.NewFromInt(int64(high))):
		return 0, fmt.Sprintf(" %s is not between %d and %d", text, low, high), ""
	}
	return int(d.IntPart()), "", ""
}

// Share reads a number, 0.05, or a percentage, 5%, between two inclusive bounds.
func Share(text string, low, high exchange.Rate) (rate exchange.Rate, problem, hint string) {
	rate, hint, err := parseRate(text)
	switch {
	case err != nil:
		return 0, ": " + err.Error(), cmp.Or(hint, "write a share, such as 5% or 0.05")
	case rate > high:
		if rate >= exchange.RateOne && rate/100 >= low && rate/100 <= high && !strings.HasSuffix(text, "%") {
			hint = fmt.Sprintf("did you mean %s%%?", text)
		}
		return 0, fmt.Sprintf(" %s is above %s", text, Percent(high)), hint
	case rate < low && low == 1:
		return 0, fmt.Sprintf(" %s is not above zero", text), ""
	case rate < low:
		return 0, fmt.Sprintf(" %s is below %s", text, Percent(low)), ""
	}
	return rate, "", ""
}

func parseRate(text string) (exchange.Rate, string, error) {
	text = strings.TrimSpace(text)
	plain, isPercentage := strings.CutSuffix(text, "%")
	d, hint, err := Decimal(plain)
	if err != nil {
		return 0, hint, err
	}
	if isPercentage {
		d = d.Shift(-2)
	}
	rate, err := exchange.RateFromDecimal(d)
	if err != nil {
		return 0, "", fmt.Errorf("%q has more than 8 decimal places or is too large", Shortened(text))
	}
	return rate, "", nil
}

// Percent writes a rate as a percentage.
func Percent(rate exchange.Rate) string { return rate.Decimal().Shift(2).String() + "%" }

// NoLimitHint is the hint for a limit of zero.
const NoLimitHint = "remove the line for no limit of its own"

// Units reads a quantity above zero, in base units.
func Units(text string) (amount exchange.Amount, problem, hint string) {
	d, hint, err := Decimal(text)
	if err != nil {
		return amount, ": " + err.Error(), cmp.Or(hint, "write a plain number, such as 0.5")
	}
	amount, err = exchange.AmountFromDecimal(d)
	switch {
	case d.Sign() <= 0:
		return exchange.Amount{}, fmt.Sprintf(" %s is not above zero", text), NoLimitHint
	case err != nil:
		return exchange.Amount{}, fmt.Sprintf(" %s is too large, or has too many decimal places", text), ""
	}
	return amount, "", ""
}

var durationPart = regexp.MustCompile(`^([0-9]{1,15}(?:\.[0-9]{1,6})?)(ms|s|m|h|d|w)`)

var durationUnits = map[string]int64{"ms": 1, "s": Second, "m": Minute, "h": Hour, "d": Day, "w": Week}

// MaxDurationMS is about ten years, longer than any sensible setting.
const MaxDurationMS = 3653 * Day

// Duration parses a duration into milliseconds: one or more numbers, each with its unit (1h30m, 30d, 500ms), or 0.
func Duration(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "0" {
		return 0, nil
	}
	total, rest := decimal.Zero, text
	for rest != "" {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, fmt.Errorf("%q is not a duration", Shortened(text))
		}
		count, err := decimal.NewFromString(part[1])
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration", Shortened(text))
		}
		total = total.Add(count.Mul(decimal.NewFromInt(durationUnits[part[2]])))
		rest = rest[len(part[0]):]
		if total.GreaterThan(decimal.NewFromInt(MaxDurationMS)) {
			return 0, fmt.Errorf("%q is longer than ten years", Shortened(text))
		}
	}
	if text == "" || !total.IsInteger() {
		return 0, fmt.Errorf("%q is not a duration in whole milliseconds", Shortened(text))
	}
	return total.IntPart(), nil
}

// DurationHint suggests the correct form of a duration that Duration refuses.
func DurationHint(text string) string {
	if _, err := strconv.Atoi(text); err == nil && len(text) < 10 {
		return fmt.Sprintf("did you mean %ss?", text)
	}
	return "durations are written 500ms, 90s, 10m, 4h or 30d"
}

// DurationWithin reads a duration between two inclusive bounds, in milliseconds.
func DurationWithin(text string, low, high int64) (ms int64, problem, hint string) {
	ms, err := Duration(text)
	switch {
	case err != nil:
		return 0, ": " + err.Error(), DurationHint(text)
	case ms < low || ms > high:
		return 0, fmt.Sprintf(" %s is not between %s and %s", text, DurationText(low), DurationText(high)), ""
	}
	return ms, "", ""
}

// DurationText writes milliseconds in the largest unit without a remainder.
func DurationText(ms int64) string {
	if ms == 0 {
		return "0s"
	}
	for _, unit := range []string{"d", "h", "m", "s"} {
		if length := durationUnits[unit]; ms%length == 0 {
			return strconv.FormatInt(ms/length, 10) + unit
		}
	}
	return strconv.FormatInt(ms, 10) + "ms"
}
