// Package moment parses and formats times as people write them.
package moment

import (
	"strconv"
	"time"

	"botd/internal/failure"
)

// Parse reads a date, a time or milliseconds, in UTC.
func Parse(flag, text string) (int64, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateTime, "20060102"} {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return at.UnixMilli(), nil
		}
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(ms, 10) == text && ms > 0 {
		return ms, nil
	}
	return 0, failure.Usagef("%s %q: want 2024-01-31, 2024-01-31T12:00:00Z or milliseconds", flag, text)
}

// ParsePast reads a past time: any form that Parse accepts, a duration before now, or a time of the last day as the log shows it.
func ParsePast(flag, text string, now time.Time) (int64, error) {
	now = now.UTC()
	for _, layout := range []string{"15:04", time.TimeOnly} {
		of, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), of.Second(), 0, time.UTC)
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at.UnixMilli(), nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago).UnixMilli(), nil
	}
	ms, err := Parse(flag, text)
	if err != nil {
		return 0, failure.Usagef("%s %q: want 2024-01-31T12:00:00Z, 14:05 (UTC, of the last day), 10m (ago), or milliseconds", flag, text)
	}
	return ms, nil
}

// ParseSince reads a time, or a duration before now.
func ParseSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago).UnixMilli(), nil
	}
	ms, err := Parse("--since", text)
	if err != nil {
		return 0, failure.Usagef("--since %q: want how long ago, as 24h, or a time, as 2026-01-31T15:04", text)
	}
	return ms, nil
}

// Minute formats a time in milliseconds to the minute, in UTC.
func Minute(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }
