// Package active switches one mutant of a mutation run on, chosen by the environment.
//
// Package mutation writes calls of these functions into the source for one build. Nothing
// else imports this package. BOTD_MUTATION is the number of the active mutant.
// BOTD_MUTATION_TRACE names a file to which the number of each mutant is written when its
// code is reached.
package active

import (
	"os"
	"strconv"
	"sync"
)

var (
	current = number(os.Getenv("BOTD_MUTATION"))
	trace   = opened(os.Getenv("BOTD_MUTATION_TRACE"))

	mu      sync.Mutex // guards reached
	reached = map[int]bool{}
)

// opened returns the file of the trace, nil for none. It is opened at the start: a test may become a user without access to it.
func opened(path string) *os.File {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil // a test without write access has no trace: its mutants count as not reached
	}
	return file
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// On reports whether a mutant is on.
func On(mutant int) bool {
	if trace != nil {
		note(mutant)
	}
	return mutant == current
}

// note writes the number of a mutant when it is first reached.
func note(mutant int) {
	mu.Lock()
	defer mu.Unlock()
	if reached[mutant] {
		return
	}
	reached[mutant] = true
	trace.WriteString(strconv.Itoa(mutant) + "\n")
}

// Ordered is the constraint of the ordered types.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64 | ~string
}

// Number is the constraint of the numeric types.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// Less is x < y; mutants of it are <= (the bound) and >= (the opposite).
func Less[T Ordered](bound, opposite int, x, y T) bool {
	if On(bound) {
		return x <= y
	}
	return (x < y) != On(opposite)
}

// AtMost is x <= y; mutants of it are < (the bound) and > (the opposite).
func AtMost[T Ordered](bound, opposite int, x, y T) bool {
	if On(bound) {
		return x < y
	}
	return (x <= y) != On(opposite)
}

// More is x > y; mutants of it are >= (the bound) and <= (the opposite). It is not the negation of AtMost: for NaN both are false.
func More[T Ordered](bound, opposite int, x, y T) bool {
	if On(bound) {
		return x >= y
	}
	return (x > y) != On(opposite)
}

// AtLeast is x >= y; mutants of it are > (the bound) and < (the opposite).
func AtLeast[T Ordered](bound, opposite int, x, y T) bool {
	if On(bound) {
		return x > y
	}
	return (x >= y) != On(opposite)
}

// Plus is x + y; its mutant is x - y.
func Plus[T Number](mutant int, x, y T) T {
	if On(mutant) {
		return x - y
	}
	return x + y
}

// Minus is x - y; its mutant is x + y.
func Minus[T Number](mutant int, x, y T) T {
	if On(mutant) {
		return x + y
	}
	return x - y
}

// Times is x * y; its mutant is x / y.
func Times[T Number](mutant int, x, y T) T {
	if On(mutant) {
		return x / y
	}
	return T(x * y)
}

// Over is x / y; its mutant is x * y.
func Over[T Number](mutant int, x, y T) T {
	if On(mutant) {
		return T(x * y)
	}
	return x / y
}

// Constant is x; its mutant is x + 1, or twice x from 10 on.
func Constant[T Number](mutant int, x T) T {
	switch {
	case !On(mutant):
		return x
	case x >= 10:
		return T(2 * x)
	}
	return x + 1
}
