package indicator

import "math"

// ADX is Wilder's average directional index with its two directions (New Concepts in Technical
// Trading Systems, 1978), as TA-Lib's ADX, PLUS_DI and MINUS_DI.
//
// Formula: a candle's direction is how far its high passed the high before, or its low the low
// before, whichever is larger. Both directions and the true range are summed over period-1 candles,
// then each: previous - previous / period + new. DI = 100 x direction / range, DX = 100 x |plus -
// minus| / (plus + minus), ADX = the mean of the first period DX, then (previous x (period-1) + DX)
// / period. If plus and minus are both zero there is no DX, and ADX keeps its value. First DI: at
// candle period + 1; first ADX: at candle 2 x period.
type ADX struct {
	period                     float64
	warm                       int // period
	seen                       int
	high, low, close           float64
	plusSum, minusSum, spanSum float64
	index                      float64
}

// NewADX returns an index over period candles, at least 2.
func NewADX(period int) *ADX {
	period = max(2, period)
	return &ADX{period: float64(period), warm: period}
}

// Directions are ADX's values after a candle.
type Directions struct {
	Plus, Minus float64 // DI, NaN before the first
	Index       float64 // ADX, NaN before the first
}

// Next takes a candle. It returns ok from the first ADX on; both directions are available earlier.
func (a *ADX) Next(high, low, closes float64) (d Directions, ok bool) {
	d = Directions{math.NaN(), math.NaN(), math.NaN()}
	beforeHigh, beforeLow, before := a.high, a.low, a.close
	a.high, a.low, a.close = high, low, closes
	if a.seen == 0 {
		a.seen++
		return d, false
	}
	a.sum(high-beforeHigh, beforeLow-low, trueRange(high, low, before))
	if a.seen < a.warm {
		a.seen++
		return d, false
	}
	d.Plus, d.Minus = 0, 0
	if a.spanSum != 0 {
		d.Plus, d.Minus = float64(100*(a.plusSum/a.spanSum)), float64(100*(a.minusSum/a.spanSum))
	}
	dx, counts := 0.0, false
	if both := d.Plus + d.Minus; both != 0 {
		dx, counts = float64(100*(math.Abs(d.Plus-d.Minus)/both)), true
	}
	if a.seen < 2*a.warm {
		a.index += dx
		if a.seen++; a.seen < 2*a.warm {
			return d, false
		}
		a.index /= a.period
	} else if counts {
		a.index = (float64(a.index*(a.period-1)) + dx) / a.period
	}
	d.Index = a.index
	return d, true
}

// sum adds a candle's direction and range.
func (a *ADX) sum(up, down, span float64) {
	plus, minus := 0.0, 0.0
	switch {
	case down > 0 && up < down:
		minus = down
	case up > 0 && up > down:
		plus = up
	}
	if a.seen >= a.warm {
		a.plusSum -= a.plusSum / a.period
		a.minusSum -= a.minusSum / a.period
		a.spanSum -= a.spanSum / a.period
	}
	a.plusSum += plus
	a.minusSum += minus
	a.spanSum += span
}

// ADXR is Wilder's rating of the directional movement, as TA-Lib's.
//
// Formula: the mean of ADX and ADX period - 1 candles before. First value: at candle 3 period - 1.
type ADXR struct {
	index  *ADX
	before delay
}

// NewADXR returns a rating over period candles, at least 2.
func NewADXR(period int) *ADXR { return &ADXR{NewADX(period), newDelay(max(2, period) - 1)} }

// Next takes a candle and returns the rating, once there is one.
func (a *ADXR) Next(high, low, closes float64) (rating float64, ok bool) {
	d, ok := a.index.Next(high, low, closes)
	if !ok {
		return 0, false
	}
	before, ok := a.before.swap(d.Index)
	return float64((d.Index + before) / 2), ok
}
