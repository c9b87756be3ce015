package daemon

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// rounded returns a decimal with that many places; "-" for an absent value and for zero.
func rounded(text string, places int32) string {
	number, err := decimal.NewFromString(text)
	if err != nil || number.IsZero() {
		return "-"
	}
	return number.StringFixed(places)
}

// placesOf returns the number of decimal places in a price of the symbol.
func placesOf(price string) int32 {
	_, fraction, _ := strings.Cut(price, ".")
	return int32(len(fraction)) //nolint:gosec // a decimal has at most 18
}

// gain formats an amount of USDT with its sign.
func gain(text string) string {
	number, err := decimal.NewFromString(text)
	if err != nil {
		return "-"
	}
	if number = number.Round(2); number.IsPositive() {
		return "+" + number.StringFixed(2)
	}
	return number.StringFixed(2)
}

// withSign puts a plus before a positive amount.
func withSign(amount string) string {
	if amount == "" || amount[0] == '-' {
		return amount
	}
	return "+" + amount
}

// percent formats a ratio with its sign.
func percent(ratio *float64) string {
	if ratio == nil {
		return "-"
	}
	text := fmt.Sprintf("%+.2f %%", *ratio*100)
	if strings.Trim(text, "+-0. %") == "" {
		return "0.00 %"
	}
	return text
}

// away formats a distance, which has no sign.
func away(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return fmt.Sprintf(" (%.1f %%)", *ratio*100)
}

// positionOf describes a signed quantity in words.
func positionOf(quantity string) string {
	size, short := strings.CutPrefix(quantity, "-")
	switch {
	case quantity == "":
		return "unknown"
	case strings.Trim(size, "0.") == "":
		return "flat"
	case short:
		return "short " + size
	}
	return "long " + size
}

// age formats the time since a moment, in the largest unit that is precise enough.
func age(sinceMS, nowMS int64) string {
	since := time.Duration(nowMS-sinceMS) * time.Millisecond
	switch {
	case sinceMS == 0:
		return "-"
	case since < 90*time.Second:
		return fmt.Sprintf("%d s", max(0, int64(since.Seconds())))
	case since < 90*time.Minute:
		return fmt.Sprintf("%d min", int64(since.Minutes()))
	case since < 48*time.Hour:
		return fmt.Sprintf("%d h", int64(since.Hours()))
	}
	return fmt.Sprintf("%d d", int64(since.Hours()/24))
}

// readPlaces is the number of decimal places shown of an average price.
const readPlaces = 8

// asRead formats a decimal for a table: 0 means none, and a long tail is cut.
func asRead(decimal string) string {
	if strings.Trim(decimal, "-0.") == "" {
		return "-"
	}
	if dot := strings.IndexByte(decimal, '.'); dot >= 0 && len(decimal) > dot+1+readPlaces {
		return strings.TrimRight(strings.TrimRight(decimal[:dot+1+readPlaces], "0"), ".")
	}
	return decimal
}
