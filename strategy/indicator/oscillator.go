package indicator

import "math"

// Momentum is the change over some candles, as TA-Lib's MOM.
//
// Formula: value - value period candles before. First value: at candle period + 1.
type Momentum struct{ values delay }

// NewMomentum returns a change over period candles, at least 1.
func NewMomentum(period int) *Momentum { return &Momentum{newDelay(period)} }

// Next takes a value and returns the change, once there is one.
func (m *Momentum) Next(value float64) (moved float64, ok bool) {
	old, ok := m.values.swap(value)
	return value - old, ok
}

// ROC is the rate of change over some candles, as TA-Lib's ROC.
//
// Formula: 100 x (value / value period candles before - 1), 0 from zero. First
// value: at candle period + 1.
type ROC struct{ values delay }

// NewROC returns a rate over period candles, at least 1.
func NewROC(period int) *ROC { return &ROC{newDelay(period)} }

// Next takes a value and returns the rate in percent, once there is one.
func (r *ROC) Next(value float64) (rate float64, ok bool) {
	old, ok := r.values.swap(value)
	return change(value, old), ok
}

// CMO is Tushar Chande's momentum oscillator (The New Technical Trader, 1994), smoothed like RSI,
// as in TA-Lib.
//
// Formula: 100 x (up - down) / (up + down) of RSI's means. First value: at candle period + 1.
type CMO struct{ index *RSI }

// NewCMO returns an oscillator over period changes, at least 2.
func NewCMO(period int) *CMO { return &CMO{NewRSI(period)} }

// Next takes a close and returns the oscillator, once there is one.
func (c *CMO) Next(value float64) (index float64, ok bool) {
	index, ok = c.index.Next(value)
	if c.index.up+c.index.down == 0 {
		return 0, ok
	}
	return float64(2*index) - 100, ok
}

// StochRSI is Chande's and Kroll's stochastic of the RSI (1994), as TA-Lib's
// STOCHRSI with a simple average.
//
// Formula: K = 100 x (RSI - lowest) / (highest - lowest) of the last k RSI, 0 when
// both are equal; D = mean of the last d K. First value of both: at candle period + k +
// d - 1.
type StochRSI struct {
	index           *RSI
	highest, lowest extreme
	signal          *Mean
}

// NewStochRSI returns an oscillator over period changes, k values and d of them.
func NewStochRSI(period, k, d int) *StochRSI {
	return &StochRSI{NewRSI(period), newExtreme(k), newExtreme(k), NewMean(d)}
}

// Next takes a close and returns K and D, once there are both.
func (s *StochRSI) Next(value float64) (k, d float64, ok bool) {
	index, ok := s.index.Next(value)
	if !ok {
		return 0, 0, false
	}
	top, _ := s.highest.next(index)
	bottom, full := s.lowest.next(-index)
	if !full {
		return 0, 0, false
	}
	if bottom = -bottom; top-bottom > 100*negligible { // else the prices stand still and the range is rounding error
		k = float64(100 * ((index - bottom) / (top - bottom)))
	}
	d, ok = s.signal.Next(k)
	return k, d, ok
}

// WilliamsR is Larry Williams' percent range (How I Made One Million Dollars,
// 1973), as TA-Lib's WILLR.
//
// Formula: -100 x (highest high - close) / (highest high - lowest low) of the last
// period candles, 0 when both are equal. First value: at candle period.
type WilliamsR struct{ highest, lowest extreme }

// NewWilliamsR returns a range over period candles, at least 2.
func NewWilliamsR(period int) *WilliamsR {
	return &WilliamsR{newExtreme(max(2, period)), newExtreme(max(2, period))}
}

// Next takes a candle and returns the range, once there is one.
func (w *WilliamsR) Next(high, low, closes float64) (percent float64, ok bool) {
	top, _ := w.highest.next(high)
	bottom, ok := w.lowest.next(-low)
	if bottom = -bottom; top == bottom {
		return 0, ok
	}
	return float64(-100 * ((top - closes) / (top - bottom))), ok
}

// negligible is a share below which a difference is rounding error: no price tick is as small a
// part of its price.
const negligible = 1e-13

// CCI is Donald Lambert's commodity channel index (Commodities, 1980), as TA-Lib's. The mean
// distance from a moving mean has no incremental form: the cost of a candle grows with the period.
//
// Formula: (typical - mean) / (0.015 x mean of |typical - mean|) over the last period typical
// prices (high + low + close) / 3, 0 if all are equal. First value: at candle period.
type CCI struct {
	ring []float64
	next int
	full bool
}

// NewCCI returns an index over period candles, at least 2.
func NewCCI(period int) *CCI { return &CCI{ring: make([]float64, max(2, period))} }

// Next takes a candle and returns the index, once there is one.
func (c *CCI) Next(high, low, closes float64) (index float64, ok bool) {
	typical := (high + low + closes) / 3
	c.ring[c.next] = typical
	if c.next++; c.next == len(c.ring) {
		c.next, c.full = 0, true
	}
	if !c.full {
		return 0, false
	}
	n, mean, distance := float64(len(c.ring)), 0.0, 0.0
	for _, v := range c.ring {
		mean += v
	}
	mean /= n
	for _, v := range c.ring {
		distance += math.Abs(v - mean)
	}
	if distance <= n*negligible*math.Abs(mean) { // equal prices leave only rounding error
		return 0, true
	}
	return (typical - mean) / (0.015 * (distance / n)), true
}

// Aroon is Tushar Chande's measure of how long ago the extremes were (1995), as
// TA-Lib's AROON and AROONOSC.
//
// Formula: 100 x (period - candles since the lowest low, or the highest high, of the
// last period + 1 candles) / period. First value: at candle period + 1.
type Aroon struct {
	highest, lowest extreme
	period          float64
}

// NewAroon returns a measure over period candles, at least 2.
func NewAroon(period int) *Aroon {
	period = max(2, period)
	return &Aroon{newExtreme(period + 1), newExtreme(period + 1), float64(period)}
}

// Next takes a candle and returns both lines, once there are any.
func (a *Aroon) Next(high, low float64) (down, up float64, ok bool) {
	a.highest.next(high)
	_, ok = a.lowest.next(-low)
	down, up = 100*(a.period-float64(a.lowest.age()))/a.period, 100*(a.period-float64(a.highest.age()))/a.period
	return down, up, ok
}

// UltimateOscillator is Larry Williams' oscillator (1985), as TA-Lib's ULTOSC.
//
// Formula: 100 x (4 a + 2 b + c) / 7, where a, b and c are, over the short, middle and long period,
// the sum of close - min(low, close before) divided by the sum of true ranges. First value: at
// candle long + 1.
type UltimateOscillator struct {
	pressure, span [3]*Mean
	before         float64
	begun          bool
}

// NewUltimateOscillator returns an oscillator over three periods, sorted by length.
func NewUltimateOscillator(short, middle, long int) *UltimateOscillator {
	short, middle = min(short, middle), max(short, middle)
	middle, long = min(middle, long), max(middle, long)
	short, middle = min(short, middle), max(short, middle)
	u := &UltimateOscillator{}
	for i, period := range [...]int{short, middle, long} {
		u.pressure[i], u.span[i] = NewMean(period), NewMean(period)
	}
	return u
}

// Next takes a candle and returns the oscillator, once there is one.
func (u *UltimateOscillator) Next(high, low, closes float64) (value float64, ok bool) {
	before, begun := u.before, u.begun
	u.before, u.begun = closes, true
	if !begun {
		return 0, false
	}
	bottom := min(low, before)
	for i, weight := range [...]float64{4, 2, 1} {
		pressure, _ := u.pressure[i].Next(closes - bottom)
		span, full := u.span[i].Next(max(high, before) - bottom)
		if ok = full; span != 0 {
			value += float64(weight * (pressure / span))
		}
	}
	return float64(100 * (value / 7)), ok
}

// TSI is William Blau's true strength index (Stocks & Commodities, 1991).
//
// Formula: 100 x EMA(short) of EMA(long) of the changes, divided by the same average of their
// absolute values. First value: at candle long + short.
type TSI struct {
	change, size [2]*EMA
	before       float64
	begun        bool
}

// NewTSI returns an index over the long and the short period.
func NewTSI(long, short int) *TSI {
	return &TSI{change: [2]*EMA{NewEMA(long), NewEMA(short)}, size: [2]*EMA{NewEMA(long), NewEMA(short)}}
}

// Next takes a close and returns the index, once there is one.
func (t *TSI) Next(value float64) (index float64, ok bool) {
	moved, begun := value-t.before, t.begun
	t.before, t.begun = value, true
	if !begun {
		return 0, false
	}
	up, ok := t.change[0].Next(moved)
	size, _ := t.size[0].Next(math.Abs(moved))
	if !ok {
		return 0, false
	}
	up, ok = t.change[1].Next(up)
	if size, _ = t.size[1].Next(size); size == 0 {
		return 0, ok
	}
	return float64(100 * (up / size)), ok
}

// Fisher is John Ehlers' Fisher transform of the price's position in its range (Stocks &
// Commodities, 2002).
//
// Formula: x = 0.66 ((middle - lowest) / (highest - lowest) - 0.5) + 0.67 x before, within 0.999;
// value = 0.5 ln((1 + x) / (1 - x)) + 0.5 value before, with middle = (high + low) / 2. First
// value: at candle period.
type Fisher struct {
	highest, lowest extreme
	x, value        float64
}

// NewFisher returns a transform over period candles, at least 2.
func NewFisher(period int) *Fisher {
	return &Fisher{highest: newExtreme(max(2, period)), lowest: newExtreme(max(2, period))}
}

// Next takes a candle and returns the transform, once there is one.
func (f *Fisher) Next(high, low float64) (value float64, ok bool) {
	middle := float64((high + low) / 2)
	top, _ := f.highest.next(middle)
	bottom, ok := f.lowest.next(-middle)
	if !ok {
		return 0, false
	}
	place := 0.0
	if bottom = -bottom; top != bottom {
		place = (middle-bottom)/(top-bottom) - 0.5
	}
	f.x = max(-0.999, min(0.999, float64(0.66*place)+float64(0.67*f.x)))
	f.value = float64(0.5*math.Log((1+f.x)/(1-f.x))) + float64(0.5*f.value)
	return f.value, true
}
