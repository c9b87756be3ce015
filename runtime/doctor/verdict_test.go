package doctor

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"botd/internal/version"
)

// TestVerdictsAtTheirBounds judges measured values next to each bound.
func TestVerdictsAtTheirBounds(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		name  string
		judge func(e *examination)
		want  []finding
	}{
		{"63 MiB", func(e *examination) { e.space(64*mib-1, true) },
			[]finding{{"disk", "fail", "63 MiB are free in /data/live", "free some space: nothing opens when the journal's disk is full"}}},
		{"64 MiB", func(e *examination) { e.space(64*mib, true) },
			[]finding{{"disk", "warn", "64 MiB are free in /data/live", "free some space before it is full: then nothing opens"}}},
		{"almost a GiB", func(e *examination) { e.space(1024*mib-1, true) },
			[]finding{{"disk", "warn", "1023 MiB are free in /data/live", "free some space before it is full: then nothing opens"}}},
		{"a GiB", func(e *examination) { e.space(1024*mib, true) }, []finding{{"disk", "ok", "1.0 GiB are free in /data/live", ""}}},
		{"2.5 GiB", func(e *examination) { e.space(2560*mib, true) }, []finding{{"disk", "ok", "2.5 GiB are free in /data/live", ""}}},
		{"unknown space", func(e *examination) { e.space(0, false) }, nil},
		{"50 ms", func(e *examination) { e.speed(50*time.Millisecond, nil) }, []finding{{"disk", "ok", "a durable write takes 50ms", ""}}},
		{"1.234567 ms", func(e *examination) { e.speed(1_234_567, nil) }, []finding{{"disk", "ok", "a durable write takes 1.23ms", ""}}},
		{"1.239 ms", func(e *examination) { e.speed(1_239_000, nil) }, []finding{{"disk", "ok", "a durable write takes 1.24ms", ""}}},
		{"51.2 ms", func(e *examination) { e.speed(50*time.Millisecond+1, nil); e.speed(51_200*time.Microsecond, nil) },
			[]finding{{"disk", "warn", "a durable write takes 50ms", "every order waits for one write like that: use a local disk"},
				{"disk", "warn", "a durable write takes 51ms", "every order waits for one write like that: use a local disk"}}},
		{"a full disk", func(e *examination) { e.speed(0, errors.New("no space left")) }, []finding{{"disk", "fail", "no space left",
			"free some space, or set data_dir in botd.yaml to a writable disk: nothing is sent that is not written first"}}},
		{"a second off", func(e *examination) { e.clock(time.Second, 4*time.Millisecond, 8*time.Millisecond) },
			[]finding{{"clock", "ok", "off by 1s from the venue's, within 4ms", ""}}},
		{"more than a second", func(e *examination) { e.clock(-1_001*time.Millisecond, 0, time.Second) }, []finding{{"clock", "warn",
			"this machine's clock is off by -1.001s from the venue's; botd corrects for it", "synchronize the system clock: timedatectl set-ntp true"}}},
		{"30 s", func(e *examination) { e.clock(30*time.Second, 0, time.Second) }, []finding{{"clock", "warn",
			"this machine's clock is off by 30s from the venue's; botd corrects for it", "synchronize the system clock: timedatectl set-ntp true"}}},
		{"more than 30 s", func(e *examination) { e.clock(30*time.Second+time.Millisecond, 0, time.Second) }, []finding{{"clock", "fail",
			"this machine's clock is off by 30.001s from the venue's", "synchronize the system clock: timedatectl set-ntp true"}}},
		{"a bound of more than half the window", func(e *examination) { e.clock(0, 5*time.Millisecond, 9*time.Millisecond) }, []finding{{"clock", "warn",
			"the venue's clock is known only to within 5ms, for a window of 9ms", "use a closer or faster connection"}}},
		{"a release", func(e *examination) {
			e.version(version.Info{Version: "1.2.3", Revision: "0123456789abcdef", Go: "go1.26", Platform: "linux/arm64"})
		}, []finding{{"version", "ok", "botd 1.2.3 0123456789ab, go1.26, linux/arm64", ""}}},
		{"a release without a revision", func(e *examination) { e.version(version.Info{Version: "1.2.3", Go: "go1.26", Platform: "linux/arm64"}) },
			[]finding{{"version", "ok", "botd 1.2.3, go1.26, linux/arm64", ""}}},
		{"changed sources", func(e *examination) {
			e.version(version.Info{Version: "devel", Revision: "0123456789ab", Modified: true, Go: "go1.26"})
		},
			[]finding{{"version", "warn", "botd devel 0123456789ab, built from changed sources, go1.26",
				"build from a clean checkout before trading with money"}}},
	} {
		e := &examination{directory: "/data/live"}
		if c.judge(e); !slices.Equal(c.want, e.findings) {
			t.Errorf("%s: want %+v\nhave %+v", c.name, c.want, e.findings)
		}
	}
}

func TestOnlyRootIsWarnedAboutRoot(t *testing.T) {
	t.Parallel()
	d := newHouse(t, demo).examine(t)
	if os.Geteuid() == 0 {
		expect(t, d, "permissions", StateWarn, "botd runs as root", "botd's systemd unit does")
		without(t, d, "permissions", StateOK)
		return
	}
	expect(t, d, "permissions", StateOK, "data and configuration are accessible only to their owner", "")
	without(t, d, "permissions", StateWarn)
}
