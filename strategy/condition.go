package strategy

import (
	"strconv"
)

// Condition is one thing a strategy decides by, with its figures, for people.
type Condition struct {
	Name  string // what is looked at: fast average, entry_long
	Value string // what it is now
	Wants string // what it is compared with, and how; empty for a figure alone
	Holds bool   // the comparison is true now
}

// Conditional is a strategy that tells what it decides by. Conditions has no
// effect and may be asked at any time, between two candles too.
type Conditional interface {
	Conditions(view *View) []Condition
}

// Figure writes a float as people read it: no digits that say nothing.
func Figure(value float64) string {
	if value != value {
		return "none yet"
	}
	return strconv.FormatFloat(value, 'g', 10, 64)
}

// Compared is a condition of two floats that are both there.
func Compared(name string, value float64, relation, other string, against float64) Condition {
	holds := false
	switch relation {
	case "above":
		holds = value > against
	case "below":
		holds = value < against
	}
	return Condition{Name: name, Value: Figure(value), Wants: relation + " " + other + " " + Figure(against), Holds: holds}
}
