package strategy

import (
	"strconv"
)

// Condition is one comparison that a strategy decides by, with its figures, for people to read.
type Condition struct {
	Name     string // what is compared: fast average, entry_long
	Value    string // current value
	Requires string // the other side of the comparison and its direction; empty for a figure alone
	Met      bool   // the comparison currently holds
}

// Conditional is a strategy that explains its decisions. Conditions has no effect and can be called
// at any time, also between two candles.
type Conditional interface {
	Conditions(view *View) []Condition
}

// Figure formats a float for people: at most ten significant digits.
func Figure(value float64) string {
	if value != value {
		return "none yet"
	}
	return strconv.FormatFloat(value, 'g', 10, 64)
}

// Comparison returns the condition that compares two known floats.
func Comparison(name string, value float64, relation, other string, against float64) Condition {
	holds := false
	switch relation {
	case "above":
		holds = value > against
	case "below":
		holds = value < against
	}
	return Condition{Name: name, Value: Figure(value), Requires: relation + " " + other + " " + Figure(against), Met: holds}
}
