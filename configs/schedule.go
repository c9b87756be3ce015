package configs

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"botd/exchange"
	"botd/internal/notation"
	"botd/internal/spell"
)

// Schedule defines the moments of a strategy's decisions. Its moments are nominal: they follow from the UTC clock
// alone, so a late or missed tick moves no other. The zero value is @candle without an interval, which has no
// moments.
type Schedule struct {
	spec     string
	interval exchange.Interval  // @candle
	everyMS  int64              // @every
	fields   *cron.SpecSchedule // cron; not changed after parsing
}

// regularMS returns the time between two moments; 0 where it varies.
func (s *Schedule) regularMS() int64 {
	if s.Candle() {
		return int64(s.interval)
	}
	return s.everyMS
}

// The minimum and maximum period of @every.
const (
	minEveryMS = 100
	maxEveryMS = 366 * day
)

const scheduleHint = `write "@candle", "@every 10s", "@hourly" or cron fields such as "*/5 * * * *" (minute hour day month weekday, in UTC)`

// parseSchedule parses "@candle" (or nothing), "@every 10s", a descriptor such as "@hourly", or cron fields: five, or
// six with seconds first. It returns a hint with an error.
func parseSchedule(spec string, interval exchange.Interval) (Schedule, string, error) {
	spec = strings.Join(strings.Fields(spec), " ")
	switch word, rest, _ := strings.Cut(spec, " "); {
	case spec == "" || spec == "@candle":
		return Schedule{spec: "@candle", interval: interval}, "", nil
	case word == "@every":
		return parseEvery(spec, rest)
	case strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ="):
		// The parser panics on a time zone without fields, and the summer time of another zone would double or skip
		// ticks.
		return Schedule{}, "leave " + notation.Shortened(word) + " out; schedules are in UTC",
			fmt.Errorf("schedule %q names a time zone", notation.Shortened(spec))
	case strings.HasPrefix(spec, "@"):
		known := []string{"@candle", "@every", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}
		if near := spell.Nearest(word, known); near != word {
			hint := scheduleHint
			if near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return Schedule{}, hint, fmt.Errorf("schedule %q is not known", notation.Shortened(spec))
		}
	}
	return parseCron(spec)
}

func parseEvery(spec, period string) (Schedule, string, error) {
	ms, err := notation.Duration(period)
	switch {
	case err != nil:
		return Schedule{}, `write "@every 10s"; periods are written 500ms, 90s, 10m, 4h or 30d`, fmt.Errorf("schedule %q: %w", notation.Shortened(spec), err)
	case ms < minEveryMS:
		return Schedule{}, "", fmt.Errorf("schedule %q is shorter than %s", notation.Shortened(spec), notation.DurationText(minEveryMS))
	case ms > maxEveryMS:
		return Schedule{}, "", fmt.Errorf("schedule %q is longer than %s", notation.Shortened(spec), notation.DurationText(maxEveryMS))
	}
	return Schedule{spec: "@every " + notation.DurationText(ms), everyMS: ms}, "", nil
}

func parseCron(spec string) (Schedule, string, error) {
	if len(spec) > 256 {
		return Schedule{}, scheduleHint, fmt.Errorf("schedule %q is too long", notation.Shortened(spec))
	}
	if fields := strings.Fields(spec); spec[0] != '@' && len(fields) != 5 && len(fields) != 6 {
		return Schedule{}, scheduleHint, fmt.Errorf("schedule %q has %d fields, not 5 or 6", notation.Shortened(spec), len(fields))
	}
	parser := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	parsed, err := parser.Parse(spec)
	if err != nil {
		return Schedule{}, scheduleHint, fmt.Errorf("schedule %q: %w", notation.Shortened(spec), err)
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Schedule{}, scheduleHint, fmt.Errorf("schedule %q is not known", notation.Shortened(spec))
	}
	const moments = 1<<60 - 1 // the bits below the parser's mark for a star
	for _, field := range []uint64{fields.Second, fields.Minute, fields.Hour, fields.Dom, fields.Month, fields.Dow} {
		if field&moments == 0 {
			// The parser accepts a field of commas alone, and Next then tries every second of five years.
			return Schedule{}, scheduleHint, fmt.Errorf("schedule %q has a field without a value", notation.Shortened(spec))
		}
	}
	fields.Location = time.UTC
	schedule := Schedule{spec: spec, fields: fields}
	if schedule.Next(0) == never {
		return Schedule{}, "no month has such a day", fmt.Errorf("schedule %q never occurs", notation.Shortened(spec))
	}
	return schedule, "", nil
}

// Candle reports whether the schedule is @candle: one tick per closed candle, driven by the market data and not the
// clock.
func (s Schedule) Candle() bool { return s.everyMS == 0 && s.fields == nil }

// String returns the schedule in its YAML form.
func (s Schedule) String() string {
	if s.spec == "" {
		return "@candle"
	}
	return s.spec
}

// Next returns the first nominal moment after the given one, or math.MaxInt64 if there is none. Periods count from
// 1970-01-01T00:00:00Z; for @candle it is the close of the current candle.
func (s Schedule) Next(afterMS int64) int64 {
	switch {
	case s.fields != nil:
		return s.nextCron(afterMS)
	case s.everyMS > 0:
		return nextMultiple(afterMS, s.everyMS)
	case s.interval > 0 && afterMS < never-2*int64(s.interval):
		return s.interval.OpenOf(afterMS) + int64(s.interval)
	}
	return never
}

func nextMultiple(afterMS, periodMS int64) int64 {
	if afterMS > never-2*periodMS {
		return never
	}
	into := afterMS % periodMS
	if into < 0 {
		into += periodMS
	}
	return afterMS - into + periodMS
}

// lastYear is the end of schedules, since the parser's loop over years needs a bound.
const lastYear = 9000

// nextCron evaluates the parsed fields. They give up after five years and return the zero time, so it retries, to
// find 29 February even across a century without a leap day.
func (s Schedule) nextCron(afterMS int64) int64 {
	from := time.UnixMilli(afterMS).UTC()
	for range 3 {
		if from.Year() < 0 || from.Year() > lastYear {
			return never
		}
		if next := s.fields.Next(from); !next.IsZero() {
			return next.UnixMilli()
		}
		from = time.Date(from.Year()+4, from.Month(), 1, 0, 0, 0, 0, time.UTC).Add(-time.Second)
	}
	return never
}
