// Package indicator computes streaming indicators in constant time per candle.
//
// Each indicator takes a candle's numbers with Next and returns its value and
// whether there is one yet; nothing is allocated after the constructor. Where
// sources differ, TA-Lib is followed. All lists them by name, with parameters and
// outputs.
package indicator

import "math/bits"

// SMA is the simple moving average of whole-number prices. It keeps the exact
// sum, so that two averages can be compared without rounding: in floating point
// averages on a coarse tick tie where they differ, and differ where they tie.
//
// Formula: mean of the last period values. First value: at candle period.
type SMA struct {
	ring []int64
	next int
	seen int
	high uint64 // of the sum, which has 128 bits: no scale of prices overflows it
	low  uint64
}

// NewSMA returns an average over period values, at least 1.
func NewSMA(period int) *SMA { return &SMA{ring: make([]int64, max(1, period))} }

// Next takes a value, which must not be negative.
func (s *SMA) Next(value int64) {
	change := value - s.ring[s.next]
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(change), 0)
	s.high += uint64(change>>63) + carry
	s.ring[s.next] = value
	if s.next++; s.next == len(s.ring) {
		s.next = 0
	}
	if s.seen < len(s.ring) {
		s.seen++
	}
}

// Ready reports whether there is a value.
func (s *SMA) Ready() bool { return s.seen == len(s.ring) }

// Sum returns the exact sum of the last period values, high x 2^64 + low.
func (s *SMA) Sum() (high, low uint64) { return s.high, s.low }

// Value returns the average, for display.
func (s *SMA) Value() float64 {
	return (float64(s.high)*(1<<64) + float64(s.low)) / float64(len(s.ring))
}

// Compare is -1, 0 or +1 as this average is below, equal to or above the other,
// decided exactly by cross-multiplying the sums.
func (s *SMA) Compare(other *SMA) int {
	leftHigh, leftLow := s.times(len(other.ring))
	rightHigh, rightLow := other.times(len(s.ring))
	switch {
	case leftHigh < rightHigh || leftHigh == rightHigh && leftLow < rightLow:
		return -1
	case leftHigh == rightHigh && leftLow == rightLow:
		return 0
	}
	return 1
}

// times returns the sum n times. A sum is less than period x 2^63, so 128 bits
// hold it as long as both periods together have no more than 65 bits.
func (s *SMA) times(n int) (high, low uint64) {
	high, low = bits.Mul64(s.low, uint64(n))
	return high + s.high*uint64(n), low
}
