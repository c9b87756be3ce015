// Package sample has one mutant of each kind that its tests notice, and one that they do not.
package sample

import "errors"

var errNone = errors.New("there is none")

// Largest returns the largest number.
func Largest(all []int) (largest int, err error) {
	if len(all) == 0 {
		return 0, errNone
	}
	largest = all[0]
	for _, n := range all[1:] {
		if n > largest { // at its bound nothing changes
			largest = n
		}
	}
	return largest, nil
}

// Both reports whether both are set.
func Both(a, b bool) bool { return a && b }

// Half returns the half, rounded down.
func Half(n int64) int64 {
	return n / 2
}

// Forever ends, unless its condition is inverted.
func Forever(n int) (steps int) {
	for n > 0 {
		n--
		steps++
	}
	return steps
}

// Forgotten has no test.
func Forgotten(n int) int { return n + 1 }
