package seq

import (
	"slices"
	"testing"
)

func TestAnyStopsAtTheFirstValueThatSatisfies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values   []int
		want     bool
		examined int
	}{{nil, false, 0}, {[]int{1, 2, 3}, true, 2}, {[]int{1, 3}, false, 2}} {
		examined := 0
		have := Any(slices.Values(c.values), func(v int) bool { examined++; return v == 2 })
		if have != c.want || examined != c.examined {
			t.Errorf("%v: want %t after %d values, have %t after %d", c.values, c.want, c.examined, have, examined)
		}
	}
}
