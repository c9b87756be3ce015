package indicator

import "math"

// delay returns a value that many candles later.
type delay struct {
	ring []float64
	next int
	full bool
}

func newDelay(candles int) delay { return delay{ring: make([]float64, max(1, candles))} }

func (d *delay) swap(value float64) (old float64, ok bool) {
	old, ok = d.ring[d.next], d.full
	d.ring[d.next] = value
	if d.next++; d.next == len(d.ring) {
		d.next, d.full = 0, true
	}
	return old, ok
}

// line holds the last values with the sums of a weighted mean and of a regression line. Rounding
// errors accumulate in sums that are only updated, so the sums are recomputed once per turn of the
// ring, which is O(1) per candle on average.
type line struct {
	ring []float64
	next int
	full bool

	sum      float64
	weighted float64 // sum of value x age rank, the newest being len(ring)
	busy     int     // number of values that are not zero; if there are none, both sums are exactly zero
}

func newLine(period int) line { return line{ring: make([]float64, max(1, period))} }

func (l *line) add(value float64) bool {
	n := float64(len(l.ring))
	if l.ring[l.next] != 0 {
		l.busy--
	}
	if value != 0 {
		l.busy++
	}
	if l.full {
		// Every rank falls by one, then the newest value gets the highest.
		l.weighted += float64(n*value) - l.sum
		l.sum += value - l.ring[l.next]
	}
	l.ring[l.next] = value
	if l.next++; l.next == len(l.ring) {
		l.next, l.full = 0, true
		l.sum, l.weighted = 0, 0
		for i, v := range l.ring {
			l.sum += v
			l.weighted += float64(float64(i+1) * v)
		}
	}
	if l.full && l.busy == 0 {
		l.sum, l.weighted = 0, 0
	}
	return l.full
}

// WMA is the linearly weighted moving average, as TA-Lib's.
//
// Formula: sum of value x rank over the last period values, the newest having the
// rank period, divided by period x (period + 1) / 2. First value: at candle period.
type WMA struct{ line line }

// NewWMA returns an average over period values, at least 1.
func NewWMA(period int) *WMA { return &WMA{newLine(period)} }

// Next takes a value and returns the average, once there is one.
func (w *WMA) Next(value float64) (mean float64, ok bool) {
	if !w.line.add(value) {
		return 0, false
	}
	n := float64(len(w.line.ring))
	return w.line.weighted / (n * (n + 1) / 2), true
}

// LinearRegression is the line of least squares through the last values, as
// TA-Lib's LINEARREG and LINEARREG_SLOPE.
//
// Formula: y = a + b x through the last period values. Value: the line at the
// newest. Slope: b, a candle. First value: at candle period.
type LinearRegression struct{ line line }

// NewLinearRegression returns a line through period values, at least 2.
func NewLinearRegression(period int) *LinearRegression {
	return &LinearRegression{newLine(max(2, period))}
}

// Next takes a value and returns the line's end and slope, once there is one.
func (l *LinearRegression) Next(value float64) (end, slope float64, ok bool) {
	if !l.line.add(value) {
		return 0, 0, false
	}
	n := float64(len(l.line.ring))
	middle := l.line.sum / n
	// With x = rank: sum of (x - mean x)^2 = n (n^2 - 1) / 12.
	slope = (l.line.weighted - float64(l.line.sum*(n+1)/2)) / (n * (float64(n*n) - 1) / 12)
	return middle + float64(slope*(n-1)/2), slope, true
}

// DEMA is Patrick Mulloy's double exponential average (Technical Analysis of
// Stocks & Commodities, 1994), as TA-Lib's.
//
// Formula: 2 EMA - EMA of EMA. First value: at candle 2 period - 1.
type DEMA struct{ first, second *EMA }

// NewDEMA returns an average over period values, at least 1.
func NewDEMA(period int) *DEMA { return &DEMA{NewEMA(period), NewEMA(period)} }

// Next takes a value and returns the average, once there is one.
func (d *DEMA) Next(value float64) (mean float64, ok bool) {
	one, ok := d.first.Next(value)
	if !ok {
		return 0, false
	}
	two, ok := d.second.Next(one)
	return float64(2*one) - two, ok
}

// TEMA is Patrick Mulloy's triple exponential average (Technical Analysis of
// Stocks & Commodities, 1994), as TA-Lib's.
//
// Formula: 3 EMA - 3 EMA of EMA + EMA of EMA of EMA. First value: at candle 3 period - 2.
type TEMA struct{ first, second, third *EMA }

// NewTEMA returns an average over period values, at least 1.
func NewTEMA(period int) *TEMA { return &TEMA{NewEMA(period), NewEMA(period), NewEMA(period)} }

// Next takes a value and returns the average, once there is one.
func (t *TEMA) Next(value float64) (mean float64, ok bool) {
	one, two, three, ok := t.parts(value)
	return float64(3*one) - float64(3*two) + three, ok
}

func (t *TEMA) parts(value float64) (one, two, three float64, ok bool) {
	if one, ok = t.first.Next(value); !ok {
		return 0, 0, 0, false
	}
	if two, ok = t.second.Next(one); !ok {
		return 0, 0, 0, false
	}
	three, ok = t.third.Next(two)
	return one, two, three, ok
}

// T3 is Tim Tillson's average (Technical Analysis of Stocks & Commodities, 1998), as TA-Lib's.
//
// Formula: DEMA applied three times, weighted by factor: -v^3 e6 + 3 (v^2 + v^3) e5 - 3 (2 v^2 + v
// + v^3) e4 + (1 + 3 v + v^3 + 3 v^2) e3, where e1 to e6 are EMA of EMA. First value: at candle 6
// period - 5.
type T3 struct {
	averages [6]*EMA
	weights  [4]float64 // of e3 to e6
}

// NewT3 returns an average over period values, at least 1.
func NewT3(period int, v float64) *T3 {
	square, cube := float64(v*v), float64(v*v*v)
	t := &T3{weights: [4]float64{1 + float64(3*v) + cube + float64(3*v*v), float64(-3 * (float64(2*square) + v + cube)), float64(3 * (square + cube)), -cube}}
	for i := range t.averages {
		t.averages[i] = NewEMA(period)
	}
	return t
}

// Next takes a value and returns the average, once there is one.
func (t *T3) Next(value float64) (mean float64, ok bool) {
	for i, average := range t.averages {
		if value, ok = average.Next(value); !ok {
			return 0, false
		}
		if i >= 2 {
			mean += float64(t.weights[i-2] * value)
		}
	}
	return mean, true
}

// TRIX is Jack Hutson's rate of change of a triple smoothed average (Technical
// Analysis of Stocks & Commodities, 1983), as TA-Lib's.
//
// Formula: 100 x (t / t before - 1) where t = EMA of EMA of EMA. First value: at
// candle 3 period - 1.
type TRIX struct {
	smooth *TEMA
	before float64
	begun  bool
}

// NewTRIX returns a rate over period values, at least 1.
func NewTRIX(period int) *TRIX { return &TRIX{smooth: NewTEMA(period)} }

// Next takes a value and returns the rate in percent, once there is one.
func (t *TRIX) Next(value float64) (rate float64, ok bool) {
	_, _, three, ok := t.smooth.parts(value)
	if !ok {
		return 0, false
	}
	before, begun := t.before, t.begun
	t.before, t.begun = three, true
	if !begun {
		return 0, false
	}
	return change(three, before), true
}

// change returns the change in percent; 0 if the former value is zero.
func change(value, before float64) float64 {
	if before == 0 {
		return 0
	}
	return float64((value/before - 1) * 100)
}

// KAMA is Perry Kaufman's adaptive average (Smarter Trading, 1995), as TA-Lib's.
//
// Formula: efficiency e = |value - value period before| / sum of |changes|, weight =
// (e (2/3 - 2/31) + 2/31)^2, mean = mean before + weight (value - mean before). It
// begins with the value period-1 candles in. First value: at candle period + 1.
type KAMA struct {
	values  delay
	changes line
	last    float64
	seen    int
	period  int
	mean    float64
}

// NewKAMA returns an average over period changes, at least 2.
func NewKAMA(period int) *KAMA {
	period = max(2, period)
	return &KAMA{values: newDelay(period), changes: newLine(period), period: period}
}

// Next takes a value and returns the average, once there is one.
func (k *KAMA) Next(value float64) (mean float64, ok bool) {
	old, ok := k.values.swap(value)
	if k.seen++; k.seen > 1 {
		k.changes.add(math.Abs(value - k.last))
	}
	if k.seen == k.period {
		k.mean = value
	}
	k.last = value
	if !ok {
		return 0, false
	}
	moved, sum := value-old, k.changes.sum
	efficiency := 1.0
	if sum > moved && sum != 0 {
		efficiency = min(1, math.Abs(moved/sum))
	}
	const slow, fast = 2.0 / 31, 2.0 / 3
	weight := float64(efficiency*(fast-slow)) + slow
	k.mean += float64(weight * weight * (value - k.mean))
	return k.mean, true
}

// HMA is Alan Hull's average (2005).
//
// Formula: WMA over the root of period of 2 WMA(period / 2) - WMA(period), halves
// and roots rounded down. First value: at candle period + root - 1.
type HMA struct{ half, whole, root *WMA }

// NewHMA returns an average over period values, at least 2.
func NewHMA(period int) *HMA {
	period = max(2, period)
	return &HMA{NewWMA(period / 2), NewWMA(period), NewWMA(int(math.Sqrt(float64(period))))}
}

// Next takes a value and returns the average, once there is one.
func (h *HMA) Next(value float64) (mean float64, ok bool) {
	half, _ := h.half.Next(value)
	whole, ok := h.whole.Next(value)
	if !ok {
		return 0, false
	}
	return h.root.Next(float64(2*half) - whole)
}

// TRIMA is the triangular moving average, as TA-Lib's.
//
// Formula: a mean of means: (period + 1) / 2 values over (period + 1) / 2 means, or, for an even
// period, period / 2 values over period / 2 + 1 means. First value: at candle period.
type TRIMA struct{ first, second *Mean }

// NewTRIMA returns an average over period values, at least 1.
func NewTRIMA(period int) *TRIMA {
	period = max(1, period)
	return &TRIMA{NewMean((period + 1) / 2), NewMean(period/2 + 1)}
}

// Next takes a value and returns the average, once there is one.
func (t *TRIMA) Next(value float64) (mean float64, ok bool) {
	one, ok := t.first.Next(value)
	if !ok {
		return 0, false
	}
	return t.second.Next(one)
}

// Wilder is Welles Wilder's smoothing (New Concepts in Technical Trading Systems,
// 1978), also called RMA or SMMA.
//
// Formula: the mean of the first period values, then (before x (period-1) + value)
// / period. First value: at candle period.
type Wilder struct {
	period float64
	seen   float64
	mean   float64
}

// NewWilder returns an average over period values, at least 1.
func NewWilder(period int) *Wilder { return &Wilder{period: float64(max(1, period))} }

// Next takes a value and returns the average, once there is one.
func (w *Wilder) Next(value float64) (mean float64, ok bool) {
	if w.seen < w.period {
		w.seen++
		if w.mean += value; w.seen < w.period {
			return 0, false
		}
		w.mean /= w.period
		return w.mean, true
	}
	w.mean = (float64(w.mean*(w.period-1)) + value) / w.period
	return w.mean, true
}

// ZScore is the distance of a value from the mean of the last values, in standard deviations.
//
// Formula: (value - mean) / population deviation over the last period values, 0 if they are all
// equal. First value: at candle period.
type ZScore struct{ window window }

// NewZScore returns a score over period values, at least 2.
func NewZScore(period int) *ZScore { return &ZScore{newWindow(max(2, period))} }

// Next takes a value and returns the score, once there is one.
func (z *ZScore) Next(value float64) (score float64, ok bool) {
	if !z.window.add(value) {
		return 0, false
	}
	deviation := z.window.deviation()
	if deviation == 0 {
		return 0, true
	}
	return (value - z.window.mean()) / deviation, true
}
