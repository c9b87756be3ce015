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
	for _, text := range []string{"", "yesterday", "-10m", "25:00"} {
		if ms, err := ParsePast("--at", text, now); err == nil || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%q: want it refused, have %d", text, ms)
		}
	}
}
