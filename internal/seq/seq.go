// Package seq searches iterators as package slices searches slices.
package seq

import "iter"

// Any reports whether a value of the sequence satisfies the condition.
func Any[V any](values iter.Seq[V], satisfies func(V) bool) bool {
	for v := range values {
		if satisfies(v) {
			return true
		}
	}
	return false
}
