// Package spell suggests the known name that a misspelled one was meant to be.
package spell

import "strings"

// maxLength is the maximum length of a compared name, in bytes.
const maxLength = 64

// Nearest returns the known name with the fewest edits from a misspelled one, ignoring case, or an
// empty string when none is within a third of its letters.
func Nearest(misspelled string, known []string) string {
	if len(misspelled) > maxLength {
		return ""
	}
	nearest, limit := "", 1+max(1, len(misspelled)/3)
	for _, name := range known {
		if d := Distance(strings.ToLower(misspelled), strings.ToLower(name)); d < limit {
			nearest, limit = name, d
		}
	}
	return nearest
}

// Distance returns the number of letters to insert, delete, change or swap with a neighbor to turn a into b.
func Distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
