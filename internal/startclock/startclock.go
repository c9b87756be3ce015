// Package startclock sets the start of a simulated exchange's clock in tests.
//
// The simulated market is a function of its seed and the time, and candles, funding
// payments and daily limits follow the clock. A test that starts its exchange at the wall
// clock would therefore test something else at each hour. Tests start it at Time, which only
// the environment variable below changes: CI runs the tests that depend on the clock with
// several start times.
package startclock

import (
	"os"
	"slices"
	"strings"
	"time"
)

// Variable names the environment variable that holds another start (RFC 3339).
const Variable = "BOTD_TEST_START"

// standard is the start if Variable is empty: no minute, hour, day or funding payment begins within its first seconds.
const standard = "2026-03-14T10:20:10Z"

// Text returns the start as RFC 3339.
func Text() string {
	if text := os.Getenv(Variable); text != "" {
		return text
	}
	return standard
}

// Time returns the start. It panics if Variable is not a time: a test at the standard start would prove nothing.
func Time() time.Time {
	start, err := time.Parse(time.RFC3339, Text())
	if err != nil {
		panic(Variable + ": " + err.Error())
	}
	return start
}

// MS returns the start in Unix milliseconds.
func MS() int64 { return Time().UnixMilli() }

// Arguments returns the arguments of botd, with --start added if the command starts a simulated exchange and the arguments do not set its clock.
func Arguments(arguments []string) []string {
	if len(arguments) == 0 || arguments[0] != "exchange" && arguments[0] != "run" {
		return arguments
	}
	for _, argument := range arguments {
		name, _, _ := strings.Cut(argument, "=")
		if slices.Contains([]string{"--start", "--clock", "--help", "-h"}, name) {
			return arguments
		}
	}
	return append(slices.Clone(arguments), "--start", Text())
}
