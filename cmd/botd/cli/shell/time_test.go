package shell

import "testing"

func TestTimesAreUTC(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "1970-01-01 00:00:00", 1709208059999: "2024-02-29 12:00:59"} {
		if have := Second(ms); have != want {
			t.Errorf("%d: want %q, have %q", ms, want, have)
		}
	}
}
