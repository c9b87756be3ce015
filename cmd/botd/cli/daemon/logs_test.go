package daemon

import (
	"bytes"
	"testing"
	"time"

	"botd/runtime/ops"
)

func TestALogLineOfAnotherDayHasItsDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct{ at, want string }{
		{"2026-11-21T02:59:59Z", "02:59:59 INF back\n"},
		{"2026-11-20T23:59:59.9Z", "2026-11-20 23:59:59 INF back\n"},
	} {
		var out bytes.Buffer
		logText(&out, &ops.LogLine{Time: c.at, Level: "info", Message: "back"}, false, now)
		if have := out.String(); have != c.want {
			t.Errorf("a line of %s: want %q, have %q", c.at, c.want, have)
		}
	}
}
