package confine

import (
	"strings"
	"testing"
)

// TestAProgramStartsWithinLittleMemory starts a program again and again: the process's memory before the
// program takes over does not count.
func TestAProgramStartsWithinLittleMemory(t *testing.T) {
	t.Parallel()
	for range 100 {
		p, err := Start(&Program{Path: "/bin/true", MemoryMB: 16})
		if err != nil {
			t.Fatal(err)
		}
		if _, cause := output(p); !strings.Contains(cause, "exit status 0") {
			t.Fatal(cause)
		}
	}
}
