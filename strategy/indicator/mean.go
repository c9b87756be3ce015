package indicator

import "math"

// window keeps the last values and their sum, and the sum of squares around an origin. Adding and
// subtracting accumulates rounding errors. Both sums are therefore recomputed during each turn of
// the ring and replace the old ones when the turn is complete: still O(1) a candle, and the
// rounding error of a value is gone two turns after it.
type window struct {
	ring []float64
	next int
	full bool

	sum, freshSum float64 // of value - origin
	squares       float64 // of (value - origin)^2
	freshSquares  float64
	origin, fresh float64 // close to the values, so that little is canceled
}

func newWindow(period int) window { return window{ring: make([]float64, max(1, period))} }

// add takes a value and reports whether the window is full.
func (w *window) add(value float64) bool {
	if w.next == 0 {
		if !w.full {
			w.origin = value
		}
		w.fresh, w.freshSum, w.freshSquares = value, 0, 0
	}
	away := value - w.origin
	w.sum += away
	w.squares += float64(away * away)
	if w.full {
		old := w.ring[w.next] - w.origin
		w.sum -= old
		w.squares -= float64(old * old)
	}
	away = value - w.fresh
	w.freshSum += away
	w.freshSquares += float64(away * away)
	w.ring[w.next] = value
	if w.next++; w.next == len(w.ring) {
		w.next, w.full = 0, true
		w.origin, w.sum, w.squares = w.fresh, w.freshSum, w.freshSquares
	}
	return w.full
}

func (w *window) mean() float64 { return w.origin + w.sum/float64(len(w.ring)) }

// deviation returns the population's deviation: the squares are divided by period, not by period -
// 1.
func (w *window) deviation() float64 {
	n := float64(len(w.ring))
	mean := w.sum / n
	if variance := w.squares/n - float64(mean*mean); variance > 0 {
		return math.Sqrt(variance)
	}
	return 0
}

// Mean is the simple moving average in floating point. Where a decision depends on a tie, use SMA.
//
// Formula: mean of the last period values. First value: at candle period.
type Mean struct{ window window }

// NewMean returns an average over period values, at least 1.
func NewMean(period int) *Mean { return &Mean{newWindow(period)} }

// Next takes a value and returns the average, once there is one.
func (m *Mean) Next(value float64) (mean float64, ok bool) {
	if !m.window.add(value) {
		return 0, false
	}
	return m.window.mean(), true
}

// StdDev is the moving population standard deviation, as TA-Lib's STDDEV with one deviation.
//
// Formula: root of the mean of squared distances from the mean of the last period values. First
// value: at candle period.
type StdDev struct{ window window }

// NewStdDev returns a deviation over period values, at least 2.
func NewStdDev(period int) *StdDev { return &StdDev{newWindow(max(2, period))} }

// Next takes a value and returns the deviation, once there is one.
func (s *StdDev) Next(value float64) (deviation float64, ok bool) {
	if !s.window.add(value) {
		return 0, false
	}
	return s.window.deviation(), true
}

// Bollinger are John Bollinger's bands (Bollinger on Bollinger Bands, 2001), as
// TA-Lib's BBANDS with simple averages.
//
// Formula: the mean of the last period values, and that many population
// deviations above and below it. First value: at candle period.
type Bollinger struct {
	window     window
	deviations float64
}

// NewBollinger returns bands over period values, at least 2.
func NewBollinger(period int, deviations float64) *Bollinger {
	return &Bollinger{newWindow(max(2, period)), deviations}
}

// Next takes a value and returns the bands, once there are any.
func (b *Bollinger) Next(value float64) (upper, middle, lower float64, ok bool) {
	if !b.window.add(value) {
		return 0, 0, 0, false
	}
	middle = b.window.mean()
	width := float64(b.deviations * b.window.deviation())
	return middle + width, middle, middle - width, true
}
