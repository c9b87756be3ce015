package active

import (
	"math"
	"testing"
)

// The choice is tested with x below, at and above y.
func TestEachChoiceIsRightUnlessItsMutantIsOn(t *testing.T) {
	defer func(before int) { current = before }(current)
	for _, c := range []struct {
		on, x, y                int
		less, atMost            bool
		plus, minus, over, next int
	}{
		{0, 6, 3, false, false, 9, 3, 2, 6},
		{0, 3, 3, false, true, 6, 0, 1, 3},
		{0, 2, 3, true, true, 5, -1, 0, 2},
		{1, 6, 3, false, false, 3, 9, 18, 7},
		{1, 3, 3, true, false, 0, 6, 9, 4},
		{1, 12, 3, false, false, 9, 15, 36, 24},
		{2, 3, 3, true, false, 6, 0, 1, 3},
		{2, 2, 3, false, false, 5, -1, 0, 2},
	} {
		current = c.on
		if have := Less(1, 2, c.x, c.y); have != c.less {
			t.Errorf("%d < %d with %d on: want %t, have %t", c.x, c.y, c.on, c.less, have)
		}
		if have := AtMost(1, 2, c.x, c.y); have != c.atMost {
			t.Errorf("%d <= %d with %d on: want %t, have %t", c.x, c.y, c.on, c.atMost, have)
		}
		have := [4]int{Plus(1, c.x, c.y), Minus(1, c.x, c.y), Over(1, c.x, c.y), Constant(1, c.x)}
		if more, atLeast := More(1, 2, c.y, c.x), AtLeast(1, 2, c.y, c.x); more != c.less || atLeast != c.atMost {
			t.Errorf("%d > %d and >= with %d on: want %t and %t, have %t and %t", c.y, c.x, c.on, c.less, c.atMost, more, atLeast)
		}
		if want := [4]int{c.plus, c.minus, c.over, c.next}; have != want {
			t.Errorf("%d and %d with %d on: want sum, difference, quotient and constant %v, have %v", c.x, c.y, c.on, want, have)
		}
	}
	for on, want := range map[int]bool{0: false, 1: false, 2: true} { // the opposite negates the comparison
		current = on
		for name, have := range map[string]bool{"<": Less(1, 2, math.NaN(), 0), "<=": AtMost(1, 2, math.NaN(), 0), ">": More(1, 2, math.NaN(), 0),
			">=": AtLeast(1, 2, math.NaN(), 0)} {
			if have != want {
				t.Errorf("NaN %s 0 with %d on: want %t, have %t", name, on, want, have)
			}
		}
	}
	if current = 0; Times(1, 6, 3) != 18 {
		t.Error("want 18")
	}
	if current = 1; Times(1, 6, 3) != 2 {
		t.Error("want 2")
	}
}
