package indicator

import (
	"math"
	"testing"
)

// naive computes an output from all candles so far by the formula, without incremental state. It is simple
// and slow.
type naive func(bars []Bar) []float64

func last(bars []Bar, n int) []Bar { return bars[len(bars)-n:] }

func sum(bars []Bar, of func(Bar) float64) (total float64) {
	for _, b := range bars {
		total += of(b)
	}
	return total
}

func high(bars []Bar) float64 {
	top := math.Inf(-1)
	for _, b := range bars {
		top = max(top, b.High)
	}
	return top
}

func low(bars []Bar) float64 {
	bottom := math.Inf(1)
	for _, b := range bars {
		bottom = min(bottom, b.Low)
	}
	return bottom
}

func middle(bars []Bar) float64 { return (high(bars) + low(bars)) / 2 }
func typical(b Bar) float64     { return (b.High + b.Low + b.Close) / 3 }

// ema returns the exponential average of all closes so far.
func ema(values []float64, period int) float64 {
	mean := 0.0
	for _, v := range values[:period] {
		mean += v / float64(period)
	}
	for _, v := range values[period:] {
		mean = v*2/float64(period+1) + mean*(1-2/float64(period+1))
	}
	return mean
}

// emas returns the exponential averages of the closes up to each, from the first one on.
func emas(values []float64, period int) (all []float64) {
	all = append(all, ema(values[:period], period))
	for _, v := range values[period:] {
		all = append(all, v*2/float64(period+1)+all[len(all)-1]*(1-2/float64(period+1)))
	}
	return all
}

func closesOf(bars []Bar) (all []float64) {
	for _, b := range bars {
		all = append(all, b.Close)
	}
	return all
}

func rangesOf(bars []Bar) (all []float64) {
	for i := 1; i < len(bars); i++ {
		before := bars[i-1].Close
		all = append(all, max(bars[i].High, before)-min(bars[i].Low, before))
	}
	return all
}

// wilder returns Wilder's average of all values so far.
func wilder(values []float64, period int) float64 {
	mean := 0.0
	for _, v := range values[:period] {
		mean += v / float64(period)
	}
	for _, v := range values[period:] {
		mean += (v - mean) / float64(period)
	}
	return mean
}

func weighted(values []float64) float64 {
	total, weights := 0.0, 0.0
	for i, v := range values {
		total += v * float64(i+1)
		weights += float64(i + 1)
	}
	return total / weights
}

func tail(values []float64, n int) []float64 { return values[len(values)-n:] }

func hull(bars []Bar) []float64 {
	var raw []float64
	for i := range 4 {
		closes := closesOf(bars[:len(bars)-3+i])
		raw = append(raw, 2*weighted(tail(closes, 8))-weighted(tail(closes, 16)))
	}
	return []float64{weighted(raw)}
}

func sums(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

func vortex(bars []Bar) []float64 {
	plus, minus := 0.0, 0.0
	for i := len(bars) - 14; i < len(bars); i++ {
		plus += math.Abs(bars[i].High - bars[i-1].Low)
		minus += math.Abs(bars[i].Low - bars[i-1].High)
	}
	spans := sums(tail(rangesOf(bars), 14))
	return []float64{plus / spans, minus / spans}
}

func strength(bars []Bar) []float64 {
	var moves, sizes []float64
	for i := 1; i < len(bars); i++ {
		moves = append(moves, bars[i].Close-bars[i-1].Close)
		sizes = append(sizes, math.Abs(bars[i].Close-bars[i-1].Close))
	}
	return []float64{100 * ema(emas(moves, 25), 13) / ema(emas(sizes, 25), 13)}
}

// today returns the candles of the last one's day in UTC.
func today(bars []Bar) []Bar {
	day := bars[len(bars)-1].OpenMS / 86_400_000
	for i, b := range bars {
		if b.OpenMS/86_400_000 == day {
			return bars[i:]
		}
	}
	return nil
}

func pivot(bars []Bar) []float64 {
	before := bars[:len(bars)-len(today(bars))]
	day := today(before)
	h, l, c := high(day), low(day), day[len(day)-1].Close
	p := (h + l + c) / 3
	return []float64{p, 2*p - l, 2*p - h, p + h - l, p - h + l, h + 2*(p-l), l - 2*(h-p)}
}

func heikinAshi(bars []Bar) []float64 {
	open, closes := 0.0, 0.0
	for i, b := range bars {
		if open = (open + closes) / 2; i == 0 {
			open = (b.Open + b.Close) / 2
		}
		closes = (b.Open + b.High + b.Low + b.Close) / 4
	}
	b := bars[len(bars)-1]
	return []float64{open, max(b.High, open, closes), min(b.Low, open, closes), closes}
}

func fisher(bars []Bar) []float64 {
	x, value := 0.0, 0.0
	for n := 10; n <= len(bars); n++ {
		top, bottom := math.Inf(-1), math.Inf(1)
		for _, b := range bars[n-10 : n] {
			top, bottom = max(top, (b.High+b.Low)/2), min(bottom, (b.High+b.Low)/2)
		}
		b := bars[n-1]
		x = 0.66*(((b.High+b.Low)/2-bottom)/(top-bottom)-0.5) + 0.67*x
		x = math.Min(0.999, math.Max(-0.999, x))
		value = math.Atanh(x) + value/2
	}
	return []float64{value}
}

func TestIndicatorsMissingFromTALibEqualTheirFormulas(t *testing.T) {
	t.Parallel()
	bars := walk(400)
	volume := func(b Bar) float64 { return b.Volume }
	for _, c := range []struct {
		name  string
		first int // number of the candle of the first value, from 1
		naive naive
	}{
		{"hma", 19, hull},
		{"wilder", 14, func(b []Bar) []float64 { return []float64{wilder(closesOf(b), 14)} }},
		{"vwma", 20, func(b []Bar) []float64 {
			return []float64{sum(last(b, 20), func(b Bar) float64 { return b.Close * b.Volume }) / sum(last(b, 20), volume)}
		}},
		{"vwap", 1, func(b []Bar) []float64 {
			return []float64{sum(today(b), func(b Bar) float64 { return typical(b) * b.Volume }) / sum(today(b), volume)}
		}},
		{"cmf", 20, func(b []Bar) []float64 {
			return []float64{sum(last(b, 20), func(b Bar) float64 { return (2*b.Close - b.Low - b.High) / (b.High - b.Low) * b.Volume }) / sum(
				last(b, 20), volume)}
		}},
		{"donchian", 20, func(b []Bar) []float64 { l := last(b, 20); return []float64{high(l), middle(l), low(l)} }},
		{"keltner", 20, func(b []Bar) []float64 {
			mean, span := ema(closesOf(b), 20), 2*wilder(rangesOf(b), 10)
			return []float64{mean + span, mean, mean - span}
		}},
		{"chandelier", 23, func(b []Bar) []float64 {
			span := 3 * wilder(rangesOf(b), 22)
			return []float64{high(last(b, 22)) - span, low(last(b, 22)) + span}
		}},
		{"choppiness", 15, func(b []Bar) []float64 {
			return []float64{100 * math.Log(sums(tail(rangesOf(b), 14))/(high(last(b, 14))-low(last(b, 14)))) / math.Log(14)}
		}},
		{"ichimoku", 77, func(b []Bar) []float64 {
			then := b[:len(b)-25]
			return []float64{middle(last(b, 9)), middle(last(b, 26)), (middle(last(then, 9)) + middle(last(then, 26))) / 2, middle(last(then, 52))}
		}},
		{"vortex", 15, vortex},
		{"tsi", 38, strength},
		{"fisher", 10, fisher},
		{"pivot", 25, pivot},
		{"heikin_ashi", 1, heikinAshi},
		{"zscore", 20, func(b []Bar) []float64 {
			mean, n := sum(last(b, 20), func(b Bar) float64 { return b.Close })/20, b[len(b)-1].Close
			return []float64{(n - mean) / math.Sqrt(sum(last(b, 20), func(b Bar) float64 { return (b.Close - mean) * (b.Close - mean) })/20)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			definition, _ := Find(c.name)
			for output, name := range definition.Outputs {
				have, want := run(t, bars, c.name, nil, output), make([]float64, len(bars))
				for i := range bars {
					want[i] = math.NaN()
					if i+1 >= c.first {
						want[i] = c.naive(bars[:i+1])[output]
					}
					if math.IsNaN(want[i]) != math.IsNaN(have[i]) || math.Abs(have[i]-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
						t.Fatalf("%s of candle %d: want %v, have %v", name, i+1, want[i], have[i])
					}
				}
				prove(c.name, "its formula", want, have)
			}
		})
	}
}

// The silence begins in the middle of a turn of each ring.
func TestFlowsOfASilentMarketAreExactlyZero(t *testing.T) {
	t.Parallel()
	bars := walk(200)
	for i := range bars {
		bars[i].Volume *= 1e12
		if i >= 107 {
			bars[i].Volume = 0
		}
	}
	for name, period := range map[string]int{"mfi": 14, "cmf": 20} {
		have := run(t, bars, name, nil, 0)
		if have[106] == 0 {
			t.Errorf("%s: want a flow before the silence", name)
		}
		for i := 107 + period - 1; i < len(bars); i++ {
			if have[i] != 0 {
				t.Fatalf("%s, candle %d: want 0 after %d silent candles, have %v", name, i+1, period, have[i])
			}
		}
	}
}
