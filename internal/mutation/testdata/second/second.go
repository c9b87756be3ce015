// Package second is measured after another one.
package second

// Half returns half of a number.
func Half(n int) int { return n / 2 }
