package configs_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"botd/configs"
	"botd/exchange"
)

func at(tb testing.TB, text string) int64 {
	tb.Helper()
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		tb.Fatal(err)
	}
	return moment.UnixMilli()
}

func TestTheNextMomentFollowsFromTheClockAlone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ spec, after, next string }{
		{"@candle", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"},
		{"@candle", "2026-01-01T00:04:59.999Z", "2026-01-01T00:05:00Z"},
		{"@every 1s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"},
		{"@every 500ms", "2026-01-01T00:00:00.100Z", "2026-01-01T00:00:00.5Z"},
		{"@every 100ms", "2026-01-01T00:00:00.100Z", "2026-01-01T00:00:00.2Z"},
		{"@every 1h30m", "1970-01-01T01:00:00Z", "1970-01-01T01:30:00Z"},
		{"@every 1d", "2026-03-29T12:00:00Z", "2026-03-30T00:00:00Z"},
		{"@hourly", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
		{"*/5 * * * *", "2026-01-01T00:03:00.001Z", "2026-01-01T00:05:00Z"},
		{"30 */5 * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:05:30Z"},
		{"30 2 * * *", "2026-03-29T00:00:00Z", "2026-03-29T02:30:00Z"}, // this time does not exist where summer time starts
		{"0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"}, // 2100 has no such day
	} {
		schedule, err := configs.ParseSchedule(row.spec, exchange.Minute5)
		if err != nil {
			t.Errorf("%s: %v", row.spec, err)
			continue
		}
		want, have := row.next, time.UnixMilli(schedule.Next(at(t, row.after))).UTC().Format("2006-01-02T15:04:05.999Z07:00")
		if want != have {
			t.Errorf("%s after %s: want %s, have %s", row.spec, row.after, want, have)
		}
		if schedule.Candle() != (row.spec == "@candle") {
			t.Errorf("%s: want Candle %v, have %v", row.spec, row.spec == "@candle", schedule.Candle())
		}
	}
}

func TestTheParsersTrapsAreRefusedBeforeTheParser(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ spec, want string }{
		{"TZ=UTC", "names a time zone\n  hint: leave TZ=UTC out"},
		{"CRON_TZ=Europe/Berlin 0 * * * *", "names a time zone\n  hint: leave CRON_TZ=Europe/Berlin out"},
		{"@every 99ms", "is shorter than 100ms"},
		{"@every", "is not a duration"},
		{"@every 10", "is not a duration"},
		{"@every 1.5ms", "whole milliseconds"},
		{"@every 400d", "is longer than 366d"},
		{"@every -1s", "is not a duration"},
		{"@evry 1s", `hint: did you mean "@every"?`},
		{"@hourly 5", "schedule"},
		{"0 0 31 2 *", "never occurs\n  hint: no month has such a day"},
		{"* * * *", "has 4 fields, not 5 or 6"},
		{"61 * * * *", "above maximum"},
		{"*/0 * * * *", "schedule"},
		{", , * * * *", "has a field without a value"},
		{strings.Repeat("1,", 300), "too long"},
	} {
		_, err := configs.ParseSchedule(row.spec, exchange.Minute1)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: want an error with %q, have %v", row.spec, row.want, err)
		}
	}
}

func TestNextIsAlwaysLaterAndTheFirst(t *testing.T) {
	t.Parallel()
	specs := []string{"@candle", "@every 100ms", "@every 7s", "@every 3d", "*/7 3 * * *", "5 4 1 * 1", "@weekly"}
	rapid.Check(t, func(t *rapid.T) {
		schedule, err := configs.ParseSchedule(rapid.SampledFrom(specs).Draw(t, "spec"), exchange.Week1)
		if err != nil {
			t.Fatal(err)
		}
		after := rapid.Int64Range(-1e12, 1e13).Draw(t, "after")
		next := schedule.Next(after)
		if next <= after {
			t.Fatalf("%s: want a moment after %d, have %d", schedule, after, next)
		}
		between := rapid.Int64Range(after, next-1).Draw(t, "between")
		if again := schedule.Next(between); again != next {
			t.Fatalf("%s: want %d to be the first after %d too, have %d", schedule, next, between, again)
		}
		again, err := configs.ParseSchedule(schedule.String(), exchange.Week1)
		if err != nil || again.Next(after) != next {
			t.Fatalf("want %s to read back as itself, have %s, %v", schedule, again, err)
		}
	})
}

func TestTheEndOfTimeIsNever(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"@candle", "@every 1s", "@every 366d", "0 * * * *", "0 0 29 2 *"} {
		schedule, err := configs.ParseSchedule(spec, exchange.Week1)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []int64{math.MaxInt64, math.MaxInt64 - 1} {
			if have := schedule.Next(after); have != math.MaxInt64 {
				t.Errorf("%s after %d: want never, have %d", spec, after, have)
			}
		}
	}
	if have := (configs.Schedule{}).Next(0); have != math.MaxInt64 {
		t.Errorf("want the zero schedule never to come, have %d", have)
	}
}

func BenchmarkNext(b *testing.B) {
	for _, spec := range []string{"@candle", "@every 1s", "*/5 * * * *"} {
		b.Run(spec, func(b *testing.B) {
			schedule, err := configs.ParseSchedule(spec, exchange.Minute1)
			if err != nil {
				b.Fatal(err)
			}
			nowMS := at(b, "2026-01-01T00:00:00Z")
			b.ReportAllocs()
			for b.Loop() {
				nowMS = schedule.Next(nowMS)
				if nowMS > 1e14 {
					nowMS = 0
				}
			}
		})
	}
}
