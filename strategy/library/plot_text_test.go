package library

import (
	"fmt"
	"slices"
	"testing"

	"botd/strategy"
)

// TestTheIndicatorsOfATextAreFound reads them as the documentation writes rules and scripts.
func TestTheIndicatorsOfATextAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		given strategy.Values
		want  []string
	}{
		{"cross_above(ema(close, 12), ema(close, 26)) and rsi(close, 14) < 70", nil,
			[]string{"ema map[period:12] [] false", "ema map[period:26] [] false", "rsi map[period:14] [] true"}},
		{"close > keltner(20, 10, 2).upper\nclose < keltner(20, 10, 2).middle", nil,
			[]string{"keltner map[atr_period:10 multiplier:2 period:20] [upper middle] false"}},
		{"fast = param(\"fast\", 12, min = 2)\nSLOW = 40\ndef decide(view):\n    if ema(close, fast) > ema(close, SLOW): pass", strategy.Values{"fast": "9"},
			[]string{"ema map[period:9] [] false", "ema map[period:40] [] false"}},
		{"ema(close, period = 21) > sma(high, 5) and ema(rsi(close, 14), 3) > 50 and sma(close, unknown) > 1", nil,
			[]string{"ema map[period:21] [] false", "rsi map[period:14] [] true"}},
		{"close > open and print(1)", nil, nil},
	} {
		var have []string
		for _, p := range TextPlots(c.text, c.given) {
			have = append(have, fmt.Sprint(p.Indicator, " ", p.Parameters, " ", p.Outputs, " ", p.OwnScale))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s\nwant %q\nhave %q", c.text, c.want, have)
		}
	}
}
