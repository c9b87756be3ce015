package second

import "testing"

func TestHalf(t *testing.T) {
	t.Parallel()
	if have := Half(6); have != 3 {
		t.Errorf("want 3, have %d", have)
	}
}
