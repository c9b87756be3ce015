package indicator

import (
	"fmt"
	"math"
	"testing"
)

// usualBars are candles with bodies of 10 and ranges of 20, from which the bounds of patterns follow: a body is long above 10 and short below,
// a doji has at most 2, a shadow is very short below 2, near is 4 and far is 12.
func usualBars() (all []Bar) {
	for range 13 {
		all = append(all, Bar{Open: 100, Close: 110, High: 115, Low: 95})
	}
	return all
}

// TestAPatternAtItsBounds compares with TA-Lib's conditions (ta_CDL*.c): each list of candles forms the pattern, or misses it, by a single price.
func TestAPatternAtItsBounds(t *testing.T) {
	t.Parallel()
	bar := func(open, high, low, closes float64) Bar { return Bar{Open: open, High: high, Low: low, Close: closes} }
	for _, c := range []struct {
		name string
		bars []Bar
		want float64
	}{
		{"doji", []Bar{bar(100, 110, 90, 102)}, 100}, {"doji", []Bar{bar(100, 110, 90, 102.5)}, 0}, {"doji", []Bar{bar(102, 110, 90, 100)}, 100},
		{"dragonfly_doji", []Bar{bar(100, 101.5, 90, 100)}, 100}, {"dragonfly_doji", []Bar{bar(100, 102, 90, 100)}, 0},
		{"dragonfly_doji", []Bar{bar(100, 101, 98, 100)}, 0}, {"dragonfly_doji", []Bar{bar(100, 101, 97.5, 100)}, 100},
		{"gravestone_doji", []Bar{bar(100, 110, 98.5, 100)}, 100}, {"gravestone_doji", []Bar{bar(100, 110, 98, 100)}, 0},
		{"gravestone_doji", []Bar{bar(100, 102, 99, 100)}, 0}, {"gravestone_doji", []Bar{bar(100, 102.5, 99, 100)}, 100},
		{"long_legged_doji", []Bar{bar(100, 103, 100, 101)}, 100}, {"long_legged_doji", []Bar{bar(100, 102, 99, 101)}, 0},
		{"long_legged_doji", []Bar{bar(100, 101, 98.5, 101)}, 100},
		{"marubozu", []Bar{bar(100, 111.5, 99, 111)}, 100}, {"marubozu", []Bar{bar(111, 112, 99, 100)}, -100}, {"marubozu", []Bar{bar(100, 111, 100, 110)}, 0},
		{"marubozu", []Bar{bar(100, 113, 99, 111)}, 0}, {"marubozu", []Bar{bar(100, 112, 98, 111)}, 0},
		{"belt_hold", []Bar{bar(100, 130, 98.5, 111)}, 100}, {"belt_hold", []Bar{bar(100, 130, 98, 111)}, 0},
		{"belt_hold", []Bar{bar(111, 112, 50, 100)}, -100},
		{"belt_hold", []Bar{bar(111, 113, 50, 100)}, 0}, {"belt_hold", []Bar{bar(100, 130, 99, 110)}, 0},
		{"spinning_top", []Bar{bar(100, 112, 94, 105)}, 100}, {"spinning_top", []Bar{bar(105, 112, 94, 100)}, -100},
		{"spinning_top", []Bar{bar(100, 110, 94, 105)}, 0}, {"spinning_top", []Bar{bar(100, 112, 95, 105)}, 0},
		{"spinning_top", []Bar{bar(100, 130, 80, 110)}, 0},
		{"hammer", []Bar{bar(99, 100.5, 90, 99)}, 100}, {"hammer", []Bar{bar(99.5, 101, 90, 99.5)}, 0}, {"hammer", []Bar{bar(97, 98.5, 90, 98)}, 100},
		{"hammer", []Bar{bar(97, 100, 90, 98)}, 0}, {"hammer", []Bar{bar(97, 98.5, 96, 98)}, 0}, {"hammer", []Bar{bar(88, 98.5, 60, 98)}, 0},
		{"hanging_man", []Bar{bar(111, 112.5, 90, 112)}, -100}, {"hanging_man", []Bar{bar(110.5, 112.5, 90, 112)}, 0},
		{"inverted_hammer", []Bar{bar(99, 110, 98.5, 98.5)}, 100}, {"inverted_hammer", []Bar{bar(100, 110, 98.5, 99)}, 0},
		{"shooting_star", []Bar{bar(111, 130, 110.5, 112)}, -100}, {"shooting_star", []Bar{bar(110, 130, 110, 112)}, 0},
		{"shooting_star", []Bar{bar(112, 130, 110, 112)}, 0}, {"shooting_star", []Bar{bar(111, 121, 110.5, 121)}, 0},
		{"engulfing", []Bar{bar(111, 112, 98, 99)}, -100}, {"engulfing", []Bar{bar(110, 112, 98, 99)}, -80}, {"engulfing", []Bar{bar(111, 112, 98, 100)}, -80},
		{"engulfing", []Bar{bar(110, 112, 98, 100)}, 0}, {"engulfing", []Bar{bar(109, 112, 98, 99)}, 0}, {"engulfing", []Bar{bar(111, 112, 98, 101)}, 0},
		{"engulfing", []Bar{bar(99, 112, 98, 111)}, 0}, {"engulfing", []Bar{bar(110, 111, 99, 100), bar(99, 112, 98, 111)}, 100},
		{"engulfing", []Bar{bar(110, 111, 99, 100), bar(100, 112, 98, 111)}, 80},
		{"harami", []Bar{bar(100, 121, 99, 120), bar(118, 119, 109, 110)}, -100}, {"harami", []Bar{bar(100, 121, 99, 120), bar(120, 121, 109, 110)}, -80},
		{"harami", []Bar{bar(100, 121, 99, 120), bar(110, 119, 100, 100)}, -80}, {"harami", []Bar{bar(120, 121, 99, 100), bar(110, 119, 105, 118)}, 100},
		{"harami", []Bar{bar(100, 121, 99, 120), bar(120.5, 121, 109, 112)}, 0}, {"harami", []Bar{bar(100, 111, 99, 110), bar(105, 106, 103, 104)}, 0},
		{"harami", []Bar{bar(100, 121, 99, 120), bar(115, 116, 103, 104)}, -100}, // a body of 11 after 20 and nine of 10
		{"harami", []Bar{bar(100, 121, 99, 120), bar(115.5, 116, 103, 104)}, 0},
		{"piercing", []Bar{bar(120, 121, 99, 100), bar(98, 112, 97, 111)}, 100}, {"piercing", []Bar{bar(120, 121, 99, 100), bar(99, 112, 97, 111)}, 0},
		{"piercing", []Bar{bar(120, 121, 99, 100), bar(98, 121, 97, 120)}, 0}, {"piercing", []Bar{bar(120, 121, 99, 100), bar(98, 112, 97, 110)}, 0},
		{"piercing", []Bar{bar(102, 103, 91, 91.5), bar(90, 99, 89, 100)}, 0}, // the second body is not longer than usual
		{"dark_cloud_cover", []Bar{bar(100, 121, 99, 120), bar(122, 123, 105, 109)}, -100},
		{"dark_cloud_cover", []Bar{bar(100, 121, 99, 120), bar(121, 123, 105, 109)}, 0},
		{"dark_cloud_cover", []Bar{bar(100, 121, 99, 120), bar(122, 123, 95, 100)}, 0},
		{"dark_cloud_cover", []Bar{bar(100, 121, 99, 120), bar(122, 123, 105, 110)}, 0},
		{"morning_star", []Bar{bar(120, 121, 99, 100), bar(98, 99, 95, 96), bar(97, 120, 97, 109)}, 100},
		{"morning_star", []Bar{bar(120, 121, 99, 100), bar(98, 99, 95, 96), bar(95, 107, 94, 106)}, 0},
		{"morning_star", []Bar{bar(120, 121, 99, 100), bar(100, 101, 95, 96), bar(97, 120, 97, 109)}, 0},
		{"morning_star", []Bar{bar(115, 121, 99, 100), bar(98, 99, 92, 93), bar(98.5, 120, 97, 109)}, 100},
		{"morning_star", []Bar{bar(115, 121, 99, 100), bar(98, 99, 92, 93), bar(99, 120, 97, 109)}, 0}, // a body of 10 after 15, 5 and eight of 10
		{"evening_star", []Bar{bar(100, 121, 99, 120), bar(122, 125, 121, 124), bar(123, 124, 105, 110)}, -100},
		{"evening_star", []Bar{bar(100, 121, 99, 120), bar(122, 125, 121, 124), bar(125, 126, 110, 114)}, 0},
		{"evening_star", []Bar{bar(100, 121, 99, 120), bar(120, 125, 119, 124), bar(123, 124, 105, 110)}, 0},
		{"evening_star", []Bar{bar(100, 121, 99, 115), bar(117, 123, 116, 122), bar(116.5, 124, 105, 106)}, -100},
		{"evening_star", []Bar{bar(100, 121, 99, 115), bar(117, 123, 116, 122), bar(116, 124, 105, 106)}, 0},
		{"three_inside", []Bar{bar(120, 121, 99, 100), bar(105, 111, 104, 110), bar(110, 123, 109, 121)}, 100},
		{"three_inside", []Bar{bar(120, 121, 99, 100), bar(105, 111, 104, 110), bar(110, 123, 109, 120)}, 0},
		{"three_inside", []Bar{bar(100, 121, 99, 120), bar(110, 111, 104, 105), bar(105, 106, 95, 99)}, -100},
		{"three_inside", []Bar{bar(100, 121, 99, 120), bar(110, 111, 104, 105), bar(105, 106, 95, 100)}, 0},
		{"three_inside", []Bar{bar(100, 121, 99, 120), bar(120, 121, 104, 115), bar(105, 106, 95, 99)}, 0},
		{"three_outside", []Bar{bar(110, 111, 99, 100), bar(99, 112, 98, 111), bar(110, 115, 109, 112)}, 100},
		{"three_outside", []Bar{bar(110, 111, 99, 100), bar(99, 112, 98, 111), bar(110, 115, 109, 111)}, 0},
		{"three_outside", []Bar{bar(110, 111, 99, 100), bar(99, 112, 98, 110), bar(110, 115, 109, 112)}, 0},
		{"three_outside", []Bar{bar(110, 111, 99, 100), bar(100, 112, 98, 111), bar(110, 115, 109, 112)}, 0},
		{"three_outside", []Bar{bar(111, 112, 98, 99), bar(99, 100, 90, 98)}, -100},
		{"three_outside", []Bar{bar(111, 112, 98, 99), bar(100, 101, 90, 99)}, 0},
		{"three_outside", []Bar{bar(110, 112, 98, 99), bar(99, 100, 90, 98)}, 0},
		{"three_outside", []Bar{bar(111, 112, 98, 100), bar(99, 100, 90, 98)}, 0},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(105, 120, 104, 120), bar(115, 130, 114, 130)}, 100},
		{"three_white_soldiers", []Bar{bar(100, 112, 99, 110), bar(105, 120, 104, 120), bar(115, 130, 114, 130)}, 0}, // a shadow of 2
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(100, 120, 104, 120), bar(115, 130, 114, 130)}, 0},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(114, 126, 104, 125), bar(115, 130, 114, 130)}, 100},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(114.5, 126, 104, 125.5), bar(115, 130, 114, 130)}, 0},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(105, 120, 104, 120), bar(115, 125, 114, 125)}, 0},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(105, 110, 104, 110), bar(107, 130, 106, 130)}, 0},
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(105, 120, 104, 120), bar(115, 125.5, 114, 125.5)}, 0}, // 10.5 is the usual body
		{"three_white_soldiers", []Bar{bar(100, 110, 99, 110), bar(105, 120, 104, 120), bar(115, 126, 114, 126)}, 100},
		{"three_black_crows", []Bar{bar(112, 113, 105, 105), bar(110, 111, 102, 102), bar(108, 109, 100, 100)}, -100},
		{"three_black_crows", []Bar{bar(112, 113, 105, 105), bar(112, 113, 102, 102), bar(108, 109, 100, 100)}, 0},
		{"three_black_crows", []Bar{bar(112, 113, 105, 105), bar(105, 111, 102, 102), bar(104, 109, 100, 100)}, 0},
		{"three_black_crows", []Bar{bar(112, 113, 105, 105), bar(110, 111, 105, 105), bar(108, 109, 100, 100)}, 0},
		{"three_black_crows", []Bar{bar(112, 113, 103, 105), bar(110, 111, 102, 102), bar(108, 109, 100, 100)}, 0}, // a shadow of 2
		{"three_black_crows", []Bar{bar(122, 123, 115, 115), bar(120, 121, 112, 112), bar(118, 119, 110, 110)}, 0}, // the high before is 115
		{"three_black_crows", []Bar{bar(121, 122, 114.5, 114.5), bar(120, 121, 112, 112), bar(118, 119, 110, 110)}, -100},
	} {
		all := run(t, append(usualBars(), c.bars...), c.name, nil, 0)
		if have := all[len(all)-1]; have != c.want {
			t.Errorf("%s after %v: want %v, have %v", c.name, c.bars, c.want, have)
		}
	}
}

// The trend rises while closes are above the lower band, and falls until one is above the upper: a close at a band does not turn it up.
func TestATrendTurnsBeyondItsBand(t *testing.T) {
	t.Parallel()
	type candle struct {
		high, low, closes float64
		line              float64 // 0 for none
		rising            bool
	}
	for _, candles := range [][]candle{
		// Ranges of 4, 6, 8 and 11 around 8, 10, 17 and 10.
		{{10, 10, 10, 0, false}, {10, 6, 6, 12, false}, {12, 8, 12, 12, false}, {20, 14, 20, 9, true}, {11, 9, 9, 21, false}},
		// The first close is at the middle.
		{{10, 10, 10, 0, false}, {10, 6, 8, 4, true}, {11, 9, 10, 7, true}, {12, 10, 11, 9, true}, {11.5, 10.5, 11, 10, true}},
		{{10, 10, 10, 0, false}, {10, 6, 7.5, 12, false}},
	} {
		s := NewSupertrend(1, 1)
		for i, c := range candles {
			line, ok := s.Next(c.high, c.low, c.closes)
			if ok != (c.line != 0) || line != c.line || s.Rising() != c.rising {
				t.Errorf("candle %d: want %v, rising %t, have %v, %t", i+1, c.line, c.rising, line, s.Rising())
			}
		}
	}
}

// The stop begins in the direction of the larger movement, up if both are equal or none; a price that reaches it turns it (ta_SAR.c).
func TestAStopBeginsAndTurnsAsInTALib(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bars  [][2]float64 // high and low
		stops []float64    // from the second candle on
	}{
		{"equal lows and a lower high", [][2]float64{{10, 5}, {9, 5.5}}, []float64{5}},
		{"no movement down and a lower high", [][2]float64{{10, 5}, {9, 5}}, []float64{9}}, // it rises, and its stop is reached at once
		{"a lower low", [][2]float64{{10, 5}, {9, 4}}, []float64{10}},
		{"as far up as down", [][2]float64{{10, 5}, {11, 4}}, []float64{11}}, // it rises from 5, is reached at 4, and turns
		{"further down than up", [][2]float64{{10, 5}, {10.5, 4}}, []float64{4}},
		{"a low at the stop, then a high at the stop", [][2]float64{{10, 5}, {12, 8}, {12, 5.14}, {12, 6}}, []float64{5, 12, 5.14}},
		{"a high below the stop", [][2]float64{{10, 5}, {12, 8}, {12, 5.14}, {11.9, 6}}, []float64{5, 12, 12}},
		{"a low above the stop", [][2]float64{{10, 5}, {12, 8}, {12, 5.15}}, []float64{5, 5.14}},
	} {
		s := NewPSAR(0.02, 0.2)
		for i, bar := range c.bars {
			stop, ok := s.Next(bar[0], bar[1])
			if i == 0 {
				if ok {
					t.Errorf("%s: want no stop with the first candle, have %v", c.name, stop)
				}
				continue
			}
			if want := c.stops[i-1]; !ok || math.Abs(stop-want) > 1e-9 {
				t.Errorf("%s, candle %d: want %v, have %v", c.name, i+1, want, stop)
			}
		}
	}
}

// A displacement of one candle counts that candle alone: the spans are those of the candle itself.
func TestACloudWithoutDisplacement(t *testing.T) {
	t.Parallel()
	bars, i := walk(40), NewIchimoku(2, 3, 5, 1)
	for n, b := range bars {
		c, ok := i.Next(b.High, b.Low)
		if ok != (n >= 4) {
			t.Fatalf("candle %d: want a value from the fifth on, have %t", n+1, ok)
		}
		if !ok {
			continue
		}
		conversion, base, far := middle(bars[n-1:n+1]), middle(bars[n-2:n+1]), middle(bars[n-4:n+1])
		want := Cloud{conversion, base, (conversion + base) / 2, far}
		for k, pair := range [][2]float64{{c.Conversion, want.Conversion}, {c.Base, want.Base}, {c.SpanA, want.SpanA}, {c.SpanB, want.SpanB}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Fatalf("candle %d, value %d: want %+v, have %+v", n+1, k, want, c)
			}
		}
	}
}

// The first values in Go: ADX at candle 2 x period with its directions from period + 1 on, ADXR at 3 x period - 1.
func TestTheFirstValuesOfDirectionalMovement(t *testing.T) {
	t.Parallel()
	index, rating := NewADX(3), NewADXR(3)
	for i, b := range walk(12) {
		d, ok := index.Next(b.High, b.Low, b.Close)
		if ok != (i+1 >= 6) || math.IsNaN(d.Index) == ok || math.IsNaN(d.Plus) != (i+1 < 4) || math.IsNaN(d.Minus) != (i+1 < 4) {
			t.Errorf("candle %d: have %+v, %t", i+1, d, ok)
		}
		if _, ok := rating.Next(b.High, b.Low, b.Close); ok != (i+1 >= 8) {
			t.Errorf("candle %d: have a rating %t", i+1, ok)
		}
	}
}

// PPO's histogram, and MACD's, is the line minus its signal, which are compared with other programs.
func TestAHistogramIsTheLineMinusItsSignal(t *testing.T) {
	t.Parallel()
	bars := walk(100)
	for _, name := range []string{"ppo", "macd"} {
		line, signal, histogram := run(t, bars, name, nil, 0), run(t, bars, name, nil, 1), run(t, bars, name, nil, 2)
		for i := 33; i < len(bars); i++ {
			if histogram[i] != line[i]-signal[i] {
				t.Fatalf("%s, candle %d: want %v - %v, have %v", name, i+1, line[i], signal[i], histogram[i])
			}
		}
	}
}

// A constant series has no correlation with another, and a market that does not move, or moves by an equal share each candle, no beta: the
// variance that is computed for it is rounding error. A tick of a small price is a movement.
func TestAConstantSeriesHasNoRelation(t *testing.T) {
	t.Parallel()
	for _, price := range []float64{0, 0.1, 0.3, 7.7, 43_210.7, 0.00001234, 1e12} {
		for _, period := range []int{2, 3, 7, 30} {
			one, two, slope := NewCorrelation(period), NewCorrelation(period), NewBeta(period)
			for i := range 3 * period {
				moving := 100 + float64(i*37%11)
				for name, next := range map[string]func() (float64, bool){"the first": func() (float64, bool) { return one.Next(price, moving) },
					"the second": func() (float64, bool) { return two.Next(moving, price) },
					"the market": func() (float64, bool) { return slope.Next(price, moving) }} {
					if have, ok := next(); ok && have != 0 {
						t.Fatalf("%s is %v, period %d: want 0, have %v", name, price, period, have)
					}
				}
			}
		}
	}
	growing, market := NewBeta(5), 100.0
	for i := range 50 {
		market *= 1.01
		if have, ok := growing.Next(market, 100+float64(i*37%11)); ok && have != 0 {
			t.Fatalf("a market that grows by one percent a candle: want 0, have %v", have)
		}
	}
	for _, c := range []struct{ price, tick float64 }{{0.00001234, 0.00000001}, {1_000_000, 0.1}} {
		same := NewCorrelation(5)
		for i := range 20 {
			at := c.price + c.tick*float64(i*37%11)
			if have, ok := same.Next(at, -at); ok && math.Abs(have+1) > 1e-6 {
				t.Fatalf("steps of %v at %v: want -1, have %v", c.tick, c.price, have)
			}
		}
	}
}

// A series may be zero throughout, such as the difference of two equal series. Its indices are zero.
func TestIndicesOfZeros(t *testing.T) {
	t.Parallel()
	zeros := make([]Bar, 300)
	for _, name := range []string{"cci", "roc", "natr", "ppo", "trix", "beta", "correlation", "zscore", "williams_r", "stoch", "rsi", "cmo", "choppiness",
		"vortex", "mfi", "cmf", "ultimate", "tsi", "fisher", "bop", "vwma", "vwap", "kama"} {
		if have := run(t, zeros, name, nil, 0)[299]; have != 0 {
			t.Errorf("%s: want 0, have %v", name, have)
		}
	}
}

// A price that fell by as much as it rose has an index of 50, and is not still.
func TestAnIndexWithoutASideIsNotStill(t *testing.T) {
	t.Parallel()
	r := NewRSI(2)
	for i, c := range []struct {
		price, want float64
		still       bool
	}{{100, 0, true}, {101, 0, false}, {100, 50, false}} {
		if have, _ := r.Next(c.price); have != c.want || r.Still() != c.still {
			t.Errorf("price %d: want %v, still %t, have %v, %t", i+1, c.want, c.still, have, r.Still())
		}
	}
}

// In a window of one candle both extremes are its value.
func TestTheExtremesOfOneCandle(t *testing.T) {
	t.Parallel()
	highest, lowest := NewHighest(1), NewLowest(1)
	for _, value := range []float64{5, 3, 4, 4, 1} {
		if top, ok := highest.Next(value); top != value || !ok {
			t.Errorf("want %v, have %v", value, top)
		}
		if bottom, ok := lowest.Next(value); bottom != value || !ok {
			t.Errorf("want %v, have %v", value, bottom)
		}
	}
}

// After a jump to a price that does not move, the window has no range, but a true range: the index is 0.
func TestAMarketThatStandsStillAfterAJumpIsNotChoppy(t *testing.T) {
	t.Parallel()
	c := NewChoppiness(2)
	for i, price := range []float64{10, 12, 12, 12} {
		if index, ok := c.Next(price, price, price); index != 0 || ok != (i >= 2) {
			t.Errorf("candle %d: want 0, have %v, %t", i+1, index, ok)
		}
	}
}

func TestAnExactAverageIsReadyWhenItsPeriodIsFull(t *testing.T) {
	t.Parallel()
	s := NewSMA(3)
	for i, want := range []string{"false 1", "false 3", "true 6", "true 9", "true 12"} {
		s.Next(3 * int64(i+1))
		if have := fmt.Sprint(s.Ready(), " ", s.Value()); have != want {
			t.Errorf("value %d: want %s, have %s", i+1, want, have)
		}
	}
}
