package moment

import (
	"testing"
	"time"

	"botd/internal/failure"
)

func TestTimesAreParsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	for _, c := range []struct{ text, want string }{
		{"14:05", "2026-11-21T14:05:00Z"},
		{"14:30:00", "2026-11-21T14:30:00Z"},
		{"14:31", "2026-11-20T14:31:00Z"}, // today's time has not passed yet
		{"10m", "2026-11-21T14:20:00Z"},
		{"1h30m", "2026-11-21T13:00:00Z"},
		{"2026-11-20", "2026-11-20T00:00:00Z"},
		{"2026-11-20 14:05", "2026-11-20T14:05:00Z"}, // as the help documents
		{"2026-11-20 09:08:07", "2026-11-20T09:08:07Z"},
		{"2026-11-20T09:08:07+02:00", "2026-11-20T07:08:07Z"},
	} {
		ms, err := ParsePast("--at", c.text, now.In(time.FixedZone("elsewhere", 7200)))
		if have := time.UnixMilli(ms).UTC().Format(time.RFC3339); err != nil || have != c.want {
			t.Errorf("%s: want %s, have %s, %v", c.text, c.want, have, err)
		}
	}
	for _, text := range []string{"", "yesterday", "-10m", "0s", "25:00"} { // 0s is now, not a time of the past
		if ms, err := ParsePast("--at", text, now); ms != 0 || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%q: want it refused, have %d, %v", text, ms, err)
		}
	}
	if ms, err := ParsePast("--at", "1ns", now); err != nil || ms != now.UnixMilli()-1 {
		t.Errorf("the shortest duration: want the millisecond before now, have %d, %v", ms, err)
	}
}

// A place where the date is already the next one: the times of the day are those of UTC there, too.
func TestATimeOfTheDayIsOfTheLastDayInUTC(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 30, 0, 0, time.FixedZone("elsewhere", 7200)) // 2026-11-20 22:30 UTC
	for text, want := range map[string]string{"22:30": "2026-11-20T22:30:00Z", "22:30:01": "2026-11-19T22:30:01Z", "00:10": "2026-11-20T00:10:00Z"} {
		ms, err := ParsePast("--at", text, now)
		if have := time.UnixMilli(ms).UTC().Format(time.RFC3339); err != nil || have != want {
			t.Errorf("%s: want %s, have %s, %v", text, want, have, err)
		}
	}
}

// TestAMomentInEveryForm reads one moment in all forms, and invalid texts.
func TestAMomentInEveryForm(t *testing.T) {
	t.Parallel()
	const day, noon = 1_706_659_200_000, 1_706_702_700_000 // 2024-01-31, and 12:05 of it
	for text, want := range map[string]int64{"2024-01-31": day, "20240131": day, "2024-01-31T12:05:00Z": noon, "2024-01-31T13:05:00+01:00": noon,
		"2024-01-31T12:05": noon, "2024-01-31 12:05": noon, "2024-01-31 12:05:00": noon, "1706702700000": noon, "1": 1} {
		if have, err := Parse("--at", text); err != nil || have != want {
			t.Errorf("%s: want %d, have %d, %v", text, want, have, err)
		}
		if have, err := ParseSince(text); err != nil || have != want {
			t.Errorf("since %s: want %d, have %d, %v", text, want, have, err)
		}
	}
	for _, text := range []string{"", "0", "-5", "05", "+5", " 5", "5 ", "12x", "9223372036854775808", "2024-02-30", "2024-13-01", "noon"} {
		if have, err := Parse("--at", text); failure.CodeOf(err) != failure.Usage || have != 0 {
			t.Errorf("%q: want it refused, have %d, %v", text, have, err)
		}
	}
	if _, err := Parse("--from", "noon"); err.Error() != `--from "noon": want 2024-01-31, 2024-01-31T12:00:00Z or milliseconds` {
		t.Errorf("want the flag and the forms named, have %v", err)
	}
	if _, err := ParsePast("--at", "noon", time.UnixMilli(day)); err.Error() !=
		`--at "noon": want 2024-01-31T12:00:00Z, 14:05 (UTC, of the last day), 10m (ago), or milliseconds` {
		t.Errorf("want the forms named, have %v", err)
	}
	if have, err := ParseSince(""); have != 0 || err != nil {
		t.Errorf("want no bound of nothing, have %d, %v", have, err)
	}
	for _, text := range []string{"noon", "-10m"} { // a duration is how long ago: it is not negative
		if have, err := ParseSince(text); have != 0 || failure.CodeOf(err) != failure.Usage ||
			err.Error() != `--since "`+text+`": want how long ago, as 24h, or a time, as 2026-01-31T15:04` {
			t.Errorf("since %s: want it refused, have %d, %v", text, have, err)
		}
	}
	now := time.Now().UnixMilli()
	if have, err := ParseSince("0s"); err != nil || have < now || have > now+60_000 {
		t.Errorf("want now, have %d, %v", have, err)
	}
	before := time.Now().Add(-24 * time.Hour).UnixMilli()
	if have, err := ParseSince("24h"); err != nil || have < before || have > before+60_000 {
		t.Errorf("want a day ago, have %d, %v", have, err)
	}
}

func TestMinutesAreUTC(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "1970-01-01 00:00", 1709208059999: "2024-02-29 12:00"} {
		if have := Minute(ms); have != want {
			t.Errorf("%d: want %q, have %q", ms, want, have)
		}
	}
}
