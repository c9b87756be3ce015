package indicator

// RSI is Wilder's relative strength index (New Concepts in Technical Trading
// Systems, 1978), as TA-Lib computes it.
//
// Formula: 100 x up / (up + down), where up and down are means of the rises and
// falls: the simple mean of the first period changes, then smoothed by
// (previous x (period-1) + change) / period. First value: at candle period + 1.
// Without any change the value is 0, as in TA-Lib.
type RSI struct {
	period   float64
	warm     int
	seen     int
	last     float64
	up, down float64
}

// NewRSI returns an index over period changes, at least 2.
func NewRSI(period int) *RSI { return &RSI{period: float64(max(2, period)), warm: max(2, period)} }

// Still reports whether no price has changed so far. The index is then 0 by convention, which does
// not indicate weakness.
func (r *RSI) Still() bool { return r.up+r.down == 0 }

// Next takes a close and returns the index, once there is one.
func (r *RSI) Next(value float64) (index float64, ok bool) {
	change := value - r.last
	r.last = value
	r.seen++
	if r.seen == 1 {
		return 0, false
	}
	rise, fall := max(change, 0), max(-change, 0)
	if r.seen <= r.warm+1 {
		r.up += rise
		r.down += fall
		if r.seen <= r.warm {
			return 0, false
		}
		r.up /= r.period
		r.down /= r.period
	} else {
		r.up = (float64(r.up*(r.period-1)) + rise) / r.period
		r.down = (float64(r.down*(r.period-1)) + fall) / r.period
	}
	if r.up+r.down == 0 {
		return 0, true
	}
	return float64(100 * (r.up / (r.up + r.down))), true
}
