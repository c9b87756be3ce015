package configs

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Durations in milliseconds.
const (
	second int64 = 1000
	minute       = 60 * second
	hour         = 60 * minute
	day          = 24 * hour
	week         = 7 * day
)

// shortened cuts a quoted text to a line's length.
func shortened(text string) string {
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

// parseDecimal parses a number exactly as written. It refuses numbers that YAML would read as octal or hexadecimal:
// 010 would silently be 8.
func parseDecimal(text string) (value decimal.Decimal, hint string, err error) {
	text = strings.TrimSpace(text)
	quoted := shortened(text)
	switch {
	case leadingZero.MatchString(text):
		digits := strings.TrimLeft(text, "+-0")
		if digits == "" || digits[0] < '0' || digits[0] > '9' {
			digits = "0" + digits
		}
		if strings.HasPrefix(text, "-") {
			digits = "-" + digits
		}
		return value, "write " + shortened(digits), fmt.Errorf("%q begins with a zero, which YAML may read as an octal number", quoted)
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

// parseRate parses a number, 0.05, or a percentage, 5%.
func parseRate(text string) (exchange.Rate, string, error) {
	text = strings.TrimSpace(text)
	plain, isPercentage := strings.CutSuffix(text, "%")
	d, hint, err := parseDecimal(strings.TrimSpace(plain))
	if err != nil {
		return 0, hint, err
	}
	if isPercentage {
		d = d.Shift(-2)
	}
	rate, err := exchange.RateFromDecimal(d)
	if err != nil {
		return 0, "", fmt.Errorf("%q has more than 8 decimal places or is too large", shortened(text))
	}
	return rate, "", nil
}

// percent formats a rate as a percentage.
func percent(rate exchange.Rate) string { return rate.Decimal().Shift(2).String() + "%" }

var durationPart = regexp.MustCompile(`^([0-9]{1,15}(?:\.[0-9]{1,6})?)(ms|s|m|h|d|w)`)

var durationUnits = map[string]int64{"ms": 1, "s": second, "m": minute, "h": hour, "d": day, "w": week}

// maxDurationMS is about ten years, longer than any sensible setting.
const maxDurationMS = 3653 * day

// ParseDuration parses a configured duration into milliseconds.
func ParseDuration(text string) (int64, error) { return parseDuration(text) }

// parseDuration parses a duration into milliseconds: one or more numbers, each with its unit (1h30m, 30d, 500ms), or
// 0.
func parseDuration(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "0" {
		return 0, nil
	}
	total, rest := decimal.Zero, text
	for rest != "" {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, fmt.Errorf("%q is not a duration", shortened(text))
		}
		count, err := decimal.NewFromString(part[1])
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration", shortened(text))
		}
		total = total.Add(count.Mul(decimal.NewFromInt(durationUnits[part[2]])))
		rest = rest[len(part[0]):]
		if total.GreaterThan(decimal.NewFromInt(maxDurationMS)) {
			return 0, fmt.Errorf("%q is longer than ten years", shortened(text))
		}
	}
	if text == "" || !total.IsInteger() {
		return 0, fmt.Errorf("%q is not a duration in whole milliseconds", shortened(text))
	}
	return total.IntPart(), nil
}

// durationHint suggests the correct form of an invalid duration.
func durationHint(text string) string {
	if _, err := strconv.Atoi(text); err == nil && len(text) < 10 {
		return fmt.Sprintf("did you mean %ss?", text)
	}
	return "durations are written 500ms, 90s, 10m, 4h or 30d"
}

// durationText formats milliseconds in the largest unit without a remainder.
func durationText(ms int64) string {
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

// never is a moment after all others.
const never = math.MaxInt64
