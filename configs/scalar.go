package configs

import (
	"math"

	"botd/internal/notation"
)

// Durations in milliseconds.
const (
	second = notation.Second
	minute = notation.Minute
	hour   = notation.Hour
	day    = notation.Day
)

// never is a moment after all others.
const never = math.MaxInt64
