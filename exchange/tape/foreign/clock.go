package foreign

import (
	"strconv"
	"strings"
	"time"
)

// timeForms are the accepted date formats. A fraction may follow the seconds of each. A time
// without a zone is UTC.
var timeForms = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
	"2006-01-02 03-PM", "2006-01-02 15", "2006.01.02 15:04", "2006.01.02 15:04:05", "2006.01.02", "2006/01/02 15:04", "2006/01/02 15:04:05", "2006/01/02",
	"20060102 150405", "20060102 15:04:05", "20060102 15:04", "20060102", "2006-01-02T15:04", "Jan 2, 2006",
}

// millisecondsOf reads a time in any unit or form.
func millisecondsOf(text string) (int64, bool) {
	if at, ok := unixTime(text); ok {
		return at, true
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), " GMT")
	for _, form := range timeForms {
		if at, err := time.Parse(form, text); err == nil {
			return at.UnixMilli(), true
		}
	}
	return 0, false
}

// unixTime reads a number of seconds, milliseconds, microseconds or nanoseconds since 1970. Its
// magnitude determines the unit, for times from 1973 to the year 5138.
func unixTime(text string) (int64, bool) {
	const (
		minSeconds = 1e8
		maxSeconds = 1e11
	)
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < minSeconds || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	switch {
	case n < maxSeconds:
		thousandths, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64) // digits only, see above
		return n*1_000 + thousandths, true
	case n < maxSeconds*1_000:
		return n, true
	case n < maxSeconds*1_000_000:
		return n / 1_000, true
	}
	return n / 1_000_000, true
}
