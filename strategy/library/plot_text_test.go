package library

import (
	"fmt"
	"slices"
	"testing"

	"botd/strategy"
)

// TestTheIndicatorsOfATextAreFound parses rules and scripts as the documentation writes them.
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
		{"rsi(close, 0) > 50 and rsi(close, 14) > 50", nil, []string{"rsi map[period:14] [] true"}},
		{"length = param(\"days\", 12)\ndef decide(view):\n    return rsi(close, length)", strategy.Values{"days": "9"}, []string{"rsi map[period:9] [] true"}},
		{"ema(close, 5) > sma(close, 5) or ema(close, 5) > close", nil, []string{"ema map[period:5] [] false", "sma map[period:5] [] false"}},
		{"close > keltner(20, 10, 2).upper and open > keltner(20, 10, 2).upper", nil,
			[]string{"keltner map[atr_period:10 multiplier:2 period:20] [upper] false"}},
		{"close > keltner(20, 10, 2) and open > keltner(20, 10, 2).upper", nil, []string{"keltner map[atr_period:10 multiplier:2 period:20] [] false"}},
		{"sma(close, 1) + sma(close, 2) + sma(close, 3) + sma(close, 4) + sma(close, 5) + sma(close, 6) + sma(close, 7)", nil,
			[]string{"sma map[period:1] [] false", "sma map[period:2] [] false", "sma map[period:3] [] false", "sma map[period:4] [] false",
				"sma map[period:5] [] false", "sma map[period:6] [] false"}},
		{"rsi(close, 14, 3) > 50 and keltner(20, 10, 2, 1).upper > close and rsi(7) > 1", nil, []string{"rsi map[period:7] [] true"}},
	} {
		var have []string
		for _, p := range textPlots(c.text, c.given) {
			have = append(have, fmt.Sprint(p.Indicator, " ", p.Parameters, " ", p.Outputs, " ", p.OwnScale))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s\nwant %q\nhave %q", c.text, c.want, have)
		}
	}
}
