package indicator

// Stoch is George Lane's slow stochastic, as TA-Lib's STOCH with simple averages.
//
// Formula: fast = 100 x (close - lowest low) / (highest high - lowest low) of the
// last k candles, 0 when both are equal; K = mean of the last smooth fast, D =
// mean of the last d K. First value of both: at candle k + smooth + d - 2.
type Stoch struct {
	highest, lowest extreme
	smooth, signal  *Mean
}

// NewStoch returns an oscillator over k candles, smoothed over smooth, with a
// signal line over d values, each at least 1.
func NewStoch(k, smooth, d int) *Stoch {
	return &Stoch{highest: newExtreme(k), lowest: newExtreme(k), smooth: NewMean(smooth), signal: NewMean(d)}
}

// Next takes a candle and returns K and D, once there are both.
func (s *Stoch) Next(high, low, closes float64) (k, d float64, ok bool) {
	top, full := s.highest.next(high)
	bottom, _ := s.lowest.next(-low)
	bottom = -bottom
	if !full {
		return 0, 0, false
	}
	fast := 0.0
	if top != bottom {
		fast = float64(100 * ((closes - bottom) / (top - bottom)))
	}
	if k, ok = s.smooth.Next(fast); !ok {
		return 0, 0, false
	}
	if d, ok = s.signal.Next(k); !ok {
		return 0, 0, false
	}
	return k, d, true
}

// extreme is the highest of the last values. It is a queue of the values that no later one has
// exceeded, so each value enters and leaves once.
type extreme struct {
	values      []float64 // a ring
	at          []int     // index of each value
	first, held int
	seen        int
}

func newExtreme(period int) extreme {
	period = max(1, period)
	return extreme{values: make([]float64, period), at: make([]int, period)}
}

// next takes a value and returns the highest, and whether the window is full.
func (e *extreme) next(value float64) (highest float64, full bool) {
	period := len(e.values)
	if e.held > 0 && e.at[e.first] <= e.seen-period {
		e.first, e.held = (e.first+1)%period, e.held-1
	}
	for e.held > 0 && e.values[(e.first+e.held-1)%period] <= value {
		e.held--
	}
	last := (e.first + e.held) % period
	e.values[last], e.at[last] = value, e.seen
	e.held++
	e.seen++
	return e.values[e.first], e.seen >= period
}

// age returns how many candles ago the highest value occurred, the newest of equal ones.
func (e *extreme) age() int { return e.seen - 1 - e.at[e.first] }
