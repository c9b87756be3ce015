package engine

import (
	"fmt"
	"testing"
)

func TestRefusalsOfKeysThatDoNotComeAgainAreForgotten(t *testing.T) {
	t.Parallel()
	rejections, most := newRejections(), 0
	const steady = "grid order bid"
	for second := range int64(86_400) { // a day of a strategy that uses a new name for each order
		nowMS := second * 1_000
		if have, want := rejections.isNew(steady, "max_open_orders", nowMS), second == 0; have != want {
			t.Fatalf("second %d: a refusal that repeats itself: want reported %v, have %v", second, want, have)
		}
		if !rejections.isNew(fmt.Sprint("mine order ", second), "max_open_orders", nowMS) {
			t.Fatalf("second %d: want the refusal of a new key reported", second)
		}
		most = max(most, len(rejections.last))
	}
	if most > 3*3_601+minForgotten {
		t.Errorf("want at most what an hour makes remembered, and the room until the next look; have %d", most)
	}
	if !rejections.isNew(steady, "price_collar", 86_400_000) || rejections.reason(steady, 86_460_000) != "price_collar" {
		t.Errorf("want another reason reported, have %q", rejections.reason(steady, 86_460_000))
	}
	if have := rejections.reason(steady, 86_460_001); have != "" {
		t.Errorf("a minute later: want it to keep nothing back, have %q", have)
	}
	rejections.clear(steady)
	if have := rejections.reason(steady, 86_400_000); have != "" {
		t.Errorf("after it was approved: want nothing, have %q", have)
	}
}
