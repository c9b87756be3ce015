// Package indicator streaming indicators, O(1) a candle.
package indicator

import "math/bits"

// SMA is the simple moving average of whole-number prices. It keeps the exact
// sum, so that two averages can be compared without rounding: in floating point
// averages on a coarse tick tie where they differ, and differ where they tie.
//
// Formula: mean of the last Period values. First value: at candle Period.
type SMA struct {
	ring []int64
	next int
	seen int
	sum  int64
}

// NewSMA returns an average over period values, at least 1.
func NewSMA(period int) *SMA { return &SMA{ring: make([]int64, max(1, period))} }

// Next takes a value.
func (s *SMA) Next(value int64) {
	s.sum += value - s.ring[s.next]
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

// Value returns the average, for showing.
func (s *SMA) Value() float64 { return float64(s.sum) / float64(len(s.ring)) }

// Compare is -1, 0 or +1 as this average is below, equal to or above the other,
// decided exactly by cross-multiplying the sums. Values must not be negative.
func (s *SMA) Compare(other *SMA) int {
	leftHigh, leftLow := bits.Mul64(uint64(s.sum), uint64(len(other.ring)))
	rightHigh, rightLow := bits.Mul64(uint64(other.sum), uint64(len(s.ring)))
	switch {
	case leftHigh < rightHigh || leftHigh == rightHigh && leftLow < rightLow:
		return -1
	case leftHigh == rightHigh && leftLow == rightLow:
		return 0
	}
	return 1
}
