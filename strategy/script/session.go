package script

import (
	"fmt"
	"math"
	"time"
	_ "time/tzdata" // time zones also work on a machine without a time zone database

	"go.starlark.net/starlark"

	"botd/strategy/indicator"
)

const (
	minuteMS = 60_000
	dayMins  = 24 * 60
)

// wallClock returns the minutes since 1970-01-01 on the local clock of a place.
type wallClock func(atMS int64) int64

// clockOf reads either offset, the hours from UTC, or zone, the name of a time zone. The default is
// UTC.
func clockOf(name string, offset starlark.Value, zone string) (wallClock, error) {
	hours, ok := number(offset)
	if _, is := offset.(*series); !ok || is || math.Abs(hours) > 14 {
		return nil, fmt.Errorf("%s: offset: hours from UTC, from -14 to 14", name)
	}
	if zone == "" {
		return func(atMS int64) int64 { return atMS/minuteMS + int64(hours*60) }, nil
	}
	if hours != 0 {
		return nil, fmt.Errorf("%s: offset and zone are mutually exclusive", name)
	}
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, fmt.Errorf("%s: unknown time zone %q; use, for example, America/New_York, Europe/Berlin, Asia/Tokyo, UTC", name, zone)
	}
	return func(atMS int64) int64 {
		_, seconds := time.UnixMilli(atMS).In(place).Zone()
		return (atMS + int64(seconds)*1000) / minuteMS
	}, nil
}

// ofTime returns a series of the time at which each candle closes: in UTC, at an offset of hours,
// or in a time zone with daylight saving.
func ofTime(name string, of func(minutes int64) int64) *starlark.Builtin {
	return function(name, func(r *call) (starlark.Value, error) {
		offset, zone := starlark.Value(starlark.MakeInt(0)), ""
		if err := r.unpackSeries(&offset, &zone); err != nil {
			return nil, err
		}
		minutes, err := clockOf(name, offset, zone)
		if err != nil {
			return nil, err
		}
		return r.derive(r.own(), r.text(), func(bar *indicator.Bar) float64 {
			return float64(of(minutes(bar.OpenMS + int64(r.setting.Interval))))
		}), nil
	})
}

// session implements session(begin, end, offset=0, zone=""): 1 for each candle that lies entirely
// between two times of day. An end before the begin belongs to the next day.
func session(r *call) (starlark.Value, error) {
	var begin, end, zone string
	offset := starlark.Value(starlark.MakeInt(0))
	if err := r.unpackSeries(&begin, &end, &offset, &zone); err != nil {
		return nil, err
	}
	minutes, err := clockOf("session", offset, zone)
	if err != nil {
		return nil, err
	}
	from, err := timeOfDay(begin)
	if err != nil {
		return nil, err
	}
	to, err := timeOfDay(end)
	if err != nil {
		return nil, err
	}
	length := to - from
	if length < 0 {
		length += dayMins
	}
	if length == 0 {
		return nil, fmt.Errorf("session(%q, %q): it has no length", begin, end)
	}
	return r.condition(r.own(), r.text(), func(bar *indicator.Bar) bool {
		passed := ((minutes(bar.OpenMS)-from)%dayMins + dayMins) % dayMins
		return passed+int64(r.setting.Interval)/minuteMS <= length
	}), nil
}

// timeOfDay reads 09:30, or 24:00, as minutes.
func timeOfDay(text string) (int64, error) {
	if text == "24:00" {
		return dayMins, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("session: %q is not a time of day such as \"09:30\"", text)
	}
	return int64(at.Hour()*60 + at.Minute()), nil
}
