package indicator

import "math"

// ATR is Wilder's average true range (New Concepts in Technical Trading Systems,
// 1978), as TA-Lib computes it.
//
// Formula: the true range is the longest of high - low, |high - close before| and
// |low - close before|. ATR is the mean of the first period ranges, then
// (previous x (period-1) + range) / period. The first candle has no range. First
// value: at candle period + 1.
type ATR struct {
	period float64
	warm   int
	seen   int
	close  float64
	value  float64
}

// NewATR returns an average over period ranges, at least 1.
func NewATR(period int) *ATR {
	period = max(1, period)
	return &ATR{period: float64(period), warm: period}
}

// Next takes a candle and returns the average, once there is one.
func (a *ATR) Next(high, low, closes float64) (mean float64, ok bool) {
	before := a.close
	a.close = closes
	if a.seen == 0 {
		a.seen++
		return 0, false
	}
	span := trueRange(high, low, before)
	if a.seen > a.warm {
		a.value = (float64(a.value*(a.period-1)) + span) / a.period
		return a.value, true
	}
	a.value += span
	if a.seen++; a.seen <= a.warm {
		return 0, false
	}
	a.value /= a.period
	return a.value, true
}

func trueRange(high, low, before float64) float64 {
	return max(high-low, math.Abs(high-before), math.Abs(low-before))
}

// Supertrend is Olivier Seban's trend line. TA-Lib has no such indicator; this is the usual
// definition over TA-Lib's ATR and equals Stock.Indicators.
//
// Formula: bands of multiplier x ATR around (high + low) / 2. The upper band only falls and the
// lower only rises until the close before passes it. In a rising trend the line is the lower band
// until a close at or below it, then the upper band until a close above that. The trend first rises
// when the first close with a band is at or above the middle. First value: at candle period + 1.
type Supertrend struct {
	atr          *ATR
	multiplier   float64
	upper, lower float64
	before       float64 // the close before
	begun        bool
	rising       bool
}

// NewSupertrend returns a line over period ranges, at least 1.
func NewSupertrend(period int, multiplier float64) *Supertrend {
	return &Supertrend{atr: NewATR(period), multiplier: multiplier}
}

// Next takes a candle and returns the line, once there is one.
func (s *Supertrend) Next(high, low, closes float64) (line float64, ok bool) {
	before := s.before
	s.before = closes
	atr, ok := s.atr.Next(high, low, closes)
	if !ok {
		return 0, false
	}
	middle := float64((high + low) / 2)
	upper, lower := middle+float64(s.multiplier*atr), middle-float64(s.multiplier*atr)
	if !s.begun {
		s.begun, s.rising, s.upper, s.lower = true, closes >= middle, upper, lower
	}
	if upper < s.upper || before > s.upper {
		s.upper = upper
	}
	if lower > s.lower || before < s.lower {
		s.lower = lower
	}
	if s.rising {
		s.rising = closes > s.lower
	} else {
		s.rising = closes > s.upper
	}
	if s.rising {
		return s.lower, true
	}
	return s.upper, true
}

// Rising reports whether the trend of the last value is up.
func (s *Supertrend) Rising() bool { return s.rising }
