package configs

import (
	"fmt"

	"botd/exchange"
)

// ParseSchedule reads a schedule; the error's hint stands on a line of its own in its text.
func ParseSchedule(spec string, interval exchange.Interval) (Schedule, error) {
	schedule, hint, err := parseSchedule(spec, interval)
	if err != nil && hint != "" {
		err = fmt.Errorf("%w\n  hint: %s", err, hint)
	}
	return schedule, err
}
