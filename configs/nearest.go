package configs

// Nearest returns the known name closest to a misspelt one, or empty when none
// is close enough to be what was meant.
func Nearest(misspelt string, known []string) string {
	best, least := "", 1+max(1, len(misspelt)/3)
	if len(misspelt) > 64 {
		return ""
	}
	for _, name := range known {
		if d := distance(misspelt, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters must be added, taken away, changed or swapped
// with their neighbour to turn a into b.
func distance(a, b string) int {
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
