package sample

import "testing"

func TestLargest(t *testing.T) {
	for _, all := range [][]int{{3, 1, 2}, {1, 2, 3}, {2, 3, 1}} {
		if largest, err := Largest(all); largest != 3 || err != nil {
			t.Errorf("want 3, have %d, %v", largest, err)
		}
	}
	if _, err := Largest(nil); err == nil {
		t.Error("want an error")
	}
}

func TestBoth(t *testing.T) {
	if Both(true, false) || !Both(true, true) {
		t.Error("want both")
	}
}

func TestHalf(t *testing.T) {
	if have := Half(14); have != 7 {
		t.Errorf("want 7, have %d", have)
	}
}

func TestForever(t *testing.T) {
	if have := Forever(3); have != 3 {
		t.Errorf("want 3, have %d", have)
	}
}
