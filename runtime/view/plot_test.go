package view

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"botd/strategy"
)

func TestValuesThatAreNotThereAreNull(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Values{math.NaN(), 1, 50123.456789012, math.Inf(1), -0.00000012})
	if want := "[null,1,50123.46,null,-1.2e-07]"; err != nil || string(text) != want {
		t.Errorf("want %s, have %s %v", want, text, err)
	}
}

func TestADecisionHasTheSideOfItsTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target strategy.Target
		want   string
	}{
		{strategy.Target{}, ""}, {strategy.Flat(), "flat"}, {strategy.Target{Kind: strategy.ByQuantity, Quantity: 3},
			"long"}, {strategy.Target{Kind: strategy.ByEquity, Share: -5}, "short"},
	} {
		if have := sideText(c.target); have != c.want {
			t.Errorf("%s: want %q, have %q", fmt.Sprint(c.target), c.want, have)
		}
	}
}
