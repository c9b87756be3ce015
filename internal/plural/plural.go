// Package plural formats a number with its noun.
package plural

import (
	"strconv"
	"strings"
)

// Of returns a number with its noun: "1 file", "2 files", "3 strategies".
func Of(n int, word string) string {
	stem, y := strings.CutSuffix(word, "y")
	switch {
	case n == 1:
		return "1 " + word
	case y:
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + word + "s"
}
