package configs

import (
	"fmt"

	"botd/exchange"
)

// ParseSchedule parses a schedule; the error's text has the hint on a separate line.
func ParseSchedule(spec string, interval exchange.Interval) (Schedule, error) {
	schedule, hint, err := parseSchedule(spec, interval)
	if err != nil && hint != "" {
		err = fmt.Errorf("%w\n  hint: %s", err, hint)
	}
	return schedule, err
}
