// Package indicator computes streaming indicators, most of them in constant time per candle. The cost of CCI,
// Correlation, Beta, PercentRank and Fractals grows with their length.
//
// Each indicator takes a candle's numbers with Next and returns its value and whether there is one
// yet; nothing is allocated after the constructor. If sources differ, the package follows TA-Lib.
// All lists the indicators by name, with parameters and outputs.
package indicator

import (
	"cmp"
	"math"
	"math/bits"
)

// SMA is the simple moving average of whole-number prices. It stores the exact sum, so two averages
// can be compared without rounding. Floating-point averages on a coarse tick can tie where the
// exact ones differ, and differ where the exact ones tie.
//
// Formula: mean of the last period values. First value: at candle period.
type SMA struct {
	ring []int64
	next int
	seen int
	high uint64 // high half of the 128-bit sum, which no scale of prices overflows
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
	return (float64(float64(s.high)*(1<<64)) + float64(s.low)) / float64(len(s.ring))
}

// Compare returns -1, 0 or +1 if this average is below, equal to or above the other, decided
// exactly by cross-multiplying the sums.
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

// NextWhile feeds values to both averages, which must be ready, up to and including the first value
// after which a no longer compares with b as given. It returns the number of values taken and the
// comparison after them.
func NextWhile[T ~int64](a, b *SMA, values []T, compare int) (taken, now int) {
	timesA, timesB := int64(len(b.ring)), int64(len(a.ring))
	// Sums of the values up to this one, plus the sums already in both averages, fit into 63 bits
	// when multiplied.
	most := math.MaxInt64 / 2 / (timesA * timesB)
	now = compare
	if a.meanAtMost(most) && b.meanAtMost(most) {
		sumA, sumB, ringA, ringB, atA, atB := int64(a.low), int64(b.low), a.ring, b.ring, a.next, b.next
		for ; taken < len(values) && int64(values[taken]) <= most && now == compare; taken++ {
			value := int64(values[taken])
			sumA, sumB = sumA+value-ringA[atA], sumB+value-ringB[atB]
			ringA[atA], ringB[atB] = value, value
			if atA++; atA == len(ringA) {
				atA = 0
			}
			if atB++; atB == len(ringB) {
				atB = 0
			}
			now = cmp.Compare(sumA*timesA, sumB*timesB)
		}
		a.low, b.low, a.next, b.next = uint64(sumA), uint64(sumB), atA, atB
	}
	for ; taken < len(values) && now == compare; taken++ {
		a.Next(int64(values[taken]))
		b.Next(int64(values[taken]))
		now = a.Compare(b)
	}
	return taken, now
}

// meanAtMost reports whether the mean of the sum's values is at most `most`.
func (s *SMA) meanAtMost(most int64) bool {
	return s.high == 0 && s.low <= uint64(most)*uint64(len(s.ring))
}
